/*
 * An MCP server that is a child of ours and speaks on its standard streams.
 *
 * Happy path: start -> spawn -> initialize, tools/list (mcp/client.h) -> method table -> READY; a call is a
 * tools/call, its result unwrapped by mcp_result.c.
 *
 * What goes wrong, and what is said of it:
 *   the program is not there          FAILED at once, the child's own message
 *   it ends during the handshake      FAILED: how it ended, what it printed instead of JSON-RPC, the end of
 * its standard error it does not answer in time        FAILED, likewise. It is not killed yet: a package
 * runner may still be fetching the server, and one that gets ready later is READY; the next start waits for
 * it again (KEEP_WAITING times at most) it prints other lines             borne up to a count, since many
 * servers log to standard output; the first one is named it ends later                     calls in flight
 * fail, FAILED; the next ensure starts it again
 *
 * Standard error is never shown as it flows: only its end, in the messages above, after secrets have been
 * taken out.
 */
#include "connector/mcp.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "connector/kinds.h"
#include "mcp/client.h"
#include "rpc/lines.h"

#include <inttypes.h>

#define START_TIMEOUT_MS 30000
/* Our own limit is the one that can explain itself; the connector's stands behind it. */
#define BACKSTOP_MS         5000
#define KEEP_WAITING        4
#define GARBAGE_START_MAX   100
#define GARBAGE_RUN_MAX     10000
#define GARBAGE_SHOWN_BYTES 80
#define STDERR_SHOWN_BYTES  900
#define STDERR_WINDOW_MAX   (2 * CM_STDERR_KEEP_BYTES)

struct mcp {
    cm_loop *loop;
    cm_connector *c;
    char **argv, **env, *cwd;
    uint32_t start_timeout_ms;

    cm_child *child; /* NULL: not running */
    cm_lines *lines;
    cm_mcp_client *client;
    cm_timer *timer; /* of the handshake */
    int64_t spawned_at;
    struct cm_buf errs; /* the end of its standard error */
    bool errs_cut;
    uint64_t n_garbage;
    char garbage[GARBAGE_SHOWN_BYTES + 8]; /* the first line that was no message, for people */

    struct cm_mcp_tools tools;
    char *instructions;
};

/* One call in flight; owned by its cm_call until the answer or the cancel. */
struct flight {
    cm_call *call;
    uint64_t id;
};

/* ---- what is said about the child ---- */

/* Text of the outside for a sentence: valid UTF-8, on one line, without terminal escapes. */
static void add_printable(struct cm_buf *out, struct cm_str text)
{
    size_t len = 0;
    cm_autofree char *clean = cm_utf8_repair(text, &len);

    for (size_t i = 0; i < len; i++) {
        unsigned char ch = (unsigned char)clean[i];
        if (ch == '\n' && i + 1 < len)
            cm_buf_add_z(out, " | ");
        else if (ch >= 0x20 && ch != 0x7f)
            cm_buf_add_char(out, clean[i]);
    }
}

/* The end of standard error. Redacted before it is cut: half a secret would not be found any more. */
static void add_stderr(struct cm_buf *out, const struct mcp *m)
{
    struct cm_str text = cm_buf_str(&m->errs);
    size_t clean_len = 0;

    while (text.len > 0 && strchr(" \t\r\n", text.ptr[text.len - 1]))
        text.len--;
    const char *nl = m->errs_cut ? memchr(text.ptr, '\n', text.len) : NULL;
    if (nl)
        text = cm_str_mk(nl + 1, text.len - (size_t)(nl + 1 - text.ptr));
    cm_autofree char *clean = cm_secrets_redact(cm_connector__secrets(m->c), text, &clean_len);
    if (clean)
        text = cm_str_mk(clean, clean_len);
    if (text.len == 0)
        return;
    if (text.len > STDERR_SHOWN_BYTES) {
        text = cm_str_mk(text.ptr + text.len - STDERR_SHOWN_BYTES, STDERR_SHOWN_BYTES);
        nl = memchr(text.ptr, '\n', text.len);
        if (nl)
            text = cm_str_mk(nl + 1, text.len - (size_t)(nl + 1 - text.ptr));
    }
    cm_buf_add_z(out, "; its standard error ends: ");
    add_printable(out, text);
}

static void add_what_it_printed(struct cm_buf *out, const struct mcp *m)
{
    if (m->n_garbage > 0)
        cm_buf_addf(out, "; it printed '%s' instead of JSON-RPC on its standard output", m->garbage);
    add_stderr(out, m);
}

static void add_duration(struct cm_buf *out, uint32_t ms)
{
    if (ms % 1000 == 0)
        cm_buf_addf(out, "%" PRIu32 " s", ms / 1000);
    else
        cm_buf_addf(out, "%" PRIu32 " ms", ms);
}

