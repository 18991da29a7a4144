/** Numbers from text: the whole text, decimal, in range, or an error that names the text. */
#ifndef CM_BASE_PARSE_H
#define CM_BASE_PARSE_H

#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

cm_status cm_parse_u32(struct cm_str s, uint32_t *out, struct cm_err *err);
cm_status cm_parse_i64(struct cm_str s, int64_t *out, struct cm_err *err);

#endif
