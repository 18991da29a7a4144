#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct status_row {
    const char *name;
    const char *text;
    int rpc;
    int exit;
};

static const struct status_row rows[CM_STATUS_COUNT_] = {
#define ROW_(name, text, rpc, exit) [CM_##name] = {#name, text, rpc, exit},
    CM_STATUS_MAP(ROW_)
#undef ROW_
};

static const struct status_row *row_of(cm_status st)
{
    return (unsigned)st < CM_STATUS_COUNT_ ? &rows[st] : &rows[CM_E_INTERNAL];
}

const char *cm_status_text(cm_status st)
{
    return row_of(st)->text;
}

const char *cm_status_name(cm_status st)
{
    return row_of(st)->name;
}

int cm_status_rpc_code(cm_status st)
{
    return row_of(st)->rpc;
}

int cm_status_exit(cm_status st)
{
    return row_of(st)->exit;
}

static void set(struct cm_err *err, cm_status st, const char *code, const char *fmt, va_list ap)
    __attribute__((format(printf, 4, 0)));

static void set(struct cm_err *err, cm_status st, const char *code, const char *fmt, va_list ap)
{
    if (!err)
        return;
    err->status = st;
    err->code = code;
    (void)vsnprintf(err->message, sizeof err->message, fmt, ap);
}

cm_status cm_err_set(struct cm_err *err, cm_status st, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    set(err, st, NULL, fmt, ap);
    va_end(ap);
    return st;
}

cm_status cm_err_limit(struct cm_err *err, const char *code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    set(err, CM_E_LIMIT, code, fmt, ap);
    va_end(ap);
    return CM_E_LIMIT;
}

const char *cm_err_code(const struct cm_err *err)
{
    return err->code ? err->code : cm_status_name(err->status);
}

cm_status cm_err_errno(struct cm_err *err, int eno, const char *fmt, ...)
{
    cm_status st = eno == ENOENT ? CM_E_NOT_FOUND : eno == ENOMEM ? CM_E_NOMEM : CM_E_IO;
    char text[CM_ERR_MAX_BYTES / 2];
    char reason[128];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return cm_err_set(err, st, "%s: %s", text, strerror_r(eno, reason, sizeof reason));
}

cm_status cm_err_prefix(struct cm_err *err, const char *fmt, ...)
{
    char front[CM_ERR_MAX_BYTES / 2];
    char old[CM_ERR_MAX_BYTES];
    va_list ap;

    if (!err)
        return CM_E_INTERNAL;
    va_start(ap, fmt);
    (void)vsnprintf(front, sizeof front, fmt, ap);
    va_end(ap);
    memcpy(old, err->message, sizeof old);
    int n = snprintf(err->message, sizeof err->message, "%s: ", front);
    size_t at = n < 0 ? 0 : (size_t)n;
    size_t len = strnlen(old, sizeof old - 1);
    if (at + len >= sizeof err->message)
        len = sizeof err->message - 1 - at;
    memcpy(err->message + at, old, len);
    err->message[at + len] = '\0';
    return err->status;
}
