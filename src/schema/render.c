/*
 * A schema as a type expression.
 *
 * What a node says is a list of parts that all hold, an intersection: its reference, each member of allOf,
 * the union of anyOf, the union of oneOf, and its own type, const or enum. Parts that say nothing are left
 * out; `nullable` is added to the whole. Every part is written into a buffer of its own together with how it
 * binds, so that parentheses stand exactly where they must.
 *
 * Bounds: levels of objects and arrays, nesting of everything, schemas visited, bytes written. Past any of
 * them a schema is `unknown` and what was written before stays.
 */
#include "schema/internal.h"

/* Names that enclosing schemas require: allOf may list them beside the member that has the property. */
struct scope {
    const struct scope *up;
    yyjson_val *required;
};

static struct cm_schema__type render(struct cm_schema__ctx *c, yyjson_val *node, const struct scope *up,
                                     unsigned indent, struct cm_buf *out);

/* ---- references ---- */

static bool is_open(const struct cm_schema__ctx *c, const yyjson_val *node)
{
    for (const struct cm_schema__open *o = c->open; o; o = o->up)
        if (o->node == node)
            return true;
    return false;
}

/* Returns false when the reference adds nothing, being the very declaration it stands in. */
static bool render_ref(struct cm_schema__ctx *c, struct cm_str ref, unsigned indent, struct cm_buf *out,
                       struct cm_schema__type *type)
{
    struct cm_str token = {NULL, 0};
    yyjson_val *target = cm_schema__target(c->root, ref, &token);

    if (!target || (!c->defs && is_open(c, target))) {
        *type = cm_schema__write_unknown(out);
    } else if (!c->defs || cm_schema__is_trivial(target)) {
        *type = render(c, target, NULL, indent, out);
    } else {
        if (c->declaring && cm_schema__is_circular(c->root, target, c->declaring))
            return false;
        *type = CM_SCHEMA_ATOM;
        cm_buf_add_z(out, cm_schema__def_name(c, c->root, target, token));
    }
    return true;
}

static void add_ref(struct cm_schema__ctx *c, struct cm_str ref, unsigned indent, struct cm_schema__parts *p)
{
    struct cm_buf text = cm_schema__new_text();
    struct cm_schema__type type = CM_SCHEMA_ATOM;

    if (render_ref(c, ref, indent, &text, &type)) {
        cm_schema__parts_add(p, &text, type);
    } else {
        p->dropped_circle = true;
        cm_buf_done(&text);
    }
}

/* ---- combinators ---- */

/* Members of one list. A member that is only a reference to the declaration at hand is left out: A | A & B is
 * A | B. */
static void add_members(struct cm_schema__ctx *c, yyjson_val *members, const struct scope *scope,
                        unsigned indent, struct cm_schema__parts *p)
{
    yyjson_val *member;
    size_t i, max;

    yyjson_arr_foreach(members, i, max, member)
    {
        struct cm_str ref = cm_schema__ref(member);
        if (i == CM_SCHEMA_ENUM_MAX) {
            cm_schema__parts_add_z(p, "unknown");
            break;
        }
        if (ref.ptr && yyjson_obj_size(member) == 1) {
            add_ref(c, ref, indent, p);
            continue;
        }
        struct cm_buf text = cm_schema__new_text();
        struct cm_schema__type type = render(c, member, scope, indent, &text);
        cm_schema__parts_add(p, &text, type);
    }
}

static void add_union(struct cm_schema__ctx *c, yyjson_val *members, const struct scope *scope,
                      unsigned indent, struct cm_schema__parts *p)
{
    struct cm_schema__parts alternatives = {0};
    struct cm_buf text = cm_schema__new_text();

    if (!yyjson_is_arr(members))
        return;
    add_members(c, members, scope, indent, &alternatives);
    for (size_t i = alternatives.n; i-- > 0 && alternatives.n > 1;)
        if (strcmp(alternatives.v[i].text, "never") == 0)
            cm_schema__parts_drop(&alternatives, i);
    if (alternatives.n > 0) {
        struct cm_schema__type type = cm_schema__parts_join(&alternatives, PREC_UNION, &text);
        cm_schema__parts_add(p, &text, type);
    }
    p->dropped_circle = p->dropped_circle || alternatives.dropped_circle;
    cm_buf_done(&text);
    cm_schema__parts_done(&alternatives);
}

