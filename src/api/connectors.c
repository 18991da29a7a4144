/** The connectors of a context: one for each entry of the configuration, those that are switched off
 * included. */
#include "api/internal.h"

#include "connector/kinds.h"

/* ---- an entry that cannot work still has its name: programs and `check` are told why */

struct off {
    const char *reason; /* the configuration's */
};

static void off_start(void *self, cm_connector *c)
{
    const struct off *off = self;
    struct cm_err err;

    cm_err_set(&err, CM_E_CONFIG, "%s", off->reason);
    cm_connector__failed(c, &err);
}

static size_t off_methods(void *self, const struct cm_method **out)
{
    (void)self;
    *out = NULL;
    return 0;
}

static void off_call(void *self, size_t i, struct cm_value args, cm_call *call)
{
    const struct off *off = self;

    (void)i, (void)args;
    cm_call__fail(call, "connector_unavailable", CM_STR(""), "%s", off->reason);
}

static const struct cm_connector_ops *off_ops(enum cm_entry_kind kind)
{
#define OFF_OPS(word)                                                                            \
    {                                                                                            \
        .kind = word, .start = off_start, .methods = off_methods, .call = off_call, .free = free \
    }
    static const struct cm_connector_ops ops[] = {
        [CM_ENTRY_MCP_STDIO] = OFF_OPS("mcp"),
        [CM_ENTRY_MCP_HTTP] = OFF_OPS("mcp"),
        [CM_ENTRY_OPENAPI] = OFF_OPS("openapi"),
        [CM_ENTRY_TOOLSET] = OFF_OPS("toolset"),
    };
#undef OFF_OPS
    return &ops[kind];
}

static cm_connector *make_off(cm_ctx *ctx, const struct cm_config_entry *e, const char *reason)
{
    struct off *off = cm_new(struct off);

    off->reason = reason;
    return cm_connector_new(ctx->loop, off_ops(e->kind), off, e->name, e->origin, 0, 0,
                            cm_config_secrets(ctx->config));
}

/* ---- the kinds */

static const struct cm_pair *pairs(const struct cm_config_pair *list)
{
    /* Two layers, one shape: neither may include the other's header. */
    _Static_assert(sizeof(struct cm_pair) == sizeof(struct cm_config_pair), "pairs differ");
    _Static_assert(offsetof(struct cm_pair, value) == offsetof(struct cm_config_pair, value), "pairs differ");
    return (const struct cm_pair *)(const void *)list;
}

static cm_connector *make_openapi(cm_ctx *ctx, const struct cm_connector_base *base,
                                  const struct cm_config_entry *e)
{
    struct cm_openapi_spec spec = {
        .spec_path = e->spec,
        .base_url = e->url,
        .headers = pairs(e->headers),
        .n_headers = e->n_headers,
        .include = e->include,
        .exclude = e->exclude,
        .auth = pairs(e->auth),
        .n_auth = e->n_auth,
    };
    return cm_connector_openapi(ctx->loop, base, &spec);
}

static unsigned tool_flags(const struct cm_config_tool *t)
{
    return (t->requires_approval ? CM_METHOD_REQUIRES_APPROVAL : 0u) |
           (t->read_only ? CM_METHOD_READ_ONLY : 0u) | (t->idempotent ? CM_METHOD_IDEMPOTENT : 0u) |
           (t->reexecute ? CM_METHOD_REEXECUTE : 0u);
}

static cm_connector *make_toolset(cm_ctx *ctx, const struct cm_connector_base *base,
                                  const struct cm_config_entry *e)
{
    cm_autofree struct cm_toolset_tool *tools = cm_calloc(e->n_tools + 1, sizeof *tools);
    struct cm_toolset_spec spec = {.instructions = e->instructions, .tools = tools, .n_tools = e->n_tools};

    for (size_t i = 0; i < e->n_tools; i++) {
        const struct cm_config_tool *t = &e->tools[i];
        tools[i] = (struct cm_toolset_tool){
            .name = t->name,
            .description = t->description,
            .command = t->command,
            .env = t->env,
            .cwd = t->cwd,
            .input_schema = t->input_schema,
            .output_schema = t->output_schema,
            .revert = t->revert,
            .flags = tool_flags(t),
            .timeout_ms = t->timeout_ms,
        };
    }
    return cm_connector_toolset(ctx->loop, base, &spec);
}

static cm_connector *make(cm_ctx *ctx, const struct cm_config_entry *e)
{
    struct cm_connector_base base = {
        .name = e->name,
        .origin = e->origin,
        .secrets = cm_config_secrets(ctx->config),
        .start_timeout_ms = e->start_timeout_ms,
        .timeout_ms = e->timeout_ms,
    };
    struct cm_mcp_stdio_spec stdio = {.argv = e->argv, .env = e->env, .cwd = e->cwd};

    if (e->error)
        return make_off(ctx, e, e->error);
    switch (e->kind) {
    case CM_ENTRY_MCP_STDIO:
        return cm_connector_mcp_stdio(ctx->loop, &base, &stdio);
    case CM_ENTRY_MCP_HTTP:
        return make_off(
            ctx, e,
            "streamable HTTP servers ('url') are not supported in this version; give a 'command' that speaks "
            "MCP on its standard streams");
    case CM_ENTRY_OPENAPI:
        return make_openapi(ctx, &base, e);
    case CM_ENTRY_TOOLSET:
        return make_toolset(ctx, &base, e);
    }
    return NULL;
}

