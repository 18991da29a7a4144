/*
 * A method on one line, for lists of hits: what must be given first, then what may, and "…" where it would
 * get long.
 *
 *     issues_create(input: { owner: string; repo: string; title: string | number; body?: string; … }):
 * Promise<Issue>
 *
 * The text is for readers, not for a compiler: an object inside an object is "{…}", a named schema is its
 * name.
 */
#include "schema/internal.h"

#define OUTPUT_BYTES 60 /* of the line are kept for the result */
#define LITERALS_MAX 4
#define MEMBERS_MAX  3

static void brief(struct cm_buf *out, yyjson_val *root, yyjson_val *node, unsigned depth, size_t room);

static void brief_literals(struct cm_buf *out, yyjson_val *values, size_t room)
{
    yyjson_val *value;
    size_t i, max, start = out->len;

    yyjson_arr_foreach(values, i, max, value)
    {
        cm_buf_add_z(out, i ? " | " : "");
        if (i == LITERALS_MAX || out->len - start > room) {
            cm_buf_add_z(out, "…");
            return;
        }
        cm_schema__write_literal(out, value, 7);
    }
    if (out->len == start)
        cm_buf_add_z(out, "never");
}

static void brief_members(struct cm_buf *out, yyjson_val *root, yyjson_val *members, const char *between,
                          unsigned depth, size_t room)
{
    yyjson_val *member;
    size_t i, max;

    yyjson_arr_foreach(members, i, max, member)
    {
        cm_buf_add_z(out, i ? between : "");
        if (i == MEMBERS_MAX) {
            cm_buf_add_z(out, "…");
            return;
        }
        brief(out, root, member, depth + 1, room / MEMBERS_MAX);
    }
}

struct members {
    struct cm_buf *out;
    yyjson_val *root, *node;
    unsigned depth;
    size_t room, start;
    bool full;
};

/* One pass over the properties: the required ones, or the others. */
static void brief_properties(struct members *m, bool required)
{
    yyjson_val *key, *schema;
    size_t i, max;

    yyjson_obj_foreach(cm_json_get(m->node, "properties"), i, max, key, schema)
    {
        bool is_required = cm_schema__has_string(cm_json_get(m->node, "required"), cm_json_str(key));
        if (is_required != required || m->full)
            continue;
        cm_autobuf one = CM_BUF_INIT(4096);
        cm_schema__write_key(&one, cm_json_str(key));
        cm_buf_add_z(&one, required ? ": " : "?: ");
        brief(&one, m->root, schema, m->depth + 1, m->room / 2);
        m->full = one.failed || m->out->len - m->start + one.len > m->room;
        cm_buf_add_z(m->out, m->out->len > m->start ? "; " : " ");
        if (m->full)
            cm_buf_add_z(m->out, "…");
        else
            cm_buf_add_str(m->out, cm_buf_str(&one));
    }
}

static void brief_object(struct cm_buf *out, yyjson_val *root, yyjson_val *node, unsigned depth, size_t room)
{
    size_t n = yyjson_obj_size(cm_json_get(node, "properties"));

    if (n == 0) {
        cm_buf_add_z(out, yyjson_is_false(cm_json_get(node, "additionalProperties")) ? "{}" : "object");
        return;
    }
    if (depth > 0) {
        cm_buf_add_z(out, "{…}");
        return;
    }
    cm_buf_add_char(out, '{');
    struct members m = {
        .out = out, .root = root, .node = node, .depth = depth, .room = room, .start = out->len};
    brief_properties(&m, true);
    brief_properties(&m, false);
    cm_buf_add_z(out, " }");
}

static void brief_array(struct cm_buf *out, yyjson_val *root, yyjson_val *node, unsigned depth, size_t room)
{
    cm_autobuf item = CM_BUF_INIT(4096);

    brief(&item, root, cm_json_get(node, "items"), depth + 1, room);
    bool wrap = memchr(cm_buf_str(&item).ptr, ' ', item.len) != NULL;
    cm_buf_add_z(out, wrap ? "(" : "");
    cm_buf_add_str(out, cm_buf_str(&item));
    cm_buf_add_z(out, wrap ? ")[]" : "[]");
}

static void brief_type(struct cm_buf *out, yyjson_val *root, yyjson_val *node, struct cm_str type,
                       unsigned depth, size_t room)
{
    if (cm_str_eq_z(type, "object") || (!type.ptr && cm_json_get(node, "properties")))
        brief_object(out, root, node, depth, room);
    else if (cm_str_eq_z(type, "array") || (!type.ptr && cm_json_get(node, "items")))
        brief_array(out, root, node, depth, room);
    else if (cm_str_eq_z(type, "integer"))
        cm_buf_add_z(out, "number");
    else if (cm_str_eq_z(type, "string") || cm_str_eq_z(type, "number") || cm_str_eq_z(type, "boolean") ||
             cm_str_eq_z(type, "null"))
        cm_buf_add_str(out, type);
    else
        cm_buf_add_z(out, "unknown");
}