/* ---- literals ---- */

static bool add_literals(yyjson_val *node, struct cm_schema__parts *p)
{
    yyjson_val *constant = cm_json_get(node, "const"), *values = cm_json_get(node, "enum"), *value;
    struct cm_schema__parts literals = {0};
    struct cm_buf text = cm_schema__new_text();
    size_t i, max;

    if (!constant && !yyjson_is_arr(values))
        return false;
    if (constant) {
        cm_schema__write_literal(&text, constant, 0);
        cm_schema__parts_add(
            p, &text,
            (struct cm_schema__type){PREC_ATOM, .null = yyjson_is_null(constant), .literals = true});
        return true;
    }
    yyjson_arr_foreach(values, i, max, value)
    {
        if (i == CM_SCHEMA_ENUM_MAX) {
            cm_schema__parts_add_z(&literals, yyjson_is_str(value) ? "string" : "unknown");
            break;
        }
        cm_schema__write_literal(&text, value, 0);
        cm_schema__parts_add(
            &literals, &text,
            (struct cm_schema__type){PREC_ATOM, .null = yyjson_is_null(value), .literals = true});
    }
    struct cm_schema__type type = CM_SCHEMA_ATOM;
    if (yyjson_arr_size(values) == 0)
        cm_buf_add_z(&text, "never");
    else
        type = cm_schema__parts_join(&literals, PREC_UNION, &text);
    cm_schema__parts_add(p, &text, type);
    cm_schema__parts_done(&literals);
    return true;
}

/* ---- arrays ---- */

static void write_element(struct cm_schema__ctx *c, yyjson_val *node, unsigned indent, const char *suffix,
                          struct cm_buf *out)
{
    cm_autobuf text = cm_schema__new_text();
    struct cm_schema__type type = render(c, node, NULL, indent, &text);
    bool wrap = suffix[0] && type.prec < PREC_ATOM;

    cm_buf_add_z(out, wrap ? "(" : "");
    cm_buf_add_str(out, cm_buf_str(&text));
    cm_buf_add_z(out, wrap ? ")" : "");
    cm_buf_add_z(out, suffix);
}

static void write_tuple(struct cm_schema__ctx *c, yyjson_val *node, yyjson_val *items, yyjson_val *rest,
                        unsigned indent, struct cm_buf *out)
{
    yyjson_val *item, *min = cm_json_get(node, "minItems");
    uint64_t required = yyjson_is_uint(min) ? yyjson_get_uint(min) : UINT64_MAX;
    size_t i, max;

    cm_buf_add_char(out, '[');
    yyjson_arr_foreach(items, i, max, item)
    {
        if (i == CM_SCHEMA_ENUM_MAX)
            break;
        cm_buf_add_z(out, i ? ", " : "");
        write_element(c, item, indent, i < required ? "" : "?", out);
    }
    if (yyjson_is_obj(rest) || yyjson_is_true(rest)) {
        cm_buf_add_z(out, yyjson_arr_size(items) ? ", ..." : "...");
        write_element(c, rest, indent, "[]", out);
    }
    cm_buf_add_char(out, ']');
}

static void write_array(struct cm_schema__ctx *c, yyjson_val *node, unsigned indent, struct cm_buf *out)
{
    yyjson_val *prefix = cm_json_get(node, "prefixItems"), *items = cm_json_get(node, "items");

    if (yyjson_is_arr(prefix))
        write_tuple(c, node, prefix, items, indent, out);
    else if (yyjson_is_arr(items))
        write_tuple(c, node, items, cm_json_get(node, "additionalItems"), indent, out);
    else
        write_element(c, items, indent, "[]", out);
}

