/** What `check` can say of `reverts` and `transformResult` without undoing anything: whether what they name is there. */
#include "api/internal.h"

#include "base/names.h"

/** The connector that a path begins with, as the file has it or as programs do. */
static cm_connector *connector_of(const cm_ctx *ctx, const char *path)
{
    struct cm_str name = cm_str_mk(path, strcspn(path, "."));
    cm_connector *c = cm_api__find_connector(ctx, name);
    cm_autofree char *mapped = cm_name_to_identifier(name);

    return c ? c : cm_api__find_connector(ctx, cm_str_of(mapped));
}

static long method_of(const cm_connector *c, const char *name)
{
    const struct cm_method *methods = NULL;
    size_t n = cm_connector_methods(c, &methods);
    cm_autofree char *mapped = cm_name_to_method(cm_str_of(name));
    long i = cm_connector_find(c, cm_str_of(name));

    if (i < 0)
        i = cm_connector_find(c, cm_str_of(mapped));
    for (size_t k = 0; i < 0 && k < n; k++)
        if (cm_z_eq(methods[k].origin, name))
            i = (long)k;
    return i;
}

/** NULL: "connector.method" is there, or its connector is not up, which is told elsewhere. Otherwise why not, owned by the caller. */
static char *look_for(const cm_ctx *ctx, const char *path, cm_connector **c, long *method)
{
    *method = -1;
    *c = connector_of(ctx, path);
    if (!*c)
        return cm_asprintf("there is no connector '%.*s'", (int)strcspn(path, "."), path);
    if (cm_connector_state(*c) != CM_CONN_READY)
        return NULL;
    *method = method_of(*c, strchr(path, '.') + 1);
    return *method < 0 ? cm_connector_unknown(*c, cm_str_of(strchr(path, '.') + 1)) : NULL;
}

/** What the method that undoes asks for, and what the template gives. */
static char *compare(const cm_connector *c, long method, const char *args_json)
{
    struct cm_schema_ref input = {0}, output = {0};
    cm_auto(yyjson_doc) doc = NULL;
    size_t i, max;
    yyjson_val *key, *v;

    cm_connector_schemas(c, (size_t)method, &input, &output);
    if (cm_json_parse(cm_str_of(args_json), CM_JSON_BIGNUM, &doc, NULL) != CM_OK ||
        !yyjson_is_obj(yyjson_doc_get_root(doc)))
        return NULL; /* the arguments of the call that is undone: they are not known yet */
    yyjson_arr_foreach(cm_json_get(input.node, "required"), i, max, v)
    {
        if (yyjson_is_str(v) && !cm_json_get(yyjson_doc_get_root(doc), yyjson_get_str(v)))
            return cm_asprintf("it needs the argument '%s', which 'args' does not give", yyjson_get_str(v));
    }
    if (!yyjson_is_false(cm_json_get(input.node, "additionalProperties")))
        return NULL;
    yyjson_obj_foreach(yyjson_doc_get_root(doc), i, max, key, v)
    {
        if (!cm_json_get(cm_json_get(input.node, "properties"), yyjson_get_str(key)))
            return cm_asprintf("it has no argument '%s'", yyjson_get_str(key));
    }
    return NULL;
}

static char *fault_of(const cm_ctx *ctx, const struct cm_config_revert *r)
{
    cm_autofree char *call = cm_asprintf("%s.%s", r->connector, r->call);
    cm_connector *c = NULL;
    long method = -1;
    char *fault = look_for(ctx, r->method, &c, &method);

    if (fault)
        return fault;
    fault = look_for(ctx, call, &c, &method);
    if (!fault && method >= 0)
        fault = compare(c, method, r->args_json);
    if (!fault)
        return NULL;
    cm_autofree char *bare = fault;
    return cm_asprintf("its call %s: %s", call, bare);
}

static bool add_snippet(cm_ctx *ctx, struct cm_buf *b)
{
    const char *name = cm_config_settings(ctx->config)->transform_snippet;
    cm_autobuf found = CM_BUF_INIT(CM_API__TEXT_MAX_BYTES);
    struct cm_err err;

    if (!name || (cm_api__runtime(ctx, &err) == CM_OK &&
                  cm_runtime_snippet(ctx->runtime, name, &found, &err) == CM_OK))
        return true;
    cm_buf_add_z(b, ",\"transformResult\":{\"error\":");
    cm_json_write_string(b, cm_str_of(err.message));
    cm_buf_add_char(b, '}');
    return false;
}

bool cm_api__check_reverts(cm_ctx *ctx, struct cm_buf *b)
{
    const struct cm_config_revert *list = NULL;
    size_t n = cm_config_reverts(ctx->config, &list);
    bool ok = true;

    for (size_t i = 0; i < n; i++) {
        cm_autofree char *fault = fault_of(ctx, &list[i]);

        cm_buf_add_z(b, i ? ",{\"method\":" : ",\"reverts\":[{\"method\":");
        cm_json_write_string(b, cm_str_of(list[i].method));
        if (fault) {
            ok = false;
            cm_buf_add_z(b, ",\"error\":");
            cm_json_write_string(b, cm_str_of(fault));
        }
        cm_buf_add_char(b, '}');
    }
    if (n)
        cm_buf_add_char(b, ']');
    return add_snippet(ctx, b) && ok;
}
