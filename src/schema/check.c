/*
 * Arguments against an input schema. Only what is certainly wrong is refused: a keyword that is not
 * understood, a reference that leads nowhere, a bound that is reached all accept. One sentence says where,
 * what, and what would be accepted.
 */
#include "schema/internal.h"

#include "base/names.h"
#include "base/utf8.h"

#include <math.h>

#define CHECK_VISITS_MAX 200000
#define LIST_MAX         20 /* names or values a message enumerates */

#define NAME_SHOWN       100 /* bytes of a member's name in a message */

struct check {
    yyjson_val *root;
    struct cm_err *err;
    size_t left;
};

/* The way to a member, kept on the C stack; written only into messages. */
struct at {
    const struct at *up;
    struct cm_str key; /* ptr NULL: an element */
    size_t index;
};

static cm_status check_value(struct check *k, yyjson_val *node, yyjson_val *value, const struct at *at,
                             unsigned depth);

static void write_path(struct cm_buf *out, const struct at *at)
{
    if (!at)
        return;
    write_path(out, at->up);
    if (!at->key.ptr) {
        cm_buf_addf(out, "[%zu]", at->index);
    } else if (at->key.len <= NAME_SHOWN && cm_name_is_identifier(at->key)) {
        cm_buf_add_z(out, out->len ? "." : "");
        cm_buf_add_str(out, at->key);
    } else {
        cm_buf_add_char(out, '[');
        cm_schema__write_quoted(out, cm_str_mk(at->key.ptr, cm_utf8_cut(at->key, NAME_SHOWN)));
        cm_buf_add_z(out, at->key.len <= NAME_SHOWN ? "]" : "…]");
    }
}

static cm_status refuse(struct check *k, const struct at *at, const struct cm_buf *what)
{
    cm_autobuf path = CM_BUF_INIT(1u << 16);

    write_path(&path, at);
    if (path.len == 0)
        cm_buf_add_z(&path, "the input");
    return cm_err_set(k->err, CM_E_INVALID, "%.*s %.*s", CM_STR_ARG(cm_buf_str(&path)),
                      CM_STR_ARG(cm_buf_str(what)));
}

/* ---- types ---- */

static bool is_integer(yyjson_val *v)
{
    return yyjson_is_int(v) || yyjson_is_raw(v) ||
           (yyjson_is_real(v) && trunc(yyjson_get_real(v)) == yyjson_get_real(v));
}

static bool is_of_type(yyjson_val *v, struct cm_str type)
{
    if (cm_str_eq_z(type, "object"))
        return yyjson_is_obj(v);
    if (cm_str_eq_z(type, "array"))
        return yyjson_is_arr(v);
    if (cm_str_eq_z(type, "string"))
        return yyjson_is_str(v);
    if (cm_str_eq_z(type, "number"))
        return yyjson_is_num(v) || yyjson_is_raw(v);
    if (cm_str_eq_z(type, "integer"))
        return is_integer(v);
    if (cm_str_eq_z(type, "boolean"))
        return yyjson_is_bool(v);
    if (cm_str_eq_z(type, "null"))
        return yyjson_is_null(v);
    return true; /* not a type of JSON Schema: nothing is known about it */
}

static const char *with_article(struct cm_str type)
{
    static const struct {
        const char *type, *words;
    } words[] = {{"object", "an object"}, {"array", "an array"},     {"string", "a string"},
                 {"number", "a number"},  {"integer", "an integer"}, {"boolean", "true or false"},
                 {"null", "null"}};

    for (size_t i = 0; i < CM_ARRAY_LEN(words); i++)
        if (cm_str_eq_z(type, words[i].type))
            return words[i].words;
    return "something else";
}