/* ---- objects ---- */

struct object {
    struct cm_buf text;
    struct cm_schema__parts types; /* of the properties, as an index signature has to accept them */
    size_t n;
};

static bool is_required(yyjson_val *node, const struct scope *scope, struct cm_str name)
{
    if (cm_schema__has_string(cm_json_get(node, "required"), name))
        return true;
    for (; scope; scope = scope->up)
        if (cm_schema__has_string(scope->required, name))
            return true;
    return false;
}

static bool is_last_of_its_name(yyjson_val *properties, yyjson_val *key)
{
    yyjson_val *end = unsafe_yyjson_get_next(properties), *k = unsafe_yyjson_get_next(key + 1);

    for (size_t i = 0; i < CM_SCHEMA_PROPERTIES_MAX && k < end; i++, k = unsafe_yyjson_get_next(k + 1))
        if (cm_str_eq(cm_json_str(k), cm_json_str(key)))
            return false;
    return true;
}

static void add_property(struct cm_schema__ctx *c, struct object *o, struct cm_str name, yyjson_val *schema,
                         bool required, unsigned indent)
{
    struct cm_schema__doc doc = CM_SCHEMA_DOC_INIT;
    struct cm_buf text = cm_schema__new_text();

    cm_schema__doc_add_schema(&doc, schema);
    cm_schema__doc_write(&doc, &o->text, indent + 1);
    cm_schema__indent(&o->text, indent + 1);
    cm_schema__write_key(&o->text, name);
    cm_buf_add_z(&o->text, required ? ": " : "?: ");
    struct cm_schema__type type = render(c, schema, NULL, indent + 1, &text);
    cm_buf_add_str(&o->text, cm_buf_str(&text));
    cm_buf_add_z(&o->text, ";\n");
    c->bytes += name.len + 8;
    cm_schema__parts_add(&o->types, &text, type);
    if (!required)
        cm_schema__parts_add_z(&o->types, "undefined");
    o->n++;
}

/* TypeScript wants every property to fit the index signature. Where the union of all would be long, `unknown`
 * fits too. */
static void write_index(struct object *o, struct cm_schema__parts *own, unsigned indent)
{
    bool simple = o->types.n <= 5;

    for (size_t i = 0; i < own->n; i++)
        simple = simple && !own->v[i].type.unknown;
    for (size_t i = 0; simple && i < o->types.n; i++) {
        struct cm_schema__part *p = &o->types.v[i];
        struct cm_buf text = cm_schema__new_text();
        simple = p->len <= 60 && !memchr(p->text, '\n', p->len);
        cm_buf_add(&text, p->text, p->len);
        cm_schema__parts_add(own, &text, p->type);
    }
    cm_schema__indent(&o->text, indent + 1);
    cm_buf_add_z(&o->text, "[key: string]: ");
    if (simple || o->types.n == 0)
        (void)cm_schema__parts_join(own, PREC_UNION, &o->text);
    else
        cm_buf_add_z(&o->text, "unknown");
    cm_buf_add_z(&o->text, ";\n");
    o->n++;
}

/* additionalProperties and patternProperties together make one index signature. */
static void add_index(struct cm_schema__ctx *c, struct object *o, yyjson_val *node, unsigned indent)
{
    yyjson_val *more = cm_json_get(node, "additionalProperties"),
               *patterns = cm_json_get(node, "patternProperties");
    yyjson_val *key, *schema;
    struct cm_schema__parts types = {0};
    size_t i, max;

    if (!more)
        more = cm_json_get(node, "unevaluatedProperties");
    bool open = yyjson_is_obj(more) || yyjson_is_true(more);
    if (open) {
        struct cm_buf text = cm_schema__new_text();
        struct cm_schema__type type = render(c, more, NULL, indent + 1, &text);
        cm_schema__parts_add(&types, &text, type);
    }
    yyjson_obj_foreach(patterns, i, max, key, schema)
    {
        struct cm_buf text = cm_schema__new_text();
        if (i == 20)
            break;
        struct cm_schema__type type = render(c, schema, NULL, indent + 1, &text);
        cm_schema__parts_add(&types, &text, type);
    }
    if (types.n > 0)
        write_index(o, &types, indent);
    cm_schema__parts_done(&types);
}

