/* Objects decoded by table. */
#include "json/json.h"

#define ROWS_MAX 64

static const struct cm_json_field *find_row(const struct cm_json_field *rows, size_t n, struct cm_str key)
{
    for (size_t i = 0; i < n; i++)
        if (cm_str_eq_z(key, rows[i].key))
            return &rows[i];
    return NULL;
}

cm_status cm_json_dispatch(yyjson_val *obj, const struct cm_json_field *rows, size_t n_rows, void *target,
                           void (*unknown)(void *user, struct cm_str key), void *user, struct cm_err *err)
{
    bool seen[ROWS_MAX] = {false};
    yyjson_val *key, *val;
    size_t i, max;

    if (!yyjson_is_obj(obj))
        return cm_err_set(err, CM_E_INVALID, "expected an object, found %s", cm_json_kind(obj));
    if (n_rows > ROWS_MAX)
        return cm_err_set(err, CM_E_INTERNAL, "a table of %zu rows", n_rows);
    yyjson_obj_foreach(obj, i, max, key, val)
    {
        const struct cm_json_field *row = find_row(rows, n_rows, cm_json_str(key));
        if (!row) {
            if (unknown)
                unknown(user, cm_json_str(key));
            continue;
        }
        if (seen[row - rows])
            return cm_err_set(err, CM_E_INVALID, "%s: given twice", row->key);
        /* Many peers write null for "not set". */
        if (yyjson_is_null(val) && !row->required && row->decode != cm_json_decode_value)
            continue;
        seen[row - rows] = true;
        if (row->decode(val, (char *)target + row->offset, err) != CM_OK)
            return cm_err_prefix(err, "%s", row->key);
    }
    for (i = 0; i < n_rows; i++)
        if (rows[i].required && !seen[i])
            return cm_err_set(err, CM_E_INVALID, "%s: missing", rows[i].key);
    return CM_OK;
}

static cm_status wrong(yyjson_val *v, const char *expected, struct cm_err *err)
{
    return cm_err_set(err, CM_E_INVALID, "expected %s, found %s", expected, cm_json_kind(v));
}

cm_status cm_json_decode_bool(yyjson_val *v, void *into, struct cm_err *err)
{
    if (!yyjson_is_bool(v))
        return wrong(v, "true or false", err);
    *(bool *)into = yyjson_get_bool(v);
    return CM_OK;
}

/* A whole number that is not negative, also written as 5.0 or 5e3. */
static bool get_u64(yyjson_val *v, uint64_t *out)
{
    double d = yyjson_get_real(v);

    if (yyjson_is_uint(v)) {
        *out = yyjson_get_uint(v);
        return true;
    }
    if (!yyjson_is_real(v) || !(d >= 0) || d > 9007199254740992.0 || d != (double)(uint64_t)d)
        return false;
    *out = (uint64_t)d;
    return true;
}

cm_status cm_json_decode_u64(yyjson_val *v, void *into, struct cm_err *err)
{
    if (get_u64(v, into))
        return CM_OK;
    if (!yyjson_is_num(v))
        return wrong(v, "a whole number", err);
    return cm_err_set(err, CM_E_INVALID, "expected a whole number of 0 or more, found %.17g",
                      yyjson_get_num(v));
}

cm_status cm_json_decode_u32(yyjson_val *v, void *into, struct cm_err *err)
{
    uint64_t n = 0;
    cm_status st = cm_json_decode_u64(v, &n, err);

    if (st != CM_OK)
        return st;
    if (n > UINT32_MAX)
        return cm_err_set(err, CM_E_INVALID, "expected at most %u, found %llu", UINT32_MAX,
                          (unsigned long long)n);
    *(uint32_t *)into = (uint32_t)n;
    return CM_OK;
}

cm_status cm_json_decode_string(yyjson_val *v, void *into, struct cm_err *err)
{
    struct cm_str s = cm_json_str(v);

    if (!s.ptr)
        return wrong(v, "a string", err);
    if (memchr(s.ptr, '\0', s.len))
        return cm_err_set(err, CM_E_INVALID, "expected a string without a NUL character");
    *(char **)into = cm_memdup_z(s.ptr, s.len);
    return CM_OK;
}

cm_status cm_json_decode_value(yyjson_val *v, void *into, struct cm_err *err)
{
    (void)err;
    *(yyjson_val **)into = v;
    return CM_OK;
}