static void note_garbage(struct mcp *m, struct cm_str head)
{
    cm_autobuf b = CM_BUF_INIT(4096);

    if (m->n_garbage++ > 0)
        return;
    add_printable(&b, head);
    size_t n = cm_utf8_cut(cm_buf_str(&b), GARBAGE_SHOWN_BYTES);
    memcpy(m->garbage, cm_buf_str(&b).ptr, n);
    memcpy(m->garbage + n, n < b.len ? "…" : "", n < b.len ? sizeof "…" : 1);
}

/* ---- ending ---- */

static void drop_server(struct mcp *m)
{
    cm_timer_stop(m->timer);
    cm_mcp_client_free(m->client);
    m->client = NULL;
    cm_lines_free(m->lines);
    m->lines = NULL;
    cm_child_free(m->child);
    m->child = NULL;
}

/* The handshake did not work out. */
static void fail_start(struct mcp *m, cm_status st, const char *what)
{
    cm_autobuf b = CM_BUF_INIT(16384);
    struct cm_err err;

    cm_buf_add_z(&b, what);
    add_what_it_printed(&b, m);
    (void)cm_err_set(&err, st, "%.*s", CM_STR_ARG(cm_buf_str(&b)));
    cm_connector__failed(m->c, &err);
}

/* The server is of no use any more, whatever it was doing. */
static void give_up(struct mcp *m, const char *what)
{
    cm_autobuf b = CM_BUF_INIT(16384);
    struct cm_err err;

    cm_buf_add_z(&b, what);
    if (cm_mcp_client_waits_for(m->client)) {
        cm_buf_addf(&b, " before it answered %s", cm_mcp_client_waits_for(m->client));
        cm_mcp_client_close(m->client, b.ptr); /* comes back as on_failed, which adds the rest */
        return;
    }
    add_stderr(&b, m);
    cm_mcp_client_close(m->client, b.ptr);
    (void)cm_err_set(&err, CM_E_UNAVAILABLE, "%.*s", CM_STR_ARG(cm_buf_str(&b)));
    drop_server(m);
    cm_connector__failed(m->c, &err);
}

static void on_timeout(void *user)
{
    struct mcp *m = user;
    cm_autobuf b = CM_BUF_INIT(256);
    const char *what = m->client ? cm_mcp_client_waits_for(m->client) : NULL;

    if (!what)
        return;
    cm_buf_addf(&b, "it did not answer %s within ", what);
    add_duration(&b, m->start_timeout_ms);
    fail_start(m, CM_E_TIMEOUT, b.ptr);
}

/* ---- from the child ---- */

static void on_stdout(void *user, struct cm_str bytes)
{
    struct mcp *m = user;

    if (m->lines)
        cm_lines_feed(m->lines, bytes);
}

static void on_stderr(void *user, struct cm_str bytes)
{
    struct mcp *m = user;

    if (bytes.len > CM_STDERR_KEEP_BYTES) {
        bytes = cm_str_mk(bytes.ptr + bytes.len - CM_STDERR_KEEP_BYTES, CM_STDERR_KEEP_BYTES);
        m->errs_cut = true;
    }
    cm_buf_add_str(&m->errs, bytes);
    if (m->errs.len > CM_STDERR_KEEP_BYTES) {
        cm_buf_drop_front(&m->errs, m->errs.len - CM_STDERR_KEEP_BYTES);
        m->errs_cut = true;
    }
}

static void on_exit_(void *user, int exit_code, int signal)
{
    struct mcp *m = user;
    cm_autobuf b = CM_BUF_INIT(256);

    if (m->lines)
        cm_lines_end(m->lines);
    if (!m->client)
        return;
    if (signal)
        cm_buf_addf(&b, "the server was ended by signal %d (%s)", signal, strsignal(signal));
    else
        cm_buf_addf(&b, "the server exited with status %d", exit_code);
    give_up(m, b.ptr);
}

static void on_line(void *user, struct cm_str line)
{
    struct mcp *m = user;

    if (m->client)
        cm_mcp_client_receive(m->client, line);
}

static void on_bad(void *user, struct cm_str head, struct cm_str tail, const struct cm_err *why)
{
    struct mcp *m = user;

    if (m->client)
        cm_mcp_client_receive_garbage(m->client, head, tail, why);
}

/* ---- from the client ---- */

static cm_status on_send(void *user, struct cm_str message, struct cm_err *err)
{
    struct mcp *m = user;
    cm_autobuf line = CM_BUF_INIT((size_t)CM_RPC_MAX_BYTES + 1);

    cm_lines_format(&line, message);
    cm_status st = cm_buf_check(&line, "the message", err);
    if (st != CM_OK)
        return st;
    st = cm_child_write(m->child, cm_buf_str(&line), err);
    /* During the handshake a closed pipe means that it ended: how, on_exit_ says better. */
    if (st == CM_E_IO && m->client && cm_mcp_client_waits_for(m->client))
        return CM_OK;
    return st == CM_OK ? st : cm_err_prefix(err, "the server cannot be written to");
}

