/** UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef CM_BASE_UTF8_H
#define CM_BASE_UTF8_H

#include "base/str.h"

/** Bytes from the start that are valid UTF-8; s.len when all are. */
size_t cm_utf8_valid_prefix(struct cm_str s);
/** A copy with each invalid byte replaced by U+FFFD, owned by the caller. */
char *cm_utf8_repair(struct cm_str s, size_t *len);
/** The largest cut <= max_bytes that does not split a character. */
size_t cm_utf8_cut(struct cm_str s, size_t max_bytes);

#endif
