#include "base/parse.h"

cm_status cm_parse_i64(struct cm_str s, int64_t *out, struct cm_err *err)
{
    bool neg = s.len > 0 && s.ptr[0] == '-';
    size_t i = neg ? 1 : 0;
    int64_t v = 0;

    if (i == s.len)
        return cm_err_set(err, CM_E_INVALID, "'%.*s' is not a whole number", CM_STR_ARG(s));
    for (; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return cm_err_set(err, CM_E_INVALID, "'%.*s' is not a whole number", CM_STR_ARG(s));
        int digit = s.ptr[i] - '0';
        if (__builtin_mul_overflow(v, (int64_t)10, &v) ||
            (neg ? __builtin_sub_overflow(v, (int64_t)digit, &v)
                 : __builtin_add_overflow(v, (int64_t)digit, &v)))
            return cm_err_set(err, CM_E_INVALID, "'%.*s' is out of range", CM_STR_ARG(s));
    }
    *out = v;
    return CM_OK;
}

cm_status cm_parse_u32(struct cm_str s, uint32_t *out, struct cm_err *err)
{
    int64_t v = 0;
    cm_status st = cm_parse_i64(s, &v, err);

    if (st != CM_OK)
        return st;
    if (v < 0 || v > UINT32_MAX)
        return cm_err_set(err, CM_E_INVALID, "'%.*s' is out of range (0 to 4294967295)", CM_STR_ARG(s));
    *out = (uint32_t)v;
    return CM_OK;
}
