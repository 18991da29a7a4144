/**
 * What a human decides: here, or in the process that has the execution.
 *
 * A decision becomes a request (control.h), one line of JSON, whichever of the two it is: what is done for another process and what is
 * done here is the same text read by the same code.
 */
#include "api/internal.h"

/** ---- the text of a request ---- */

static void add_member(struct cm_buf *b, const char *key, const char *text)
{
    if (!text)
        return;
    cm_buf_addf(b, ",\"%s\":", key);
    cm_json_write_string(b, cm_str_of(text));
}

static void write_request(const cm_ctx *ctx, const char *what, const struct cm_answer *d, struct cm_buf *b)
{
    cm_buf_addf(b, "{\"do\":\"%s\"", what);
    add_member(b, "runtime", ctx->runtime_name);
    add_member(b, "id", d->id);
    cm_buf_add_z(b, ",\"seqs\":[");
    for (size_t i = 0; i < d->n_seqs; i++)
        cm_buf_addf(b, "%s%u", i ? "," : "", d->seqs[i]);
    cm_buf_add_char(b, ']');
    add_member(b, "args", d->args_json);
    add_member(b, "hash", d->hash);
    add_member(b, "by", d->by);
    add_member(b, "reason", d->reason);
    cm_buf_add_char(b, '}');
}

struct request {
    yyjson_doc *doc; /* owns the texts */
    const char *what;
    struct cm_decide d;
    uint32_t *seqs;
};

static void request_done(struct request *r)
{
    yyjson_doc_free(r->doc);
    free(r->seqs);
}

/** The other end is a program of the same user, and perhaps of another version: what cannot be read is refused. */
static cm_status read_request(struct cm_str text, struct request *r, struct cm_err *err)
{
    cm_status st = cm_json_parse(text, CM_JSON_STRICT, &r->doc, err);
    yyjson_val *root, *seqs, *v;
    size_t i, max;

    if (st != CM_OK)
        return cm_err_prefix(err, "request");
    root = yyjson_doc_get_root(r->doc);
    seqs = cm_json_get(root, "seqs");
    r->what = cm_json_get_z(root, "do");
    r->d = (struct cm_decide){.id = cm_json_get_z(root, "id"),
                              .n_seqs = yyjson_arr_size(seqs),
                              .args_json = cm_json_str(cm_json_get(root, "args")),
                              .hash = cm_json_get_z(root, "hash"),
                              .by = cm_json_get_z(root, "by"),
                              .reason = cm_json_get_z(root, "reason")};
    if (!r->what || !r->d.id)
        return cm_err_set(err, CM_E_INVALID, "request: expected \"do\" and \"id\"");
    r->seqs = cm_calloc(r->d.n_seqs + 1, sizeof *r->seqs);
    yyjson_arr_foreach(seqs, i, max, v)
    {
        if (!yyjson_is_uint(v) || yyjson_get_uint(v) > UINT32_MAX)
            return cm_err_set(err, CM_E_INVALID, "request: a call is %s; expected its number",
                              cm_json_kind(v));
        r->seqs[i] = (uint32_t)yyjson_get_uint(v);
    }
    r->d.seqs = r->seqs;
    return CM_OK;
}

/** ---- doing it here ---- */

static void on_cancelled(void *user, const struct cm_err *err)
{
    cm_api__op_end(user, NULL, err);
}

static cm_status act(cm_ctx *ctx, cm_op *op, struct cm_str request, struct cm_err *err)
{
    struct request r = {0};
    cm_status st = read_request(request, &r, err);

    if (st == CM_OK)
        st = cm_api__runtime(ctx, err);
    /* All that are pending is what the asking process saw (name_calls), and never what there is when it is done. */
    if (st == CM_OK && cm_z_eq(r.what, "approve") && r.d.n_seqs == 0) {
        st = cm_err_set(err, CM_E_INVALID, "request: an approval must name its calls (\"seqs\")");
    } else if (st == CM_OK && cm_z_eq(r.what, "approve")) {
        st = cm_runtime_approve(ctx->runtime, &r.d, cm_api__on_exec_end, op, &op->exec, err);
    } else if (st == CM_OK && cm_z_eq(r.what, "resume")) {
        st = cm_runtime_resume(ctx->runtime, r.d.id, cm_api__on_exec_end, op, &op->exec, err);
    } else if (st == CM_OK && cm_z_eq(r.what, "reject")) {
        st = cm_runtime_reject(ctx->runtime, &r.d, cm_api__on_exec_end, op, &op->exec, err);
    } else if (st == CM_OK && cm_z_eq(r.what, "cancel")) {
        st = cm_runtime_cancel_start(ctx->runtime, r.d.id, on_cancelled, op, err);
    } else if (st == CM_OK) {
        st = cm_err_set(err, CM_E_INVALID, "request '%.40s': expected approve, resume, reject or cancel",
                        r.what);
    }
    request_done(&r);
    if (st == CM_OK)
        cm_api__control_open(ctx);
    return st;
}

cm_status cm_api__op_request(cm_ctx *ctx, struct cm_str request, cm_done_fn fn, void *user, cm_op **op,
                             struct cm_err *err)
{
    cm_op *mine = cm_api__op_new(ctx, fn, user);
    cm_status st = act(ctx, mine, request, err);

    if (st != CM_OK)
        cm_api__op_drop(mine);
    else
        *op = mine;
    return st;
}

