/*
 * From a document to operations. Each operation stands for itself: one that cannot be called as described is
 * left out with its reason, and the others never hear of it.
 */
#include "connector/openapi.h"

#include "base/limits.h"
#include "base/names.h"
#include "base/utf8.h"

#define DESCRIPTION_MAX_BYTES 4096
#define SKIPS_MAX             1000

/* The order of the reference (R4.4); trace is no call of an API. */
static const struct {
    const char *key;
    const char *method;
    unsigned flags;
} methods[] = {
    {"get", "GET", CM_METHOD_READ_ONLY | CM_METHOD_IDEMPOTENT},
    {"put", "PUT", CM_METHOD_IDEMPOTENT},
    {"post", "POST", 0},
    {"delete", "DELETE", CM_METHOD_IDEMPOTENT},
    {"patch", "PATCH", 0},
    {"options", "OPTIONS", CM_METHOD_READ_ONLY | CM_METHOD_IDEMPOTENT},
    {"head", "HEAD", CM_METHOD_READ_ONLY | CM_METHOD_IDEMPOTENT},
};

/* ---- small questions ---- */

static bool glob(const char *pattern, const char *name)
{
    const char *star = NULL, *back = NULL;

    while (*name) {
        if (*pattern == '*') {
            star = ++pattern;
            back = name;
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star;
            name = ++back;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

static bool any_glob(const char *const *patterns, const char *name)
{
    for (; patterns && *patterns; patterns++)
        if (glob(*patterns, name))
            return true;
    return false;
}

/* ---- what is left out ---- */

static void skip(struct cm_oa *oa, const char *method, const char *path, const char *reason)
{
    if (oa->n_skips >= SKIPS_MAX)
        return;
    if (oa->n_skips == SKIPS_MAX - 1) {
        method = path = "";
        reason = "there are more that were left out";
    }
    oa->skips = cm_realloc(oa->skips, (oa->n_skips + 1) * sizeof *oa->skips);
    oa->skips[oa->n_skips++] = (struct cm_oa_skip){cm_strdup(method), cm_strdup(path), cm_strdup(reason)};
}

/* ---- servers ---- */

static char *fill_server(yyjson_val *server)
{
    cm_autobuf b = CM_BUF_INIT(8192);
    const char *url = cm_json_get_z(server, "url");

    for (const char *p = url; p && *p;) {
        size_t len = *p == '{' ? strcspn(p, "}") : 0;
        if (len && p[len]) {
            cm_autofree char *name = cm_memdup_z(p + 1, len - 1);
            yyjson_val *variable = cm_json_get(cm_json_get(server, "variables"), name);
            cm_buf_add_str(&b, cm_json_str(cm_json_get(variable, "default")));
            p += len + 1;
        } else {
            cm_buf_add_char(&b, *p++);
        }
    }
    while (b.len && b.ptr[b.len - 1] == '/')
        b.ptr[--b.len] = '\0';
    return b.failed ? cm_strdup("") : cm_buf_take(&b, NULL);
}

static bool is_absolute(const char *url)
{
    return (strncasecmp(url, "http://", 7) == 0 || strncasecmp(url, "https://", 8) == 0) &&
           strcspn(url, "?#\r\n \\") == strlen(url);
}

static void read_base(struct cm_oa *oa, const struct cm_oa_options *options)
{
    yyjson_val *server = yyjson_arr_get_first(cm_json_get(oa->root, "servers"));
    char *url = NULL;

    if (options->base_url) {
        url = cm_strdup(options->base_url);
        for (size_t n = strlen(url); n && url[n - 1] == '/'; n--)
            url[n - 1] = '\0';
    } else {
        url = fill_server(server);
    }
    if (is_absolute(url)) {
        oa->base_url = url;
        return;
    }
    oa->base_error =
        cm_asprintf("%s '%.200s' is not where a service can be reached; set baseUrl to its address, like "
                    "\"https://host/path\"",
                    options->base_url ? "baseUrl" : "the description's server", url);
    free(url);
}

/*
 * An operation may name a server of its own. Credentials are for the configured service only, so one that
 * lives on another host is not called; a path of the same host is taken. A configured baseUrl stands for all
 * of them.
 */
static cm_status check_servers(struct cm_oa *oa, yyjson_val *item, yyjson_val *node,
                               const struct cm_oa_options *options, struct cm_err *err)
{
    yyjson_val *servers =
        cm_json_get(node, "servers") ? cm_json_get(node, "servers") : cm_json_get(item, "servers");

    if (!servers || options->base_url || !oa->base_url)
        return CM_OK;
    cm_autofree char *url = fill_server(yyjson_arr_get_first(servers));
    if (cm_z_eq(url, oa->base_url))
        return CM_OK;
    return cm_err_set(err, CM_E_INVALID,
                      "it is served at '%.200s', not at '%.200s'; configure that address as a service of its "
                      "own with baseUrl",
                      url, oa->base_url);
}

/* ---- operations ---- */

static void op_done(struct cm_oa_op *op)
{
    for (size_t i = 0; i < op->n_params; i++) {
        free(op->params[i].arg);
        free(op->params[i].own_name);
    }
    free(op->params);
    free(op->name);
    free(op->origin);
    free(op->description);
    yyjson_doc_free(op->input);
}

static void describe(struct cm_oa_op *op)
{
    cm_autobuf b = CM_BUF_INIT(4 * DESCRIPTION_MAX_BYTES);
    struct cm_str text = cm_json_str(cm_json_get(op->node, "summary"));

    if (yyjson_is_true(cm_json_get(op->node, "deprecated")))
        cm_buf_add_z(&b, "Deprecated. ");
    if (!text.len)
        text = cm_json_str(cm_json_get(op->node, "description"));
    if (text.len)
        cm_buf_add(&b, text.ptr, cm_utf8_cut(text, DESCRIPTION_MAX_BYTES));
    else
        cm_buf_add_z(&b, op->origin);
    for (size_t i = 0; i < op->n_params; i++)
        if (!cm_z_eq(op->params[i].arg, op->params[i].name))
            cm_buf_addf(&b, "\n%s is the %s parameter %s.", op->params[i].arg,
                        cm_oa_place_name(op->params[i].place), op->params[i].name);
    op->description = cm_buf_take(&b, NULL);
}

static char *op_identifier(yyjson_val *node, const char *key, const char *path)
{
    struct cm_str id = cm_json_str(cm_json_get(node, "operationId"));

    if (id.len && id.len <= CM_NAME_MAX_BYTES)
        return cm_name_to_method(id);
    /* The path's own slash separates: get + /pets/{id} is get_pets_id. */
    cm_autofree char *made = cm_asprintf("%s%s%.200s", key, path[0] == '/' ? "" : "/", path);
    return cm_name_to_method(cm_str_of(made));
}

static cm_status read_op(struct cm_oa *oa, struct cm_oa_op *op, yyjson_val *item,
                         const struct cm_oa_options *options, struct cm_err *err)
{
    cm_status st = check_servers(oa, item, op->node, options, err);

    if (st == CM_OK)
        st = cm_oa__read_input(oa, op, item, options, err);
    if (st != CM_OK)
        return st;
    describe(op);
    long other = cm_namemap_get(&oa->index, cm_str_of(op->name));
    if (other >= 0)
        return cm_err_set(err, CM_E_CONFLICT, "it would be called '%s' like %s; give it another operationId",
                          op->name, oa->ops[other].origin);
    if (oa->n_ops >= CM_METHODS_MAX)
        return cm_err_set(err, CM_E_LIMIT, "there are more than %d operations", CM_METHODS_MAX);
    return CM_OK;
}

static void add_op(struct cm_oa *oa, const char *path, size_t m, yyjson_val *item, yyjson_val *node,
                   const struct cm_oa_options *options)
{
    struct cm_oa_op op = {.method = methods[m].method, .path = path, .node = node, .flags = methods[m].flags};
    struct cm_err err;

    op.name = op_identifier(node, methods[m].key, path);
    op.origin = cm_asprintf("%s %s", op.method, path);
    bool only_some = options->include && options->include[0];
    if ((only_some && !any_glob(options->include, op.name)) || any_glob(options->exclude, op.name)) {
        op_done(&op);
        return;
    }
    if (read_op(oa, &op, item, options, &err) != CM_OK) {
        skip(oa, op.method, path, err.message);
        op_done(&op);
        return;
    }
    if ((oa->n_ops & (oa->n_ops - 1)) == 0)
        oa->ops = cm_realloc(oa->ops, (oa->n_ops ? oa->n_ops * 2 : 1) * sizeof *oa->ops);
    cm_namemap_put(&oa->index, op.name, oa->n_ops);
    oa->ops[oa->n_ops++] = op;
}

static void add_path(struct cm_oa *oa, const char *path, yyjson_val *raw, const struct cm_oa_options *options)
{
    yyjson_val *item = cm_oa_deref(oa->root, raw);

    if (strncmp(path, "x-", 2) == 0)
        return;
    if (path[0] != '/' || strcspn(path, "?#\r\n \\") < strlen(path)) {
        skip(oa, "", path, "a path begins with '/' and holds no '?', '#', space or backslash");
        return;
    }
    if (!item) {
        const char *ref = cm_json_get_z(raw, "$ref");
        cm_autofree char *reason = ref ? cm_asprintf("it refers to '%.200s', which leads nowhere", ref)
                                       : cm_asprintf("it is %s; an object is expected", cm_json_kind(raw));
        skip(oa, "", path, reason);
        return;
    }
    for (size_t m = 0; m < CM_ARRAY_LEN(methods); m++) {
        yyjson_val *node = cm_json_get(item, methods[m].key);
        if (yyjson_is_obj(node))
            add_op(oa, path, m, item, node, options);
        else if (node)
            skip(oa, methods[m].method, path, "it is no object");
    }
}

static cm_status check_version(yyjson_val *root, struct cm_err *err)
{
    yyjson_val *openapi = cm_json_get(root, "openapi");
    const char *version = yyjson_get_str(openapi);

    if (cm_json_get(root, "swagger"))
        return cm_err_set(
            err, CM_E_INVALID,
            "it is a Swagger 2.0 description; OpenAPI 3.0 or 3.1 is expected (converters exist for it)");
    if ((version && strncmp(version, "3.", 2) == 0) ||
        (yyjson_is_num(openapi) && yyjson_get_num(openapi) >= 3 && yyjson_get_num(openapi) < 4))
        return CM_OK;
    if (!openapi)
        return cm_err_set(err, CM_E_INVALID,
                          "it has no member 'openapi'; a description begins with  openapi: 3.0.0  or 3.1.0");
    return cm_err_set(err, CM_E_INVALID, "it is of OpenAPI version '%.40s'; 3.0 or 3.1 is expected",
                      version ? version : "?");
}

static void read_info(struct cm_oa *oa)
{
    yyjson_val *info = cm_json_get(oa->root, "info");
    struct cm_str title = cm_json_str(cm_json_get(info, "title"));
    struct cm_str text = cm_json_str(cm_json_get(info, "description"));
    cm_autobuf b = CM_BUF_INIT(4 * DESCRIPTION_MAX_BYTES);

    oa->title = cm_memdup_z(title.ptr, title.len ? cm_utf8_cut(title, 200) : 0);
    cm_buf_add_z(&b, oa->title);
    if (text.len) {
        cm_buf_add_z(&b, b.len ? "\n\n" : "");
        cm_buf_add(&b, text.ptr, cm_utf8_cut(text, DESCRIPTION_MAX_BYTES));
    }
    oa->instructions = b.len ? cm_buf_take(&b, NULL) : NULL;
}

static void fill_methods(struct cm_oa *oa)
{
    oa->methods = cm_calloc(oa->n_ops + 1, sizeof *oa->methods);
    for (size_t i = 0; i < oa->n_ops; i++)
        oa->methods[i] = (struct cm_method){.name = oa->ops[i].name,
                                            .origin = oa->ops[i].origin,
                                            .description = oa->ops[i].description,
                                            .flags = oa->ops[i].flags};
}

cm_status cm_oa_new(yyjson_doc *take_doc, const struct cm_oa_options *options, struct cm_oa **out,
                    struct cm_err *err)
{
    cm_auto_oa oa = cm_new(struct cm_oa);
    size_t i, max;
    yyjson_val *path, *item;

    oa->doc = take_doc;
    oa->root = yyjson_doc_get_root(take_doc);
    if (!yyjson_is_obj(oa->root))
        return cm_err_set(err, CM_E_INVALID, "it is %s; an OpenAPI description is an object",
                          cm_json_kind(oa->root));
    cm_status st = check_version(oa->root, err);
    if (st != CM_OK)
        return st;
    read_info(oa);
    read_base(oa, options);
    yyjson_obj_foreach(cm_oa_or_nothing(cm_json_get(oa->root, "paths")), i, max, path, item)
    {
        add_path(oa, yyjson_get_str(path), item, options);
    }
    fill_methods(oa);
    *out = cm_steal(&oa);
    return CM_OK;
}

void cm_oa_free(struct cm_oa *oa)
{
    if (!oa)
        return;
    for (size_t i = 0; i < oa->n_ops; i++)
        op_done(&oa->ops[i]);
    for (size_t i = 0; i < oa->n_skips; i++) {
        free(oa->skips[i].method);
        free(oa->skips[i].path);
        free(oa->skips[i].reason);
    }
    free(oa->ops);
    free(oa->methods);
    free(oa->skips);
    cm_namemap_done(&oa->index);
    free(oa->base_url);
    free(oa->base_error);
    free(oa->title);
    free(oa->instructions);
    yyjson_doc_free(oa->doc);
    free(oa);
}
