/** `check`: reach everything and say what works. Nothing that does not work is a failure of cm_check itself.
 */
#include "api/internal.h"

#include "connector/kinds.h"
#include "wire/control.h"

static void add_member(struct cm_buf *b, const char *key, const char *text)
{
    cm_buf_addf(b, ",\"%s\":", key);
    cm_json_write_string(b, cm_str_of(text));
}

static void add_list(struct cm_buf *b, const char *key, const char *const *list, size_t n)
{
    if (!n)
        return;
    cm_buf_addf(b, ",\"%s\":[", key);
    for (size_t i = 0; i < n; i++) {
        cm_buf_add_z(b, i ? "," : "");
        cm_json_write_string(b, cm_str_of(list[i]));
    }
    cm_buf_add_char(b, ']');
}

static void add_config(cm_ctx *ctx, struct cm_buf *b)
{
    const char *const *warnings = NULL;
    size_t n = cm_config_warnings(ctx->config, &warnings);
    const char *path = cm_config_path(ctx->config);

    cm_buf_add_z(b, ",\"config\":{\"path\":");
    if (path)
        cm_json_write_string(b, cm_str_of(path));
    else
        cm_buf_add_z(b, "null");
    add_list(b, "warnings", warnings, n);
    cm_buf_add_char(b, '}');
}

static bool add_store(cm_ctx *ctx, struct cm_buf *b)
{
    struct cm_err err;
    cm_autobuf info = CM_BUF_INIT(65536);
    cm_status st = cm_store_info(ctx->store, &info, &err);

    cm_buf_add_z(b, ",\"store\":");
    if (st == CM_OK) {
        cm_buf_add_str(b, cm_buf_str(&info));
    } else {
        cm_buf_add_z(b, "{\"error\":");
        cm_json_write_string(b, cm_str_of(err.message));
        cm_buf_add_char(b, '}');
    }
    return st == CM_OK;
}

/* What it means that a layer does not hold here; docs/sandbox.md says it at length. Those that no worker
 * starts without say nothing. */
static const char *const without[CM_LAYER_COUNT_] = {
    [CM_LAYER_USER_NS] = "the machine's own user ids decide; the filter has no call that needs a right",
    [CM_LAYER_NET_NS] = "the machine's network is there; the filter has no call that opens a socket",
    [CM_LAYER_IPC_NS] = "the machine's queues and shared memory are there; the filter has no call for them",
    [CM_LAYER_MOUNT_NS] = "the machine's mounts are there; the filter has no call that opens a path",
    [CM_LAYER_UTS_NS] = "the machine's name is there; the filter has no call that sets it",
    [CM_LAYER_PID_NS] =
        "the machine's processes are there; the filter has no call that signals or traces one",
    [CM_LAYER_EMPTY_ROOT] = "the machine's paths are there; the filter has no call that opens one",
    [CM_LAYER_UNPRIVILEGED] =
        "rights of who started codemode are kept; the filter has no call that uses them",
    [CM_LAYER_LANDLOCK] = "one lock on files less; the filter has no call that opens one",
    [CM_LAYER_MEMORY] = "the kernel bounds no memory; codemode looks often and ends who has too much",
    [CM_LAYER_SECCOMP] = "every system call may be made: a build for tests, not for what nobody has read",
};

static void add_layers(cm_ctx *ctx, struct cm_buf *b)
{
    static const char *const names[] = {
#define LAYER_NAME(name, text) [CM_LAYER_##name] = (text),
        CM_LAYER_MAP(LAYER_NAME)
#undef LAYER_NAME
    };
    uint64_t layers = 0;

    if (cm_sandbox_layers(ctx->sandbox, &layers, NULL) != CM_OK)
        return;
    cm_buf_add_z(b, ",\"layers\":[");
    for (size_t i = 0; i < CM_ARRAY_LEN(names); i++) {
        bool holds = (layers >> i & 1) != 0;
        cm_buf_addf(b, "%s{\"name\":\"%s\",\"holds\":%s", i ? "," : "", names[i], holds ? "true" : "false");
        if (!holds && without[i])
            add_member(b, "means", without[i]);
        cm_buf_add_char(b, '}');
    }
    cm_buf_add_char(b, ']');
}

/** Whether a worker parses a program under lock-down; then the layers are known too. */
static bool add_sandbox(cm_ctx *ctx, struct cm_buf *b)
{
    cm_autobuf text = CM_BUF_INIT(65536);
    struct cm_err err;
    cm_status st = cm_api__normalize(ctx, CM_STR("6 * 7"), &text, NULL, &err);

    cm_buf_addf(b, ",\"sandbox\":{\"ok\":%s", st == CM_OK ? "true" : "false");
    if (st != CM_OK)
        add_member(b, "error", err.message);
    add_layers(ctx, b);
    cm_buf_add_char(b, '}');
    return st == CM_OK;
}

/** The hosts that programs may reach by themselves. None of them is reached here: whether they answer is theirs to say. */
static void add_fetch(const cm_ctx *ctx, struct cm_buf *b)
{
    cm_autobuf places = CM_BUF_INIT(1u << 20);

    if (!ctx->fetch)
        return;
    cm_connector_fetch_places(ctx->fetch, &places);
    add_member(b, "fetch", cm_buf_str(&places).ptr);
}

static bool add_connector(struct cm_buf *b, const cm_connector *c)
{
    const struct cm_method *methods = NULL;
    const char *const *warnings = NULL;
    bool ready = cm_connector_state(c) == CM_CONN_READY;
    size_t n_methods = ready ? cm_connector_methods(c, &methods) : 0;
    size_t n_warnings = cm_connector_warnings(c, &warnings);

    cm_buf_add_z(b, "{\"name\":");
    cm_json_write_string(b, cm_str_of(cm_connector_name(c)));
    add_member(b, "kind", cm_connector_kind(c));
    add_member(b, "origin", cm_connector_origin(c));
    add_member(b, "state", ready ? "ready" : "failed");
    cm_buf_addf(b, ",\"methods\":%zu", n_methods);
    if (!ready)
        add_member(b, "error", cm_connector_error(c));
    add_list(b, "warnings", warnings, n_warnings);
    cm_buf_add_char(b, '}');
    return ready;
}

cm_status cm_check(cm_ctx *ctx, char **json, struct cm_err *err)
{
    cm_autobuf b = CM_BUF_INIT(CM_API__TEXT_MAX_BYTES);
    cm_autobuf parts = CM_BUF_INIT(CM_API__TEXT_MAX_BYTES);
    cm_status st = cm_api__await_connectors(ctx, NULL, true, err);
    bool ok = true;

    if (st != CM_OK)
        return st;
    add_config(ctx, &parts);
    ok = add_store(ctx, &parts) && ok;
    ok = add_sandbox(ctx, &parts) && ok;
    add_fetch(ctx, &parts);
    ok = cm_api__check_reverts(ctx, &parts) && ok;
    cm_buf_add_z(&parts, ",\"connectors\":[");
    for (size_t i = 0; i < ctx->n_connectors; i++) {
        cm_buf_add_z(&parts, i ? "," : "");
        ok = add_connector(&parts, ctx->connectors[i]) && ok;
    }
    cm_buf_addf(&b, "{\"ok\":%s,\"version\":\"%s\"", ok ? "true" : "false", CM_VERSION);
    cm_buf_add_str(&b, cm_buf_str(&parts));
    cm_buf_add_z(&b, "]}");
    return cm_api__give(ctx, &b, json, err);
}
