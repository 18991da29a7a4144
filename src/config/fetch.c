/**
 * `fetch`: the hosts that programs may reach by themselves. A fault ends the start, as one in a policy rule does:
 * the first match decides, so a rule that is not there would let a wider one behind it decide. Only a variable
 * that is not set switches off its own entry, which then still takes what it matches.
 *
 * What a pattern means is for src/net to say, and is checked when the connector is made.
 */
#include "config/internal.h"

#define MAX_HOSTS 1000

static const char *const host_keys[] = {"host",      "headers",  "methods",     "allowPrivate",
                                        "timeoutMs", "maxBytes", "description", NULL};

static cm_status read_private(cm_config *c, yyjson_val *obj, const char *at, struct cm_config_fetch *f,
                              struct cm_err *err)
{
    yyjson_val *v = cm_json_get(obj, "allowPrivate");

    if (yyjson_is_arr(v))
        return cm_config__strings(c, obj, at, "allowPrivate", &f->ranges, err);
    if (v && !yyjson_is_bool(v))
        return cm_config__type(v, at, "allowPrivate",
                               "true, false, or an array of addresses and ranges such as \"10.0.0.0/8\"",
                               err);
    f->allow_private = yyjson_get_bool(v);
    return CM_OK;
}

static cm_status read_host(cm_config *c, yyjson_val *obj, const char *at, struct cm_config_fetch *f,
                           struct cm_err *err)
{
    struct cm_err why;
    cm_status st;

    cm_config__unknown(c, obj, at, host_keys, NULL);
    st = cm_config__string(c, obj, at, "host", CM_TEXT_PLAIN, &f->host, err);
    if (st == CM_OK && !f->host)
        return cm_err_set(err, CM_E_CONFIG,
                          "%s.host: is missing; expected a host such as \"api.example.com\"", at);
    if (st == CM_OK)
        st = cm_config__strings(c, obj, at, "methods", &f->methods, err);
    if (st == CM_OK)
        st = read_private(c, obj, at, f, err);
    if (st == CM_OK)
        st = cm_config__u32(obj, at, "timeoutMs", 1, CM_CONFIG__TIMEOUT_MAX, &f->timeout_ms, err);
    if (st == CM_OK)
        st = cm_config__number(obj, at, "maxBytes", 1, CM_FETCH_MAX_BYTES, &f->max_bytes, err);
    if (st == CM_OK &&
        cm_config__pairs(c, obj, at, "headers", true, &f->headers, &f->n_headers, &why) != CM_OK) {
        f->off = cm_config__keepf(c, "%s", why.message);
        cm_config__warn(c, "%s; requests to '%s' are refused", why.message, f->host);
    }
    return st;
}

static cm_status read_one(cm_config *c, yyjson_val *v, struct cm_config_fetch *f, struct cm_err *err)
{
    if (yyjson_is_obj(v))
        return read_host(c, v, f->at, f, err);
    if (!yyjson_is_str(v))
        return cm_config__type(v, f->at, "",
                               "a host such as \"api.example.com\", or {\"host\": …, \"headers\": {…}}", err);
    if (memchr(yyjson_get_str(v), '\0', yyjson_get_len(v)))
        return cm_err_set(err, CM_E_CONFIG, "%s: holds a NUL character (\\u0000), which no setting may",
                          f->at);
    if (cm_config__expand(c, cm_json_str(v), CM_TEXT_PLAIN, &f->host, err) != CM_OK)
        return cm_err_prefix(err, "%s", f->at);
    return CM_OK;
}

/* Rules, the log and its readers know both by this one name. */
static cm_status check_name(const cm_config *c, struct cm_err *err)
{
    for (size_t i = 0; i < c->n_entries; i++) {
        const struct cm_config_entry *e = &c->entries[i];
        int len = (int)(strlen(e->origin) - strlen(c->where) - strlen(" in "));
        if (cm_z_eq(e->configured_name, "fetch"))
            return cm_err_set(err, CM_E_CONFIG,
                              "%.*s and codemode.fetch would both be 'fetch' in policy rules and in the log; "
                              "rename the former",
                              len, e->origin);
    }
    return CM_OK;
}

cm_status cm_config__read_fetch(cm_config *c, yyjson_val *list, const char *at, struct cm_err *err)
{
    size_t i, max;
    yyjson_val *v;
    cm_status st = CM_OK;

    if (!yyjson_is_arr(list))
        return cm_config__type(list, at, "", "an array of hosts such as [\"api.example.com\"]", err);
    if (yyjson_arr_size(list) == 0)
        return CM_OK;
    if (yyjson_arr_size(list) > MAX_HOSTS)
        return cm_err_set(err, CM_E_CONFIG, "%s: has %zu hosts; at most %d are allowed", at,
                          yyjson_arr_size(list), MAX_HOSTS);
    st = cm_config__once(list, at, true, err);
    if (st == CM_OK)
        st = check_name(c, err);
    c->fetch = cm_config__keep(c, cm_calloc(yyjson_arr_size(list), sizeof *c->fetch));
    yyjson_arr_foreach(list, i, max, v)
    {
        struct cm_config_fetch *f = &c->fetch[c->n_fetch++];
        f->at = cm_config__keepf(c, "%s[%zu]", at, i);
        if (st == CM_OK)
            st = read_one(c, v, f, err);
    }
    return st;
}
