/** Programs that were interrupted, or that nobody went on with after somebody had decided: a server takes them over. */
#include "api/internal.h"

struct telling {
    cm_api_interrupted_fn fn;
    void *user;
};

static void tell(void *user, const char *id, const struct cm_err *err)
{
    const struct telling *t = user;

    t->fn(t->user, id, err->message);
}

void cm_api_resume_interrupted(cm_ctx *ctx, cm_api_interrupted_fn fn, void *user)
{
    struct telling t = {fn, user};
    struct cm_err err = {0};
    cm_status st = cm_api__runtime(ctx, &err);

    if (st == CM_OK)
        st = cm_runtime_resume_interrupted(ctx->runtime, tell, &t, &err);
    if (st != CM_OK)
        fn(user, NULL, err.message);
    cm_api__control_open(ctx); /* what it took over can be decided, and cancelled, by others */
}
