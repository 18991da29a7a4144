/** Looking: what a program can call, what was done, and what a bare document describes. */
#include "api/internal.h"

#include "base/fd.h"
#include "connector/kinds.h"
#include "schema/schema.h"

#define API_BUF CM_BUF_INIT(CM_API__TEXT_MAX_BYTES)

static cm_status with_catalog(cm_ctx *ctx, const char *path, struct cm_err *err)
{
    cm_status st = cm_api__await_connectors(ctx, path, false, err);

    return st == CM_OK ? cm_api__know_snippets(ctx, err) : st;
}

cm_status cm_search(cm_ctx *ctx, const char *query, size_t limit, char **json, struct cm_err *err)
{
    cm_autobuf b = API_BUF;
    cm_status st = with_catalog(ctx, NULL, err);

    if (st != CM_OK)
        return st;
    cm_catalog_search(ctx->catalog, cm_str_of(query ? query : ""), limit, &b);
    return cm_api__give(ctx, &b, json, err);
}

/** A connector that failed is the reason when nothing of that name is found. */
static cm_status explain_missing(cm_ctx *ctx, const char *path, cm_status st, struct cm_err *err)
{
    cm_connector *c = cm_api__find_connector(ctx, cm_str_mk(path, strcspn(path, ".")));

    if (st == CM_E_NOT_FOUND && c && cm_connector_state(c) == CM_CONN_FAILED)
        return cm_err_set(err, CM_E_UNAVAILABLE, "%s", cm_connector_error(c));
    return st;
}

cm_status cm_describe(cm_ctx *ctx, const char *path, char **json, struct cm_err *err)
{
    cm_autobuf b = API_BUF;
    cm_status st = with_catalog(ctx, path, err);

    if (st == CM_OK)
        st = cm_catalog_describe(ctx->catalog, cm_str_of(path), &b, err);
    if (st != CM_OK)
        return explain_missing(ctx, path, st, err);
    return cm_api__give(ctx, &b, json, err);
}

/** Modules by name; what they export, only they say. */
static void add_modules(const cm_ctx *ctx, struct cm_buf *b)
{
    struct cm_str rest = cm_config_modules(ctx->config);

    while (rest.len > 0) {
        const char *comma = memchr(rest.ptr, ',', rest.len);
        size_t len = comma ? (size_t)(comma - rest.ptr) : rest.len, used = comma ? len + 2 : len;

        cm_buf_addf(b, "%sdeclare module \"%.*s\";\n", b->len > 0 && b->ptr[b->len - 1] != '\n' ? "\n" : "",
                    (int)len, rest.ptr);
        rest = cm_str_mk(rest.ptr + used, rest.len - used);
    }
}

cm_status cm_types(cm_ctx *ctx, const char *path, char **text, struct cm_err *err)
{
    cm_autobuf b = API_BUF;
    cm_status st = with_catalog(ctx, path, err);

    if (st == CM_OK)
        st = cm_catalog_types(ctx->catalog, cm_str_of(path ? path : ""), &b, err);
    if (st == CM_OK && !path)
        add_modules(ctx, &b);
    if (st != CM_OK)
        return path ? explain_missing(ctx, path, st, err) : st;
    return cm_api__give(ctx, &b, text, err);
}

cm_status cm_executions(cm_ctx *ctx, size_t limit, char **json, struct cm_err *err)
{
    cm_autobuf b = API_BUF;
    cm_status st = cm_api__runtime(ctx, err);

    if (st == CM_OK)
        st = cm_runtime_executions(ctx->runtime, limit ? limit : 50, &b, err);
    return st == CM_OK ? cm_api__give(ctx, &b, json, err) : st;
}

cm_status cm_execution(cm_ctx *ctx, const char *id, char **json, struct cm_err *err)
{
    cm_autobuf b = API_BUF;
    cm_status st = cm_api__runtime(ctx, err);

    if (st == CM_OK)
        st = cm_runtime_execution(ctx->runtime, id, &b, err);
    return st == CM_OK ? cm_api__give(ctx, &b, json, err) : st;
}

cm_status cm_execution_delete(cm_ctx *ctx, const char *id, struct cm_err *err)
{
    return cm_store_delete(ctx->store, id, err);
}

/* ---- bare documents */

cm_status cm_api_types_openapi(const char *path, const char *name, char **json, struct cm_err *err)
{
    cm_autobuf b = API_BUF;
    cm_status st = cm_openapi_describe_file(path, name ? name : "api", &b, err);

    if (st == CM_OK)
        st = cm_buf_check(&b, "the declarations", err);
    if (st == CM_OK)
        *json = cm_buf_take(&b, NULL);
    return st;
}

cm_status cm_api_types_schema(const char *path, const char *name, char **text, struct cm_err *err)
{
    cm_autofree char *source = NULL;
    cm_auto(yyjson_doc) doc = NULL;
    cm_autobuf b = API_BUF;
    size_t len = 0;
    cm_status st = cm_read_file(path, CM_SPEC_MAX_BYTES, &source, &len, err);

    if (st != CM_OK)
        return st;
    st = cm_json_parse(cm_str_mk(source, len), CM_JSON_RELAXED, &doc, err);
    if (st != CM_OK)
        return cm_err_prefix(err, "'%s'", path);
    yyjson_val *root = yyjson_doc_get_root(doc);
    const char *title = cm_json_get_z(root, "title");
    st = cm_schema_render_named(&b, name ? name : title ? title : "Schema", root, err);
    if (st == CM_OK)
        st = cm_buf_check(&b, "the declarations", err);
    if (st != CM_OK)
        return cm_err_prefix(err, "'%s'", path);
    *text = cm_buf_take(&b, NULL);
    return CM_OK;
}
