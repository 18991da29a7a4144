/** Programs and single calls: an operation each, from its start to the one run of its callback. */
#include "api/control.h"
#include "api/internal.h"

static void op_link(cm_op *op)
{
    op->next = op->ctx->ops;
    op->link = &op->ctx->ops;
    if (op->next)
        op->next->link = &op->next;
    op->ctx->ops = op;
}

static void op_unlink(cm_op *op)
{
    *op->link = op->next;
    if (op->next)
        op->next->link = op->link;
}

cm_op *cm_api__op_new(cm_ctx *ctx, cm_done_fn fn, void *user)
{
    cm_op *op = cm_new(cm_op);

    *op = (cm_op){.ctx = ctx, .fn = fn, .user = user};
    op_link(op);
    return op;
}

void cm_api__op_drop(cm_op *op)
{
    op_unlink(op);
    free(op);
}

void cm_api__op_end(cm_op *op, cm_outcome *take_outcome, const struct cm_err *err)
{
    op_unlink(op);
    op->fn(op->user, take_outcome, err);
    free(op);
}

void cm_api__on_exec_end(void *user, enum cm_exec_state state, struct cm_str outcome_json,
                         const struct cm_err *err)
{
    cm_op *op = user;
    const cm_secrets *secrets = cm_config_secrets(op->ctx->config);
    cm_outcome *outcome = NULL;

    (void)state;
    if (outcome_json.ptr) {
        size_t len = outcome_json.len;
        char *clean = cm_secrets_redact(secrets, outcome_json, &len);
        outcome = cm_api__outcome_new(clean ? clean : cm_memdup_z(outcome_json.ptr, len), len);
    }
    cm_api__op_end(op, outcome, err);
}

/** The common part of a program and of a single call. */
static cm_status start(cm_ctx *ctx, const struct cm_exec_spec *spec, cm_done_fn fn, void *user, cm_op **out,
                       struct cm_err *err)
{
    cm_status st = cm_api__runtime(ctx, err);

    if (st != CM_OK)
        return st;
    cm_op *op = cm_api__op_new(ctx, fn, user);
    st = cm_exec_start(ctx->runtime, spec, cm_api__on_exec_end, op, &op->exec, err);
    if (st != CM_OK) {
        cm_api__op_drop(op);
        return st;
    }
    cm_api__control_open(ctx);
    if (out)
        *out = op;
    return CM_OK;
}

static cm_status parse_value(const char *json, size_t max_bytes, const char *what, struct cm_own_value *out,
                             struct cm_err *err)
{
    if (!json)
        return CM_OK;
    if (strlen(json) > max_bytes)
        return cm_err_limit(err, "arguments_limit",
                            "%s: %zu bytes, %zu are allowed (limits.argBytes). Pass less, or let the "
                            "program read it through a connector.",
                            what, strlen(json), max_bytes);
    if (cm_value_from_json(cm_str_of(json), max_bytes, out, err) == CM_OK)
        return CM_OK;
    return cm_err_prefix(err, "%s", what);
}

cm_status cm_run_start(cm_ctx *ctx, const struct cm_run_options *run, cm_done_fn fn, void *user, cm_op **op,
                       struct cm_err *err)
{
    cm_autofree char *saved = NULL;
    cm_autovalue input = {0};
    struct cm_exec_spec spec = {.limits = ctx->limits};
    cm_status st = CM_OK;

    if (!run || (!run->code && !run->snippet))
        return cm_err_set(err, CM_E_INVALID, "no program was given");
    if (run->limits_json)
        st = cm_limits_lower(&spec.limits, cm_str_of(run->limits_json), err);
    if (st == CM_OK)
        st = parse_value(run->input_json, spec.limits.arg_bytes, "input", &input, err);
    if (st != CM_OK)
        return st;
    spec.input = cm_value_view(&input);
    if (run->snippet) {
        st = cm_api__runtime(ctx, err);
        if (st == CM_OK)
            st = cm_runtime_snippet_program(ctx->runtime, run->snippet, spec.input, &saved, &spec.code.len,
                                            err);
        if (st != CM_OK)
            return st;
        spec.code.ptr = saved;
    } else {
        spec.code = run->code_len ? cm_str_mk(run->code, run->code_len) : cm_str_of(run->code);
    }
    return start(ctx, &spec, fn, user, op, err);
}

/* ---- blocking */

void cm_api__on_waited(void *user, cm_outcome *take_outcome, const struct cm_err *err)
{
    struct cm_api__waiting *w = user;

    w->done = true;
    w->outcome = take_outcome;
    if (err)
        w->err = *err;
}

cm_status cm_api__wait_for(cm_ctx *ctx, struct cm_api__waiting *w, cm_outcome **out, struct cm_err *err)
{
    while (!w->done)
        cm_api_turn(ctx);
    if (!w->outcome) {
        if (err)
            *err = w->err;
        return w->err.status != CM_OK ? w->err.status
                                      : cm_err_set(err, CM_E_INTERNAL, "no outcome and no reason");
    }
    *out = w->outcome;
    return CM_OK;
}

cm_status cm_run(cm_ctx *ctx, const struct cm_run_options *run, cm_outcome **out, struct cm_err *err)
{
    struct cm_api__waiting w = {0};
    cm_status st = cm_api__may_block(ctx, err);

    if (st == CM_OK)
        st = cm_run_start(ctx, run, cm_api__on_waited, &w, NULL, err);
    return st == CM_OK ? cm_api__wait_for(ctx, &w, out, err) : st;
}

cm_status cm_call_method(cm_ctx *ctx, const char *path, const char *args_json, cm_outcome **out,
                         struct cm_err *err)
{
    struct cm_api__waiting w = {0};
    cm_autovalue args = {0};
    struct cm_exec_spec spec = {.limits = ctx->limits, .call_path = path};
    cm_status st = cm_api__may_block(ctx, err);

    if (st == CM_OK && (!path || !strchr(path, '.')))
        return cm_err_set(err, CM_E_INVALID, "'%s': expected connector.method", path ? path : "");
    if (st == CM_OK)
        st = parse_value(args_json ? args_json : "{}", ctx->limits.arg_bytes, "arguments", &args, err);
    if (st != CM_OK)
        return st;
    spec.call_args = cm_value_view(&args);
    st = start(ctx, &spec, cm_api__on_waited, &w, NULL, err);
    return st == CM_OK ? cm_api__wait_for(ctx, &w, out, err) : st;
}

/* ---- cancelling */

void cm_op_cancel(cm_op *op)
{
    if (op->cancelled)
        return;
    op->cancelled = true;
    if (op->ask)
        cm_api__ask_cancel(op->ask);
    else if (op->exec)
        cm_exec_cancel(op->exec);
}

/* A cancelled operation may end at once and take others with it: look from the front each time. */
void cm_api__cancel_all(cm_ctx *ctx)
{
    cm_op *op = ctx->ops;

    while (op) {
        if (op->cancelled) {
            op = op->next;
            continue;
        }
        cm_op_cancel(op);
        op = ctx->ops;
    }
}

char *cm_api_op_progress(const cm_op *op)
{
    return op->exec ? cm_exec_progress(op->exec) : cm_strdup("waiting for the process that runs it");
}
