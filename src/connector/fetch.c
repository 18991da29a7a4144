/*
 * `fetch`: a program's own requests, to the places of the configuration and nowhere else.
 *
 * Happy path: arguments read, URL canonical, place found -> sent -> answer -> value. A redirect begins again at
 * "place found" with the new URL; what was allowed for one hop says nothing about the next.
 *
 * Credentials. The host's headers of a place go to the origin that the program itself addressed, and only as long
 * as redirects stay within it: a server can send a request on, but not with credentials that the program did not
 * mean for that target, even where the target has some of its own. A program's own Authorization and Cookie end
 * there too. No cookie is kept from one request to the next.
 *
 * Addresses. Names are judged where they lead, by net's may_connect: at the socket, so that nothing a name server
 * says later counts. There is no proxy, which would look names up itself.
 */
#include "connector/fetch.h"
#include "base/clock.h"
#include "base/limits.h"
#include "connector/base64.h"
#include "net/net.h"
#include "json/json.h"

#define REDIRECTS_MAX 10

struct fetch {
    struct cm_fetch_places places;
    char **resolve;
    cm_loop *loop;
    cm_http *http;
    const cm_secrets *secrets;
    yyjson_doc *input;
    yyjson_doc *output;
};

/* One call. Owned by it until it is finished or cancelled. */
struct flight {
    struct fetch *f;
    cm_call *call;
    struct cm_fetch_request rq; /* as it will be sent next */
    const struct cm_fetch_place *place;
    cm_http_request *request;
    int64_t deadline; /* monotonic */
    uint32_t timeout_ms;
    unsigned hops;
    bool away; /* has left the origin that the program addressed */
    enum cm_address_kind refused;
};

static const char input_schema[] =
    "{\"type\":\"object\",\"required\":[\"url\"],\"additionalProperties\":false,\"properties\":{"
    "\"url\":{\"type\":\"string\",\"description\":\"absolute\"},"
    "\"headers\":{\"anyOf\":[{\"type\":\"array\",\"items\":{\"type\":\"array\",\"items\":{\"type\":"
    "\"string\"}}},"
    "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}]},"
    "\"body\":{\"type\":\"string\",\"description\":\"bytes, or a text\"},"
    "\"redirect\":{\"enum\":[\"follow\",\"error\",\"manual\"]}}}";
static const char output_schema[] = "{\"type\":\"object\",\"properties\":{\"status\":{\"type\":\"integer\"},"
                                    "\"statusText\":{\"type\":\"string\"},"
                                    "\"url\":{\"type\":\"string\"},\"redirected\":{\"type\":\"boolean\"},"
                                    "\"headers\":{\"type\":\"array\",\"items\":{\"type\":\"array\",\"items\":"
                                    "{\"type\":\"string\"}}},\"body\":{}}}";

#define SAFE (CM_METHOD_READ_ONLY | CM_METHOD_IDEMPOTENT)
#define ROW(n, t, fl)                                                                          \
    {                                                                                          \
        .name = (n), .origin = (t), .description = t " a URL of codemode.fetch", .flags = (fl) \
    }
/* RFC 9110, section 9.2: which are safe, and which may be repeated. */
static const struct cm_method methods[CM_FETCH_METHODS] = {
    [CM_FETCH_GET] = ROW("get", "GET", SAFE),
    [CM_FETCH_HEAD] = ROW("head", "HEAD", SAFE),
    [CM_FETCH_OPTIONS] = ROW("options", "OPTIONS", SAFE),
    [CM_FETCH_POST] = ROW("post", "POST", 0),
    [CM_FETCH_PUT] = ROW("put", "PUT", CM_METHOD_IDEMPOTENT),
    [CM_FETCH_PATCH] = ROW("patch", "PATCH", 0),
    [CM_FETCH_DELETE] = ROW("delete", "DELETE", CM_METHOD_IDEMPOTENT),
};

/* ---- the answer ---- */

static void flight_free(struct flight *fl)
{
    cm_fetch_request_done(&fl->rq);
    free(fl);
}

static void fail(struct flight *fl, cm_status st, const char *text)
{
    const char *code = st == CM_E_DENIED    ? "denied"
                       : st == CM_E_TIMEOUT ? "timeout"
                       : st == CM_E_LIMIT   ? "limit"
                                            : "unavailable";
    cm_call *call = fl->call;

    flight_free(fl);
    cm_call__fail(call, code, CM_STR(""), "fetch.%s: %s", cm_call__method(call), text);
}

/* Header fields are bytes, and a program's Headers and Response show each as one character (Fetch standard, "isomorphic
 * decode"). What no field may hold is a space (RFC 9110, section 5.5). Secrets are looked for before either. */