static void write_object(struct cm_schema__ctx *c, yyjson_val *node, const struct scope *scope,
                         unsigned indent, struct cm_buf *out)
{
    yyjson_val *properties = cm_json_get(node, "properties"), *key, *schema;
    struct object o = {.text = cm_schema__new_text()};
    size_t i, max;

    yyjson_obj_foreach(properties, i, max, key, schema)
    {
        struct cm_str name = cm_json_str(key);
        if (i == CM_SCHEMA_PROPERTIES_MAX) {
            cm_schema__indent(&o.text, indent + 1);
            cm_buf_addf(&o.text, "/** %zu more properties are left out. */\n", max - i);
            struct cm_schema__parts rest = {0};
            cm_schema__parts_add_z(&rest, "unknown");
            write_index(&o, &rest, indent);
            cm_schema__parts_done(&rest);
            break;
        }
        if (is_last_of_its_name(properties, key))
            add_property(c, &o, name, schema, is_required(node, scope, name), indent);
    }
    if (yyjson_obj_size(properties) <= CM_SCHEMA_PROPERTIES_MAX)
        add_index(c, &o, node, indent);
    if (o.n == 0) {
        cm_buf_add_z(out, yyjson_is_false(cm_json_get(node, "additionalProperties"))
                              ? "{}"
                              : "Record<string, unknown>");
    } else {
        cm_buf_add_z(out, "{\n");
        cm_buf_add_str(out, cm_buf_str(&o.text));
        cm_schema__indent(out, indent);
        cm_buf_add_char(out, '}');
    }
    out->failed = out->failed || o.text.failed;
    cm_buf_done(&o.text);
    cm_schema__parts_done(&o.types);
}

/* ---- the node's own type ---- */

static const struct {
    const char *name, *text;
} primitives[] = {
    {"string", "string"},   {"number", "number"}, {"integer", "number"},
    {"boolean", "boolean"}, {"null", "null"},
};

/* An object or array: a level deeper, and no longer at the position of the declaration itself. */
static void add_structure(struct cm_schema__ctx *c, yyjson_val *node, bool object, const struct scope *scope,
                          unsigned indent, struct cm_schema__parts *p)
{
    struct cm_buf text = cm_schema__new_text();
    yyjson_val *declaring = c->declaring;

    if (c->levels >= CM_SCHEMA_LEVELS_MAX) {
        cm_schema__parts_add_z(p, "unknown");
        return;
    }
    c->declaring = NULL;
    c->levels++;
    if (object)
        write_object(c, node, scope, indent, &text);
    else
        write_array(c, node, indent, &text);
    c->levels--;
    c->declaring = declaring;
    cm_schema__parts_add(p, &text, CM_SCHEMA_ATOM);
}

static void add_type(struct cm_schema__ctx *c, yyjson_val *node, struct cm_str name,
                     const struct scope *scope, unsigned indent, struct cm_schema__parts *p)
{
    for (size_t i = 0; i < CM_ARRAY_LEN(primitives); i++) {
        if (cm_str_eq_z(name, primitives[i].name)) {
            cm_schema__parts_add_z(p, primitives[i].text);
            return;
        }
    }
    if (cm_str_eq_z(name, "object") || cm_str_eq_z(name, "array"))
        add_structure(c, node, cm_str_eq_z(name, "object"), scope, indent, p);
    else
        cm_schema__parts_add_z(p, "unknown");
}

static bool has_any(yyjson_val *node, const char *const *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (cm_json_get(node, keys[i]))
            return true;
    return false;
}

