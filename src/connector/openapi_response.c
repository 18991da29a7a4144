/*
 * Answer -> value or failure.
 *
 *   2xx, no content            undefined
 *   2xx, JSON                  data, integers exact
 *   2xx, text                  a string
 *   2xx, anything else         bytes
 *   everything else            a failure "404 Not Found: <what the service said>" with status, body (bounded)
 * and a few headers
 */
#include "connector/openapi.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "net/net.h"

#include <stdio.h>

#define BODY_SHOWN_BYTES    4096
#define MESSAGE_SHOWN_BYTES 500

static const struct {
    long code;
    const char *text;
} reasons[] = {
    {300, "Multiple Choices"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {422, "Unprocessable Content"},
    {423, "Locked"},
    {424, "Failed Dependency"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {451, "Unavailable For Legal Reasons"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
};

static const char *reason_of(long code)
{
    for (size_t i = 0; i < CM_ARRAY_LEN(reasons); i++)
        if (reasons[i].code == code)
            return reasons[i].text;
    return code >= 500 ? "Server Error" : code >= 400 ? "Client Error" : "Unexpected Answer";
}

static bool is_text(const char *type)
{
    static const char *const known[] = {"application/xml",      "application/yaml",
                                        "application/x-yaml",   "application/javascript",
                                        "application/x-ndjson", "application/jsonl",
                                        "application/graphql",  "application/x-www-form-urlencoded"};
    size_t len = strcspn(type, "; ");

    if (strncasecmp(type, "text/", 5) == 0 || (len > 4 && strncasecmp(type + len - 4, "+xml", 4) == 0))
        return true;
    for (size_t i = 0; i < CM_ARRAY_LEN(known); i++)
        if (cm_oa_same_type(type, known[i]))
            return true;
    return false;
}

static void finish_with_body(cm_call *call, const struct cm_http_response *r)
{
    cm_autovalue v = {0};
    bool untyped = !r->content_type[0];
    bool utf8 = cm_utf8_valid_prefix(r->body) == r->body.len;

    if (cm_oa_is_json(r->content_type)) {
        cm_call__finish_json(call, r->body);
        return;
    }
    if (untyped && cm_value_from_json(r->body, CM_FRAME_MAX_BYTES, &v, NULL) == CM_OK) {
        cm_call__finish(call, cm_value_view(&v));
        return;
    }
    if (utf8 && (untyped || is_text(r->content_type))) {
        v = cm_value_from_text(r->body);
        cm_call__finish(call, cm_value_view(&v));
        return;
    }
    if (strncasecmp(r->content_type, "text/", 5) == 0 && strcasestr(r->content_type, "charset=iso-8859-1")) {
        cm_autobuf text = CM_BUF_INIT(r->body.len * 2 + 1);
        for (size_t i = 0; i < r->body.len; i++) {
            unsigned char c = (unsigned char)r->body.ptr[i];
            if (c >= 0x80)
                cm_buf_add_char(&text, (char)(0xc0 | c >> 6));
            cm_buf_add_char(&text, (char)(c < 0x80 ? c : 0x80 | (c & 0x3f)));
        }
        v = cm_value_from_text(cm_buf_str(&text));
        cm_call__finish(call, cm_value_view(&v));
        return;
    }
    cm_call__finish_bytes(call, r->body);
}

/* ---- failures ---- */

static struct cm_str message_in(yyjson_val *body)
{
    static const char *const keys[] = {"message", "error",  "error_description", "detail",
                                       "title",   "reason", "description"};

    for (size_t i = 0; i < CM_ARRAY_LEN(keys); i++) {
        yyjson_val *v = cm_json_get(body, keys[i]);
        if (yyjson_is_obj(v))
            v = cm_json_get(v, "message");
        if (yyjson_is_str(v) && yyjson_get_len(v) > 0)
            return cm_json_str(v);
    }
    yyjson_val *first = yyjson_arr_get_first(cm_json_get(body, "errors"));
    return yyjson_is_str(first) ? cm_json_str(first) : cm_json_str(cm_json_get(first, "message"));
}

/* What the service said, on one line; owned. "" when it said nothing that fits into a sentence. */
static char *said(const struct cm_http_response *r, yyjson_val *body)
{
    struct cm_str s = message_in(body);
    size_t cut = 0;

    if (!s.len && yyjson_is_str(body))
        s = cm_json_str(body);
    if (!s.len && !body && cm_oa_same_type(r->content_type, "text/plain"))
        s = r->body;
    cut = cm_utf8_cut(s, MESSAGE_SHOWN_BYTES);
    char *text = cm_utf8_repair(cm_str_mk(s.len ? s.ptr : "", cut), NULL);
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < 0x20)
            *p = ' ';
    return text;
}

static void add_body(struct cm_buf *fields, const struct cm_http_response *r, yyjson_val *body)
{
    if (!r->body.len)
        return;
    cm_buf_add_z(fields, ",\"body\":");
    if (body && r->body.len <= BODY_SHOWN_BYTES)
        cm_json_write(fields, body);
    else
        cm_json_write_string(fields, cm_str_mk(r->body.ptr, cm_utf8_cut(r->body, BODY_SHOWN_BYTES)));
    if (r->body.len > BODY_SHOWN_BYTES)
        cm_buf_addf(fields, ",\"bodyBytes\":%zu", r->body.len);
}

static void add_headers(struct cm_buf *fields, const struct cm_http_response *r)
{
    static const char *const shown[] = {
        "retry-after",     "x-ratelimit-remaining", "x-ratelimit-reset", "ratelimit-remaining",
        "ratelimit-reset", "www-authenticate",      "x-request-id",      "allow"};
    bool any = false;

    for (const char *const *h = r->headers; *h; h++)
        for (size_t i = 0; i < CM_ARRAY_LEN(shown); i++) {
            size_t len = strlen(shown[i]);
            if (strncmp(*h, shown[i], len) != 0 || (*h)[len] != ':')
                continue;
            cm_buf_add_z(fields, any ? "," : ",\"headers\":{");
            cm_json_write_string(fields, cm_str_mk(*h, len));
            cm_buf_add_char(fields, ':');
            cm_json_write_string(fields, cm_str_of(*h + len + 1 + strspn(*h + len + 1, " ")));
            any = true;
        }
    if (any)
        cm_buf_add_char(fields, '}');
}

static const char *header(const struct cm_http_response *r, const char *name)
{
    size_t len = strlen(name);

    for (const char *const *h = r->headers; *h; h++)
        if (strncmp(*h, name, len) == 0 && (*h)[len] == ':')
            return *h + len + 1 + strspn(*h + len + 1, " ");
    return NULL;
}

static void fail(cm_call *call, const struct cm_http_response *r)
{
    cm_autobuf fields = CM_BUF_INIT(1u << 20);
    cm_auto(yyjson_doc) doc = NULL;
    const char *location = header(r, "location");

    if (cm_oa_is_json(r->content_type) || !r->content_type[0])
        (void)cm_json_parse(r->body, CM_JSON_BIGNUM, &doc, NULL);
    yyjson_val *body = yyjson_doc_get_root(doc);
    cm_autofree char *text = said(r, body);
    cm_buf_addf(&fields, "{\"status\":%ld", r->code);
    add_body(&fields, r, body);
    add_headers(&fields, r);
    cm_buf_add_char(&fields, '}');
    if (r->code >= 300 && r->code < 400 && location)
        cm_call__fail(call, "http", cm_buf_str(&fields),
                      "%ld %s: the service sends on to '%.*s', which is not followed", r->code,
                      reason_of(r->code), (int)strcspn(location, "?#"), location);
    else
        cm_call__fail(call, "http", cm_buf_str(&fields), "%ld %s%s%s", r->code, reason_of(r->code),
                      text[0] ? ": " : "", text);
}

static const char *code_of(cm_status st)
{
    return st == CM_E_TIMEOUT ? "timeout" : st == CM_E_LIMIT ? "limit" : "unavailable";
}

void cm_oa_finish(cm_call *call, const char *http_method, const struct cm_http_response *r)
{
    if (r->status != CM_OK) {
        cm_call__fail(call, code_of(r->status), CM_STR(""), "%s", r->error);
        return;
    }
    if (r->code < 200 || r->code > 299) {
        fail(call, r);
        return;
    }
    if (r->code == 204 || r->code == 205 || r->body.len == 0 || cm_z_eq(http_method, "HEAD")) {
        cm_call__finish(call, (struct cm_value){{NULL, 0}, {NULL, 0}});
        return;
    }
    finish_with_body(call, r);
}
