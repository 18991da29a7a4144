/*
 * One execution: the row, the pass, and the one place where it ends.
 *
 * Happy path: cm_exec_start -> row -> pass queued -> events (call.c) -> on_end -> finish: calls settled, row
 * finished and on the disk, outcome built from the record, callback, gone.
 *
 * The host ends a run by noting why (rt_exec_end) and killing the pass; the pass's end brings it to finish().
 * A single call has no pass: its start and its end are posted to the loop, so that nothing happens inside
 * cm_exec_start or inside a connector's callback. The record is the authority: where another process has
 * moved the execution meanwhile, its state is what is told.
 */
#include "base/clock.h"
#include "base/random.h"
#include "runtime/internal.h"

#include <inttypes.h>
#include <stdio.h>

#define OUTCOME_MAX_BYTES (1u << 30)
#define LOGS_MAX(e) \
    ((e)->limits.log_bytes * 8 + 65536) /* every byte escaped, and the braces of many short lines */

void rt_exec_warn(cm_exec *e, const char *fmt, ...)
{
    char text[RT_WARNING_BYTES];
    va_list ap;

    if (e->n_warnings == RT_WARNINGS_MAX)
        return;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    e->warnings[e->n_warnings++] = cm_strdup(text);
}

void rt_exec_move_clock(cm_exec *e)
{
    int64_t now = cm_now_ms();

    if (now > e->clock)
        e->clock = now;
}

/* ---- ending ---- */

static void kill_or_post(cm_exec *e)
{
    if (e->finishing)
        return;
    if (e->direct_path)
        cm_soon_post(e->rt->direct);
    else if (e->pass && e->pass->pass)
        cm_pass_kill(e->pass->pass, CM_PASS_CANCELLED, e->ending.code ? e->ending.code : "cancelled",
                     e->ending.message ? e->ending.message : "");
}

void rt_exec_end(cm_exec *e, enum cm_exec_state state, const char *code, const char *fmt, ...)
{
    char text[CM_ERR_MAX_BYTES + 512];
    va_list ap;

    if (e->ending.set)
        return;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    e->ending = (struct rt_ending){.set = true, .state = state};
    if (code)
        e->ending.code = cm_strdup(code);
    e->ending.message = cm_strdup(text);
    kill_or_post(e);
}

void rt_exec_store_failed(cm_exec *e, const struct cm_err *err)
{
    rt_exec_end(e, CM_EXEC_ERROR, "store_error", "The run was ended because it could not be recorded: %s",
                err->message);
}

void rt_exec_check_quiescent(cm_exec *e)
{
    /* A step that still runs waits for one of the others. */
    if (e->ending.set || e->n_pending == 0 || e->n_pending + e->n_steps != e->n_outstanding)
        return;
    if (e->waiting || e->direct_path)
        rt_exec_end(e, CM_EXEC_PAUSED, NULL, "%s", "");
}

void rt_exec_direct_answer(cm_exec *e, bool failed, struct cm_value value)
{
    e->direct_result = cm_value_dup(value);
    e->direct_failed = failed;
    e->direct_answered = true;
    cm_soon_post(e->rt->direct);
}

static void unlink_exec(cm_exec *e)
{
    if (!e->prev)
        return;
    *e->prev = e->next;
    if (e->next)
        e->next->prev = e->prev;
    e->prev = NULL;
}

static void free_exec(cm_exec *e)
{
    unlink_exec(e);
    for (size_t i = 0; i < e->n_warnings; i++)
        free(e->warnings[i]);
    cm_buf_done(&e->logs);
    free(e->ending.code);
    free(e->ending.message);
    free(e->direct_path);
    cm_value_done(&e->direct_args);
    cm_value_done(&e->direct_result);
    free(e);
}

/** What finish() collects before anything is written. */
struct final {
    enum cm_exec_state state;
    struct cm_own_value result;
    bool has_result;
    struct cm_buf error;
};

static void fail_final(const cm_exec *e, struct final *f, const char *code, const char *message)
{
    f->state = CM_EXEC_ERROR;
    f->has_result = false;
    cm_buf_clear(&f->error);
    rt_host_error(e->rt, code, message, &f->error);
}

static void take_result(const cm_exec *e, struct final *f, struct cm_value value)
{
    struct cm_err err = {0};
    char message[CM_ERR_MAX_BYTES + 128];

    if (value.json.len == 0)
        return;
    if (cm_value_canonical(value, CM_FRAME_MAX_BYTES, &f->result, &err) == CM_OK) {
        f->has_result = true;
        return;
    }
    (void)snprintf(message, sizeof message, "The program completed, but its result cannot be returned: %s",
                   err.message);
    fail_final(e, f, "invalid_result", message);
}

