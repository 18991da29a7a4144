/*
 * Credentials, and which names a program may therefore not set.
 *
 * A scheme is applied to the operations whose `security` asks for it: of its alternatives the first that is
 * configured whole. A description without any `security` gets all that is configured, one that says
 * `security: []` gets none.
 */
#include "connector/openapi.h"

#include <stdint.h>

static const struct cm_pair *configured(const struct cm_oa_options *o, const char *scheme)
{
    for (size_t i = 0; i < o->n_auth; i++)
        if (cm_z_eq(o->auth[i].name, scheme))
            return &o->auth[i];
    return NULL;
}

static yyjson_val *find_scheme(yyjson_val *root, const char *name)
{
    return cm_oa_deref(root,
                       cm_json_get(cm_json_get(cm_json_get(root, "components"), "securitySchemes"), name));
}

yyjson_val *cm_oa_scheme(const struct cm_oa *oa, const char *name)
{
    return find_scheme(oa->root, name);
}

static bool is_str(yyjson_val *v, const char *want)
{
    struct cm_str s = cm_json_str(v);

    return s.ptr && s.len == strlen(want) && strncasecmp(s.ptr, want, s.len) == 0;
}

/* Where an apiKey scheme puts its key; false for what goes into Authorization. */
static bool key_place(yyjson_val *scheme, enum cm_oa_place *place, const char **name)
{
    yyjson_val *in = cm_json_get(scheme, "in");

    *name = cm_json_get_z(scheme, "name");
    if (!is_str(cm_json_get(scheme, "type"), "apiKey") || !*name)
        return false;
    *place = is_str(in, "query") ? CM_OA_QUERY : is_str(in, "cookie") ? CM_OA_COOKIE : CM_OA_HEADER;
    return true;
}

bool cm_oa_is_ours(yyjson_val *root, const struct cm_oa_options *o, enum cm_oa_place place, const char *name)
{
    /* The first three by the specification (Parameter Object, "name"); the others would change where the
     * request begins or ends. */
    static const char *const never[] = {"Accept",
                                        "Content-Type",
                                        "Authorization",
                                        "Host",
                                        "Content-Length",
                                        "Transfer-Encoding",
                                        "Connection",
                                        "Cookie",
                                        "Expect",
                                        "Upgrade",
                                        "TE",
                                        "Trailer",
                                        "Proxy-Authorization"};

    for (size_t i = 0; place == CM_OA_HEADER && i < CM_ARRAY_LEN(never); i++)
        if (strcasecmp(never[i], name) == 0)
            return true;
    for (size_t i = 0; place == CM_OA_HEADER && i < o->n_headers; i++)
        if (strcasecmp(o->headers[i].name, name) == 0)
            return true;
    for (size_t i = 0; i < o->n_auth; i++) {
        enum cm_oa_place at = CM_OA_HEADER;
        const char *key = NULL;
        if (key_place(find_scheme(root, o->auth[i].name), &at, &key) && at == place &&
            (place == CM_OA_HEADER ? strcasecmp(key, name) == 0 : cm_z_eq(key, name)))
            return true;
    }
    return false;
}

static void add_basic(struct cm_oa_request *rq, const char *user_and_password)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t len = strlen(user_and_password);
    cm_autobuf b = CM_BUF_INIT(len * 2 + 16);

    cm_buf_add_z(&b, "Basic ");
    for (size_t i = 0; i < len; i += 3) {
        unsigned char in[3] = {0};
        size_t n = len - i < 3 ? len - i : 3;
        memcpy(in, user_and_password + i, n);
        uint32_t w = (uint32_t)in[0] << 16 | (uint32_t)in[1] << 8 | in[2];
        cm_buf_add_char(&b, digits[w >> 18]);
        cm_buf_add_char(&b, digits[w >> 12 & 63]);
        cm_buf_add_char(&b, n > 1 ? digits[w >> 6 & 63] : '=');
        cm_buf_add_char(&b, n > 2 ? digits[w & 63] : '=');
    }
    cm_oa_add_header(rq, "Authorization", cm_buf_str(&b));
}

static void apply(yyjson_val *scheme, const char *secret, struct cm_oa_request *rq, struct cm_buf *query,
                  struct cm_buf *cookie)
{
    enum cm_oa_place place = CM_OA_HEADER;
    const char *name = NULL;

    if (key_place(scheme, &place, &name)) {
        struct cm_buf *to = place == CM_OA_QUERY ? query : cookie;
        if (place == CM_OA_HEADER) {
            cm_oa_add_header(rq, name, cm_str_of(secret));
            return;
        }
        cm_oa_encode(to, cm_str_of(name), false);
        cm_buf_add_char(to, '=');
        cm_oa_encode(to, cm_str_of(secret), false);
        cm_buf_add_z(to, place == CM_OA_QUERY ? "&" : "; ");
    } else if (is_str(cm_json_get(scheme, "type"), "http") &&
               is_str(cm_json_get(scheme, "scheme"), "basic")) {
        add_basic(rq, secret);
    } else {
        /* http bearer, and a token that OAuth 2 or OpenID Connect gave out. */
        cm_autofree char *value = cm_asprintf("Bearer %s", secret);
        cm_oa_add_header(rq, "Authorization", cm_str_of(value));
    }
}

static bool configured_whole(const struct cm_oa_options *o, yyjson_val *alternative)
{
    yyjson_val *name, *scopes;
    size_t i, max;

    if (yyjson_obj_size(alternative) == 0)
        return false;
    yyjson_obj_foreach(alternative, i, max, name, scopes)
    {
        (void)scopes;
        if (!configured(o, yyjson_get_str(name)))
            return false;
    }
    return true;
}

void cm_oa_apply_auth(const struct cm_oa *oa, const struct cm_oa_op *op, const struct cm_oa_options *o,
                      struct cm_oa_request *rq, struct cm_buf *query, struct cm_buf *cookie)
{
    yyjson_val *own = cm_json_get(op->node, "security");
    yyjson_val *security = own ? own : cm_json_get(oa->root, "security");
    yyjson_val *alternative, *name, *scopes;
    size_t i, max, k, n;

    if (!security) {
        for (i = 0; i < o->n_auth; i++) {
            yyjson_val *scheme = cm_oa_scheme(oa, o->auth[i].name);
            if (scheme)
                apply(scheme, o->auth[i].value, rq, query, cookie);
        }
        return;
    }
    yyjson_arr_foreach(security, i, max, alternative)
    {
        if (!configured_whole(o, alternative))
            continue;
        yyjson_obj_foreach(alternative, k, n, name, scopes)
        {
            (void)scopes;
            yyjson_val *scheme = cm_oa_scheme(oa, yyjson_get_str(name));
            if (scheme)
                apply(scheme, configured(o, yyjson_get_str(name))->value, rq, query, cookie);
        }
        return;
    }
}
