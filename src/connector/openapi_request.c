/*
 * Arguments -> request.
 *
 * What must not happen here: a path value that reaches another route ("..", "a/../b", the empty string), a
 * header value that ends its line, an argument that is silently ignored.
 */
#include "connector/openapi.h"

#include "connector/base64.h"

#include "base/limits.h"
#include "schema/schema.h"

#define HEADER_MAX_BYTES (16u << 10)

struct build {
    struct cm_oa *oa;
    const struct cm_oa_op *op;
    const struct cm_oa_options *options;
    struct cm_oa_request *rq;
    yyjson_val *args;
    struct cm_buf path;
    struct cm_buf query;  /* "name=value&" … */
    struct cm_buf cookie; /* "name=value; " … */
    struct cm_err *err;
};

void cm_oa_add_header(struct cm_oa_request *rq, const char *name, struct cm_str value)
{
    rq->headers = cm_realloc(rq->headers, (rq->n_headers + 2) * sizeof *rq->headers);
    rq->headers[rq->n_headers++] = cm_asprintf("%s: %.*s", name, (int)value.len, value.ptr ? value.ptr : "");
    rq->headers[rq->n_headers] = NULL;
}

void cm_oa_request_done(struct cm_oa_request *rq)
{
    for (size_t i = 0; i < rq->n_headers; i++)
        free(rq->headers[i]);
    free(rq->headers);
    free(rq->url);
    cm_buf_done(&rq->body);
    *rq = (struct cm_oa_request){0};
}

static const struct cm_oa_param *path_param(const struct cm_oa_op *op, struct cm_str name)
{
    for (size_t i = 0; i < op->n_params; i++)
        if (op->params[i].place == CM_OA_PATH && cm_str_eq_z(name, op->params[i].name))
            return &op->params[i];
    return NULL;
}

/* Literal text of the template: unencoded characters of people's descriptions are encoded, what is encoded
 * stays. */
static void add_literal(struct cm_buf *out, char c)
{
    if ((unsigned char)c > 0x20 && (unsigned char)c < 0x7f && !strchr("\"<>^`{|}", c))
        cm_buf_add_char(out, c);
    else
        cm_buf_addf(out, "%%%02X", (unsigned char)c);
}

static cm_status build_path(struct build *b)
{
    for (const char *p = b->op->path; *p;) {
        size_t len = *p == '{' ? strcspn(p, "}") : 0;
        const struct cm_oa_param *param = len && p[len] ? path_param(b->op, cm_str_mk(p + 1, len - 1)) : NULL;
        if (!param) {
            add_literal(&b->path, *p++);
            continue;
        }
        yyjson_val *v = cm_json_get(b->args, param->arg);
        if (!v || yyjson_is_null(v))
            return cm_err_set(b->err, CM_E_INVALID, "argument '%s' is missing; it is a part of the path",
                              param->arg);
        cm_status st = cm_oa__check_path_value(param, v, b->err);
        if (st != CM_OK)
            return st;
        cm_oa__add_path_value(&b->path, param, v);
        p += len + 1;
    }
    /* The template's own text, and what values side by side could make of it. */
    if (cm_oa__has_dot_segment(cm_buf_str(&b->path)))
        return cm_err_set(b->err, CM_E_INVALID,
                          "its path would have '.' or '..' in it and reach another one");
    return CM_OK;
}

/* ---- headers and cookies ---- */

