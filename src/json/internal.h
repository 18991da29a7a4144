/** What the files of this folder share: marks of a value, the canonical writer's options, positions in a
 * text. */
#ifndef CM_JSON_INTERNAL_H
#define CM_JSON_INTERNAL_H

#include "json/json.h"
#include "json/value.h"

/** What kind of JSON value stands in for a marked one. */
enum cm_json__standin {
    STANDIN_NULL,
    STANDIN_ZERO,
    STANDIN_BIGINT,
    STANDIN_DATE,
    STANDIN_PAIRS,
    STANDIN_ARRAY,
    STANDIN_OBJECT,
    STANDIN_BASE64
};

/* Every kind, one row each: enumerator, name in marks, stand-in, bytes of one element (binary kinds). Order
 * is free. */
#define CM_MARK_MAP(X)                               \
    X(UNDEFINED, "undefined", STANDIN_NULL, 0)       \
    X(NAN, "nan", STANDIN_NULL, 0)                   \
    X(INF, "inf", STANDIN_NULL, 0)                   \
    X(NEG_INF, "-inf", STANDIN_NULL, 0)              \
    X(NEG_ZERO, "-0", STANDIN_ZERO, 0)               \
    X(BIGINT, "bigint", STANDIN_BIGINT, 0)           \
    X(DATE, "date", STANDIN_DATE, 0)                 \
    X(MAP, "map", STANDIN_PAIRS, 0)                  \
    X(SET, "set", STANDIN_ARRAY, 0)                  \
    X(ERROR, "error", STANDIN_OBJECT, 0)             \
    X(BYTES, "bytes", STANDIN_BASE64, 1)             \
    X(ARRAYBUFFER, "arraybuffer", STANDIN_BASE64, 1) \
    X(INT8, "int8", STANDIN_BASE64, 1)               \
    X(UINT8C, "uint8c", STANDIN_BASE64, 1)           \
    X(INT16, "int16", STANDIN_BASE64, 2)             \
    X(UINT16, "uint16", STANDIN_BASE64, 2)           \
    X(INT32, "int32", STANDIN_BASE64, 4)             \
    X(UINT32, "uint32", STANDIN_BASE64, 4)           \
    X(FLOAT32, "float32", STANDIN_BASE64, 4)         \
    X(FLOAT64, "float64", STANDIN_BASE64, 8)         \
    X(BIGINT64, "bigint64", STANDIN_BASE64, 8)       \
    X(BIGUINT64, "biguint64", STANDIN_BASE64, 8)     \
    X(DATAVIEW, "dataview", STANDIN_BASE64, 1)

enum cm_mark_kind {
    CM_MARK_NONE = 0,
#define CM_MARK_ENUM_(id, name, standin, bytes) CM_MARK_##id,
    CM_MARK_MAP(CM_MARK_ENUM_)
#undef CM_MARK_ENUM_
        CM_MARK_COUNT_
};

struct cm_mark {
    struct cm_str pointer;
    enum cm_mark_kind kind;
    bool hit;
};

/**
 * The marks of one value, sorted by token, so that those below a node are one span and a walk finds a child's
 * by binary search: a hostile worker chooses both the marks and the data, and looking each pointer up on its
 * own would be quadratic.
 */
struct cm_marks {
    struct cm_mark *v;
    size_t n;
    yyjson_doc *doc; /* owns the pointers' text */
};

/** Marks [lo, hi), all of which begin with the `skip` bytes that lead to the node at hand. */
struct cm_mark_span {
    size_t lo, hi, skip;
};

/** Parse marks; empty text gives none. CM_E_INVALID names what is no pointer, no kind, or given twice. */
cm_status cm_marks__load(struct cm_marks *m, struct cm_str text, struct cm_err *err);
void cm_marks__done(struct cm_marks *m);
static inline struct cm_mark_span cm_marks__all(const struct cm_marks *m)
{
    return (struct cm_mark_span){0, m->n, 0};
}
/** The kind of the node itself; its mark leaves the span and counts as hit. */
enum cm_mark_kind cm_marks__here(struct cm_marks *m, struct cm_mark_span *span);
struct cm_mark_span cm_marks__key(const struct cm_marks *m, struct cm_mark_span span, struct cm_str key);
struct cm_mark_span cm_marks__index(const struct cm_marks *m, struct cm_mark_span span, size_t i);
/** Whether v is a stand-in that `kind` may have; the reason otherwise. */
bool cm_marks__fits(enum cm_mark_kind kind, yyjson_val *v, const char **why);
const char *cm_marks__name(enum cm_mark_kind kind);
/** Check that every mark points at a stand-in of its kind. */
cm_status cm_marks__verify(struct cm_marks *m, yyjson_val *root, struct cm_err *err);

/** A walk's way back to the root, kept on the C stack; a pointer is built from it only when one is needed. */
struct cm_json__frame {
    const struct cm_json__frame *up;
    yyjson_val *key; /* NULL: an array's element */
    size_t index;
};
void cm_json__write_pointer(struct cm_buf *out, const struct cm_json__frame *at);

/** Options of the canonical writer. */
struct cm_json__canon {
    struct cm_buf *out;
    bool
        keep_order; /* members stay where the document has them, for values that a program or a person reads */
    bool refuse_duplicates; /* otherwise the last of equal keys counts */
    struct cm_marks_out
        *marks; /* NULL: numbers are written as doubles; else what a double cannot hold is marked */
    struct cm_err *err;
};
cm_status cm_json__write_canon(struct cm_json__canon *w, yyjson_val *v);

/** Marks being collected; pointers are kept end to end in `text`. */
struct cm_marks_out {
    struct cm_buf text;
    struct cm_mark_entry {
        size_t at, len;
        enum cm_mark_kind kind;
    } * v;
    size_t n, cap;
};
void cm_marks_out__add(struct cm_marks_out *m, const struct cm_json__frame *at, enum cm_mark_kind kind);
/** Append the canonical marks object, or nothing when there are none. */
cm_status cm_marks_out__write(struct cm_marks_out *m, struct cm_buf *out, struct cm_err *err);
void cm_marks_out__done(struct cm_marks_out *m);

/** As cm_json_write_string for text that is known to be valid UTF-8, as every string of a parsed document is.
 */
void cm_json__write_valid_string(struct cm_buf *out, struct cm_str s);
/** An integer that a double holds, in decimal. */
void cm_json__write_int(struct cm_buf *out, int64_t n);
/** Order of canonical keys: UTF-16 code units, compared on valid UTF-8. */
int cm_json__compare_keys(struct cm_str a, struct cm_str b);
/** Append the JSON pointer of what stands at byte `pos` of a text that may be broken there. */
void cm_json__write_pointer_at(struct cm_buf *out, struct cm_str text, size_t pos);

/** Where documents and texts get their memory: cm_any_malloc. */
extern const yyjson_alc cm_json__memory;

#endif
