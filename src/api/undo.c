/** Undoing what an execution did, hearing of what happens, and saying what is told of a result. */
#include "api/internal.h"

#include "connector/kinds.h"

/* ---- rollback */

struct reporting {
    bool done;
    char *json;
    struct cm_err err;
};

static void on_report(void *user, struct cm_str json, const struct cm_err *err)
{
    struct reporting *r = user;

    r->done = true;
    if (err)
        r->err = *err;
    else
        r->json = cm_memdup_z(json.ptr, json.len);
}

cm_status cm_rollback(cm_ctx *ctx, const struct cm_rollback_options *o, char **json, struct cm_err *err)
{
    _Static_assert((int)CM_ROLLBACK_AGAIN == CM_REVERT_AGAIN && (int)CM_ROLLBACK_DONE == CM_REVERT_DONE,
                   "differ");
    struct reporting r = {0};
    cm_status st = cm_api__may_block(ctx, err);

    if (st == CM_OK && (!o || !o->id || !*o->id))
        return cm_err_set(err, CM_E_INVALID, "expected the id of an execution");
    if (st == CM_OK && (unsigned)o->unknown > CM_ROLLBACK_DONE)
        return cm_err_set(err, CM_E_INVALID, "unknown: is %d; expected a CM_ROLLBACK_ value",
                          (int)o->unknown);
    if (st == CM_OK)
        st = cm_api__runtime(ctx, err);
    if (st != CM_OK)
        return st;
    const struct cm_rollback spec = {.id = o->id,
                                     .seqs = o->seqs,
                                     .n_seqs = o->n_seqs,
                                     .unknown = (enum cm_revert_unknown)o->unknown,
                                     .by = o->by};
    st = cm_runtime_rollback_as(ctx->runtime, &spec, on_report, &r, err);
    while (st == CM_OK && !r.done)
        cm_api_turn(ctx);
    if (st == CM_OK && !r.json) {
        if (err)
            *err = r.err;
        st = r.err.status;
    }
    if (st == CM_OK)
        *json = r.json;
    return st;
}

/* ---- events */

static void on_runtime_event(void *user, struct cm_str json)
{
    const cm_ctx *ctx = user;

    ctx->on_event(ctx->on_event_user, json.ptr, json.len);
}

void cm_on_event(cm_ctx *ctx, cm_on_event_fn fn, void *user)
{
    ctx->on_event = fn;
    ctx->on_event_user = user;
    if (ctx->runtime)
        cm_runtime_on_event(ctx->runtime, fn ? on_runtime_event : NULL, ctx);
}

/* ---- transformResult */

struct cm_result {
    struct cm_buf *told;
    struct cm_err *err;
    cm_status st;
};

void cm_result_tell(cm_result *r, const char *json, size_t len)
{
    cm_buf_clear(r->told);
    cm_buf_add(r->told, json, len);
}

void cm_result_keep(cm_result *r, const char *why)
{
    r->st = cm_err_set(r->err, CM_E_INVALID, "%s", why ? why : "the callback said so");
}

static cm_status on_result(void *user, const char *execution, struct cm_str json, struct cm_buf *told,
                           struct cm_err *err)
{
    const cm_ctx *ctx = user;
    cm_result r = {told, err, CM_OK};

    ctx->on_result(ctx->on_result_user, &r, execution, json.ptr, json.len);
    return r.st;
}

void cm_on_result(cm_ctx *ctx, cm_on_result_fn fn, void *user)
{
    ctx->on_result = fn;
    ctx->on_result_user = user;
    if (ctx->runtime)
        cm_runtime_on_result(ctx->runtime, fn ? on_result : NULL, ctx);
}

void cm_api__listen(cm_ctx *ctx, struct cm_runtime_opts *opts)
{
    if (ctx->on_result) {
        opts->transform = on_result;
        opts->transform_user = ctx;
    }
    if (ctx->on_event) {
        opts->on_event = on_runtime_event;
        opts->on_event_user = ctx;
    }
}

/* ---- hooks */

cm_status cm_set_hooks(cm_ctx *ctx, const char *connector, const struct cm_hooks *hooks, struct cm_err *err)
{
    cm_connector *c = cm_api__find_connector(ctx, cm_str_of(connector ? connector : ""));
    const struct cm_native_hooks native = {hooks->pass_end, hooks->dispose, hooks->user};

    if (!c)
        return cm_err_set(err, CM_E_NOT_FOUND, "there is no connector '%.100s'; add its tools first",
                          connector ? connector : "");
    return cm_connector_native_hooks(c, &native, err);
}
