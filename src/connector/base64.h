/** Bytes in JSON: base64, RFC 4648, section 4. */
#ifndef CM_CONNECTOR_BASE64_H
#define CM_CONNECTOR_BASE64_H

#include "json/value.h"

/** Append the text of some bytes. */
void cm_base64_encode(struct cm_buf *out, struct cm_str bytes);
/** Append the bytes of a text, up to its first character that is no digit. */
void cm_base64_decode(struct cm_buf *out, struct cm_str text);
/** Whether the member at this pointer ("/body") is a Uint8Array, an ArrayBuffer or another view. */
bool cm_value_is_bytes_at(struct cm_value v, const char *pointer);

#endif