static void write_text(struct cm_buf *out, const struct flight *fl, struct cm_str raw)
{
    size_t len = raw.len;
    cm_autofree char *clean = cm_secrets_redact(fl->f->secrets, raw, &len);
    const char *p = clean ? clean : raw.ptr;
    cm_autobuf text = CM_BUF_INIT(len * 2 + 1);

    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)p[i];
        if (c >= 0x80)
            cm_buf_add_char(&text, (char)(0xc0 | c >> 6));
        cm_buf_add_char(&text, (char)((c < 0x20 && c != '\t') || c == 0x7f ? ' '
                                      : c < 0x80                           ? c
                                                                           : 0x80 | (c & 0x3f)));
    }
    cm_json_write_string(out, cm_buf_str(&text));
}

static struct cm_str value_of(const char *line, size_t name_len)
{
    const char *p = line + name_len + 1;

    return cm_str_of(p + strspn(p, " \t"));
}

static void write_headers(struct cm_buf *out, const struct flight *fl, const struct cm_http_response *r)
{
    cm_buf_add_char(out, '[');
    for (const char *const *h = r->headers; *h; h++) {
        size_t len = strcspn(*h, ":");
        cm_buf_add_z(out, h == r->headers ? "[" : ",[");
        write_text(out, fl, cm_str_mk(*h, len));
        cm_buf_add_char(out, ',');
        write_text(out, fl, value_of(*h, len));
        cm_buf_add_char(out, ']');
    }
    cm_buf_add_char(out, ']');
}

static void finish(struct flight *fl, const struct cm_http_response *r)
{
    cm_autobuf out = CM_BUF_INIT((size_t)CM_FRAME_MAX_BYTES);
    size_t len = r->body.len;
    /* In the bytes themselves: their base64 text could hide what a program would see. */
    cm_autofree char *clean = cm_secrets_redact(fl->f->secrets, r->body, &len);
    cm_call *call = fl->call;

    cm_buf_addf(&out, "{\"status\":%ld,\"statusText\":", r->code);
    write_text(&out, fl, cm_str_of(r->reason));
    cm_buf_add_z(&out, ",\"url\":");
    cm_json_write_string(&out, cm_str_of(fl->rq.url.text));
    cm_buf_addf(&out, ",\"redirected\":%s,\"headers\":", fl->hops ? "true" : "false");
    write_headers(&out, fl, r);
    cm_buf_add_z(&out, ",\"body\":\"");
    cm_base64_encode(&out, clean ? cm_str_mk(clean, len) : r->body);
    cm_buf_add_z(&out, "\"}");
    if (out.failed) {
        fail(fl, CM_E_LIMIT, "the answer does not fit into memory");
        return;
    }
    flight_free(fl);
    cm_call__finish(call, (struct cm_value){cm_buf_str(&out), CM_STR("{\"/body\":\"bytes\"}")});
}

/* ---- going there ---- */

static void on_response(void *user, const struct cm_http_response *r);

static bool may_connect(void *user, const struct cm_address *a)
{
    struct flight *fl = user;

    if (cm_allow_address(&fl->place->allow, a))
        return true;
    fl->refused = cm_address_kind(a);
    return false;
}

/* The program's lines, and those of the host in place of any of the same name. */
static const char **header_lines(struct flight *fl)
{
    size_t n = 0;

    for (char **h = fl->place->headers; !fl->away && *h; h++, n++)
        cm_fetch_drop_header(&fl->rq, *h, strcspn(*h, ":"));
    const char **lines = cm_calloc(n + fl->rq.n_headers + 1, sizeof *lines);
    for (size_t i = 0; i < n; i++)
        lines[i] = fl->place->headers[i];
    for (size_t i = 0; i < fl->rq.n_headers; i++)
        lines[n + i] = fl->rq.headers[i];
    return lines;
}

static cm_status send_next(struct flight *fl, struct cm_err *err)
{
    int64_t left = fl->deadline - cm_mono_ms();
    cm_autofree const char **lines = header_lines(fl);
    struct cm_http_spec spec = {
        .method = methods[fl->rq.method].origin,
        .url = fl->rq.url.text,
        .headers = lines,
        .body = fl->rq.has_body ? cm_str_mk(fl->rq.body.ptr ? fl->rq.body.ptr : "", fl->rq.body.len)
                                : (struct cm_str){NULL, 0},
        .timeout_ms = left > 0 ? (uint32_t)left : 1,
        .max_body_bytes = fl->place->max_bytes,
        .may_connect = may_connect,
        .resolve = (const char *const *)fl->f->resolve,
    };

    return cm_http_start(fl->f->http, &spec, on_response, fl, &fl->request, err);
}

