/* Methods, connectors and named schemas: what stands around the types. */
#include "schema/internal.h"

#include "base/names.h"

#define PARAM_MAX_BYTES 160 /* of a description in the doc comment; all of it stands at the property */

void cm_schema_render_type(struct cm_buf *out, yyjson_val *root, yyjson_val *node, unsigned indent,
                           struct cm_buf *defs)
{
    struct cm_schema__ctx c;

    cm_schema__ctx_init(&c, defs);
    (void)cm_schema__render(&c, root, node, indent, out);
    cm_schema__flush_defs(&c);
    cm_schema__ctx_done(&c);
}

/* The object whose properties are the arguments: the input itself or what it refers to. */
static yyjson_val *arguments_of(const struct cm_schema_method *m)
{
    struct cm_str ref = cm_schema__ref(m->in_node);

    return ref.ptr ? cm_schema__target(m->in_root, ref, NULL) : m->in_node;
}

static void write_doc(struct cm_buf *out, const struct cm_schema_method *m)
{
    struct cm_schema__doc doc = CM_SCHEMA_DOC_INIT;
    yyjson_val *key, *schema;
    size_t i, max;

    cm_schema__doc_add(&doc, "", cm_str_of(m->description), CM_SCHEMA_DOC_MAX);
    if (m->requires_approval)
        cm_schema__doc_add(&doc, "Requires approval: the call waits until a person has approved it.",
                           CM_STR(""), 0);
    yyjson_obj_foreach(cm_json_get(arguments_of(m), "properties"), i, max, key, schema)
    {
        struct cm_str description = cm_json_str(cm_json_get(schema, "description"));
        cm_autobuf before = CM_BUF_INIT(4096);
        if (description.len == 0 || i == CM_SCHEMA_PROPERTIES_MAX)
            continue;
        cm_buf_add_z(&before, "@param input.");
        (void)cm_schema__write_comment_text(&before, cm_json_str(key), 200);
        cm_buf_add_z(&before, " - ");
        cm_schema__doc_add(&doc, before.ptr, description, PARAM_MAX_BYTES);
    }
    cm_schema__doc_write(&doc, out, 1);
}

static void write_method(struct cm_schema__ctx *c, struct cm_buf *out, const struct cm_schema_method *m)
{
    write_doc(out, m);
    cm_schema__indent(out, 1);
    cm_schema__write_key(out, cm_str_of(m->name));
    cm_buf_add_z(out, cm_schema__needs_input(m->in_root, m->in_node, 0) ? "(input: " : "(input?: ");
    (void)cm_schema__render(c, m->in_root, m->in_node, 1, out);
    cm_buf_add_z(out, "): Promise<");
    (void)cm_schema__render(c, m->out_root, m->out_node, 1, out);
    cm_buf_add_z(out, ">;\n");
}

void cm_schema_render_method(struct cm_buf *out, const struct cm_schema_method *m, struct cm_buf *defs)
{
    struct cm_schema__ctx c;

    cm_schema__ctx_init(&c, defs);
    write_method(&c, out, m);
    cm_schema__flush_defs(&c);
    cm_schema__ctx_done(&c);
}

/* Guidance keeps its lines; nothing in it ends the comment. */
static void write_instructions(struct cm_buf *out, const char *instructions)
{
    struct cm_str rest = cm_str_of(instructions);

    if (rest.len == 0)
        return;
    cm_buf_add_z(out, "/*\n");
    while (rest.len > 0) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        size_t len = end ? (size_t)(end - rest.ptr) : rest.len;
        size_t start = out->len + 3;
        cm_buf_add_z(out, " * ");
        if (!cm_schema__write_comment_text(out, cm_str_mk(rest.ptr, len), CM_SCHEMA_DOC_MAX) &&
            out->len == start)
            out->len--;
        cm_buf_add_char(out, '\n');
        len += end != NULL;
        rest = cm_str_mk(rest.ptr + len, rest.len - len);
    }
    cm_buf_add_z(out, " */\n");
}

void cm_schema_render_connector(struct cm_buf *out, const char *name, const char *instructions,
                                const struct cm_schema_method *m, size_t n)
{
    cm_autofree char *id = cm_name_to_identifier(cm_str_of(name));
    cm_autobuf defs = CM_BUF_INIT(out->max_bytes);
    cm_autobuf members = CM_BUF_INIT(out->max_bytes);
    struct cm_schema__ctx c;

    cm_schema__ctx_init(&c, &defs);
    cm_schema__note_declared(&c, cm_buf_str(out));
    for (size_t i = 0; i < n; i++) {
        cm_buf_add_z(&members, i ? "\n" : "");
        write_method(&c, &members, &m[i]);
    }
    cm_schema__flush_defs(&c);
    cm_schema__ctx_done(&c);
    write_instructions(out, instructions);
    cm_buf_add_str(out, cm_buf_str(&defs));
    cm_buf_add_z(out, defs.len ? "\n" : "");
    cm_buf_addf(out, n ? "declare const %s: {\n" : "declare const %s: {", id);
    cm_buf_add_str(out, cm_buf_str(&members));
    cm_buf_add_z(out, "};\n");
    out->failed = out->failed || defs.failed || members.failed;
}

cm_status cm_schema_render_named(struct cm_buf *out, const char *name, yyjson_val *root, struct cm_err *err)
{
    cm_autobuf defs = CM_BUF_INIT(out->max_bytes);
    struct cm_schema__doc doc = CM_SCHEMA_DOC_INIT;
    struct cm_schema__ctx c;

    if (!yyjson_is_obj(root) && !yyjson_is_bool(root))
        return cm_err_set(err, CM_E_INVALID, "a schema is an object, true or false, not %s",
                          cm_json_kind(root));
    cm_schema__ctx_init(&c, &defs);
    name = cm_schema__def_own(&c, root, root, name);
    c.declaring = root;
    cm_schema__doc_add(&doc, "", cm_json_str(cm_json_get(root, "description")), CM_SCHEMA_COMMENT_MAX);
    cm_schema__doc_write(&doc, out, 0);
    cm_buf_addf(out, "type %s = ", name);
    (void)cm_schema__render(&c, root, root, 0, out);
    cm_buf_add_z(out, ";\n");
    c.declaring = NULL;
    cm_schema__flush_defs(&c);
    cm_schema__ctx_done(&c);
    cm_buf_add_str(out, cm_buf_str(&defs));
    out->failed = out->failed || defs.failed;
    return cm_buf_check(out, "the types", err);
}
