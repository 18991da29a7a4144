/** The context: opening in the order that costs least, closing in reverse, and the caller's loop. */
#include "api/internal.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

const char *cm_version(void)
{
    return CM_VERSION;
}

/* ---- opening */

static void on_wake(void *user, unsigned events)
{
    cm_ctx *ctx = user;
    uint64_t count;

    (void)events;
    if (read(ctx->wake_fd, &count, sizeof count) != (ssize_t)sizeof count)
        return;
    ctx->interrupted = true;
    cm_api__cancel_all(ctx);
}

static cm_status open_loop(cm_ctx *ctx, struct cm_err *err)
{
    cm_status st = cm_loop_new(&ctx->loop, err);

    if (st != CM_OK)
        return st;
    ctx->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (ctx->wake_fd < 0)
        return cm_err_errno(err, errno, "eventfd");
    ctx->wake = cm_watch_new(ctx->loop, ctx->wake_fd, on_wake, ctx);
    cm_watch_set(ctx->wake, CM_WATCH_READ);
    return CM_OK;
}

static cm_status open_sandbox(cm_ctx *ctx, const struct cm_options *o, struct cm_err *err)
{
    const struct cm_config_settings *s = cm_config_settings(ctx->config);
    struct cm_sandbox_opts opts = {
        .worker_path = o->worker_path,
        .no_jit = !s->jit,
        .stack_kb = ctx->limits.stack_kb,
        .isolation = s->isolation,
        .max_workers = s->max_workers,
        .max_queued = s->max_queued,
        .one_shot = o->one_shot,
        .on_demand = o->on_demand,
        .runs_per_worker = s->runs_per_worker,
        .worker_age_ms = s->worker_age_ms,
    };
    return cm_sandbox_open(ctx->loop, &opts, &ctx->sandbox, err);
}

static cm_status open_store(cm_ctx *ctx, const struct cm_options *o, struct cm_err *err)
{
    const char *where = o->store ? o->store : cm_config_settings(ctx->config)->store;
    cm_autofree char *place = NULL;

    if (!where) {
        cm_autofree char *state = NULL;
        cm_status st = cm_config_state_dir(&state, err);
        if (st != CM_OK)
            return st;
        place = cm_asprintf("sqlite:%s/codemode.db", state);
        where = place;
    } else if (!cm_z_eq(where, "memory:") && (strncmp(where, "sqlite:", 7) != 0 || !where[7])) {
        return cm_err_set(err, CM_E_INVALID, "store '%s': expected sqlite:PATH or memory:", where);
    }
    return cm_store_open(where, &ctx->store, err);
}

static cm_status set_runtime_name(cm_ctx *ctx, const struct cm_options *o, struct cm_err *err)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    const char *name = o->runtime ? o->runtime : cm_config_settings(ctx->config)->runtime;
    size_t len = strspn(name, allowed);

    if (len == 0 || len > 64 || name[len])
        return cm_err_set(err, CM_E_INVALID,
                          "runtime '%s': expected 1 to 64 of the characters A-Z a-z 0-9 _ . -", name);
    ctx->runtime_name = cm_strdup(name);
    ctx->runtime_given = o->runtime != NULL;
    return CM_OK;
}

cm_status cm_open(const struct cm_options *options, cm_ctx **out, struct cm_err *err)
{
    static const struct cm_options defaults;
    const struct cm_options *o = options ? options : &defaults;
    struct cm_config_lookup lookup = {.path = o->config_path, .text = o->config_json, .none = o->no_config};
    cm_auto(cm_ctx) ctx = cm_new(cm_ctx);
    cm_status st;

    ctx->wake_fd = ctx->listen_fd = -1;
    st = cm_config_load(&lookup, &ctx->config, err);
    if (st == CM_OK)
        st = set_runtime_name(ctx, o, err);
    if (st == CM_OK)
        st = open_loop(ctx, err);
    /* The zygote first: it gets ready while the rest is opened. */
    if (st == CM_OK)
        st = open_sandbox(ctx, o, err);
    if (st == CM_OK)
        st = open_store(ctx, o, err);
    if (st != CM_OK)
        return st;
    ctx->limits = *cm_config_limits(ctx->config);
    ctx->store_option = o->store ? cm_strdup(o->store) : NULL;
    st = cm_api__make_connectors(ctx, err);
    if (st != CM_OK)
        return st;
    *out = cm_steal(&ctx);
    return CM_OK;
}

