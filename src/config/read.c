/** Members of objects, each read with a message that names its place, what stands there and what would be
 * accepted. */
#include "config/internal.h"

#include "base/names.h"

#include <inttypes.h>

cm_status cm_config__type(yyjson_val *v, const char *at, const char *key, const char *expected,
                          struct cm_err *err)
{
    return cm_err_set(err, CM_E_CONFIG, "%s%s%s: is %s; expected %s", at, *at && *key ? "." : "", key,
                      cm_json_kind(v), expected);
}

cm_status cm_config__object(yyjson_val *obj, const char *at, const char *key, yyjson_val **out,
                            struct cm_err *err)
{
    yyjson_val *v = cm_json_get(obj, key);

    if (!v)
        return CM_OK;
    if (!yyjson_is_obj(v))
        return cm_config__type(v, at, key, "an object", err);
    *out = v;
    return CM_OK;
}

static cm_status expand_at(cm_config *c, yyjson_val *v, enum cm_config__text kind, const char **out,
                           struct cm_err *err)
{
    struct cm_str text = cm_json_str(v);

    /* Paths, arguments and headers end at a NUL: what stood behind it would be lost without a word. */
    if (memchr(text.ptr, '\0', text.len))
        return cm_err_set(err, CM_E_CONFIG, "holds a NUL character (\\u0000), which no setting may");
    return cm_config__expand(c, text, kind, out, err);
}

cm_status cm_config__string(cm_config *c, yyjson_val *obj, const char *at, const char *key,
                            enum cm_config__text kind, const char **out, struct cm_err *err)
{
    yyjson_val *v = cm_json_get(obj, key);

    if (!v)
        return CM_OK;
    if (!yyjson_is_str(v))
        return cm_config__type(v, at, key, "a string", err);
    if (expand_at(c, v, kind, out, err) != CM_OK)
        return cm_err_prefix(err, "%s.%s", at, key);
    return CM_OK;
}

cm_status cm_config__strings(cm_config *c, yyjson_val *obj, const char *at, const char *key,
                             const char *const **out, struct cm_err *err)
{
    yyjson_val *v = cm_json_get(obj, key);
    yyjson_val *item;
    size_t i, max;

    if (!v)
        return CM_OK;
    if (!yyjson_is_arr(v))
        return cm_config__type(v, at, key, "an array of strings", err);
    const char **list = cm_config__keep(c, cm_calloc(yyjson_arr_size(v) + 1, sizeof *list));
    yyjson_arr_foreach(v, i, max, item)
    {
        cm_status st = CM_OK;
        if (!yyjson_is_str(item))
            st = cm_err_set(err, CM_E_CONFIG, "is %s; expected a string", cm_json_kind(item));
        else
            st = expand_at(c, item, CM_TEXT_PLAIN, &list[i], err);
        if (st != CM_OK)
            return cm_err_prefix(err, "%s.%s[%zu]", at, key, i);
    }
    *out = list;
    return CM_OK;
}

cm_status cm_config__bool(yyjson_val *obj, const char *at, const char *key, bool *out, struct cm_err *err)
{
    yyjson_val *v = cm_json_get(obj, key);

    if (!v)
        return CM_OK;
    if (!yyjson_is_bool(v))
        return cm_config__type(v, at, key, "true or false", err);
    *out = yyjson_get_bool(v);
    return CM_OK;
}

cm_status cm_config__number(yyjson_val *obj, const char *at, const char *key, uint64_t min, uint64_t max,
                            uint64_t *out, struct cm_err *err)
{
    yyjson_val *v = cm_json_get(obj, key);
    char expected[96];

    if (!v)
        return CM_OK;
    snprintf(expected, sizeof expected, "a whole number from %" PRIu64 " to %" PRIu64, min, max);
    if (!yyjson_is_num(v))
        return cm_config__type(v, at, key, expected, err);
    double real = yyjson_get_num(v);
    if (!yyjson_is_int(v) || yyjson_is_sint(v) || yyjson_get_uint(v) < min || yyjson_get_uint(v) > max)
        return cm_err_set(err, CM_E_CONFIG, "%s%s%s: is %.15g; expected %s", at, *at ? "." : "", key, real,
                          expected);
    *out = yyjson_get_uint(v);
    return CM_OK;
}

