#include "connector/table.h"

#include "base/limits.h"
#include "base/names.h"

void cm_method_table_done(struct cm_method_table *t)
{
    for (size_t i = 0; i < t->n; i++) {
        free((void *)(uintptr_t)t->methods[i].name);
        free((void *)(uintptr_t)t->methods[i].origin);
        free((void *)(uintptr_t)t->methods[i].description);
        yyjson_doc_free(t->docs[i].input);
        yyjson_doc_free(t->docs[i].output);
    }
    free(t->methods);
    free(t->docs);
    cm_namemap_done(&t->index);
    *t = (struct cm_method_table){0};
}

static cm_status parse_schema(const char *text, const char *what, yyjson_doc **out, struct cm_err *err)
{
    cm_auto(yyjson_doc) doc = NULL;
    cm_status st = cm_json_parse(cm_str_of(text), CM_JSON_STRICT, &doc, err);

    if (st != CM_OK)
        return cm_err_prefix(err, "%s", what);
    if (!yyjson_is_obj(yyjson_doc_get_root(doc)))
        return cm_err_set(err, CM_E_INVALID, "%s is %s; a JSON Schema object is expected", what,
                          cm_json_kind(yyjson_doc_get_root(doc)));
    *out = cm_steal(&doc);
    return CM_OK;
}

static cm_status check_spec(const struct cm_method_table *t, const struct cm_method_spec *spec,
                            const char *identifier, struct cm_err *err)
{
    long other = cm_namemap_get(&t->index, cm_str_of(identifier));

    if (!spec->name[0] || strlen(spec->name) > CM_NAME_MAX_BYTES)
        return cm_err_set(err, CM_E_INVALID, "a tool's name must have 1 to %d bytes", CM_NAME_MAX_BYTES);
    if (other >= 0)
        return cm_err_set(err, CM_E_CONFLICT,
                          "tools '%s' and '%s' would both be called '%s'; rename one of them",
                          t->methods[other].origin, spec->name, identifier);
    if ((spec->flags & CM_METHOD_REQUIRES_APPROVAL) && (spec->flags & CM_METHOD_REEXECUTE))
        return cm_err_set(err, CM_E_INVALID,
                          "cannot require approval and be executed again on every replay; choose one");
    if (t->n >= CM_METHODS_MAX)
        return cm_err_set(err, CM_E_LIMIT, "more than %d tools", CM_METHODS_MAX);
    return CM_OK;
}

static void grow(struct cm_method_table *t)
{
    if (t->n < t->cap)
        return;
    t->cap = t->cap ? t->cap * 2 : 16;
    t->methods = cm_realloc(t->methods, t->cap * sizeof *t->methods);
    t->docs = cm_realloc(t->docs, t->cap * sizeof *t->docs);
}

cm_status cm_method_table_add(struct cm_method_table *t, const struct cm_method_spec *spec,
                              struct cm_err *err)
{
    cm_autofree char *identifier = cm_name_to_method(cm_str_of(spec->name));
    cm_auto(yyjson_doc) input = NULL;
    cm_auto(yyjson_doc) output = NULL;
    cm_status st = check_spec(t, spec, identifier, err);

    if (st == CM_OK)
        st = parse_schema(spec->input_schema ? spec->input_schema : "{\"type\":\"object\"}", "inputSchema",
                          &input, err);
    if (st == CM_OK && spec->output_schema)
        st = parse_schema(spec->output_schema, "outputSchema", &output, err);
    if (st != CM_OK)
        return cm_err_prefix(err, "tool '%.80s'", spec->name);
    grow(t);
    cm_namemap_put(&t->index, identifier, t->n);
    t->methods[t->n] =
        (struct cm_method){.name = cm_steal(&identifier),
                           .origin = cm_strdup(spec->name),
                           .description = cm_strdup(spec->description ? spec->description : ""),
                           .flags = spec->flags,
                           .timeout_ms = spec->timeout_ms};
    t->docs[t->n++] = (struct cm_method_docs){cm_steal(&input), cm_steal(&output)};
    return CM_OK;
}

void cm_method_table_schemas(const struct cm_method_table *t, size_t i, struct cm_schema_ref *input,
                             struct cm_schema_ref *output)
{
    yyjson_val *in = yyjson_doc_get_root(t->docs[i].input);
    yyjson_val *out = yyjson_doc_get_root(t->docs[i].output);

    *input = (struct cm_schema_ref){in, in};
    *output = (struct cm_schema_ref){out, out};
}
