/**
 * The server on standard input and output.
 *
 * Happy path: tools/call → cm_run_start → the outcome, as text and as structured content. Ends: the client
 * closes its end (the protocol layer lets what is in flight be answered first), or a signal; then what still
 * runs is cancelled, recorded and waited for.
 *
 * SIGTERM is a request to end: nothing more is read, what is in flight is answered, for DRAIN_MS at most. A
 * second signal, SIGINT or SIGHUP mean now. So does SIGTERM after the client has closed its end: that is how
 * clients end a server that is slow to go, and SIGKILL is what they send next.
 */
#include "serve/serve.h"

#include "base/fd.h"
#include "base/limits.h"
#include "mcp/server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

/** Well within the 60 seconds after which clients give up when they hear nothing. */
#define PROGRESS_MS 2000
/** How long programs may go on after SIGTERM: within the ten seconds after which service managers kill. */
#define DRAIN_MS 8000

struct serve {
    cm_ctx *ctx;
    cm_mcp_server *mcp;
    struct call *calls;
    cm_timer *drain;
    bool draining; /* asked to end, and letting what runs come to its end */
    bool closing;
};

/** One tools/call in flight. Freed when it is answered. */
struct call {
    struct serve *serve;
    cm_mcp_request *rq;
    cm_op *op;
    cm_timer *progress;
    unsigned ticks;
    struct call *next, **link;
};

/* ---- signals: a handler may only write */

static int signal_fd = -1;
static volatile sig_atomic_t n_requests_to_end;
static volatile sig_atomic_t must_end;

static void on_signal(int sig)
{
    static const uint64_t one = 1;
    int saved = errno;

    if (sig == SIGTERM)
        n_requests_to_end++;
    else
        must_end = 1;
    if (write(signal_fd, &one, sizeof one) < 0)
        errno = saved;
    errno = saved;
}

static void on_drain_end(void *user)
{
    struct serve *s = user;

    s->closing = true;
}

static void on_signalled(void *user, unsigned events)
{
    struct serve *s = user;
    uint64_t count;

    (void)events;
    if (read(signal_fd, &count, sizeof count) != (ssize_t)sizeof count)
        return;
    if (must_end || n_requests_to_end > 1 || s->draining || !cm_mcp_server_stop(s->mcp)) {
        s->closing = true;
        return;
    }
    s->draining = true;
    cm_timer_start(s->drain, DRAIN_MS);
}

static void set_handlers(void (*handler)(int))
{
    struct sigaction act = {.sa_handler = handler};

    sigemptyset(&act.sa_mask);
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    sigaction(SIGHUP, &act, NULL);
}

/* ---- calls */

static void call_free(struct call *c)
{
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    cm_timer_free(c->progress);
    free(c);
}

static void on_progress(void *user)
{
    struct call *c = user;
    cm_autofree char *text = cm_api_op_progress(c->op);

    cm_mcp_request_progress(c->rq, ++c->ticks, text);
    cm_timer_start(c->progress, PROGRESS_MS);
}

static void refuse(cm_mcp_request *rq, const struct cm_err *err)
{
    cm_autobuf b = CM_BUF_INIT(65536);

    cm_serve__refusal(&b, err);
    cm_mcp_request_result(rq, cm_buf_str(&b), cm_buf_str(&b), true);
}

static void on_done(void *user, cm_outcome *take_outcome, const struct cm_err *err)
{
    struct call *c = user;
    cm_auto(cm_outcome) o = take_outcome;

    if (o) {
        struct cm_str json = {0};
        const char *status = cm_outcome_status(o);
        cm_autofree char *note =
            cm_z_eq(status, "paused") ? cm_serve__paused(c->serve->ctx, o) : cm_serve__failure(o);
        cm_autobuf shown = CM_BUF_INIT(CM_RPC_MAX_BYTES);
        cm_autobuf images = CM_BUF_INIT(CM_RPC_MAX_BYTES);
        json.ptr = cm_outcome_json(o, &json.len);
        cm_serve__images(json, &shown, &images);
        if (shown.len)
            json = cm_buf_str(&shown);
        /* A client shows an error as one, and still has the whole outcome. */
        cm_mcp_request_result_with(c->rq, json, cm_str_of(note), cm_buf_str(&images), json,
                                   !cm_z_eq(status, "completed") && !cm_z_eq(status, "paused"));
    } else {
        refuse(c->rq, err);
    }
    call_free(c);
}