/* ---- being sent on ---- */

static void become_get(struct cm_fetch_request *rq)
{
    static const char *const of_body[] = {"content-type", "content-encoding", "content-language",
                                          "content-location"};

    rq->method = CM_FETCH_GET;
    rq->has_body = false;
    cm_buf_done(&rq->body);
    for (size_t i = 0; i < CM_ARRAY_LEN(of_body); i++)
        cm_fetch_drop_header(rq, of_body[i], strlen(of_body[i]));
}

/* As browsers do: Fetch standard, "HTTP-redirect fetch", steps 9 to 13. */
static void change_request(struct flight *fl, long code, struct cm_url *take_url)
{
    bool same = cm_url_same_origin(&fl->rq.url, take_url);
    size_t method = fl->rq.method;

    if (((code == 301 || code == 302) && method == CM_FETCH_POST) ||
        (code == 303 && method != CM_FETCH_GET && method != CM_FETCH_HEAD))
        become_get(&fl->rq);
    if (!same) {
        fl->away = true;
        cm_fetch_drop_header(&fl->rq, "authorization", 13);
        cm_fetch_drop_header(&fl->rq, "cookie", 6);
    }
    cm_url_done(&fl->rq.url);
    fl->rq.url = *take_url;
    *take_url = (struct cm_url){0};
}

static cm_status follow(struct flight *fl, long code, struct cm_str location, struct cm_err *err)
{
    cm_autofree char *from = cm_url_origin(&fl->rq.url);
    cm_autourl url = {0};
    cm_status st;

    if (fl->rq.redirect == CM_FETCH_ERROR)
        return cm_err_set(
            err, CM_E_UNAVAILABLE,
            "%.300s answered %ld, a redirect, and redirect: \"error\" was asked for; use \"follow\", or "
            "\"manual\" to see where to",
            from, code);
    if (++fl->hops > REDIRECTS_MAX)
        return cm_err_set(
            err, CM_E_LIMIT,
            "%.300s sent on once more after %d redirects; use redirect: \"manual\" to see where to", from,
            REDIRECTS_MAX);
    if (cm_mono_ms() >= fl->deadline)
        return cm_err_set(err, CM_E_TIMEOUT, "redirects took longer than %u ms, the last one by %.300s",
                          fl->timeout_ms, from);
    st = cm_url_parse(location, &fl->rq.url, &url, err);
    if (st == CM_OK) {
        change_request(fl, code, &url);
        st = cm_fetch_find(&fl->f->places, &fl->rq.url, fl->rq.method, &fl->place, err);
    }
    return st == CM_OK ? send_next(fl, err) : cm_err_prefix(err, "%.300s sent on with %ld", from, code);
}

static struct cm_str location_of(const struct cm_http_response *r)
{
    for (const char *const *h = r->headers; *h; h++)
        if (strncmp(*h, "location:", 9) == 0)
            return value_of(*h, 8);
    return (struct cm_str){NULL, 0};
}

static void fail_response(struct flight *fl, const struct cm_http_response *r)
{
    cm_autofree char *origin = cm_url_origin(&fl->rq.url);
    cm_autofree char *text = NULL;

    if (r->status == CM_E_DENIED) {
        cm_autofree char *why = cm_fetch_why_address(fl->place, fl->refused);
        text = cm_asprintf("%.300s is not allowed: it %s", origin, why);
    } else if (r->status == CM_E_LIMIT) {
        text = cm_asprintf("%s (%s: maxBytes). Ask for less: filter, page, or use a range", r->error,
                           fl->place->at);
    } else if (r->status == CM_E_TIMEOUT) {
        text = cm_asprintf("%.300s did not answer within %u ms, redirects included", origin, fl->timeout_ms);
    } else {
        text = cm_strdup(r->error);
    }
    fail(fl, r->status, text);
}

static void on_response(void *user, const struct cm_http_response *r)
{
    struct flight *fl = user;
    bool redirect = r->code == 301 || r->code == 302 || r->code == 303 || r->code == 307 || r->code == 308;
    struct cm_str location = {NULL, 0};
    struct cm_err err;

    fl->request = NULL;
    if (r->status != CM_OK) {
        fail_response(fl, r);
        return;
    }
    if (redirect && fl->rq.redirect != CM_FETCH_MANUAL)
        location = location_of(r);
    if (!location.len) {
        finish(fl, r);
        return;
    }
    cm_status st = follow(fl, r->code, location, &err);
    if (st != CM_OK)
        fail(fl, st, err.message);
}

/* ---- the connector ---- */