static void on_garbage(void *user, struct cm_str head, const struct cm_err *why)
{
    struct mcp *m = user;
    bool starting = cm_mcp_client_waits_for(m->client) != NULL;
    cm_autofree char *what = NULL;

    (void)why;
    note_garbage(m, head);
    if (!starting && m->n_garbage == 1)
        cm_connector__warn(
            m->c,
            "it printed '%s' instead of JSON-RPC on its standard output; a server must log to standard error",
            m->garbage);
    if (m->n_garbage < (starting ? GARBAGE_START_MAX : GARBAGE_RUN_MAX))
        return;
    what = cm_asprintf("the server printed %" PRIu64 " lines that are no JSON-RPC, the first of them '%s',",
                       m->n_garbage, m->garbage);
    give_up(m, what);
}

static void on_ready(void *user, yyjson_val *tools, const char *instructions)
{
    struct mcp *m = user;

    cm_timer_stop(m->timer);
    free(m->instructions);
    m->instructions = cm_strdup_null(instructions);
    cm_mcp_tools_done(&m->tools);
    cm_mcp_tools_build(&m->tools, tools, cm_mcp_client_runs_tasks(m->client), m->c);
    if (m->n_garbage > 0)
        cm_connector__warn(
            m->c,
            "it printed '%s' instead of JSON-RPC on its standard output; a server must log to standard error",
            m->garbage);
    cm_connector__ready(m->c);
}

static void on_failed(void *user, const struct cm_err *err)
{
    struct mcp *m = user;

    drop_server(m);
    fail_start(m, err->status, err->message);
}

static void on_tools_changed(void *user, yyjson_val *tools)
{
    struct mcp *m = user;
    struct cm_mcp_tools old = m->tools;

    cm_mcp_tools_build(&m->tools, tools, cm_mcp_client_runs_tasks(m->client), m->c);
    cm_connector__ready(m->c);
    cm_mcp_tools_done(&old);
}

/* ---- the connector's side ---- */

/* What still works on its handshake is waited for again, for a while. */
static bool is_still_starting(const struct mcp *m)
{
    return m->child && m->client && cm_mcp_client_waits_for(m->client) &&
           cm_mono_ms() - m->spawned_at < (int64_t)m->start_timeout_ms * KEEP_WAITING;
}

static void start(void *self, cm_connector *c)
{
    static const struct cm_child_events child_events = {on_stdout, on_stderr, on_exit_};
    static const struct cm_lines_events line_events = {
        .on_line = on_line, .on_bad = on_bad, .any_bytes = true};
    static const struct cm_mcp_client_ops client_ops = {.send = on_send,
                                                        .on_ready = on_ready,
                                                        .on_failed = on_failed,
                                                        .on_tools_changed = on_tools_changed,
                                                        .on_garbage = on_garbage};
    struct mcp *m = self;
    struct cm_err err;

    m->c = c;
    cm_timer_start(m->timer, m->start_timeout_ms);
    if (is_still_starting(m))
        return;
    drop_server(m);
    cm_buf_clear(&m->errs);
    m->errs_cut = false;
    m->n_garbage = 0;
    const struct cm_child_spec spec = {.argv = (const char *const *)m->argv,
                                       .env = (const char *const *)m->env,
                                       .cwd = m->cwd,
                                       .stderr_events = true};
    if (cm_child_spawn(m->loop, &spec, &child_events, m, &m->child, &err) != CM_OK) {
        cm_connector__failed(c, &err);
        return;
    }
    m->spawned_at = cm_mono_ms();
    m->lines = cm_lines_new(CM_RPC_MAX_BYTES, &line_events, m);
    m->client = cm_mcp_client_new(&client_ops, m);
    cm_timer_start(m->timer, m->start_timeout_ms);
    cm_mcp_client_start(m->client);
}

static size_t methods(void *self, const struct cm_method **out)
{
    struct mcp *m = self;

    *out = m->tools.methods;
    return m->tools.n;
}

/* References in a tool's schema ("#/$defs/x") start at that schema: it is its own document. */
static void schemas(void *self, size_t i, struct cm_schema_ref *input, struct cm_schema_ref *output)
{
    struct mcp *m = self;

    *input = (struct cm_schema_ref){m->tools.schemas[i].input, m->tools.schemas[i].input};
    *output = (struct cm_schema_ref){m->tools.schemas[i].output, m->tools.schemas[i].output};
}

static const char *instructions(void *self)
{
    return ((struct mcp *)self)->instructions;
}

