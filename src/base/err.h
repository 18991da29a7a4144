/** Errors: a cm_status and a sentence. Each caller adds its context in front with cm_err_prefix. */
#ifndef CM_BASE_ERR_H
#define CM_BASE_ERR_H

#include <codemode.h>
#include <stdarg.h>

/** Fill err (NULL is allowed) and return st, so that a failure is one statement: `return cm_err_set(err,
 * CM_E_IO, "…")`. */
cm_status cm_err_set(struct cm_err *err, cm_status st, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/** As cm_err_set with CM_E_LIMIT and the code of that one limit, a literal: "source_limit". */
cm_status cm_err_limit(struct cm_err *err, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/** As cm_err_set with CM_E_IO and ": " plus the text of errno value `eno` appended. ENOENT gives
 * CM_E_NOT_FOUND, ENOMEM CM_E_NOMEM. */
cm_status cm_err_errno(struct cm_err *err, int eno, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/** Put "<text>: " before the message and return the status already in err. The oldest text is cut when it
 * grows too long. */
cm_status cm_err_prefix(struct cm_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** The JSON-RPC code of CM_STATUS_MAP; name, text and exit status are public (codemode.h). */
int cm_status_rpc_code(cm_status st);

#endif