static void on_call(void *user, cm_mcp_request *rq, struct cm_str tool, yyjson_val *args)
{
    struct serve *s = user;
    struct cm_run_options run = {0};
    struct cm_str code = {0};
    struct cm_err err;

    if (!cm_str_eq_z(tool, "codemode")) {
        cm_autofree char *text =
            cm_asprintf("no tool is called '%.*s'; the only one is 'codemode'", CM_STR_ARG(tool));
        cm_mcp_request_error(rq, cm_status_rpc_code(CM_E_INVALID), text);
        return;
    }
    if (cm_serve__program(args, &code, &err) != CM_OK) {
        refuse(rq, &err);
        return;
    }
    struct call *c = cm_new(struct call);
    *c = (struct call){.serve = s, .rq = rq, .next = s->calls, .link = &s->calls};
    if (c->next)
        c->next->link = &c->next;
    s->calls = c;
    cm_mcp_request_set_state(rq, c);
    run.code = code.ptr;
    run.code_len = code.len;
    if (cm_run_start(s->ctx, &run, on_done, c, &c->op, &err) != CM_OK) {
        refuse(rq, &err);
        call_free(c);
        return;
    }
    c->progress = cm_timer_new(cm_api_loop(s->ctx), on_progress, c);
    cm_timer_start(c->progress, PROGRESS_MS);
}

static void on_cancel(void *user, cm_mcp_request *rq)
{
    struct call *c = cm_mcp_request_state(rq);

    (void)user;
    if (c)
        cm_op_cancel(c->op);
}

static void on_tools(void *user, struct cm_buf *out)
{
    struct serve *s = user;

    cm_serve__tools(s->ctx, out);
}

static void on_closed(void *user)
{
    struct serve *s = user;

    s->closing = true;
}

/* ---- the life of the server */

static void on_connector(void *user, const char *name, const char *error)
{
    (void)user, (void)name;
    if (error)
        fprintf(stderr, "codemode: %s\n", error);
}

static void on_not_resumed(void *user, const char *id, const char *error)
{
    (void)user;
    if (id)
        fprintf(stderr, "codemode: '%s' was interrupted and cannot go on: %s\n", id, error);
    else
        fprintf(stderr, "codemode: what was interrupted cannot go on: %s\n", error);
}

/** Take the protocol's descriptors away from everyone else: 0 becomes empty, 1 becomes standard error. */
static cm_status take_stdio(int *in_fd, int *out_fd, struct cm_err *err)
{
    cm_autoclose int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    *in_fd = fcntl(0, F_DUPFD_CLOEXEC, 3);
    *out_fd = fcntl(1, F_DUPFD_CLOEXEC, 3);
    if (null_fd < 0 || *in_fd < 0 || *out_fd < 0)
        return cm_err_errno(err, errno, "standard input and output");
    if (dup2(null_fd, 0) < 0 || dup2(fcntl(2, F_GETFD) < 0 ? null_fd : 2, 1) < 0)
        return cm_err_errno(err, errno, "standard input and output");
    return CM_OK;
}

/** Cancel what runs and wait for it: each of them ends by itself once it is told. */
static void finish_calls(struct serve *s)
{
    for (struct call *c = s->calls, *next; c; c = next) {
        next = c->next;
        cm_op_cancel(c->op);
    }
    while (s->calls)
        cm_api_turn(s->ctx);
}

static void serve_loop(struct serve *s, int in_fd, int out_fd)
{
    static const struct cm_mcp_server_info info = {
        .name = "codemode", .title = "codemode", .version = CM_VERSION};
    static const struct cm_mcp_server_ops ops = {
        .tools = on_tools, .call = on_call, .cancel = on_cancel, .closed = on_closed};

    s->mcp = cm_mcp_server_new(cm_api_loop(s->ctx), in_fd, out_fd, &info, &ops, s);
    s->drain = cm_timer_new(cm_api_loop(s->ctx), on_drain_end, s);
    cm_api_start_connectors(s->ctx, on_connector, s);
    cm_api_resume_interrupted(s->ctx, on_not_resumed, s);
    while (!s->closing)
        cm_api_turn(s->ctx);
    finish_calls(s);
    cm_timer_free(s->drain);
    cm_mcp_server_free(s->mcp);
    cm_api_start_connectors(s->ctx, NULL, NULL);
}

cm_status cm_serve_stdio(cm_ctx *ctx, struct cm_err *err)
{
    struct serve s = {.ctx = ctx};
    int in_fd = -1, out_fd = -1;
    cm_status st = take_stdio(&in_fd, &out_fd, err);

    if (st != CM_OK)
        return st;
    signal_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (signal_fd < 0)
        return cm_err_errno(err, errno, "eventfd");
    cm_watch *watch = cm_watch_new(cm_api_loop(ctx), signal_fd, on_signalled, &s);
    cm_watch_set(watch, CM_WATCH_READ);
    set_handlers(on_signal);
    serve_loop(&s, in_fd, out_fd);
    set_handlers(SIG_DFL);
    cm_watch_free(watch);
    cm_fd_close(signal_fd);
    signal_fd = -1;
    return CM_OK;
}
