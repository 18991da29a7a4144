/** KEY=VALUE on a command line into the members of a struct, by table: for the programs that measure. */
#ifndef CM_BENCH_SETTINGS_H
#define CM_BENCH_SETTINGS_H

#include "base/buf.h"
#include "base/parse.h"

struct setting {
    const char *key;
    size_t offset;
    bool text; /* a const char * for as long as the value lives; otherwise a uint32_t in decimal digits */
    const char *what; /* for whoever asks what there is; NULL: its key says it */
};

/** Errors: CM_E_NOT_FOUND no such key, with those that there are; CM_E_INVALID no such number. */
static inline cm_status setting_set(const struct setting *rows, size_t n, void *into, struct cm_str key,
                                    const char *value, struct cm_err *err)
{
    cm_autobuf known = CM_BUF_INIT(1024);

    for (size_t i = 0; i < n; i++) {
        char *member = (char *)into + rows[i].offset;

        if (!cm_str_eq_z(key, rows[i].key)) {
            cm_buf_addf(&known, "%s%s", i ? ", " : "", rows[i].key);
            continue;
        }
        if (rows[i].text)
            *(const char **)(void *)member = value;
        else if (cm_parse_u32(cm_str_of(value), (uint32_t *)(void *)member, NULL) != CM_OK)
            return cm_err_set(err, CM_E_INVALID, "%s: '%s' is no whole number from 0 to %u", rows[i].key,
                              value, UINT32_MAX);
        return CM_OK;
    }
    return cm_err_set(err, CM_E_NOT_FOUND, "there is no '%.*s'; there are %s", CM_STR_ARG(key), known.ptr);
}

#endif
