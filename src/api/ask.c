/**
 * Asking the process that has an execution (control.h).
 *
 * It is believed as far as its acknowledgement: before that, everything but the acknowledgement means that this process does it by
 * itself. After it nothing is done twice: where the other process goes away then, that is said.
 */
#include "api/control.h"

#include "api/internal.h"
#include "base/fd.h"

/** A loop that does not turn for so long is busy or does not turn at all (an embedder's); waiting on would look like hanging. */
#define ACK_MS 2000

struct cm_api__ask {
    cm_op *op;
    char *request; /* with its line feed */
    size_t request_len;
    cm_stream *stream;
    cm_timer *timer;
    cm_soon *cancelled;
    struct cm_buf in;
    bool acked;
};

static void ask_free(cm_api__ask *a)
{
    cm_stream_free(a->stream);
    cm_timer_free(a->timer);
    cm_soon_free(a->cancelled);
    cm_buf_done(&a->in);
    free(a->request);
    free(a);
}

static void end(cm_api__ask *a, cm_outcome *take_outcome, const struct cm_err *err)
{
    cm_op *op = a->op;

    op->ask = NULL;
    ask_free(a);
    cm_api__op_end(op, take_outcome, err);
}

static void end_cancelled(cm_api__ask *a)
{
    struct cm_err err = {0};

    (void)cm_err_set(&err, CM_E_CANCELLED,
                     "no longer waited for; the program goes on in the process that runs it, until `codemode "
                     "cancel` ends it");
    end(a, NULL, &err);
}

/** The operation goes on without the other process. */
static void do_it_here(cm_api__ask *a)
{
    cm_op *op = a->op;
    cm_autofree char *request = cm_steal(&a->request);
    size_t len = a->request_len - 1;

    if (op->cancelled) {
        end_cancelled(a);
        return;
    }
    op->ask = NULL;
    ask_free(a);
    cm_api__op_act(op, cm_str_mk(request, len));
}

static void end_lost(cm_api__ask *a)
{
    struct cm_err err = {0};

    (void)cm_err_set(&err, CM_E_UNAVAILABLE,
                     "the process that took the decision went away before the program ended; `codemode "
                     "executions` shows how far it came, and `codemode approve` lets it go on");
    end(a, NULL, &err);
}

static void end_error(cm_api__ask *a, yyjson_val *error)
{
    struct cm_err err = {0};
    uint64_t status = yyjson_get_uint(cm_json_get(error, "status"));
    const char *message = cm_json_get_z(error, "message");

    if (status == CM_OK || status >= CM_STATUS_COUNT_)
        status = CM_E_INTERNAL;
    (void)cm_err_set(&err, (cm_status)status, "%s", message ? message : "the other process gave no reason");
    end(a, NULL, &err);
}

static void on_answer(cm_api__ask *a, struct cm_str line)
{
    const struct cm_str front = CM_STR("{\"outcome\":");
    cm_auto(yyjson_doc) doc = NULL;

    if (cm_str_has_prefix(line, front)) {
        size_t len = line.len - front.len - 1;
        end(a, cm_api__outcome_new(cm_memdup_z(line.ptr + front.len, len), len), NULL);
        return;
    }
    if (cm_json_parse(line, CM_JSON_STRICT, &doc, NULL) != CM_OK)
        end_lost(a);
    else if (cm_json_get(yyjson_doc_get_root(doc), "done"))
        end(a, NULL, NULL);
    else
        end_error(a, cm_json_get(yyjson_doc_get_root(doc), "error"));
}

static void on_data(void *user, struct cm_str bytes)
{
    cm_api__ask *a = user;
    size_t from = a->in.len;
    const char *nl;

    cm_buf_add_str(&a->in, bytes);
    if (a->in.failed) {
        end_lost(a);
        return;
    }
    while ((nl = memchr(a->in.ptr + from, '\n', a->in.len - from)) != NULL) {
        size_t len = (size_t)(nl - a->in.ptr);

        if (a->acked) {
            on_answer(a, cm_str_mk(a->in.ptr, len));
            return;
        }
        if (!cm_str_eq_z(cm_str_mk(a->in.ptr, len), "{\"ack\":true}")) {
            do_it_here(a);
            return;
        }
        a->acked = true;
        cm_timer_stop(a->timer);
        cm_buf_drop_front(&a->in, len + 1);
        from = 0;
        if (a->in.len == 0)
            return;
    }
}

static void on_end(void *user, int eno)
{
    cm_api__ask *a = user;

    (void)eno;
    if (a->acked)
        end_lost(a);
    else
        do_it_here(a);
}

static void on_late(void *user)
{
    do_it_here(user);
}

static void on_cancelled(void *user)
{
    end_cancelled(user);
}

bool cm_api__ask_start(cm_op *op, const char *path, struct cm_str request)
{
    static const struct cm_stream_events events = {.on_data = on_data, .on_end = on_end};
    cm_loop *loop = op->ctx->loop;
    cm_autoclose int fd = cm_api__socket_connect(path);

    if (fd < 0 || !cm_api__socket_is_ours(fd))
        return false;
    cm_api__ask *a = cm_new(cm_api__ask);
    *a = (cm_api__ask){.op = op, .request_len = request.len + 1};
    a->request = cm_memdup_z(request.ptr, request.len + 1);
    a->request[request.len] = '\n';
    a->in = CM_BUF_INIT(CM_API__TEXT_MAX_BYTES);
    a->timer = cm_timer_new(loop, on_late, a);
    a->cancelled = cm_soon_new(loop, on_cancelled, a);
    int both = cm_steal_fd(&fd);
    a->stream = cm_stream_new(loop, both, both, &events, a);
    cm_timer_start(a->timer, ACK_MS);
    op->ask = a;
    /* What cannot be written ends the input too, which leads to doing it here. */
    (void)cm_stream_write(a->stream, cm_str_mk(a->request, a->request_len), NULL);
    return true;
}

void cm_api__ask_cancel(cm_api__ask *a)
{
    cm_soon_post(a->cancelled);
}

void cm_api__asks_end(cm_ctx *ctx)
{
    cm_op *op = ctx->ops;

    /* Ending one calls back, which may end others: look from the front each time. */
    while (op) {
        if (!op->ask) {
            op = op->next;
            continue;
        }
        end_cancelled(op->ask);
        op = ctx->ops;
    }
}