static cm_status add_header_param(struct build *b, const struct cm_oa_param *p, yyjson_val *v)
{
    cm_autobuf text = CM_BUF_INIT(HEADER_MAX_BYTES);
    size_t i, max;
    yyjson_val *key, *val;
    bool any = false;

    if (yyjson_is_arr(v) && !p->as_json) {
        yyjson_arr_foreach(v, i, max, val)
        {
            cm_autobuf scratch = CM_BUF_INIT(HEADER_MAX_BYTES);
            cm_buf_add_z(&text, any ? "," : "");
            cm_buf_add_str(&text, cm_oa__text_of(val, &scratch));
            any = true;
        }
    } else if (yyjson_is_obj(v) && !p->as_json) {
        yyjson_obj_foreach(v, i, max, key, val)
        {
            cm_autobuf scratch = CM_BUF_INIT(HEADER_MAX_BYTES);
            cm_buf_add_z(&text, any ? "," : "");
            cm_buf_add_str(&text, cm_json_str(key));
            cm_buf_add_char(&text, p->explode ? '=' : ',');
            cm_buf_add_str(&text, cm_oa__text_of(val, &scratch));
            any = true;
        }
    } else {
        cm_autobuf scratch = CM_BUF_INIT(HEADER_MAX_BYTES);
        if (p->as_json)
            cm_json_write(&text, v);
        else
            cm_buf_add_str(&text, cm_oa__text_of(v, &scratch));
    }
    struct cm_str s = cm_buf_str(&text);
    for (i = 0; i < s.len; i++)
        if (((unsigned char)s.ptr[i] < 0x20 && s.ptr[i] != '\t') || s.ptr[i] == 0x7f)
            return cm_err_set(
                b->err, CM_E_INVALID,
                "argument '%s' is sent as a header and must not hold line breaks or control characters",
                p->arg);
    cm_status st = cm_buf_check(&text, p->arg, b->err);
    if (st == CM_OK)
        cm_oa_add_header(b->rq, p->name, s);
    return st;
}

static cm_status build_params(struct build *b)
{
    for (size_t i = 0; i < b->op->n_params; i++) {
        const struct cm_oa_param *p = &b->op->params[i];
        yyjson_val *v = cm_json_get(b->args, p->arg);
        cm_status st = CM_OK;
        if (!v || yyjson_is_null(v))
            continue;
        switch (p->place) {
        case CM_OA_PATH:
            break;
        case CM_OA_QUERY:
            cm_oa__add_query(&b->query, p, v);
            break;
        case CM_OA_HEADER:
            st = add_header_param(b, p, v);
            break;
        case CM_OA_COOKIE:
            cm_oa__add_cookie(&b->cookie, p, v);
            break;
        }
        if (st != CM_OK)
            return st;
    }
    return CM_OK;
}

/* ---- body ---- */

static cm_status add_form(struct build *b, yyjson_val *v)
{
    struct cm_buf *out = &b->rq->body;
    size_t i, max, k, n;
    yyjson_val *key, *val, *element;

    if (!yyjson_is_obj(v))
        return cm_err_set(b->err, CM_E_INVALID, "body is %s; an object is expected", cm_json_kind(v));
    yyjson_obj_foreach(v, i, max, key, val)
    {
        if (yyjson_is_arr(val)) {
            yyjson_arr_foreach(val, k, n, element)
            {
                cm_oa__add_pair(out, cm_json_str(key), element, false);
            }
        } else if (!yyjson_is_null(val)) {
            cm_oa__add_pair(out, cm_json_str(key), val, false);
        }
    }
    if (out->len)
        out->ptr[--out->len] = '\0'; /* the last '&' */
    return CM_OK;
}

static cm_status build_body(struct build *b, struct cm_value args)
{
    yyjson_val *v = cm_json_get(b->args, "body");
    cm_status st = CM_OK;

    if (b->op->body == CM_OA_BODY_NONE || !v)
        return CM_OK;
    b->rq->has_body = true;
    b->rq->body = CM_BUF_INIT((size_t)CM_FRAME_MAX_BYTES);
    cm_oa_add_header(b->rq, "Content-Type", cm_str_of(b->op->body_type));
    switch (b->op->body) {
    case CM_OA_BODY_NONE:
        break;
    case CM_OA_BODY_JSON:
        cm_json_write(&b->rq->body, v);
        break;
    case CM_OA_BODY_FORM:
        st = add_form(b, v);
        break;
    case CM_OA_BODY_RAW:
        if (!yyjson_is_str(v))
            st = cm_err_set(b->err, CM_E_INVALID, "body is %s; a string or bytes are expected for '%s'",
                            cm_json_kind(v), b->op->body_type);
        else if (cm_value_is_bytes_at(args, "/body"))
            cm_base64_decode(&b->rq->body, cm_json_str(v));
        else
            cm_buf_add_str(&b->rq->body, cm_json_str(v));
        break;
    }
    return st == CM_OK ? cm_buf_check(&b->rq->body, "the body", b->err) : st;
}

