/** What the files of this folder share: the state of one rendering, text that cannot break out, references.
 */
#ifndef CM_SCHEMA_INTERNAL_H
#define CM_SCHEMA_INTERNAL_H

#include "schema/schema.h"

#define CM_SCHEMA_REF_CHAIN_MAX 32  /* references that lead to a reference */
#define CM_SCHEMA_LEVELS_MAX    24  /* objects and arrays inside each other; deeper is `unknown` */
#define CM_SCHEMA_NESTING_MAX   160 /* combinators included: bounds the C stack */
#define CM_SCHEMA_VISITS_MAX \
    100000 /* schemas looked at for one type: shared references multiply without writing much */
#define CM_SCHEMA_PROPERTIES_MAX 2000
#define CM_SCHEMA_ENUM_MAX       1000
#define CM_SCHEMA_COMMENT_MAX    1000 /* bytes of a property's description */
#define CM_SCHEMA_DOC_MAX        4000 /* bytes of a method's */

/** How a type expression binds, loosest first, and what is known about it. */
enum cm_schema__prec { PREC_UNION, PREC_INTERSECTION, PREC_ATOM };
struct cm_schema__type {
    enum cm_schema__prec prec;
    bool unknown;  /* the text is "unknown" or a union with it: says nothing */
    bool null;     /* accepts null */
    bool literals; /* nothing but literals */
};

/** A schema that has a name. Its declaration is written once, after the text that mentions it. */
struct cm_schema__def {
    yyjson_val *root, *node;
    char *name;
    bool declared;
};

struct cm_schema__open {
    const struct cm_schema__open *up;
    const yyjson_val *node;
};

struct cm_schema__ctx {
    yyjson_val *root;    /* references resolve here */
    struct cm_buf *defs; /* NULL: references are rendered inline */
    struct cm_schema__def *v;
    size_t n, cap, next;       /* v[next…] are not declared yet */
    size_t *by_node, *by_name; /* open hash tables of indices + 1, `slots` long, a power of two */
    size_t slots;
    const struct cm_schema__open *open; /* schemas being rendered, innermost first */
    yyjson_val *declaring; /* the named schema whose declaration stands at this very position, not inside an
                              object or array */
    unsigned levels, nesting;
    size_t visits, bytes; /* spent on the type at hand */
};

void cm_schema__ctx_init(struct cm_schema__ctx *c, struct cm_buf *defs);
void cm_schema__ctx_done(struct cm_schema__ctx *c);
/** The type of node, references resolved in root. */
struct cm_schema__type cm_schema__render(struct cm_schema__ctx *c, yyjson_val *root, yyjson_val *node,
                                         unsigned indent, struct cm_buf *out);
/** Write the declarations that are still missing into c->defs. */
void cm_schema__flush_defs(struct cm_schema__ctx *c);

/* parts.c */
#define CM_SCHEMA_ATOM ((struct cm_schema__type){.prec = PREC_ATOM})
struct cm_schema__part {
    char *text;
    size_t len;
    struct cm_schema__type type;
};

struct cm_schema__parts {
    struct cm_schema__part *v;
    size_t n, cap;
    bool dropped_circle; /* a member that is the declaration itself adds nothing to a union or an intersection
                          */
};

/** A buffer for one part; past its maximum the part becomes `unknown`. */
struct cm_buf cm_schema__new_text(void);
struct cm_schema__type cm_schema__write_unknown(struct cm_buf *out);
struct cm_schema__type cm_schema__write_atom(struct cm_buf *out, const char *text);
void cm_schema__parts_done(struct cm_schema__parts *p);
/** Takes the text, which is empty afterwards, unless the same stands there already. */
void cm_schema__parts_add(struct cm_schema__parts *p, struct cm_buf *text, struct cm_schema__type type);
void cm_schema__parts_add_z(struct cm_schema__parts *p, const char *word);
void cm_schema__parts_drop(struct cm_schema__parts *p, size_t i);
/** Where some part says something, drop those that do not. */
void cm_schema__parts_drop_unknown(struct cm_schema__parts *p);
/** Where one part is `never`, the intersection is. */
void cm_schema__parts_keep_never(struct cm_schema__parts *p);
/** Write the parts with the operator of `prec` between them; `unknown` when there are none. */
struct cm_schema__type cm_schema__parts_join(struct cm_schema__parts *p, enum cm_schema__prec prec,
                                             struct cm_buf *out);

/* names.c */
/** Keep the names of the lines `type NAME = …` of a text from being given again. */
void cm_schema__note_declared(struct cm_schema__ctx *c, struct cm_str text);
/** The name of a schema; a new one is made from `hint`. Borrowed. */
const char *cm_schema__def_name(struct cm_schema__ctx *c, yyjson_val *root, yyjson_val *node,
                                struct cm_str hint);
/** Give a schema this very name (made unique), declared by the caller. Borrowed. */
const char *cm_schema__def_own(struct cm_schema__ctx *c, yyjson_val *root, yyjson_val *node,
                               const char *name);
/** `simple-user` → `SimpleUser`, never a name that TypeScript or its library uses. Owned by the caller. */
char *cm_schema__type_name(struct cm_str word);
bool cm_schema__name_is_taken(const char *name);

/* refs.c */
/** The text of a reference keyword of node, {NULL, 0} without one. */
struct cm_str cm_schema__ref(yyjson_val *node);
/** Follow a reference, and on while its target is nothing but a reference. NULL: nowhere or in a circle. */
yyjson_val *cm_schema__target(yyjson_val *root, struct cm_str ref, struct cm_str *last_token);
/** Whether it is too small to have a name: a plain primitive, a boolean schema, one that says nothing. */
bool cm_schema__is_trivial(yyjson_val *node);
/** Whether `goal` is reached from node by references and combinators alone, as TypeScript forbids in an
 * alias. */
bool cm_schema__is_circular(yyjson_val *root, yyjson_val *node, const yyjson_val *goal);
bool cm_schema__has_string(yyjson_val *array, struct cm_str name);
/** Whether some input of that schema must be given. */
bool cm_schema__needs_input(yyjson_val *root, yyjson_val *node, unsigned depth);
bool cm_schema__is_nullable(yyjson_val *node);

/* text.c */
void cm_schema__write_literal(struct cm_buf *out, yyjson_val *v, unsigned depth);
void cm_schema__write_quoted(struct cm_buf *out, struct cm_str s);
void cm_schema__write_key(struct cm_buf *out, struct cm_str key);
void cm_schema__indent(struct cm_buf *out, unsigned indent);
/** Text of a comment: one line, no end of comment in it, at most max_bytes. Returns whether anything was left
 * of it. */
bool cm_schema__write_comment_text(struct cm_buf *out, struct cm_str text, size_t max_bytes);
/** Collects the lines of one doc comment and writes it, on one line where it is only one. */
struct cm_schema__doc {
    struct cm_buf lines; /* each ends in '\n' */
    size_t n;
};
#define CM_SCHEMA_DOC_INIT ((struct cm_schema__doc){.lines = CM_BUF_INIT(1u << 20)})
void cm_schema__doc_add(struct cm_schema__doc *d, const char *before, struct cm_str text, size_t max_bytes);
void cm_schema__doc_write(struct cm_schema__doc *d, struct cm_buf *out, unsigned indent);
/** Description, format, default and deprecation of a schema. */
void cm_schema__doc_add_schema(struct cm_schema__doc *d, yyjson_val *node);

#endif
