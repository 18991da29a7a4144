/* Saved programs in the index. To it they are the methods of one more connector, which has no object: they are called by
 * codemode.run(NAME, input). */
#include "catalog/internal.h"

#include "base/utf8.h"
#include "schema/schema.h"

#define TYPES_MAX_BYTES (8u << 20)
/* Of the program's text; what a model wants of it is how it works, and all of it is what `codemode snippets show` gives. */
#define CODE_MAX_BYTES (24u << 10)

struct cm_kept_snippet {
    char *name, *description, *connectors, *code, *schema;
    size_t code_len, schema_len;
    yyjson_doc *schema_doc; /* NULL: any input */
};

static void drop(struct cm_kept_snippet *k)
{
    free(k->name);
    free(k->description);
    free(k->connectors);
    free(k->code);
    free(k->schema);
    yyjson_doc_free(k->schema_doc);
    *k = (struct cm_kept_snippet){0};
}

static void cut_to(cm_catalog *c, size_t n)
{
    while (c->n_snippets > n)
        drop(&c->snippets[--c->n_snippets]);
    c->built = false;
}

void cm_catalog__free_snippets(cm_catalog *c)
{
    cut_to(c, 0);
    free(c->snippets);
    free(c->snippet_methods);
}

static bool is_same(const struct cm_kept_snippet *k, const struct cm_catalog_snippet *s)
{
    return cm_z_eq(k->name, s->name) && cm_z_eq(k->description, s->description) &&
           cm_z_eq(k->connectors, s->connectors_json) &&
           cm_str_eq(cm_str_mk(k->code, k->code_len), s->code) &&
           cm_str_eq(cm_str_mk(k->schema, k->schema_len), s->input_schema);
}

void cm_catalog_put_snippet(cm_catalog *c, size_t i, const struct cm_catalog_snippet *s)
{
    if (i < c->n_snippets && is_same(&c->snippets[i], s))
        return;
    cut_to(c, i);
    c->snippets = cm_realloc(c->snippets, (i + 1) * sizeof *c->snippets);
    c->snippets[i] = (struct cm_kept_snippet){
        .name = cm_strdup(s->name),
        .description = cm_strdup(s->description),
        .connectors = cm_strdup(s->connectors_json),
        .code = cm_memdup_z(s->code.ptr, s->code.len),
        .code_len = s->code.len,
        .schema = cm_memdup_z(s->input_schema.ptr, s->input_schema.len),
        .schema_len = s->input_schema.len,
    };
    if (s->input_schema.len &&
        cm_json_parse(s->input_schema, CM_JSON_STRICT, &c->snippets[i].schema_doc, NULL) != CM_OK)
        c->snippets[i].schema_doc = NULL;
    c->n_snippets = i + 1;
}

void cm_catalog_end_snippets(cm_catalog *c, size_t n)
{
    if (n < c->n_snippets)
        cut_to(c, n);
}

size_t cm_catalog__snippet_methods(cm_catalog *c, const struct cm_method **out)
{
    free(c->snippet_methods);
    c->snippet_methods = cm_calloc(c->n_snippets + 1, sizeof *c->snippet_methods);
    for (size_t i = 0; i < c->n_snippets; i++)
        c->snippet_methods[i] =
            (struct cm_method){.name = c->snippets[i].name, .description = c->snippets[i].description};
    *out = c->snippet_methods;
    return c->n_snippets;
}

long cm_catalog__find_snippet(const cm_catalog *c, struct cm_str name)
{
    for (size_t i = 0; i < c->n_snippets; i++)
        if (cm_str_eq_z(name, c->snippets[i].name))
            return (long)i;
    return -1;
}

/** "run(input: …): Promise<unknown>" as it is called: codemode.run("NAME", input: …): Promise<unknown> */
void cm_catalog__write_run(const cm_catalog *c, size_t i, size_t max_bytes, struct cm_buf *out)
{
    const struct cm_kept_snippet *k = &c->snippets[i];
    yyjson_val *schema = yyjson_doc_get_root(k->schema_doc);
    const struct cm_schema_method m = {
        .name = "run", .description = "", .in_root = schema, .in_node = schema};
    cm_autobuf text = CM_BUF_INIT(1u << 20);

    cm_schema_render_signature(&text, &m, max_bytes);
    cm_buf_addf(out, "codemode.run(\"%s\", ", k->name);
    cm_buf_add_z(out, cm_buf_str(&text).ptr + strlen("run("));
}

/** Its signature, the type of its input, and the program. */
static void write_types(const cm_catalog *c, size_t i, struct cm_buf *out)
{
    const struct cm_kept_snippet *k = &c->snippets[i];
    yyjson_val *schema = yyjson_doc_get_root(k->schema_doc);
    struct cm_str code = {k->code, k->code_len};

    cm_catalog__write_run(c, i, CM_SIGNATURE_BYTES, out);
    cm_buf_add_z(out, ";\n");
    if (schema) {
        cm_buf_add_char(out, '\n');
        (void)cm_schema_render_named(out, "Input", schema, NULL);
    }
    cm_buf_add_z(out, "\n// The program:\n");
    if (code.len > CODE_MAX_BYTES)
        code.len = cm_utf8_cut(code, CODE_MAX_BYTES);
    cm_buf_add_str(out, code);
    cm_buf_add_z(out, code.len && code.ptr[code.len - 1] == '\n' ? "" : "\n");
    if (code.len < k->code_len)
        cm_buf_addf(out, "// … and %zu more bytes\n", k->code_len - code.len);
}

cm_status cm_catalog__describe_snippet(const cm_catalog *c, size_t i, struct cm_buf *out, struct cm_err *err)
{
    const struct cm_kept_snippet *k = &c->snippets[i];
    cm_autobuf types = CM_BUF_INIT(TYPES_MAX_BYTES);

    write_types(c, i, &types);
    cm_status st = cm_buf_check(&types, k->name, err);
    if (st != CM_OK)
        return st;
    cm_buf_add_z(out, "{\"path\":");
    cm_json_write_string(out, cm_str_of(k->name));
    cm_buf_add_z(out, ",\"kind\":\"snippet\"");
    if (k->description[0]) {
        cm_buf_add_z(out, ",\"description\":");
        cm_json_write_string(out, cm_str_of(k->description));
    }
    cm_buf_add_z(out, ",\"types\":");
    cm_json_write_string(out, cm_buf_str(&types));
    cm_buf_add_char(out, '}');
    return cm_buf_check(out, "the description", err);
}