static void brief_types(struct cm_buf *out, yyjson_val *root, yyjson_val *node, unsigned depth, size_t room)
{
    yyjson_val *type = cm_json_get(node, "type"), *item;
    size_t i, max;

    if (yyjson_arr_size(type) == 0) {
        brief_type(out, root, node, cm_json_str(type), depth, room);
        return;
    }
    yyjson_arr_foreach(type, i, max, item)
    {
        cm_buf_add_z(out, i ? " | " : "");
        brief_type(out, root, node, cm_json_str(item), depth, room);
        if (i == MEMBERS_MAX)
            return;
    }
}

static bool brief_ref(struct cm_buf *out, yyjson_val *root, yyjson_val *node, unsigned depth, size_t room)
{
    struct cm_str token = {NULL, 0}, ref = cm_schema__ref(node);
    yyjson_val *target = ref.ptr ? cm_schema__target(root, ref, &token) : NULL;

    if (!target)
        return false;
    /* At the top the members are the news; below, the name is. */
    if (depth == 0 || cm_schema__is_trivial(target)) {
        brief(out, root, target, cm_schema__ref(target).ptr ? depth + 1 : depth, room);
    } else {
        cm_autofree char *name = cm_schema__type_name(token);
        cm_buf_add_z(out, name);
    }
    return true;
}

static void brief(struct cm_buf *out, yyjson_val *root, yyjson_val *node, unsigned depth, size_t room)
{
    yyjson_val *values = cm_json_get(node, "enum"), *constant = cm_json_get(node, "const");

    if (!yyjson_is_obj(node) || depth > 6) {
        cm_buf_add_z(out, yyjson_is_false(node) ? "never" : "unknown");
    } else if (constant) {
        cm_schema__write_literal(out, constant, 7);
    } else if (yyjson_is_arr(values)) {
        brief_literals(out, values, room);
    } else if (!brief_ref(out, root, node, depth, room)) {
        static const char *const combinators[] = {"anyOf", "oneOf", "allOf"};
        yyjson_val *members = NULL;
        size_t i = 0;
        for (; i < CM_ARRAY_LEN(combinators) && yyjson_arr_size(members) == 0; i++)
            members = cm_json_get(node, combinators[i]);
        if (yyjson_arr_size(members) > 0 && !cm_json_get(node, "properties"))
            brief_members(out, root, members, i == CM_ARRAY_LEN(combinators) ? " & " : " | ", depth, room);
        else
            brief_types(out, root, node, depth, room);
    }
    if (cm_schema__is_nullable(node))
        cm_buf_add_z(out, " | null");
}

/* A result is named where it has a name, since its members are too many for a line. */
static void brief_result(struct cm_buf *out, const struct cm_schema_method *m)
{
    struct cm_str token = {NULL, 0}, ref = cm_schema__ref(m->out_node);
    yyjson_val *target = ref.ptr ? cm_schema__target(m->out_root, ref, &token) : NULL;

    if (target && !cm_schema__is_trivial(target)) {
        cm_autofree char *name = cm_schema__type_name(token);
        cm_buf_add_z(out, name);
    } else {
        brief(out, m->out_root, m->out_node, 0, OUTPUT_BYTES);
    }
}

void cm_schema_render_signature(struct cm_buf *out, const struct cm_schema_method *m, size_t max_bytes)
{
    cm_autobuf result = CM_BUF_INIT(1u << 20);
    cm_autobuf input = CM_BUF_INIT(1u << 20);
    bool needed = cm_schema__needs_input(m->in_root, m->in_node, 0);

    brief_result(&result, m);
    if (result.len > OUTPUT_BYTES * 2) {
        cm_buf_clear(&result);
        cm_buf_add_z(&result, "{…}");
    }
    size_t fixed = strlen(m->name) + result.len + 30;
    brief(&input, m->in_root, m->in_node, 0, max_bytes > fixed + 20 ? max_bytes - fixed : 20);
    if (input.len + fixed > max_bytes + 40) {
        cm_buf_clear(&input);
        cm_buf_add_z(&input, "{…}");
    }
    cm_buf_add_z(out, m->name);
    cm_buf_add_z(out, needed ? "(input: " : "(input?: ");
    cm_buf_add_str(out, cm_buf_str(&input));
    cm_buf_add_z(out, "): Promise<");
    cm_buf_add_str(out, cm_buf_str(&result));
    cm_buf_add_char(out, '>');
}