static cm_status prepare(const struct fetch *f, size_t i, struct cm_value args, struct cm_fetch_request *rq,
                         const struct cm_fetch_place **place, struct cm_err *err)
{
    cm_status st = cm_fetch_request_read(i, args, rq, err);

    return st == CM_OK ? cm_fetch_find(&f->places, &rq->url, i, place, err) : st;
}

static cm_status fetch_check(void *self, size_t i, struct cm_value args, struct cm_err *err)
{
    struct cm_fetch_request rq = {0};
    const struct cm_fetch_place *place = NULL;
    cm_status st = prepare(self, i, args, &rq, &place, err);

    cm_fetch_request_done(&rq);
    return st;
}

static void fetch_call(void *self, size_t i, struct cm_value args, cm_call *call)
{
    struct fetch *f = self;
    struct flight *fl = cm_new(struct flight);
    struct cm_err err;
    cm_status st;

    *fl = (struct flight){.f = f, .call = call};
    st = prepare(f, i, args, &fl->rq, &fl->place, &err);
    if (st == CM_OK) {
        uint32_t most = cm_call__timeout_ms(call);
        fl->timeout_ms = fl->place->timeout_ms < most ? fl->place->timeout_ms : most;
        fl->deadline = cm_mono_ms() + fl->timeout_ms;
        st = send_next(fl, &err);
    }
    if (st == CM_OK)
        cm_call__set_state(call, fl);
    else
        fail(fl, st, err.message);
}

static void fetch_cancel(void *self, cm_call *call)
{
    struct flight *fl = cm_call__state(call);

    (void)self;
    if (!fl)
        return;
    if (fl->request)
        cm_http_cancel(fl->request);
    flight_free(fl);
}

static void fetch_start(void *self, cm_connector *c)
{
    struct fetch *f = self;
    struct cm_err err;

    if (!f->http && cm_http_new(f->loop, &f->http, &err) != CM_OK)
        cm_connector__failed(c, &err);
    else
        cm_connector__ready(c);
}

static size_t fetch_methods(void *self, const struct cm_method **out)
{
    (void)self;
    *out = methods;
    return CM_FETCH_METHODS;
}

static void fetch_schemas(void *self, size_t i, struct cm_schema_ref *input, struct cm_schema_ref *output)
{
    const struct fetch *f = self;
    yyjson_val *in = yyjson_doc_get_root(f->input), *out = yyjson_doc_get_root(f->output);

    (void)i;
    *input = (struct cm_schema_ref){in, in};
    *output = (struct cm_schema_ref){out, out};
}

static void fetch_free(void *self)
{
    struct fetch *f = self;

    cm_http_free(f->http);
    cm_fetch_places_done(&f->places);
    cm_list_free(f->resolve);
    yyjson_doc_free(f->input);
    yyjson_doc_free(f->output);
    free(f);
}

static const struct cm_connector_ops fetch_ops = {
    .kind = "fetch",
    .start = fetch_start,
    .methods = fetch_methods,
    .schemas = fetch_schemas,
    .check = fetch_check,
    .call = fetch_call,
    .cancel = fetch_cancel,
    .free = fetch_free,
};

void cm_connector_fetch_places(const cm_connector *c, struct cm_buf *out)
{
    const struct fetch *f = cm_connector__self(c, &fetch_ops);

    if (f)
        cm_fetch_list(&f->places, out);
}

cm_status cm_connector_fetch(cm_loop *loop, const struct cm_connector_base *base,
                             const struct cm_fetch_spec *spec, cm_connector **out, struct cm_err *err)
{
    struct cm_fetch_places places = {0};
    uint32_t longest = base->timeout_ms;
    cm_status st = cm_fetch_places_new(spec, &places, err);

    if (st != CM_OK)
        return st;
    /* Each place has its own limit; the connector's only catches what is beyond all of them. */
    for (size_t i = 0; i < places.n; i++)
        longest = places.items[i].timeout_ms >= longest ? places.items[i].timeout_ms + 1000 : longest;
    struct fetch *f = cm_new(struct fetch);
    f->loop = loop;
    f->places = places;
    f->secrets = base->secrets;
    f->resolve = spec->resolve ? cm_list_dup(spec->resolve) : NULL;
    (void)cm_json_parse(cm_str_of(input_schema), CM_JSON_STRICT, &f->input, NULL);
    (void)cm_json_parse(cm_str_of(output_schema), CM_JSON_STRICT, &f->output, NULL);
    *out = cm_connector_new(loop, &fetch_ops, f, base->name, base->origin, base->start_timeout_ms, longest,
                            base->secrets);
    return CM_OK;
}