/** A limit's message says how far the program had come: which call was the last is often the cause. */
static void fail_by_limit(const cm_exec *e, struct final *f, const struct cm_pass_end *end)
{
    char message[4096];

    (void)snprintf(message, sizeof message, "%s%s%s%s", end->message,
                   e->last_call[0] ? " The last call was " : "", e->last_call, e->last_call[0] ? "." : "");
    fail_final(e, f, end->code, message);
}

static void judge_pass(cm_exec *e, struct final *f, const struct cm_pass_end *end)
{
    f->state = CM_EXEC_COMPLETED;
    switch (end->kind) {
    case CM_PASS_COMPLETED:
        take_result(e, f, end->value);
        break;
    case CM_PASS_THREW:
        if (end->code[0]) { /* an error that nobody caught, but of a limit's making */
            fail_by_limit(e, f, end);
            break;
        }
        f->state = CM_EXEC_ERROR;
        rt_guest_error(e, end->meta_json, &f->error);
        break;
    case CM_PASS_LIMIT:
        fail_by_limit(e, f, end);
        break;
    case CM_PASS_CRASHED:
    case CM_PASS_PROTOCOL:
    case CM_PASS_FAILED: {
        static const char *const codes[] = {
            [CM_PASS_CRASHED] = "crashed", [CM_PASS_PROTOCOL] = "protocol", [CM_PASS_FAILED] = "no_worker"};

        fail_final(e, f, end->code[0] ? end->code : codes[end->kind], end->message);
        break;
    }
    case CM_PASS_CANCELLED:
        f->state = CM_EXEC_CANCELLED;
        break;
    }
    rt_guest_warnings(e, end->meta_json);
}

static void judge_direct(cm_exec *e, struct final *f)
{
    struct cm_value v = cm_value_view(&e->direct_result);

    if (e->direct_failed) {
        f->state = CM_EXEC_ERROR;
        /* Its fields are those of a program's error, so it is rebuilt in the same way. */
        cm_autobuf meta = CM_BUF_INIT(CM_FRAME_MAX_BYTES + 64);

        cm_buf_add_z(&meta, "{\"error\":");
        cm_buf_add_str(&meta, v.json);
        cm_buf_add_char(&meta, '}');
        rt_guest_error(e, cm_buf_str(&meta), &f->error);
    } else {
        f->state = CM_EXEC_COMPLETED;
        f->result = cm_value_dup(v);
        f->has_result = v.json.len > 0;
    }
}

static void judge(cm_exec *e, struct final *f, const struct cm_pass_end *end)
{
    if (e->ending.set) {
        f->state = e->ending.state;
        if (e->ending.code)
            rt_host_error(e->rt, e->ending.code, e->ending.message, &f->error);
    } else if (end) {
        judge_pass(e, f, end);
    } else if (e->direct_answered) {
        judge_direct(e, f);
    } else {
        f->state = CM_EXEC_CANCELLED;
    }
}

static void write_warnings(const cm_exec *e, struct cm_buf *out)
{
    if (e->n_warnings == 0)
        return;
    for (size_t i = 0; i < e->n_warnings; i++) {
        cm_autofree char *clean = cm_secrets_redact(e->rt->o.secrets, cm_str_of(e->warnings[i]), NULL);

        cm_buf_add_char(out, i ? ',' : '[');
        cm_json_write_string(out, cm_str_of(clean ? clean : e->warnings[i]));
    }
    cm_buf_add_char(out, ']');
}

/** Another process (or a command) has ended it: what stands in the record is what is told. */
static cm_status tell_recorded(cm_exec *e, enum cm_exec_state *state, struct cm_buf *out, struct cm_err *err)
{
    const struct rt_outcome_opts opts = {.result_bytes = e->limits.result_bytes};
    struct rt_kept kept = {0};
    cm_status st = cm_store_execution(e->rt->o.store, e->id, rt_keep_row, &kept, err);

    if (st == CM_OK) {
        *state = kept.row.state;
        st = rt_outcome_write(e->rt->o.store, &kept.row, &opts, out, err);
    }
    rt_kept_done(&kept);
    return st;
}

/** Finish the row and build the outcome. An error leaves no truthful outcome. */
static cm_status conclude(cm_exec *e, const struct cm_exec_row *row, enum cm_exec_state *state,
                          struct cm_buf *out, struct cm_err *err)
{
    const struct rt_outcome_opts opts = {.result_bytes = e->limits.result_bytes};
    cm_store *store = e->rt->o.store;
    cm_status st = cm_store_finish(store, e->id, 1u << CM_EXEC_RUNNING, row, err);

