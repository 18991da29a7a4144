/*
 * Arguments -> request:  {url, headers: [[name, value], …] or {name: value}, body: bytes or text, redirect}
 *
 * What would change where a request goes or how it is framed is not a program's to set: a header that ends a
 * request and begins another would be sent past everything that was checked. Such a header is refused and not
 * dropped, since what was shown to a human is what is sent.
 */
#include "base/limits.h"
#include "connector/base64.h"
#include "connector/fetch.h"

#include <ctype.h>

#define HEADERS_MAX       100
#define HEADERS_MAX_BYTES 32768

const char *const cm_fetch_methods[CM_FETCH_METHODS] = {"get", "head",  "options", "post",
                                                        "put", "patch", "delete"};

void cm_fetch_request_done(struct cm_fetch_request *rq)
{
    cm_url_done(&rq->url);
    cm_list_free(rq->headers);
    cm_buf_done(&rq->body);
    *rq = (struct cm_fetch_request){0};
}

bool cm_fetch_is_own_header(const char *name, size_t len)
{
    static const char *const own[] = {
        "host",    "content-length", "transfer-encoding", "connection",      "keep-alive", "upgrade", "te",
        "trailer", "expect",         "http2-settings",    "accept-encoding",
    };

    for (size_t i = 0; i < CM_ARRAY_LEN(own); i++)
        if (strlen(own[i]) == len && strncasecmp(own[i], name, len) == 0)
            return true;
    return len >= 6 && strncasecmp(name, "proxy-", 6) == 0;
}

void cm_fetch_drop_header(struct cm_fetch_request *rq, const char *name, size_t len)
{
    size_t kept = 0;

    for (size_t i = 0; i < rq->n_headers; i++) {
        if (strncasecmp(rq->headers[i], name, len) == 0 && rq->headers[i][len] == ':')
            free(rq->headers[i]);
        else
            rq->headers[kept++] = rq->headers[i];
    }
    rq->n_headers = kept;
    if (rq->headers)
        rq->headers[kept] = NULL;
}

static cm_status check_header(struct cm_str name, struct cm_str value, struct cm_err *err)
{
    bool token = name.len > 0;

    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];
        token = token && c < 0x80 && c && (isalnum(c) || strchr("!#$%&'*+-.^_`|~", c));
    }
    if (!token)
        return cm_err_set(err, CM_E_INVALID,
                          "headers: '%.*s' is no name of a header; letters, digits and '-' are expected",
                          (int)(name.len < 80 ? name.len : 80), name.ptr);
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.ptr[i];
        if ((c < 0x20 && c != '\t') || c >= 0x7f)
            return cm_err_set(err, CM_E_INVALID,
                              "headers: the value of '%.80s' holds %s, which a header cannot carry; encode "
                              "it, for instance with "
                              "encodeURIComponent",
                              name.ptr,
                              c < 0x80 ? "a line break or another control character"
                                       : "a character beyond ASCII");
    }
    if (cm_fetch_is_own_header(name.ptr, name.len))
        return cm_err_set(err, CM_E_INVALID, "headers: '%.80s' is set by the transfer itself; leave it out",
                          name.ptr);
    return CM_OK;
}

static cm_status add_header(struct cm_fetch_request *rq, yyjson_val *name, yyjson_val *value, size_t *bytes,
                            struct cm_err *err)
{
    struct cm_str n = cm_json_str(name), v = cm_json_str(value);
    cm_status st;

    if (!yyjson_is_str(name) || !yyjson_is_str(value))
        return cm_err_set(err, CM_E_INVALID,
                          "headers: %s stands where a text is expected; write [[\"name\", \"value\"]]",
                          cm_json_kind(yyjson_is_str(name) ? value : name));
    *bytes += n.len + v.len;
    if (rq->n_headers == HEADERS_MAX || *bytes > HEADERS_MAX_BYTES)
        return cm_err_set(err, CM_E_INVALID, "headers: more than %d headers or %d bytes of them", HEADERS_MAX,
                          HEADERS_MAX_BYTES);
    st = check_header(n, v, err);
    if (st == CM_OK)
        rq->headers[rq->n_headers++] = cm_asprintf("%s: %s", n.ptr, v.ptr);
    return st;
}