/* ---- all of it ---- */

static void add_own_headers(struct build *b)
{
    bool accept = false;

    for (size_t i = 0; i < b->options->n_headers; i++) {
        const struct cm_pair *h = &b->options->headers[i];
        accept = accept || strcasecmp(h->name, "Accept") == 0;
        /* What the configuration says stands instead of what a scheme or the body added under that name. */
        for (size_t k = 0; k < b->rq->n_headers; k++) {
            size_t len = strlen(h->name);
            if (strncasecmp(b->rq->headers[k], h->name, len) != 0 || b->rq->headers[k][len] != ':')
                continue;
            free(b->rq->headers[k]);
            memmove(b->rq->headers + k, b->rq->headers + k + 1,
                    (b->rq->n_headers - k) * sizeof *b->rq->headers);
            b->rq->n_headers--;
            k--;
        }
        cm_oa_add_header(b->rq, h->name, cm_str_of(h->value));
    }
    if (!accept)
        cm_oa_add_header(b->rq, "Accept", CM_STR("application/json, */*;q=0.5"));
}

static cm_status check_args(struct build *b, size_t i)
{
    struct cm_schema_ref input, output;

    if (!yyjson_is_obj(b->args))
        return cm_err_set(b->err, CM_E_INVALID, "the arguments are %s; one object is expected",
                          cm_json_kind(b->args));
    cm_oa_schemas(b->oa, i, &input, &output);
    return cm_schema_check(input.root, input.node, b->args, b->err);
}

static cm_status build(struct build *b, size_t i, struct cm_value args)
{
    cm_status st = check_args(b, i);

    if (st == CM_OK)
        st = build_path(b);
    if (st == CM_OK)
        st = build_params(b);
    if (st == CM_OK)
        st = build_body(b, args);
    if (st != CM_OK)
        return st;
    cm_oa_apply_auth(b->oa, b->op, b->options, b->rq, &b->query, &b->cookie);
    if (b->cookie.len > 2)
        cm_oa_add_header(b->rq, "Cookie", cm_str_mk(b->cookie.ptr, b->cookie.len - 2));
    add_own_headers(b);
    st = cm_buf_check(&b->path, "the path", b->err);
    if (st == CM_OK)
        st = cm_buf_check(&b->query, "the query", b->err);
    if (st != CM_OK)
        return st;
    b->rq->method = b->op->method;
    b->rq->url = cm_asprintf("%s%s%s%.*s", b->oa->base_url ? b->oa->base_url : "",
                             b->path.ptr ? b->path.ptr : "", b->query.len ? "?" : "",
                             b->query.len ? (int)b->query.len - 1 : 0, b->query.len ? b->query.ptr : "");
    return CM_OK;
}

cm_status cm_oa_request(struct cm_oa *oa, size_t i, const struct cm_oa_options *options, struct cm_value args,
                        struct cm_oa_request *out, struct cm_err *err)
{
    cm_autobuf json = CM_BUF_INIT((size_t)CM_FRAME_MAX_BYTES);
    cm_auto(yyjson_doc) doc = NULL;
    struct cm_oa_request rq = {0};
    cm_status st = cm_value_to_tool_json(args, &json, err);

    if (st == CM_OK)
        st = cm_json_parse(cm_buf_str(&json), CM_JSON_BIGNUM, &doc, err);
    if (st != CM_OK)
        return st;
    struct build b = {.oa = oa,
                      .op = &oa->ops[i],
                      .options = options,
                      .rq = &rq,
                      .args = yyjson_doc_get_root(doc),
                      .path = CM_BUF_INIT(CM_OA_URL_MAX_BYTES),
                      .query = CM_BUF_INIT(CM_OA_URL_MAX_BYTES),
                      .cookie = CM_BUF_INIT(HEADER_MAX_BYTES),
                      .err = err};
    st = build(&b, i, args);
    cm_buf_done(&b.path);
    cm_buf_done(&b.query);
    cm_buf_done(&b.cookie);
    if (st != CM_OK) {
        cm_oa_request_done(&rq);
        return st;
    }
    *out = rq;
    return CM_OK;
}