    *state = row->state;
    if (st == CM_E_CONFLICT)
        return tell_recorded(e, state, out, err);
    if (st != CM_OK)
        return st;
    if (cm_store_prune(store, e->rt->name, e->rt->o.max_executions, NULL, NULL) == CM_OK)
        rt_touch(e->rt);
    return rt_outcome_write(store, row, &opts, out, err);
}

static void finish(cm_exec *e, const struct cm_pass_end *end)
{
    struct final f = {.error = CM_BUF_INIT(1u << 20)};
    cm_autobuf warnings = CM_BUF_INIT(1u << 20);
    cm_autobuf out = CM_BUF_INIT(OUTCOME_MAX_BYTES);
    enum cm_exec_state state = CM_EXEC_ERROR;
    struct cm_err err = {0};
    struct cm_exec_row row;
    cm_status st;

    e->finishing = true;
    judge(e, &f, end);
    e->ending.set = true; /* what settles now is delivered to nobody */
    st = rt_calls_settle(e, f.state, &err);
    if (st == CM_E_CONFLICT)
        st = CM_OK; /* ended by another process: finishing will say the same */
    if (st != CM_OK || cm_store_losses(e->rt->o.store) != e->losses) {
        char message[CM_ERR_MAX_BYTES + 128];

        (void)snprintf(message, sizeof message, "The run was ended because it could not be recorded: %s",
                       st != CM_OK ? err.message
                                   : "records of it were lost; see the disk and the store file");
        fail_final(e, &f, "store_error", message);
        (void)cm_store_calls_abandon(e->rt->o.store, e->id, NULL);
    }
    if (e->logs.len)
        cm_buf_add_char(&e->logs, ']');
    write_warnings(e, &warnings);
    row = (struct cm_exec_row){
        .id = e->id,
        .runtime = e->rt->name,
        .state = f.state,
        .has_result = f.has_result,
        .result = cm_value_view(&f.result),
        .error_json = cm_buf_str(&f.error),
        .logs_json = cm_buf_str(&e->logs),
        .warnings_json = cm_buf_str(&warnings),
        .created_at = e->created_at,
        .updated_at = cm_now_ms(),
        .passes = 1,
    };
    row.ended_at = f.state == CM_EXEC_PAUSED ? 0 : row.updated_at;
    st = conclude(e, &row, &state, &out, &err);
    if (st == CM_OK)
        st = cm_buf_check(&out, "the outcome", &err);
    unlink_exec(e);
    if (st == CM_OK)
        e->fn(e->user, state, cm_buf_str(&out), NULL);
    else
        e->fn(e->user, CM_EXEC_ERROR, (struct cm_str){0}, &err);
    cm_value_done(&f.result);
    cm_buf_done(&f.error);
    free_exec(e);
}

/* ---- the pass ---- */

static void on_call(void *user, cm_pass *p, uint32_t id, enum cm_call_kind kind, struct cm_str connector,
                    struct cm_str method, struct cm_value args, uint32_t line, uint32_t column)
{
    struct rt_pass *rp = user;

    (void)p;
    if (rp->e && !rp->e->ending.set)
        rt_call_issue(rp->e, id, kind, connector, method, args, line, column);
}

static void on_step_end(void *user, cm_pass *p, uint32_t id, bool failed, struct cm_value value)
{
    struct rt_pass *rp = user;

    (void)p;
    if (rp->e && !rp->e->ending.set)
        rt_call_step_end(rp->e, id, failed, value);
}

static void on_log(void *user, cm_pass *p, enum cm_log_level level, struct cm_str text)
{
    static const char *const names[CM_LOG_LEVEL_COUNT_] = {"log", "info", "warn", "error", "debug"};
    struct rt_pass *rp = user;
    cm_exec *e = rp->e;
    cm_autobuf line = CM_BUF_INIT(text.len * 6 + 64);

    (void)p;
    if (!e)
        return;
    cm_buf_addf(&line, "%c{\"level\":\"%s\",\"text\":", e->logs.len ? ',' : '[', names[level]);
    cm_json_write_string(&line, text);
    cm_buf_add_char(&line, '}');
    if (!line.failed && e->logs.len + line.len + 1 <= LOGS_MAX(e))
        cm_buf_add_str(&e->logs, cm_buf_str(&line));
}

static void on_wait(void *user, cm_pass *p, uint32_t outstanding)
{
    struct rt_pass *rp = user;

    (void)p;
    (void)outstanding;
    if (!rp->e || rp->e->ending.set)
        return;
    rp->e->waiting = true;
    if (!rt_call_deliver_held(rp->e))
        rt_exec_check_quiescent(rp->e);
}