void cm_api__add_connector(cm_ctx *ctx, cm_connector *take_c)
{
    ctx->connectors = cm_realloc(ctx->connectors, (ctx->n_connectors + 1) * sizeof(cm_connector *));
    ctx->connectors[ctx->n_connectors++] = take_c;
}

static cm_status make_fetch(cm_ctx *ctx, struct cm_err *err)
{
    const struct cm_config_fetch *list = NULL;
    size_t n = cm_config_fetch(ctx->config, &list);
    struct cm_connector_base base = {
        .name = "fetch", .origin = "codemode.fetch", .secrets = cm_config_secrets(ctx->config)};
    cm_autofree struct cm_fetch_host *hosts = cm_calloc(n + 1, sizeof *hosts);
    struct cm_fetch_spec spec = {.hosts = hosts, .n_hosts = n};

    for (size_t i = 0; i < n; i++)
        hosts[i] = (struct cm_fetch_host){
            .at = list[i].at,
            .pattern = list[i].host,
            .off = list[i].off,
            .headers = pairs(list[i].headers),
            .n_headers = list[i].n_headers,
            .methods = list[i].methods,
            .allow_private = list[i].allow_private,
            .ranges = list[i].ranges,
            .timeout_ms = list[i].timeout_ms,
            .max_bytes = list[i].max_bytes,
        };
    if (n == 0)
        return CM_OK;
    if (cm_connector_fetch(ctx->loop, &base, &spec, &ctx->fetch, err) == CM_OK)
        return CM_OK;
    const char *path = cm_config_path(ctx->config);
    return path ? cm_err_prefix(err, "'%s'", path) : cm_err_prefix(err, "the configuration");
}

cm_status cm_api__make_connectors(cm_ctx *ctx, struct cm_err *err)
{
    const struct cm_config_entry *entries;
    size_t n = cm_config_entries(ctx->config, &entries);

    for (size_t i = 0; i < n; i++)
        cm_api__add_connector(ctx, make(ctx, &entries[i]));
    ctx->n_configured = n;
    return make_fetch(ctx, err);
}

void cm_api__free_connectors(cm_ctx *ctx)
{
    for (size_t i = 0; i < ctx->n_connectors; i++)
        cm_connector_free(ctx->connectors[i]);
    cm_connector_free(ctx->fetch);
    ctx->fetch = NULL;
    free(ctx->connectors);
    ctx->connectors = NULL;
    ctx->n_connectors = 0;
}

cm_connector *cm_api__find_connector(const cm_ctx *ctx, struct cm_str name)
{
    for (size_t i = 0; i < ctx->n_connectors; i++)
        if (cm_str_eq_z(name, cm_connector_name(ctx->connectors[i])))
            return ctx->connectors[i];
    return NULL;
}

/* ---- waiting for them */

/**
 * How long a list waits for everyone. A server that says nothing for longer is listed as not there yet;
 * whoever asks for it by name, and `check`, wait for its whole time to start.
 */
#define PATIENCE_MS 10000

struct awaiting {
    size_t left;
    bool impatient;
};

static void on_patience(void *user)
{
    struct awaiting *a = user;

    a->impatient = true;
}

static void on_settled(void *user, cm_connector *c)
{
    struct awaiting *a = user;

    (void)c;
    a->left--;
}

cm_status cm_api__await_connectors(cm_ctx *ctx, const char *path, bool patient, struct cm_err *err)
{
    struct awaiting a = {0};
    cm_connector *only = path ? cm_api__find_connector(ctx, cm_str_mk(path, strcspn(path, "."))) : NULL;
    cm_status st = cm_api__may_block(ctx, err);

    if (st != CM_OK)
        return st;
    for (size_t i = 0; i < ctx->n_connectors; i++) {
        if (only && ctx->connectors[i] != only)
            continue;
        a.left++;
        cm_connector_ensure(ctx->connectors[i], on_settled, &a);
    }
    cm_auto(cm_timer) timer = cm_timer_new(ctx->loop, on_patience, &a);
    if (!patient && !only)
        cm_timer_start(timer, PATIENCE_MS);
    while (a.left && !ctx->interrupted && !a.impatient)
        cm_api_turn(ctx);
    for (size_t i = 0; a.left && i < ctx->n_connectors; i++)
        cm_connector_forget(ctx->connectors[i], &a);
    return ctx->interrupted && a.left
               ? cm_err_set(err, CM_E_CANCELLED, "interrupted while connectors were starting")
               : CM_OK;
}

static void on_started(void *user, cm_connector *c)
{
    cm_ctx *ctx = user;
    bool ready = cm_connector_state(c) == CM_CONN_READY;

    if (ctx->on_connector)
        ctx->on_connector(ctx->on_connector_user, cm_connector_name(c), ready ? NULL : cm_connector_error(c));
}

void cm_api_start_connectors(cm_ctx *ctx, cm_api_connector_fn fn, void *user)
{
    ctx->on_connector = fn;
    ctx->on_connector_user = user;
    for (size_t i = 0; i < ctx->n_connectors; i++)
        cm_connector_ensure(ctx->connectors[i], on_started, ctx);
}
