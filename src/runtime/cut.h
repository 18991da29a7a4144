/** A JSON text that is too large for its reader, cut where it stays JSON and means something. */
#ifndef CM_RUNTIME_CUT_H
#define CM_RUNTIME_CUT_H

#include "base/base.h"

enum rt_cut_unit { RT_CUT_ELEMENTS, RT_CUT_MEMBERS, RT_CUT_TEXT, RT_CUT_BYTES };

/** Where it was cut. Zero-initialise; rt_cut_done frees. */
struct rt_cut {
    struct cm_buf at; /* "result.rows": what was cut, as a program would write it */
    enum rt_cut_unit unit;
    uint64_t items, shown;  /* of the array or object; bytes of a text */
    uint64_t n_left_out;    /* members of objects behind the cut, those around it included */
    struct cm_buf left_out; /* their names, bounded: "total, next" */
};
void rt_cut_done(struct rt_cut *c);

/**
 * Append at most max_bytes (16 at least) of json, which is longer, compact, valid, and an array or an object: of an
 * array its first whole elements, of an object its first members, of a long text in it its first characters,
 * bracketed again. Arrays and objects that fill half of the room when only what is whole in them is shown are
 * cut there, the outermost first; {"rows": [...]} is cut in `rows`. One pass over the text.
 */
void rt_cut_json(struct cm_str json, size_t max_bytes, const char *root, struct cm_buf *out,
                 struct rt_cut *cut);

#endif