static cm_status check_type(struct check *k, yyjson_val *node, yyjson_val *value, const struct at *at)
{
    yyjson_val *type = cm_json_get(node, "type"), *one;
    cm_autobuf what = CM_BUF_INIT(1024);
    size_t i, max;

    if (cm_schema__is_nullable(node) && yyjson_is_null(value))
        return CM_OK;
    cm_buf_add_z(&what, "must be ");
    if (yyjson_is_str(type)) {
        if (is_of_type(value, cm_json_str(type)))
            return CM_OK;
        cm_buf_add_z(&what, with_article(cm_json_str(type)));
    } else if (yyjson_arr_size(type) > 0) {
        yyjson_arr_foreach(type, i, max, one)
        {
            if (is_of_type(value, cm_json_str(one)))
                return CM_OK;
            cm_buf_add_z(&what, i ? " or " : "");
            cm_buf_add_z(&what, with_article(cm_json_str(one)));
        }
    } else {
        return CM_OK;
    }
    cm_buf_addf(&what, ", not %s",
                yyjson_is_num(value) && !is_integer(value) && yyjson_is_str(type) &&
                        cm_str_eq_z(cm_json_str(type), "integer")
                    ? "a fraction"
                    : cm_json_kind(value));
    return refuse(k, at, &what);
}

/* ---- literals ---- */

static bool equal(yyjson_val *a, yyjson_val *b)
{
    cm_autobuf x = CM_BUF_INIT(1u << 16), y = CM_BUF_INIT(1u << 16);

    if (yyjson_is_num(a) && yyjson_is_num(b))
        return yyjson_get_num(a) == yyjson_get_num(b);
    if (yyjson_get_type(a) != yyjson_get_type(b))
        return false;
    if (!yyjson_is_ctn(a))
        return yyjson_equals(a, b);
    cm_json_write_canonical(&x, a);
    cm_json_write_canonical(&y, b);
    return x.failed || y.failed || cm_str_eq(cm_buf_str(&x), cm_buf_str(&y));
}

static void write_short(struct cm_buf *out, yyjson_val *v)
{
    cm_autobuf text = CM_BUF_INIT(1u << 20);

    cm_json_write(&text, v);
    if (text.failed || text.len > 80)
        cm_buf_add_z(out, cm_json_kind(v));
    else
        cm_buf_add_str(out, cm_buf_str(&text));
}

static cm_status check_literals(struct check *k, yyjson_val *node, yyjson_val *value, const struct at *at)
{
    yyjson_val *values = cm_json_get(node, "enum"), *constant = cm_json_get(node, "const"), *one;
    cm_autobuf what = CM_BUF_INIT(CM_ERR_MAX_BYTES);
    size_t i, max;

    if (cm_schema__is_nullable(node) && yyjson_is_null(value))
        return CM_OK;
    if (constant && !equal(constant, value)) {
        cm_buf_add_z(&what, "must be ");
        write_short(&what, constant);
    } else if (yyjson_arr_size(values) > 0) {
        cm_buf_add_z(&what, "must be one of ");
        yyjson_arr_foreach(values, i, max, one)
        {
            if (equal(one, value))
                return CM_OK;
            if (i < LIST_MAX) {
                cm_buf_add_z(&what, i ? ", " : "");
                write_short(&what, one);
            } else if (i == LIST_MAX) {
                cm_buf_addf(&what, " and %zu more", max - i);
            }
        }
    } else {
        return CM_OK;
    }
    cm_buf_add_z(&what, ", not ");
    write_short(&what, value);
    return refuse(k, at, &what);
}

/* ---- objects and arrays ---- */

static void write_accepted(struct cm_buf *out, yyjson_val *node)
{
    yyjson_val *key, *schema;
    size_t i, max;

    yyjson_obj_foreach(cm_json_get(node, "properties"), i, max, key, schema)
    {
        (void)schema;
        if (i == LIST_MAX) {
            cm_buf_addf(out, " and %zu more", max - i);
            break;
        }
        cm_buf_add_z(out, i ? ", " : "");
        cm_buf_add(out, yyjson_get_str(key), yyjson_get_len(key) > 60 ? 60 : yyjson_get_len(key));
        if (!cm_schema__has_string(cm_json_get(node, "required"), cm_json_str(key)))
            cm_buf_add_char(out, '?');
    }
    if (i == 0)
        cm_buf_add_z(out, "nothing");
}

void cm_schema_write_accepted(struct cm_buf *out, yyjson_val *node)
{
    write_accepted(out, node);
}

static struct cm_str nearest(yyjson_val *properties, struct cm_str name)
{
    struct cm_str best = {NULL, 0};
    unsigned best_distance = name.len < 4 ? 2 : name.len < 8 ? 3 : 4; /* below it a name is near */
    yyjson_val *key, *schema;
    size_t i, max;

