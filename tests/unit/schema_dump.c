/*
 * Prints what the schema layer makes of a file, for tests that hand it to the real TypeScript compiler:
 *
 *   schema_dump named NAME FILE       the declarations of a bare schema
 *   schema_dump connector NAME FILE   those of {"instructions", "methods": [{name, description, inputSchema,
 * outputSchema, …}]}
 *   schema_dump names - FILE          the identifiers of a list of names, as a list
 */
#include "schema/schema.h"

#include "base/fd.h"
#include "base/names.h"

#include <stdio.h>

#define OUT_MAX ((size_t)64 << 20)

static cm_status dump_connector(struct cm_buf *out, const char *name, yyjson_val *root, struct cm_err *err)
{
    yyjson_val *methods = cm_json_get(root, "methods"), *m;
    cm_autofree struct cm_schema_method *v = cm_calloc(yyjson_arr_size(methods) + 1, sizeof *v);
    size_t i, max;

    yyjson_arr_foreach(methods, i, max, m)
    {
        const char *description = cm_json_get_z(m, "description");
        yyjson_val *in = cm_json_get(m, "inputSchema"), *result = cm_json_get(m, "outputSchema");
        /* {"$at": "/pointer"} stands for a node inside the file, as an OpenAPI description has them. */
        const char *in_at = cm_json_get_z(in, "$at"), *out_at = cm_json_get_z(result, "$at");
        v[i] = (struct cm_schema_method){
            .name = cm_json_get_z(m, "name"),
            .description = description ? description : "",
            .requires_approval = yyjson_is_true(cm_json_get(m, "requiresApproval")),
            .in_root = in_at ? root : in,
            .in_node = in_at ? cm_schema_resolve(root, cm_str_of(in_at)) : in,
            .out_root = out_at ? root : result,
            .out_node = out_at ? cm_schema_resolve(root, cm_str_of(out_at)) : result};
    }
    cm_schema_render_connector(out, name, cm_json_get_z(root, "instructions"), v, i);
    return cm_buf_check(out, "the declarations", err);
}

static cm_status dump_names(struct cm_buf *out, yyjson_val *list, struct cm_err *err)
{
    size_t i, max;
    yyjson_val *name;

    cm_buf_add_char(out, '[');
    yyjson_arr_foreach(list, i, max, name)
    {
        cm_autofree char *identifier = cm_name_to_identifier(cm_json_str(name));
        cm_buf_addf(out, "%s", i ? "," : "");
        cm_json_write_string(out, cm_str_of(identifier));
    }
    cm_buf_add_z(out, "]\n");
    return cm_buf_check(out, "the names", err);
}

int main(int argc, char **argv)
{
    struct cm_err err = {0};
    cm_autofree char *text = NULL;
    cm_auto(yyjson_doc) doc = NULL;
    cm_autobuf out = CM_BUF_INIT(OUT_MAX);
    size_t len = 0;

    if (argc != 4) {
        fputs("usage: schema_dump named|connector|names NAME FILE\n", stderr);
        return 2;
    }
    cm_status st = cm_read_file(argv[3], OUT_MAX, &text, &len, &err);
    if (st == CM_OK)
        st = cm_json_parse(cm_str_mk(text, len), CM_JSON_STRICT, &doc, &err);
    if (st == CM_OK && cm_z_eq(argv[1], "connector"))
        st = dump_connector(&out, argv[2], yyjson_doc_get_root(doc), &err);
    else if (st == CM_OK && cm_z_eq(argv[1], "names"))
        st = dump_names(&out, yyjson_doc_get_root(doc), &err);
    else if (st == CM_OK)
        st = cm_schema_render_named(&out, argv[2], yyjson_doc_get_root(doc), &err);
    if (st != CM_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    (void)fwrite(out.ptr ? out.ptr : "", 1, out.len, stdout);
    return 0;
}
