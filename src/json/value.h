/**
 * Values that cross between program, host and log: JSON plus what JSON lacks, with the marks *outside* the
 * data.
 *
 * A value is two JSON texts (design, section 5):
 *
 *   json    RFC 8259 text in which each special value has a stand-in
 *   marks   a flat JSON object from JSON Pointer (RFC 6901, into `json`) to kind; "{}" or empty when nothing
 * is special
 *
 *   kind           stand-in in json                     JavaScript value
 *   undefined      null                                 undefined
 *   nan inf -inf   null                                 NaN, Infinity, -Infinity
 *   -0             0                                    -0
 *   bigint         "decimal text"                       bigint
 *   date           epoch milliseconds, null if invalid  Date
 *   map            [[key, value], ...]                  Map
 *   set            [value, ...]                         Set
 *   error          {name, message, ...}                 Error
 *   bytes          "base64" (RFC 4648, section 4)       Uint8Array
 *   arraybuffer    "base64"                             ArrayBuffer
 *   int8 uint8c int16 uint16 int32 uint32 float32 float64 bigint64 biguint64 dataview   "base64"   the other
 * views
 *
 * No document can forge a mark, since no document is ever looked into for one (R3.6 shows what goes wrong
 * otherwise). Canonical form: both texts by RFC 8785 (keys sorted by UTF-16 code units, ECMAScript numbers,
 * no white space); bounded depth; lone surrogates refused with their pointer; no marks are the empty text.
 * Equal values have equal canonical bytes.
 */
#ifndef CM_JSON_VALUE_H
#define CM_JSON_VALUE_H

#include "base/base.h"

/** A borrowed view. json.len 0 means "no value" (JavaScript's undefined as an absent argument or result). */
struct cm_value {
    struct cm_str json;
    struct cm_str marks;
};

/** An owned value; cm_value_done frees it. Zero-initialise. */
struct cm_own_value {
    char *json;
    size_t json_len;
    char *marks;
    size_t marks_len;
};

void cm_value_done(struct cm_own_value *v);
#define cm_autovalue __attribute__((cleanup(cm_value_done))) struct cm_own_value

static inline struct cm_value cm_value_view(const struct cm_own_value *v)
{
    return (struct cm_value){{v->json, v->json_len}, {v->marks, v->marks_len}};
}

/** A copy, owned by the caller. */
struct cm_own_value cm_value_dup(struct cm_value v);

/**
 * Canonical form of a value that came from a worker: parses both texts, checks that every mark points at a
 * stand-in of its kind, sorts and rewrites. `max_bytes` bounds json and marks together.
 *
 * Errors: CM_E_INVALID names the pointer and what was wrong; CM_E_LIMIT too many bytes or too deep.
 */
cm_status cm_value_canonical(struct cm_value v, size_t max_bytes, struct cm_own_value *out,
                             struct cm_err *err);

/**
 * The same checks and form, but members keep their order: for results, steps and inputs, where a program or a
 * person sees the order. Arguments, which are hashed and compared, are canonical.
 */
cm_status cm_value_checked(struct cm_value v, size_t max_bytes, struct cm_own_value *out, struct cm_err *err);

/**
 * A value from JSON of the outside (a tool's result), in the form of cm_value_checked; integers beyond 2^53
 * become bigint marks, never rounded. Of equal keys the last value counts, as in JSON.parse. -0 stays -0, reals beyond a
 * double are infinities; lone surrogates and invalid UTF-8 become U+FFFD, as a decoder would have it. Text
 * that is not JSON is CM_E_INVALID, too many bytes CM_E_LIMIT.
 */
cm_status cm_value_from_json(struct cm_str text, size_t max_bytes, struct cm_own_value *out,
                             struct cm_err *err);
/** The same of what a human wrote: a name that is given twice is an error, since only they know which of the two they meant. */
cm_status cm_value_from_human_json(struct cm_str text, size_t max_bytes, struct cm_own_value *out,
                                   struct cm_err *err);

/** A JSON string value holding text (repaired to valid UTF-8). */
struct cm_own_value cm_value_from_text(struct cm_str text);

/**
 * What a tool with a JSON schema receives: JSON.stringify's view of the value. undefined fields are dropped
 * and array elements null, NaN and infinities null, -0 is 0, Date ISO text, bytes and other views base64, Map
 * and Set {}, an Error its fields; a bigint becomes a JSON integer, exact. An absent or undefined value gives
 * "{}". v is canonical; without marks its text is copied.
 */
cm_status cm_value_to_tool_json(struct cm_value v, struct cm_buf *out, struct cm_err *err);

/**
 * What a reader of output sees (design, section 8): Date ISO text, bigint decimal text, NaN and infinities
 * their names, bytes {"$bytes": base64} (views other than Uint8Array and ArrayBuffer have "$type" beside it),
 * Map {"$map": …}, Set {"$set": …}, Error {"$error": …}, undefined dropped (null in arrays); a literal key
 * that begins with '$' is shown with '$$'. An absent or undefined value appends nothing; returns whether it
 * did. CM_E_LIMIT when that form would be nested deeper than CM_VALUE_MAX_DEPTH.
 */
cm_status cm_value_to_reader_json(struct cm_value v, struct cm_buf *out, bool *appended, struct cm_err *err);

#endif