cm_status cm_config__u32(yyjson_val *obj, const char *at, const char *key, uint32_t min, uint32_t max,
                         uint32_t *out, struct cm_err *err)
{
    uint64_t wide = *out;
    cm_status st = cm_config__number(obj, at, key, min, max, &wide, err);

    *out = (uint32_t)wide;
    return st;
}

static bool is_in(struct cm_str key, const char *const *list)
{
    for (; list && *list; list++)
        if (cm_str_eq_z(key, *list))
            return true;
    return false;
}

const char *cm_config__nearest(struct cm_str name, const char *const *known)
{
    const char *best = NULL;
    unsigned best_distance = name.len < 4 ? 2 : 4;

    for (; known && *known; known++) {
        unsigned d = cm_name_distance(name, cm_str_of(*known));
        if (d < best_distance) {
            best_distance = d;
            best = *known;
        }
    }
    return best;
}

void cm_config__unknown(cm_config *c, yyjson_val *obj, const char *at, const char *const *known,
                        const char *const *foreign)
{
    yyjson_val *key, *value;
    size_t i, max;

    yyjson_obj_foreach(obj, i, max, key, value)
    {
        struct cm_str name = cm_json_str(key);
        const char *dot = *at ? "." : "";
        if (is_in(name, known))
            continue;
        const char *near = cm_config__nearest(name, known);
        if (is_in(name, foreign))
            cm_config__warn(c, "%s%s%.*s: a setting of another client, without effect here", at, dot,
                            CM_STR_ARG(name));
        else if (near)
            cm_config__warn(c, "%s%s%.*s: unknown key, ignored; did you mean '%s'?", at, dot,
                            CM_STR_ARG(name), near);
        else
            cm_config__warn(c, "%s%s%.*s: unknown key, ignored", at, dot, CM_STR_ARG(name));
    }
}

struct key {
    yyjson_val *val;
};

static int by_text(const void *a, const void *b)
{
    struct cm_str x = cm_json_str(((const struct key *)a)->val),
                  y = cm_json_str(((const struct key *)b)->val);
    int order = memcmp(x.ptr, y.ptr, x.len < y.len ? x.len : y.len);

    return order ? order : (x.len > y.len) - (x.len < y.len);
}

static cm_status keys_once(yyjson_val *obj, const char *at, struct cm_err *err)
{
    size_t n = yyjson_obj_size(obj), i, max;
    cm_autofree struct key *keys = cm_calloc(n + 1, sizeof *keys);
    yyjson_val *key, *v;

    yyjson_obj_foreach(obj, i, max, key, v)
    {
        keys[i].val = key;
    }
    qsort(keys, n, sizeof *keys, by_text);
    for (i = 1; i < n; i++) {
        struct cm_str name = cm_json_str(keys[i].val);
        if (by_text(&keys[i - 1], &keys[i]) == 0)
            return cm_err_set(err, CM_E_CONFIG, "%s%s%.*s: is written twice; keep one of them", at,
                              *at ? "." : "", (int)(name.len < 100 ? name.len : 100), name.ptr);
    }
    return CM_OK;
}

cm_status cm_config__once(yyjson_val *v, const char *at, bool deep, struct cm_err *err)
{
    cm_status st = yyjson_is_obj(v) ? keys_once(v, at, err) : CM_OK;
    size_t i, max;
    yyjson_val *key, *member;

    if (!deep)
        return st;
    yyjson_obj_foreach(v, i, max, key, member)
    {
        static const char *const others[] = {"tools", "inputSchema", "outputSchema"};
        bool skip = !yyjson_is_ctn(member);
        for (size_t k = 0; k < CM_ARRAY_LEN(others); k++)
            skip = skip || cm_str_eq_z(cm_json_str(key), others[k]);
        cm_autofree char *place = skip ? NULL : cm_asprintf("%s.%s", at, yyjson_get_str(key));
        if (st == CM_OK && !skip)
            st = cm_config__once(member, place, true, err);
    }
    yyjson_arr_foreach(v, i, max, member)
    {
        cm_autofree char *place = yyjson_is_ctn(member) ? cm_asprintf("%s[%zu]", at, i) : NULL;
        if (st == CM_OK && place)
            st = cm_config__once(member, place, true, err);
    }
    return st;
}
