/** Keeping the record small and safe. */
#include "api/internal.h"

#include "base/clock.h"

cm_status cm_prune(cm_ctx *ctx, size_t keep, size_t *n, struct cm_err *err)
{
    uint32_t configured = cm_config_settings(ctx->config)->max_executions;
    size_t batch = 0, all = 0;
    cm_status st;

    do {
        st = cm_store_prune(ctx->store, ctx->runtime_name, keep == SIZE_MAX ? configured : keep, &batch, err);
        all += batch;
        if (st == CM_OK)
            st = cm_store_commit(ctx->store, batch == 0, err);
    } while (st == CM_OK && batch > 0);
    if (st == CM_OK && n)
        *n = all;
    return st;
}

cm_status cm_expire(cm_ctx *ctx, uint64_t older_than_ms, size_t *n, struct cm_err *err)
{
    int64_t now = cm_now_ms();
    int64_t age = older_than_ms > (uint64_t)now ? now : (int64_t)older_than_ms;
    cm_status st = cm_api__runtime(ctx, err);

    if (st == CM_OK)
        st = cm_runtime_expire_before(ctx->runtime, now - age, now, n, err);
    return st == CM_OK ? cm_store_commit(ctx->store, true, err) : st;
}

cm_status cm_backup(cm_ctx *ctx, const char *path, struct cm_err *err)
{
    return cm_store_backup(ctx->store, path, err);
}
