/**
 * The values that must appear in no error, log or output, and the one way to take them out of a text.
 *
 * Whatever leaves a connector (result, error, diagnostics) passes cm_secrets_redact before anything else sees
 * it: a server that echoes a header back then tells the program nothing.
 */
#ifndef CM_BASE_SECRETS_H
#define CM_BASE_SECRETS_H

#include "base/buf.h"

/** A secret shorter than this is not looked for: it would cut ordinary text to pieces and protects nothing.
 */
#define CM_SECRET_MIN_BYTES 6

typedef struct cm_secrets cm_secrets;

cm_secrets *cm_secrets_new(void);
void cm_secrets_free(cm_secrets *s);
/**
 * Remember a value. `label` names its origin in the text that replaces it ("[secret LABEL]"). Both are
 * copied. The JSON-escaped, percent-encoded and base64 forms of the value are looked for as well. Values
 * under CM_SECRET_MIN_BYTES and repeats are ignored.
 */
void cm_secrets_add(cm_secrets *s, struct cm_str value, const char *label);
/** Whether any secret occurs in text. s may be NULL. */
bool cm_secrets_occur(const cm_secrets *s, struct cm_str text);
/**
 * A copy of text in which every secret is replaced, owned by the caller; or NULL when none occurs, so that
 * the common case copies nothing. Works on JSON text too: what is put in is plain ASCII without quotes or
 * backslashes. s may be NULL.
 */
char *cm_secrets_redact(const cm_secrets *s, struct cm_str text, size_t *len);

#endif