static cm_status read_headers(struct cm_fetch_request *rq, yyjson_val *headers, struct cm_err *err)
{
    cm_status st = CM_OK;
    size_t i, max, bytes = 0;
    yyjson_val *key, *v;

    rq->headers = cm_calloc(HEADERS_MAX + 1, sizeof *rq->headers);
    if (!headers)
        return CM_OK;
    if (!yyjson_is_arr(headers) && !yyjson_is_obj(headers))
        return cm_err_set(err, CM_E_INVALID,
                          "headers: is %s; [[\"name\", \"value\"]] or {name: value} is expected",
                          cm_json_kind(headers));
    yyjson_obj_foreach(headers, i, max, key, v)
    {
        if (st == CM_OK)
            st = add_header(rq, key, v, &bytes, err);
    }
    yyjson_arr_foreach(headers, i, max, v)
    {
        if (st == CM_OK && yyjson_arr_size(v) != 2)
            st = cm_err_set(err, CM_E_INVALID, "headers: entry %zu is no pair [\"name\", \"value\"]", i);
        if (st == CM_OK)
            st = add_header(rq, yyjson_arr_get(v, 0), yyjson_arr_get(v, 1), &bytes, err);
    }
    return st;
}

static cm_status read_body(struct cm_fetch_request *rq, yyjson_val *body, struct cm_value args,
                           struct cm_err *err)
{
    if (!body || yyjson_is_null(body))
        return CM_OK;
    if (rq->method == CM_FETCH_GET || rq->method == CM_FETCH_HEAD)
        return cm_err_set(err, CM_E_INVALID,
                          "body: a %s has none; put what it says into the URL, or use post",
                          cm_fetch_methods[rq->method]);
    if (!yyjson_is_str(body))
        return cm_err_set(err, CM_E_INVALID,
                          "body: is %s; bytes or a text are expected, for data JSON.stringify(data)",
                          cm_json_kind(body));
    rq->has_body = true;
    rq->body = CM_BUF_INIT(CM_FRAME_MAX_BYTES);
    if (cm_value_is_bytes_at(args, "/body"))
        cm_base64_decode(&rq->body, cm_json_str(body));
    else
        cm_buf_add_str(&rq->body, cm_json_str(body));
    return cm_buf_check(&rq->body, "the body", err);
}

static cm_status read_redirect(struct cm_fetch_request *rq, yyjson_val *v, struct cm_err *err)
{
    static const char *const words[] = {"follow", "error", "manual"};

    if (!v || yyjson_is_null(v))
        return CM_OK;
    for (size_t i = 0; i < CM_ARRAY_LEN(words); i++)
        if (cm_str_eq_z(cm_json_str(v), words[i])) {
            rq->redirect = (enum cm_fetch_redirect)i;
            return CM_OK;
        }
    return cm_err_set(err, CM_E_INVALID, "redirect: \"follow\", \"error\" or \"manual\" is expected");
}

static cm_status read_all(struct cm_fetch_request *rq, yyjson_val *root, struct cm_value args,
                          struct cm_err *err)
{
    yyjson_val *url = cm_json_get(root, "url");
    cm_status st;

    if (!yyjson_is_str(url))
        return cm_err_set(err, CM_E_INVALID,
                          "url: a text such as \"https://api.example.com/path\" is expected");
    st = cm_url_parse(cm_json_str(url), NULL, &rq->url, err);
    if (st != CM_OK)
        return cm_err_prefix(err, "url");
    st = read_headers(rq, cm_json_get(root, "headers"), err);
    if (st == CM_OK)
        st = read_body(rq, cm_json_get(root, "body"), args, err);
    return st == CM_OK ? read_redirect(rq, cm_json_get(root, "redirect"), err) : st;
}

cm_status cm_fetch_request_read(size_t method, struct cm_value args, struct cm_fetch_request *out,
                                struct cm_err *err)
{
    cm_auto(yyjson_doc) doc = NULL;
    struct cm_fetch_request rq = {.method = method};
    cm_status st = cm_json_parse(args.json, CM_JSON_STRICT, &doc, err);

    if (st == CM_OK)
        st = read_all(&rq, yyjson_doc_get_root(doc), args, err);
    if (st != CM_OK) {
        cm_fetch_request_done(&rq);
        return st;
    }
    *out = rq;
    return CM_OK;
}