static bool says_object(yyjson_val *node)
{
    static const char *const keys[] = {"properties", "patternProperties", "additionalProperties"};

    return has_any(node, keys, CM_ARRAY_LEN(keys));
}

static bool says_array(yyjson_val *node)
{
    static const char *const keys[] = {"items", "prefixItems"};

    return has_any(node, keys, CM_ARRAY_LEN(keys));
}

/* Whether the own type is worth its place beside other parts: `type: object` beside allOf says nothing more.
 */
static bool is_bare(yyjson_val *node)
{
    yyjson_val *more = cm_json_get(node, "additionalProperties");

    return yyjson_obj_size(cm_json_get(node, "properties")) == 0 && !yyjson_is_obj(more) &&
           !cm_json_get(node, "patternProperties") && !says_array(node);
}

static void add_own(struct cm_schema__ctx *c, yyjson_val *node, const struct scope *scope, unsigned indent,
                    struct cm_schema__parts *p)
{
    yyjson_val *type = cm_json_get(node, "type"), *item;
    struct cm_schema__parts own = {0};
    struct cm_buf text = cm_schema__new_text();
    size_t i, max;

    if (yyjson_is_str(type)) {
        add_type(c, node, cm_json_str(type), scope, indent, &own);
    } else if (yyjson_arr_size(type) > 0) {
        yyjson_arr_foreach(type, i, max, item)
        {
            if (i == 16)
                break;
            add_type(c, node, cm_json_str(item), scope, indent, &own);
        }
    } else if (says_object(node)) {
        add_type(c, node, CM_STR("object"), scope, indent, &own);
    } else if (says_array(node)) {
        add_type(c, node, CM_STR("array"), scope, indent, &own);
    }
    if (own.n > 0) {
        struct cm_schema__type joined = cm_schema__parts_join(&own, PREC_UNION, &text);
        cm_schema__parts_add(p, &text, joined);
    }
    cm_schema__parts_done(&own);
    cm_buf_done(&text);
}

static bool others_say_enough(const struct cm_schema__parts *p, yyjson_val *node)
{
    bool known = false, literals = p->n > 0;
    yyjson_val *type = cm_json_get(node, "type");
    bool structure = !yyjson_is_str(type) || cm_str_eq_z(cm_json_str(type), "object") ||
                     cm_str_eq_z(cm_json_str(type), "array");

    for (size_t i = 0; i < p->n; i++) {
        known = known || !p->v[i].type.unknown;
        literals = literals && p->v[i].type.literals;
    }
    return literals || (known && structure && is_bare(node));
}

static struct cm_schema__type with_null(yyjson_val *node, struct cm_schema__parts *p, struct cm_buf *out)
{
    struct cm_schema__parts whole = {0};
    struct cm_buf text = cm_schema__new_text();
    struct cm_schema__type type = cm_schema__parts_join(p, PREC_INTERSECTION, &text);
    yyjson_val *types = cm_json_get(node, "type");
    bool wanted = cm_schema__is_nullable(node) ||
                  (yyjson_is_arr(types) && cm_schema__has_string(types, CM_STR("null")) &&
                   !yyjson_is_arr(cm_json_get(node, "enum")) && !cm_json_get(node, "const"));
    bool never = cm_str_eq_z(cm_buf_str(&text), "never");

    cm_schema__parts_add(&whole, &text, type);
    if (wanted && !type.null && !type.unknown && !never)
        cm_schema__parts_add_z(&whole, "null");
    type = cm_schema__parts_join(&whole, PREC_UNION, out);
    cm_schema__parts_done(&whole);
    return type;
}

