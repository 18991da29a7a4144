/*
 * Tools that are callbacks of the embedder. They cannot be stopped, so a call that was cancelled stays alive
 * until it is answered (see call.c); tools may be added while the connector is in use.
 */
#include "base/limits.h"
#include "connector/kinds.h"
#include "connector/table.h"

struct native_tool {
    cm_native_fn fn;
    cm_native_fn revert;
    void *user;
};

struct native {
    struct cm_method_table table;
    struct native_tool *tools; /* one for each method */
    struct cm_native_hooks hooks;
    char *instructions;
};

static void native_start(void *self, cm_connector *c)
{
    (void)self;
    cm_connector__ready(c);
}

static size_t native_methods(void *self, const struct cm_method **out)
{
    struct native *n = self;

    *out = n->table.methods;
    return n->table.n;
}

static void native_schemas(void *self, size_t i, struct cm_schema_ref *input, struct cm_schema_ref *output)
{
    struct native *n = self;

    cm_method_table_schemas(&n->table, i, input, output);
}

static const char *native_instructions(void *self)
{
    struct native *n = self;

    return n->instructions;
}

static void native_call(void *self, size_t i, struct cm_value args, cm_call *call)
{
    struct native *n = self;
    cm_autobuf json = CM_BUF_INIT((size_t)CM_FRAME_MAX_BYTES);
    struct cm_err err;

    if (cm_value_to_tool_json(args, &json, &err) != CM_OK) {
        cm_call__fail(call, "arguments", CM_STR(""), "%s", err.message);
        return;
    }
    n->tools[i].fn(n->tools[i].user, call, cm_buf_str(&json));
}

static void native_revert(void *self, size_t i, struct cm_value args, struct cm_value result, cm_call *call)
{
    struct native *n = self;
    cm_autobuf json = CM_BUF_INIT(2 * (size_t)CM_FRAME_MAX_BYTES);
    struct cm_err err;

    if (cm_connector__revert_json(args, result, &json, &err) != CM_OK) {
        cm_call__fail(call, "arguments", CM_STR(""), "%s", err.message);
        return;
    }
    n->tools[i].revert(n->tools[i].user, call, cm_buf_str(&json));
}

static void native_pass_end(void *self, const char *execution, const char *status)
{
    struct native *n = self;

    if (n->hooks.pass_end)
        n->hooks.pass_end(n->hooks.user, execution, status);
}

static void native_dispose(void *self, const char *execution, const char *status)
{
    struct native *n = self;

    if (n->hooks.dispose)
        n->hooks.dispose(n->hooks.user, execution, status);
}

static void native_free(void *self)
{
    struct native *n = self;

    cm_method_table_done(&n->table);
    free(n->tools);
    free(n->instructions);
    free(n);
}

static const struct cm_connector_ops native_ops = {
    .kind = "native",
    .start = native_start,
    .methods = native_methods,
    .schemas = native_schemas,
    .instructions = native_instructions,
    .call = native_call,
    .revert = native_revert,
    .cancel = NULL,
    .pass_end = native_pass_end,
    .dispose = native_dispose,
    .free = native_free,
};

cm_connector *cm_connector_native(cm_loop *loop, const struct cm_connector_base *base,
                                  const char *instructions)
{
    struct native *n = cm_new(struct native);

    n->instructions = cm_strdup_null(instructions);
    return cm_connector_new(loop, &native_ops, n, base->name, base->origin, base->start_timeout_ms,
                            base->timeout_ms, base->secrets);
}

/** The kind's own state; CM_E_INVALID where the connector is of another one. */
static cm_status own(cm_connector *c, struct native **out, const char *what, struct cm_err *err)
{
    *out = cm_connector__self(c, &native_ops);
    if (*out)
        return CM_OK;
    return cm_err_set(err, CM_E_INVALID, "'%s' is no connector of callbacks; it cannot be given %s",
                      cm_connector_name(c), what);
}

cm_status cm_connector_native_hooks(cm_connector *c, const struct cm_native_hooks *hooks, struct cm_err *err)
{
    struct native *n;
    cm_status st = own(c, &n, "hooks", err);

    if (st == CM_OK)
        n->hooks = *hooks;
    return st;
}

cm_status cm_connector_native_add(cm_connector *c, const struct cm_native_tool *tool, struct cm_err *err)
{
    struct native *n;
    cm_status st = own(c, &n, "tools", err);

    if (st != CM_OK)
        return st;
    if (!tool->name || !tool->fn)
        return cm_err_set(err, CM_E_INVALID, "%s: a tool needs a name and a callback", cm_connector_name(c));
    struct cm_method_spec spec = {.name = tool->name,
                                  .description = tool->description,
                                  .input_schema = tool->input_schema,
                                  .output_schema = tool->output_schema,
                                  .flags = tool->flags & ~(unsigned)CM_METHOD_HAS_REVERT,
                                  .timeout_ms = tool->timeout_ms};
    if (tool->revert)
        spec.flags |= CM_METHOD_HAS_REVERT;
    st = cm_method_table_add(&n->table, &spec, err);
    if (st != CM_OK)
        return cm_err_prefix(err, "%s", cm_connector_name(c));
    n->tools = cm_realloc(n->tools, n->table.n * sizeof *n->tools);
    n->tools[n->table.n - 1] = (struct native_tool){tool->fn, tool->revert, tool->user};
    if (cm_connector_state(c) == CM_CONN_READY)
        cm_connector__ready(c);
    return CM_OK;
}

void cm_native_reply_json(cm_call *call, struct cm_str json)
{
    cm_call__finish_json(call, json);
}

void cm_native_reply_error(cm_call *call, const char *code, struct cm_str fields_json, const char *message)
{
    cm_call__fail(call, code, fields_json, "%s", message);
}
