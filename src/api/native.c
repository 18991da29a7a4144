/** Tools made of the embedder's callbacks: a connector for each name, a tool for each row. */
#include "api/internal.h"

#include "base/names.h"
#include "connector/kinds.h"

/** Lives from the call until its one answer; the connector's side outlives a cancelled call until then as
 * well. */
struct cm_tool_call {
    cm_call *call;
};

/** What a native connector's tool carries; owned by the context. */
struct bound {
    cm_tool_fn fn, revert;
    void *user;
};

static cm_tool_call *tool_call(cm_call *call)
{
    cm_tool_call *tc = cm_new(cm_tool_call);

    tc->call = call;
    return tc;
}

static void on_native_call(void *user, cm_call *call, struct cm_str args_json)
{
    const struct bound *b = user;

    b->fn(b->user, tool_call(call), args_json.ptr, args_json.len);
}

static void on_native_revert(void *user, cm_call *call, struct cm_str args_json)
{
    const struct bound *b = user;

    b->revert(b->user, tool_call(call), args_json.ptr, args_json.len);
}

const char *cm_tool_call_execution(const cm_tool_call *call)
{
    return cm_call__execution(call->call);
}

void cm_tool_return(cm_tool_call *call, const char *json, size_t len)
{
    cm_native_reply_json(call->call, cm_str_mk(json, len));
    free(call);
}

void cm_tool_fail(cm_tool_call *call, const char *message)
{
    cm_tool_fail_with(call, NULL, NULL, message);
}

void cm_tool_fail_with(cm_tool_call *call, const char *code, const char *fields_json, const char *message)
{
    cm_native_reply_error(call->call, code, cm_str_of(fields_json ? fields_json : ""),
                          message ? message : "the tool failed");
    free(call);
}

static unsigned method_flags(unsigned flags)
{
    static const struct {
        unsigned tool, method;
    } map[] = {
        {CM_TOOL_REQUIRES_APPROVAL, CM_METHOD_REQUIRES_APPROVAL},
        {CM_TOOL_READ_ONLY, CM_METHOD_READ_ONLY},
        {CM_TOOL_IDEMPOTENT, CM_METHOD_IDEMPOTENT},
        {CM_TOOL_REEXECUTE, CM_METHOD_REEXECUTE},
    };
    unsigned out = 0;

    for (size_t i = 0; i < CM_ARRAY_LEN(map); i++)
        out |= flags & map[i].tool ? map[i].method : 0u;
    return out;
}

static cm_status check_tool(const struct cm_tool *t, struct cm_err *err)
{
    if (!t->connector || !cm_name_is_identifier(cm_str_of(t->connector)) ||
        strlen(t->connector) > CM_NAME_MAX_BYTES)
        return cm_err_set(err, CM_E_INVALID, "connector '%s': expected a JavaScript identifier",
                          t->connector ? t->connector : "");
    if (cm_z_eq(t->connector, "codemode") || cm_config_is_global(t->connector))
        return cm_err_set(err, CM_E_INVALID, "connector '%s': the name is taken by what every program has",
                          t->connector);
    if (!t->name || !*t->name)
        return cm_err_set(err, CM_E_INVALID, "%s: a tool needs a name", t->connector);
    if (!t->fn)
        return cm_err_set(err, CM_E_INVALID, "%s.%s: a tool needs a callback", t->connector, t->name);
    if (t->flags & ~15u)
        return cm_err_set(err, CM_E_INVALID, "%s.%s: unknown bits in flags (0x%x)", t->connector, t->name,
                          t->flags);
    return CM_OK;
}

/** The native connector of this name; made when there is none. *made: it is new and belongs to nobody yet. */
static cm_status find_or_make(cm_ctx *ctx, const char *name, cm_connector **out, bool *made,
                              struct cm_err *err)
{
    struct cm_connector_base base = {
        .name = name, .origin = "cm_add_tool", .secrets = cm_config_secrets(ctx->config)};

    *out = cm_api__find_connector(ctx, cm_str_of(name));
    for (size_t i = 0; *out && i < ctx->n_configured; i++)
        if (ctx->connectors[i] == *out)
            return cm_err_set(err, CM_E_CONFLICT, "connector '%s' exists already: %s", name,
                              cm_connector_origin(*out));
    *made = *out == NULL;
    if (*made && ctx->ops)
        return cm_err_set(err, CM_E_CONFLICT,
                          "connector '%s' is new and a program is running; add it before or after", name);
    if (*made)
        *out = cm_connector_native(ctx->loop, &base, NULL);
    return CM_OK;
}

cm_status cm_add_tool(cm_ctx *ctx, const struct cm_tool *tool, struct cm_err *err)
{
    cm_connector *c = NULL;
    bool made = false;
    cm_status st = check_tool(tool, err);

    if (st == CM_OK)
        st = find_or_make(ctx, tool->connector, &c, &made, err);
    if (st != CM_OK)
        return st;
    struct bound *b = cm_new(struct bound);
    *b = (struct bound){tool->fn, tool->revert, tool->user};
    struct cm_native_tool native = {
        .name = tool->name,
        .description = tool->description,
        .input_schema = tool->input_schema,
        .output_schema = tool->output_schema,
        .flags = method_flags(tool->flags),
        .timeout_ms = tool->timeout_ms,
        .fn = on_native_call,
        .user = b,
        .revert = tool->revert ? on_native_revert : NULL,
    };
    st = cm_connector_native_add(c, &native, err);
    if (st != CM_OK) {
        free(b);
        if (made)
            cm_connector_free(c);
        return st;
    }
    ctx->kept = cm_realloc(ctx->kept, (ctx->n_kept + 1) * sizeof *ctx->kept);
    ctx->kept[ctx->n_kept++] = b;
    if (made) {
        cm_api__drop_runtime(ctx);
        cm_api__add_connector(ctx, c);
    }
    return CM_OK;
}