void cm_api__op_act(cm_op *op, struct cm_str request)
{
    struct cm_err err = {0};

    if (act(op->ctx, op, request, &err) != CM_OK)
        cm_api__op_end(op, NULL, &err);
}

/** ---- for embedders ---- */

struct seqs {
    uint32_t *v;
    size_t n;
};

static bool collect(void *user, const char *id, const struct cm_call_row *row)
{
    struct seqs *s = user;

    (void)id;
    s->v = cm_realloc(s->v, (s->n + 1) * sizeof *s->v);
    s->v[s->n++] = row->seq;
    return true;
}

/**
 * "All that are pending" are those that are pending now, when it was said: by the time that another process, or this one after it, acts
 * on it, the program may have gone on and ask for something that nobody has seen.
 */
static cm_status name_calls(cm_ctx *ctx, struct cm_answer *d, struct seqs *all, const char **what,
                            struct cm_err *err)
{
    cm_status st;

    if (d->n_seqs || !cm_z_eq(*what, "approve"))
        return CM_OK;
    st = cm_store_pending(ctx->store, NULL, d->id, collect, all, err);
    if (all->n == 0)
        *what = "resume";
    d->seqs = all->v;
    d->n_seqs = all->n;
    return st;
}

static cm_status start(cm_ctx *ctx, const char *what, const struct cm_answer *given, cm_done_fn fn,
                       void *user, cm_op **op, struct cm_err *err)
{
    cm_autobuf request = CM_BUF_INIT(CM_API__REQUEST_MAX_BYTES);
    cm_autofree char *path = NULL;
    struct seqs all = {0};
    cm_status st;

    *op = NULL;
    if (!given || !given->id || !given->id[0])
        return cm_err_set(err, CM_E_INVALID, "which execution? expected its id");
    struct cm_answer d = *given;
    st = name_calls(ctx, &d, &all, &what, err);
    write_request(ctx, what, &d, &request);
    free(all.v);
    if (st == CM_OK)
        st = cm_buf_check(&request, "the decision", err);
    if (st == CM_OK)
        st = cm_store_owner_socket(ctx->store, d.id, &path, err);
    if (st != CM_OK)
        return st;
    if (path) {
        *op = cm_api__op_new(ctx, fn, user);
        if (cm_api__ask_start(*op, path, cm_buf_str(&request)))
            return CM_OK;
        cm_api__op_drop(cm_steal(op));
    }
    return cm_api__op_request(ctx, cm_buf_str(&request), fn, user, op, err);
}

static cm_status decide_start(cm_ctx *ctx, const char *what, const struct cm_answer *d, cm_done_fn fn,
                              void *user, cm_op **out, struct cm_err *err)
{
    cm_op *op = NULL;
    cm_status st = start(ctx, what, d, fn, user, &op, err);

    if (st == CM_OK && out)
        *out = op;
    return st;
}

static cm_status decide(cm_ctx *ctx, const char *what, const struct cm_answer *d, cm_outcome **out,
                        struct cm_err *err)
{
    struct cm_api__waiting w = {0};
    cm_op *op = NULL;
    cm_status st = cm_api__may_block(ctx, err);

    if (st == CM_OK)
        st = start(ctx, what, d, cm_api__on_waited, &w, &op, err);
    return st == CM_OK ? cm_api__wait_for(ctx, &w, out, err) : st;
}

cm_status cm_approve_start(cm_ctx *ctx, const struct cm_answer *d, cm_done_fn fn, void *user, cm_op **op,
                           struct cm_err *err)
{
    return decide_start(ctx, "approve", d, fn, user, op, err);
}

cm_status cm_approve(cm_ctx *ctx, const struct cm_answer *d, cm_outcome **out, struct cm_err *err)
{
    return decide(ctx, "approve", d, out, err);
}

cm_status cm_reject_start(cm_ctx *ctx, const struct cm_answer *d, cm_done_fn fn, void *user, cm_op **op,
                          struct cm_err *err)
{
    return decide_start(ctx, "reject", d, fn, user, op, err);
}

cm_status cm_reject(cm_ctx *ctx, const struct cm_answer *d, cm_outcome **out, struct cm_err *err)
{
    return decide(ctx, "reject", d, out, err);
}

cm_status cm_cancel(cm_ctx *ctx, const char *id, struct cm_err *err)
{
    const struct cm_answer d = {.id = id};
    struct cm_api__waiting w = {0};
    cm_op *op = NULL;
    cm_status st = cm_api__may_block(ctx, err);

    if (st == CM_OK)
        st = start(ctx, "cancel", &d, cm_api__on_waited, &w, &op, err);
    while (st == CM_OK && op && !w.done)
        cm_api_turn(ctx);
    if (st != CM_OK || w.err.status == CM_OK)
        return st;
    if (err)
        *err = w.err;
    return w.err.status;
}

cm_status cm_pending(cm_ctx *ctx, const char *id, char **json, struct cm_err *err)
{
    cm_autobuf b = CM_BUF_INIT(CM_API__TEXT_MAX_BYTES);
    cm_status st = cm_api__runtime(ctx, err);

    if (st == CM_OK)
        st = cm_runtime_pending(ctx->runtime, id, &b, err);
    return st == CM_OK ? cm_api__give(ctx, &b, json, err) : st;
}