void cm_close(cm_ctx *ctx)
{
    if (!ctx)
        return;
    ctx->on_connector = NULL;
    cm_api__control_close(ctx);
    cm_api__asks_end(ctx);
    cm_api__drop_runtime(ctx);
    cm_api__hang_up(ctx);
    cm_api__free_connectors(ctx);
    cm_sandbox_close(ctx->sandbox);
    cm_store_close(ctx->store);
    cm_watch_free(ctx->wake);
    if (ctx->loop)
        cm_loop_free(ctx->loop);
    if (ctx->wake_fd >= 0)
        close(ctx->wake_fd);
    cm_config_free(ctx->config);
    free(ctx->runtime_name);
    free(ctx->store_option);
    for (size_t i = 0; i < ctx->n_kept; i++)
        free(ctx->kept[i]);
    free(ctx->kept);
    free(ctx);
}

/* ---- parts made at first use */

cm_status cm_api__catalog(cm_ctx *ctx, struct cm_err *err)
{
    (void)err;
    if (!ctx->catalog)
        ctx->catalog = cm_catalog_new(ctx->connectors, ctx->n_connectors);
    return CM_OK;
}

cm_status cm_api__runtime(cm_ctx *ctx, struct cm_err *err)
{
    cm_status st = cm_api__catalog(ctx, err);
    struct cm_runtime_opts opts = {
        .loop = ctx->loop,
        .store = ctx->store,
        .sandbox = ctx->sandbox,
        .catalog = ctx->catalog,
        .connectors = ctx->connectors,
        .n_connectors = ctx->n_connectors,
        .fetch = ctx->fetch,
        .config = ctx->config,
        .secrets = cm_config_secrets(ctx->config),
        .limits = ctx->limits,
        .name = ctx->runtime_name,
        .max_executions = cm_config_settings(ctx->config)->max_executions,
        .grace_ms = cm_config_settings(ctx->config)->grace_ms,
        .paused_ttl_ms = cm_config_settings(ctx->config)->paused_ttl_ms,
    };
    if (st != CM_OK || ctx->runtime)
        return st;
    cm_api__listen(ctx, &opts);
    return cm_runtime_open(&opts, &ctx->runtime, err);
}

void cm_api__drop_runtime(cm_ctx *ctx)
{
    cm_runtime_close(ctx->runtime);
    ctx->runtime = NULL;
    cm_catalog_free(ctx->catalog);
    ctx->catalog = NULL;
}

/* ---- the loop */

cm_status cm_api__may_block(cm_ctx *ctx, struct cm_err *err)
{
    if (ctx->turning)
        return cm_err_set(err, CM_E_CONFLICT,
                          "a blocking function was called from a callback; use cm_run_start there");
    ctx->interrupted = false;
    return CM_OK;
}

void cm_api_turn(cm_ctx *ctx)
{
    ctx->turning++;
    (void)cm_loop_once(ctx->loop);
    ctx->turning--;
}

int cm_poll_fd(const cm_ctx *ctx)
{
    return cm_loop_fd(ctx->loop);
}

int cm_poll_timeout_ms(const cm_ctx *ctx)
{
    return cm_loop_timeout_ms(ctx->loop);
}

void cm_dispatch(cm_ctx *ctx)
{
    if (ctx->turning)
        return;
    ctx->turning++;
    cm_loop_nowait(ctx->loop);
    ctx->turning--;
}

bool cm_wait(cm_ctx *ctx)
{
    if (!ctx->ops || ctx->turning)
        return false;
    cm_api_turn(ctx);
    return true;
}

void cm_interrupt(cm_ctx *ctx)
{
    static const uint64_t one = 1;
    int saved = errno;

    /* write is async-signal-safe, and an eventfd's counter cannot be full here. */
    if (write(ctx->wake_fd, &one, sizeof one) < 0)
        errno = saved;
    errno = saved;
}

const char *cm_config_note(const cm_ctx *ctx, size_t i)
{
    const char *const *warnings = NULL;

    return i < cm_config_warnings(ctx->config, &warnings) ? warnings[i] : NULL;
}

cm_loop *cm_api_loop(const cm_ctx *ctx)
{
    return ctx->loop;
}

/* ---- texts */

cm_status cm_api__give(const cm_ctx *ctx, struct cm_buf *b, char **out, struct cm_err *err)
{
    cm_status st = cm_buf_check(b, "the answer", err);

    if (st != CM_OK)
        return st;
    char *clean = cm_secrets_redact(cm_config_secrets(ctx->config), cm_buf_str(b), NULL);
    *out = clean ? clean : cm_buf_take(b, NULL);
    return CM_OK;
}

void cm_text_free(char *text)
{
    free(text);
}