static void fail_by_rpc(cm_call *call, const struct cm_rpc_reply *reply)
{
    cm_autobuf fields = CM_BUF_INIT(CM_RPC_MAX_BYTES);

    cm_buf_addf(&fields, "{\"rpcCode\":%d", reply->code);
    if (reply->data) {
        cm_buf_add_z(&fields, ",\"data\":");
        cm_json_write(&fields, reply->data);
    }
    cm_buf_add_char(&fields, '}');
    cm_call__fail(call, "rpc_error", fields.failed ? CM_STR("") : cm_buf_str(&fields), "%s", reply->message);
}

static void finish(cm_call *call, yyjson_val *result)
{
    struct cm_mcp_outcome o = {0};
    struct cm_err err;

    if (cm_mcp_unwrap(result, &o, &err) != CM_OK)
        cm_call__fail(call, "result", CM_STR(""), "the tool's result cannot be used: %s", err.message);
    else if (o.failed)
        cm_call__fail(call, "tool_error", cm_buf_str(&o.fields), "%s", o.message);
    else
        cm_call__finish(call, cm_value_view(&o.value));
    cm_mcp_outcome_done(&o);
}

static const char *code_of(cm_status st)
{
    return st == CM_E_LIMIT ? "limit" : st == CM_E_PROTOCOL ? "protocol" : "unavailable";
}

static void on_result(void *user, const struct cm_rpc_reply *reply)
{
    struct flight *f = user;
    cm_call *call = f->call;

    cm_call__set_state(call, NULL);
    free(f);
    if (reply->status == CM_OK)
        finish(call, reply->result);
    else if (reply->status == CM_E_PROTOCOL && reply->code != 0)
        fail_by_rpc(call, reply);
    else
        cm_call__fail(call, code_of(reply->status), CM_STR(""), "%s", reply->message);
}

static void call(void *self, size_t i, struct cm_value args, cm_call *take_call)
{
    struct mcp *m = self;
    cm_autobuf json = CM_BUF_INIT(CM_RPC_MAX_BYTES);
    struct flight *f;
    struct cm_err err;
    cm_status st = cm_value_to_tool_json(args, &json, &err);

    if (st == CM_OK)
        st = cm_buf_check(&json, "the arguments", &err);
    if (st == CM_OK && json.ptr[0] != '{')
        st = cm_err_set(&err, CM_E_INVALID,
                        "it takes one object of named arguments, such as {\"name\": value}, not %.60s",
                        json.ptr);
    if (st != CM_OK) {
        cm_call__fail(take_call, "arguments", CM_STR(""), "%s", err.message);
        return;
    }
    f = cm_new(struct flight);
    f->call = take_call;
    cm_call__set_state(take_call, f);
    st = cm_mcp_client_call(m->client, m->tools.methods[i].origin, cm_buf_str(&json),
                            m->tools.schemas[i].as_task, on_result, f, &f->id, &err);
    if (st == CM_OK)
        return;
    cm_call__set_state(take_call, NULL);
    free(f);
    cm_call__fail(take_call, code_of(st), CM_STR(""), "%s", err.message);
}

static void cancel(void *self, cm_call *call_)
{
    struct mcp *m = self;
    struct flight *f = cm_call__state(call_);

    if (!f)
        return;
    cm_call__set_state(call_, NULL);
    if (m->client)
        cm_mcp_client_cancel(m->client, f->id, "the caller no longer waits for the answer");
    free(f);
}

static void free_self(void *self)
{
    struct mcp *m = self;

    drop_server(m);
    cm_timer_free(m->timer);
    cm_mcp_tools_done(&m->tools);
    cm_buf_done(&m->errs);
    free(m->instructions);
    free(m->cwd);
    cm_list_free(m->argv);
    cm_list_free(m->env);
    free(m);
}

cm_connector *cm_connector_mcp_stdio(cm_loop *loop, const struct cm_connector_base *base,
                                     const struct cm_mcp_stdio_spec *spec)
{
    static const struct cm_connector_ops ops = {.kind = "mcp",
                                                .start = start,
                                                .methods = methods,
                                                .schemas = schemas,
                                                .instructions = instructions,
                                                .call = call,
                                                .cancel = cancel,
                                                .free = free_self};
    struct mcp *m = cm_new(struct mcp);

    m->loop = loop;
    m->argv = cm_list_dup(spec->argv);
    m->env = cm_list_dup(spec->env);
    m->cwd = cm_strdup_null(spec->cwd);
    m->start_timeout_ms = base->start_timeout_ms ? base->start_timeout_ms : START_TIMEOUT_MS;
    m->errs = CM_BUF_INIT(STDERR_WINDOW_MAX);
    m->timer = cm_timer_new(loop, on_timeout, m);
    return cm_connector_new(loop, &ops, m, base->name, base->origin, m->start_timeout_ms + BACKSTOP_MS,
                            base->timeout_ms, base->secrets);
}