static struct cm_schema__type render_node(struct cm_schema__ctx *c, yyjson_val *node, const struct scope *up,
                                          unsigned indent, struct cm_buf *out)
{
    struct cm_schema__parts p = {0};
    struct scope scope = {up, cm_json_get(node, "required")};
    yyjson_val *all = cm_json_get(node, "allOf");
    struct scope deeper[8];
    const struct scope *inner = &scope;
    struct cm_str ref = cm_schema__ref(node);

    if (ref.ptr)
        add_ref(c, ref, indent, &p);
    for (size_t i = 0; i < CM_ARRAY_LEN(deeper) && i < yyjson_arr_size(all); i++) {
        deeper[i] = (struct scope){inner, cm_json_get(yyjson_arr_get(all, i), "required")};
        inner = &deeper[i];
    }
    add_members(c, all, inner, indent, &p);
    add_union(c, cm_json_get(node, "anyOf"), &scope, indent, &p);
    add_union(c, cm_json_get(node, "oneOf"), &scope, indent, &p);
    if (!add_literals(node, &p) && !others_say_enough(&p, node))
        add_own(c, node, inner, indent, &p);
    cm_schema__parts_drop_unknown(&p);
    cm_schema__parts_keep_never(&p);
    struct cm_schema__type type = with_null(node, &p, out);
    cm_schema__parts_done(&p);
    return type;
}

static struct cm_schema__type render(struct cm_schema__ctx *c, yyjson_val *node, const struct scope *up,
                                     unsigned indent, struct cm_buf *out)
{
    if (yyjson_is_false(node))
        return cm_schema__write_atom(out, "never");
    if (!yyjson_is_obj(node) || c->nesting >= CM_SCHEMA_NESTING_MAX || c->visits >= CM_SCHEMA_VISITS_MAX ||
        c->bytes >= CM_SCHEMA_TYPE_MAX_BYTES || is_open(c, node))
        return cm_schema__write_unknown(out);
    struct cm_schema__open here = {c->open, node};
    cm_autobuf text = cm_schema__new_text();
    size_t before = c->bytes;
    c->open = &here;
    c->nesting++;
    c->visits++;
    struct cm_schema__type type = render_node(c, node, up, indent, &text);
    c->nesting--;
    c->open = here.up;
    /* Children have counted themselves; the node adds what it wrote beyond them. */
    if (c->bytes < before + text.len)
        c->bytes = before + text.len;
    if (text.failed)
        return cm_schema__write_unknown(out);
    cm_buf_add_str(out, cm_buf_str(&text));
    return type;
}

struct cm_schema__type cm_schema__render(struct cm_schema__ctx *c, yyjson_val *root, yyjson_val *node,
                                         unsigned indent, struct cm_buf *out)
{
    c->root = root;
    c->levels = c->nesting = 0;
    c->visits = c->bytes = 0;
    return render(c, node, NULL, indent, out);
}

static void declare(struct cm_schema__ctx *c, struct cm_schema__def *def)
{
    struct cm_schema__doc doc = CM_SCHEMA_DOC_INIT;
    cm_autobuf text = cm_schema__new_text();
    const char *name = def->name;

    def->declared = true;
    c->declaring = def->node;
    (void)cm_schema__render(c, def->root, def->node, 0, &text);
    c->declaring = NULL;
    cm_schema__doc_add(&doc, "", cm_json_str(cm_json_get(c->v[c->next].node, "description")),
                       CM_SCHEMA_COMMENT_MAX);
    cm_schema__doc_write(&doc, c->defs, 0);
    cm_buf_addf(c->defs, "type %s = ", name);
    cm_buf_add_str(c->defs, cm_buf_str(&text));
    cm_buf_add_z(c->defs, ";\n");
}

void cm_schema__flush_defs(struct cm_schema__ctx *c)
{
    for (; c->defs && c->next < c->n; c->next++) {
        struct cm_schema__def *def = &c->v[c->next];
        if (def->declared)
            continue;
        if (c->defs->len <= c->defs->max_bytes / 2) {
            declare(c, def);
        } else {
            def->declared = true;
            cm_buf_addf(c->defs, "type %s = unknown; // left out\n", def->name);
        }
    }
}