    yyjson_obj_foreach(properties, i, max, key, schema)
    {
        (void)schema;
        unsigned d = i < CM_SCHEMA_PROPERTIES_MAX ? cm_name_distance(cm_json_str(key), name) : UINT32_MAX;
        if (d < best_distance) {
            best_distance = d;
            best = cm_json_str(key);
        }
    }
    return best;
}

static cm_status refuse_unknown(struct check *k, yyjson_val *node, struct cm_str name, const struct at *up)
{
    struct at at = {.up = up, .key = name};
    struct cm_str near = nearest(cm_json_get(node, "properties"), name);
    cm_autobuf what = CM_BUF_INIT(CM_ERR_MAX_BYTES);

    cm_buf_add_z(&what, "is not accepted");
    if (near.ptr)
        cm_buf_addf(&what, "; did you mean \"%.*s\"?", CM_STR_ARG(near));
    cm_buf_add_z(&what, near.ptr ? " Accepted: " : "; accepted: ");
    write_accepted(&what, node);
    return refuse(k, &at, &what);
}

static cm_status refuse_missing(struct check *k, yyjson_val *node, struct cm_str name, const struct at *up)
{
    struct at at = {.up = up, .key = name};
    yyjson_val *schema = yyjson_obj_getn(cm_json_get(node, "properties"), name.ptr, name.len);
    struct cm_str type = cm_json_str(cm_json_get(schema, "type"));
    cm_autobuf what = CM_BUF_INIT(CM_ERR_MAX_BYTES);

    cm_buf_add_z(&what, "is missing");
    if (type.ptr)
        cm_buf_addf(&what, " and must be %s", with_article(type));
    if (yyjson_obj_size(cm_json_get(node, "properties")) > 0) {
        cm_buf_add_z(&what, "; accepted: ");
        write_accepted(&what, node);
    }
    return refuse(k, &at, &what);
}

static cm_status check_members(struct check *k, yyjson_val *node, yyjson_val *value, const struct at *up,
                               unsigned depth)
{
    yyjson_val *properties = cm_json_get(node, "properties"),
               *more = cm_json_get(node, "additionalProperties");
    bool closed = yyjson_is_false(more) && yyjson_obj_size(cm_json_get(node, "patternProperties")) == 0;
    bool patterns = yyjson_obj_size(cm_json_get(node, "patternProperties")) > 0;
    yyjson_val *key, *member;
    size_t i, max;

    yyjson_obj_foreach(value, i, max, key, member)
    {
        struct cm_str name = cm_json_str(key);
        struct at at = {.up = up, .key = name};
        /* Looking up among many properties is work as well. */
        size_t cost = yyjson_obj_size(properties) / 32;
        if (cost > k->left)
            return CM_OK;
        k->left -= cost;
        yyjson_val *schema = yyjson_obj_getn(properties, name.ptr, name.len);
        if (!schema && closed)
            return refuse_unknown(k, node, name, up);
        if (!schema && !patterns)
            schema = more;
        cm_status st = check_value(k, schema, member, &at, depth + 1);
        if (st != CM_OK)
            return st;
    }
    return CM_OK;
}

static cm_status check_object(struct check *k, yyjson_val *node, yyjson_val *value, const struct at *up,
                              unsigned depth)
{
    yyjson_val *name;
    size_t i, max;

    if (!yyjson_is_obj(value))
        return CM_OK;
    /* A misspelt name is the likely reason for a missing one: it is the better message. */
    cm_status st = check_members(k, node, value, up, depth);
    if (st != CM_OK)
        return st;
    yyjson_arr_foreach(cm_json_get(node, "required"), i, max, name)
    {
        struct cm_str s = cm_json_str(name);
        if (i == CM_SCHEMA_PROPERTIES_MAX)
            break;
        if (s.ptr && !yyjson_obj_getn(value, s.ptr, s.len))
            return refuse_missing(k, node, s, up);
    }
    return CM_OK;
}