static void on_end(void *user, cm_pass *p, const struct cm_pass_end *end)
{
    struct rt_pass *rp = user;
    cm_exec *e = rp->e;

    (void)p;
    free(rp);
    if (!e)
        return;
    e->pass = NULL;
    finish(e, end);
}

static uint32_t add_u32(uint32_t a, uint32_t b)
{
    return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

static cm_status start_pass(cm_exec *e, const struct cm_exec_spec *spec, const uint8_t seed[16],
                            struct cm_err *err)
{
    static const struct cm_pass_events events = {on_call, on_step_end, on_log, on_wait, on_end};
    cm_autobuf bind = CM_BUF_INIT(CM_FRAME_MAX_BYTES);
    struct cm_pass_spec ps = {
        .runtime = e->rt->name,
        .source = spec->code,
        .input = spec->input,
        .now_ms = e->clock,
        .limits = e->limits,
    };
    cm_status st;

    memcpy(ps.seed, seed, sizeof ps.seed);
    /* What is in flight is for us to limit (call.c queues): to the sandbox every call that may be issued may
     * be unanswered. */
    ps.limits.calls_in_flight = add_u32(e->limits.calls_in_flight, e->limits.subrequests);
    cm_catalog_bind(e->rt->o.catalog, &bind);
    st = cm_buf_check(&bind, "the list of connectors", err);
    if (st != CM_OK)
        return st;
    ps.bind_json = cm_buf_str(&bind);
    e->pass = cm_new(struct rt_pass);
    e->pass->e = e;
    st = cm_sandbox_start(e->rt->o.sandbox, &ps, &events, e->pass, &e->pass->pass, err);
    if (st != CM_OK)
        free(cm_steal(&e->pass));
    return st;
}

/* ---- start ---- */

static void make_id(cm_exec *e)
{
    char uuid[37];

    cm_random_uuid(uuid);
    (void)snprintf(e->id, sizeof e->id, "exec_%016" PRId64 "_%s", e->created_at, uuid);
}

static cm_status check_size(const struct cm_exec_spec *spec, struct cm_err *err)
{
    if (spec->code.len <= spec->limits.source_bytes)
        return CM_OK;
    return cm_err_set(err, CM_E_LIMIT,
                      "the program has %zu bytes, %" PRIu64
                      " are allowed (limits.sourceBytes). Keep data out of the program: read it "
                      "through a connector, or pass it as input.",
                      spec->code.len, spec->limits.source_bytes);
}

/** A single call is recorded as the program that makes it, with its arguments as input: so it can be replayed
 * like any other. */
static cm_status direct_program(cm_exec *e, const struct cm_exec_spec *spec, struct cm_buf *code,
                                struct cm_err *err)
{
    const char *dot = strchr(spec->call_path, '.');

    if (!dot || dot == spec->call_path || !dot[1])
        return cm_err_set(err, CM_E_INVALID, "'%.200s': expected CONNECTOR.METHOD, e.g. github.create_issue",
                          spec->call_path);
    e->direct_path = cm_strdup(spec->call_path);
    e->direct_args = cm_value_dup(spec->call_args);
    cm_buf_addf(code, "(input) => %s(input)", spec->call_path);
    return CM_OK;
}

static cm_status begin_row(cm_exec *e, struct cm_str code, struct cm_value input, const uint8_t seed[16],
                           struct cm_err *err)
{
    cm_runtime *rt = e->rt;
    cm_autobuf names = CM_BUF_INIT(8u << 20);
    cm_autovalue canonical = {0};
    struct cm_exec_row row = {
        .id = e->id, .runtime = rt->name, .code = code, .created_at = e->created_at, .passes = 1};
    cm_status st;

    cm_buf_add_char(&names, '[');
    for (size_t i = 0; i < rt->o.n_connectors; i++) {
        if (i)
            cm_buf_add_char(&names, ',');
        cm_json_write_string(&names, cm_str_of(cm_connector_name(rt->o.connectors[i])));
    }
    cm_buf_add_char(&names, ']');
    st = cm_buf_check(&names, "the names of the connectors", err);
    if (st == CM_OK)
        st = cm_value_canonical(input, e->limits.frame_bytes, &canonical, err);
    if (st != CM_OK)
        return cm_err_prefix(err, "input");
    row.connectors_json = names.ptr;
    row.input = cm_value_view(&canonical);
    memcpy(row.seed, seed, sizeof row.seed);
    st = cm_store_begin(rt->o.store, &row, err);
    if (st == CM_OK)
        rt_touch(rt);
    return st;
}

static void link_exec(cm_exec *e)
{
    cm_runtime *rt = e->rt;

    e->next = rt->execs;
    e->prev = &rt->execs;
    if (e->next)
        e->next->prev = &e->next;
    rt->execs = e;
}

/** The row exists but nothing could be started: it says so. */
static void record_not_started(cm_exec *e, const struct cm_err *err)
{
    cm_autobuf error = CM_BUF_INIT(1u << 16);
    int64_t now = cm_now_ms();
    struct cm_exec_row row = {.state = CM_EXEC_ERROR, .updated_at = now, .ended_at = now, .passes = 1};

    rt_host_error(e->rt, "no_worker", err->message, &error);
    row.error_json = cm_buf_str(&error);
    (void)cm_store_finish(e->rt->o.store, e->id, 1u << CM_EXEC_RUNNING, &row, NULL);
}

cm_status cm_exec_start(cm_runtime *rt, const struct cm_exec_spec *spec, cm_exec_fn fn, void *user,
                        cm_exec **out, struct cm_err *err)
{
    cm_autobuf code = CM_BUF_INIT(2 * CM_NAME_MAX_BYTES + 64);
    uint8_t seed[16];
    cm_exec *e;
    cm_status st = check_size(spec, err);

    if (st != CM_OK)
        return st;
    if (rt->closing)
        return cm_err_set(err, CM_E_CANCELLED, "the runtime is being closed");
    e = cm_new(cm_exec);
    *e = (cm_exec){.rt = rt, .fn = fn, .user = user, .limits = spec->limits, .calls_tail = &e->calls};
    e->logs = CM_BUF_INIT(LOGS_MAX(e) + 1);
    e->created_at = e->clock = cm_now_ms();
    e->losses = cm_store_losses(rt->o.store);
    make_id(e);
    cm_random_bytes(seed, sizeof seed);
    if (spec->call_path)
        st = direct_program(e, spec, &code, err);
    if (st == CM_OK)
        st = begin_row(e, spec->call_path ? cm_buf_str(&code) : spec->code,
                       spec->call_path ? spec->call_args : spec->input, seed, err);
    if (st == CM_OK && !spec->call_path) {
        st = start_pass(e, spec, seed, err);
        if (st != CM_OK)
            record_not_started(e, err);
    }
    if (st != CM_OK) {
        free_exec(e);
        return st;
    }
    link_exec(e);
    if (e->direct_path)
        cm_soon_post(rt->direct);
    if (out)
        *out = e;
    return CM_OK;
}

void cm_exec_cancel(cm_exec *e)
{
    rt_exec_end(e, CM_EXEC_CANCELLED, NULL, "%s", "");
}

const char *cm_exec_id(const cm_exec *e)
{
    return e->id;
}

char *cm_exec_progress(const cm_exec *e)
{
    const struct rt_call *c = e->calls;
    char what[640];

    while (c && c->kind != CM_CALL_TOOL && c->kind != CM_CALL_STEP)
        c = c->next;
    if (!c)
        return cm_asprintf("%u call%s, running", e->n_subrequests, e->n_subrequests == 1 ? "" : "s");
    rt_call_describe(c, what, sizeof what);
    return cm_asprintf("%u call%s, waiting for %s", e->n_subrequests, e->n_subrequests == 1 ? "" : "s", what);
}

/* ---- single calls, and the end of the runtime ---- */

/** Start or finish one single call whose time has come. False: none. */
static bool step_direct(cm_runtime *rt)
{
    for (cm_exec *e = rt->execs; e; e = e->next) {
        if (!e->direct_path)
            continue;
        if (e->ending.set || e->direct_answered) {
            finish(e, NULL);
            return true;
        }
        if (!e->direct_started) {
            const char *dot = strchr(e->direct_path, '.');

            e->direct_started = true;
            rt_call_issue(e, 1, CM_CALL_TOOL, cm_str_mk(e->direct_path, (size_t)(dot - e->direct_path)),
                          cm_str_of(dot + 1), cm_value_view(&e->direct_args), 0, 0);
            return true;
        }
    }
    return false;
}

void rt_direct_turn(void *user)
{
    while (step_direct(user)) {
    }
}

void rt_exec_close(cm_exec *e)
{
    if (!e->ending.set)
        e->ending = (struct rt_ending){.set = true, .state = CM_EXEC_CANCELLED};
    if (e->pass) {
        struct rt_pass *rp = cm_steal(&e->pass);

        /* The pass's own end comes later, to nobody. */
        rp->e = NULL;
        cm_pass_kill(rp->pass, CM_PASS_CANCELLED, "cancelled", "the runtime was closed");
    }
    finish(e, NULL);
}
