/**
 * json: documents. yyjson does the parsing; this folder adds our limits, messages, canonical bytes and the
 * value codec.
 *
 * Everyone reaches yyjson through this header and may use its API as it is. Start with value.h for what
 * crosses to a program. Invariant: parsed depth is bounded by CM_VALUE_MAX_DEPTH, so walks may recurse.
 */
#ifndef CM_JSON_JSON_H
#define CM_JSON_JSON_H

#include "base/base.h"

#include <yyjson.h>

CM_DEFINE_AUTO(yyjson_doc, yyjson_doc_free)
CM_DEFINE_AUTO(yyjson_mut_doc, yyjson_mut_doc_free)

enum cm_json_flags {
    CM_JSON_STRICT = 0,
    CM_JSON_RELAXED = 1, /* comments and trailing commas, for files that people write */
    CM_JSON_BIGNUM =
        2, /* integers beyond 64 bits and reals that a double cannot hold stay raw text (yyjson_is_raw) */
    CM_JSON_REPAIR = 4, /* lone surrogates and invalid UTF-8 become U+FFFD, a byte order mark is skipped: for
                           what peers send */
};

/**
 * Parse. The message says line, column and what was expected; depth beyond CM_VALUE_MAX_DEPTH is CM_E_LIMIT.
 * *out is owned by the caller.
 */
cm_status cm_json_parse(struct cm_str text, unsigned flags, yyjson_doc **out, struct cm_err *err);

/** A copy of a JSON text with U+FFFD for lone surrogates and invalid UTF-8, owned by the caller. */
char *cm_json_repair(struct cm_str text, size_t *len);

/** Lookup that never fails: NULL where v is no object or has no such key. */
yyjson_val *cm_json_get(yyjson_val *v, const char *key);
/** The string as a borrowed run; {NULL, 0} when v is no string. */
struct cm_str cm_json_str(yyjson_val *v);
/** A member that is a string, borrowed and NUL-terminated, or NULL. */
const char *cm_json_get_z(yyjson_val *v, const char *key);
/** What v is, in words of a message: "a string", "an object", "missing" for NULL. */
const char *cm_json_kind(yyjson_val *v);

/** Append v as compact JSON. */
void cm_json_write(struct cm_buf *out, yyjson_val *v);
/** Append v as RFC 8785 canonical JSON. Reals and integers beyond 2^53 are written as ECMAScript would print
 * the double. */
void cm_json_write_canonical(struct cm_buf *out, yyjson_val *v);
/** Append text as a JSON string literal, quotes included; invalid UTF-8 is repaired. */
void cm_json_write_string(struct cm_buf *out, struct cm_str text);
/** Append a double as ECMAScript's Number::toString prints it (ECMA-262, 6.1.6.1.20); NaN and infinities as
 * null. */
void cm_json_write_number(struct cm_buf *out, double d);
/** Append v indented by two spaces a level, for people. */
void cm_json_write_pretty(struct cm_buf *out, yyjson_val *v);
/** Append one RFC 6901 reference token ("/" and the escaped key). */
void cm_json_write_pointer_token(struct cm_buf *out, struct cm_str key);

/**
 * Decode an object by table. Each row names a key and a function; keys without a row are reported to
 * `unknown` if set. Errors get the key in front.
 */
struct cm_json_field {
    const char *key;
    cm_status (*decode)(yyjson_val *v, void *into, struct cm_err *err);
    size_t offset; /* of the member in the target struct */
    bool required;
};
cm_status cm_json_dispatch(yyjson_val *obj, const struct cm_json_field *rows, size_t n_rows, void *target,
                           void (*unknown)(void *user, struct cm_str key), void *user, struct cm_err *err);
/* Ready decoders for rows: member types bool, uint32_t, uint64_t, char * (owned copy), yyjson_val *. */
cm_status cm_json_decode_bool(yyjson_val *v, void *into, struct cm_err *err);
cm_status cm_json_decode_u32(yyjson_val *v, void *into, struct cm_err *err);
cm_status cm_json_decode_u64(yyjson_val *v, void *into, struct cm_err *err);
cm_status cm_json_decode_string(yyjson_val *v, void *into, struct cm_err *err);
cm_status cm_json_decode_value(yyjson_val *v, void *into, struct cm_err *err);

#endif