static cm_status check_array(struct check *k, yyjson_val *node, yyjson_val *value, const struct at *up,
                             unsigned depth)
{
    yyjson_val *items = cm_json_get(node, "items"), *prefix = cm_json_get(node, "prefixItems"), *rest = items,
               *item;
    size_t i, max;

    if (yyjson_is_arr(items)) {
        prefix = items;
        rest = cm_json_get(node, "additionalItems");
    }
    yyjson_arr_foreach(value, i, max, item)
    {
        struct at at = {.up = up, .index = i};
        cm_status st = check_value(k, i < yyjson_arr_size(prefix) ? yyjson_arr_get(prefix, i) : rest, item,
                                   &at, depth + 1);
        if (st != CM_OK)
            return st;
    }
    return CM_OK;
}

/* ---- combinators ---- */

/* One of the members must accept; where none does, the only one, or the first that is no null, says why. */
static cm_status check_any(struct check *k, yyjson_val *members, yyjson_val *value, const struct at *at,
                           unsigned depth)
{
    struct cm_err first = {0}, *outer = k->err, ignored = {0};
    yyjson_val *member;
    size_t i, max, tried = 0;

    yyjson_arr_foreach(members, i, max, member)
    {
        bool null = cm_str_eq_z(cm_json_str(cm_json_get(member, "type")), "null");
        k->err = tried == 0 && !null ? &first : &ignored;
        cm_status st = check_value(k, member, value, at, depth + 1);
        k->err = outer;
        if (st == CM_OK)
            return CM_OK;
        tried += !null;
    }
    if (max == 0)
        return CM_OK;
    if (tried <= 1)
        return cm_err_set(k->err, CM_E_INVALID, "%s", tried ? first.message : ignored.message);
    return cm_err_set(k->err, CM_E_INVALID, "%.*s (or one of %zu other forms)", 1500, first.message,
                      tried - 1);
}

static cm_status check_combinators(struct check *k, yyjson_val *node, yyjson_val *value, const struct at *at,
                                   unsigned depth)
{
    static const char *const any[] = {"anyOf", "oneOf"};
    yyjson_val *member;
    size_t i, max;

    yyjson_arr_foreach(cm_json_get(node, "allOf"), i, max, member)
    {
        cm_status st = check_value(k, member, value, at, depth + 1);
        if (st != CM_OK)
            return st;
    }
    for (i = 0; i < CM_ARRAY_LEN(any); i++) {
        cm_status st = check_any(k, cm_json_get(node, any[i]), value, at, depth);
        if (st != CM_OK)
            return st;
    }
    return CM_OK;
}

static cm_status check_node(struct check *k, yyjson_val *node, yyjson_val *value, const struct at *at,
                            unsigned depth)
{
    static cm_status (*const checks[])(struct check *, yyjson_val *, yyjson_val *, const struct at *,
                                       unsigned) = {check_object, check_array, check_combinators};
    struct cm_str ref = cm_schema__ref(node);
    cm_status st = check_type(k, node, value, at);

    if (st == CM_OK)
        st = check_literals(k, node, value, at);
    if (st != CM_OK || (yyjson_is_null(value) && cm_schema__is_nullable(node)))
        return st;
    if (ref.ptr)
        st = check_value(k, cm_schema__target(k->root, ref, NULL), value, at, depth + 1);
    for (size_t i = 0; st == CM_OK && i < CM_ARRAY_LEN(checks); i++)
        st = checks[i](k, node, value, at, depth);
    return st;
}

static cm_status check_value(struct check *k, yyjson_val *node, yyjson_val *value, const struct at *at,
                             unsigned depth)
{
    if (yyjson_is_false(node)) {
        cm_autobuf what = CM_BUF_INIT(64);
        cm_buf_add_z(&what, "is not accepted");
        return refuse(k, at, &what);
    }
    if (!yyjson_is_obj(node) || depth > CM_SCHEMA_NESTING_MAX || k->left == 0)
        return CM_OK;
    k->left--;
    return check_node(k, node, value, at, depth);
}

cm_status cm_schema_check(yyjson_val *root, yyjson_val *node, yyjson_val *value, struct cm_err *err)
{
    struct check k = {.root = root, .err = err, .left = CHECK_VISITS_MAX};

    return check_value(&k, node, value, NULL, 0);
}
