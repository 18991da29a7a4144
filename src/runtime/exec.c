/*
 * One execution: the row, the pass, the host's reasons to end it.
 *
 * Happy path: cm_exec_start -> row -> pass queued -> events (call.c) -> on_end -> rt_exec_finish (finish.c).
 *
 * The host ends a run by noting why (rt_exec_end) and killing the pass; the pass's end brings it to
 * rt_exec_finish. A single call has no pass: its start and its end are posted to the loop, so that nothing
 * happens inside cm_exec_start or inside a connector's callback.
 */
#include "base/clock.h"
#include "base/random.h"
#include "runtime/internal.h"

#include <inttypes.h>
#include <stdio.h>

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
        cm_pass_stop(e->pass->pass, CM_PASS_CANCELLED, e->ending.code ? e->ending.code : "cancelled",
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

bool rt_exec_is_quiescent(const cm_exec *e)
{
    /* A step that still runs waits for one of the others. */
    if (e->ending.set || e->program_ended || e->n_pending == 0 ||
        e->n_pending + e->n_steps != e->n_outstanding)
        return false;
    return e->waiting || e->direct_path;
}

void rt_exec_check_quiescent(cm_exec *e)
{
    if (e->program_ended) {
        if (e->waiting)
            rt_unawaited_look(e);
        return;
    }
    if (rt_exec_is_quiescent(e))
        rt_exec_look_soon(e);
}

void rt_exec_direct_answer(cm_exec *e, bool failed, struct cm_value value)
{
    e->direct_result = cm_value_dup(value);
    e->direct_failed = failed;
    e->direct_answered = true;
    cm_soon_post(e->rt->direct);
}

void rt_exec_unlink(cm_exec *e)
{
    if (!e->prev)
        return;
    *e->prev = e->next;
    if (e->next)
        e->next->prev = e->prev;
    e->prev = NULL;
}

void rt_exec_free(cm_exec *e)
{
    rt_exec_unlink(e);
    rt_unawaited_done(e);
    cm_timer_free(cm_steal(&e->grace));
    e->gone = e->n_telling > 0;
    if (e->gone)
        return;
    for (size_t i = 0; i < e->n_warnings; i++)
        free(e->warnings[i]);
    cm_buf_done(&e->logs);
    free(e->ending.code);
    free(e->ending.message);
    free(e->direct_path);
    free(e->parents);
    rt_again_done(e);
    cm_value_done(&e->direct_args);
    cm_value_done(&e->direct_result);
    free(e);
}

/* ---- the pass ---- */

static void on_call(void *user, cm_pass *p, uint32_t id, enum cm_call_kind kind, struct cm_str connector,
                    struct cm_str method, struct cm_value args, struct cm_call_place at)
{
    struct rt_pass *rp = user;

    (void)p;
    if (!rp->e || rp->e->ending.set)
        return;
    rt_sdk_fire(rp->e); /* it never stands still while outcomes come faster than it takes them */
    if (!rp->e->ending.set)
        rt_call_issue(rp->e, id, kind, connector, method, args, at);
}

static void on_step_end(void *user, cm_pass *p, uint32_t id, bool failed, struct cm_value value)
{
    struct rt_pass *rp = user;

    (void)p;
    if (rp->e && !rp->e->ending.set)
        rt_call_step_end(rp->e, id, failed, value);
}

void rt_log_add(cm_exec *e, struct cm_str line, size_t kept)
{
    e->logs_lost = e->logs_lost || e->logs.len + line.len + 2 > LOGS_MAX(e);
    if (e->logs_lost)
        return;
    cm_buf_add_char(&e->logs, e->logs.len ? ',' : '[');
    cm_buf_add_str(&e->logs, line);
    e->logs_kept += kept;
}

static void on_log(void *user, cm_pass *p, enum cm_log_level level, struct cm_str text)
{
    static const char *const names[CM_LOG_LEVEL_COUNT_] = {"log", "info", "warn", "error", "debug"};
    struct rt_pass *rp = user;
    cm_exec *e = rp->e;
    cm_autofree char *clean = e ? cm_secrets_redact(e->rt->o.secrets, text, &text.len) : NULL;
    cm_autobuf line = CM_BUF_INIT(text.len * 6 + 64);

    (void)p;
    if (!e)
        return;
    if (clean)
        text.ptr = clean;
    cm_buf_addf(&line, "{\"level\":\"%s\",\"text\":", names[level]);
    cm_json_write_string(&line, text);
    cm_buf_add_char(&line, '}');
    e->logs_lost = e->logs_lost || line.failed;
    if (e->logs_lost)
        return;
    if (e->replay && rt_again_add_line(e, cm_buf_str(&line), text.len))
        return;
    rt_event_log(e->rt, e->id, names[level], text);
    rt_log_add(e, cm_buf_str(&line), text.len);
}

static void on_wait(void *user, cm_pass *p, uint32_t outstanding)
{
    struct rt_pass *rp = user;

    (void)p;
    (void)outstanding;
    if (!rp->e || rp->e->ending.set)
        return;
    rp->e->waiting = true;
    if (rp->e->replay)
        rt_again_waits(rp->e);
    rt_sdk_fire(rp->e);
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
    if (e->held)
        rt_held_drop(e);
    else
        rt_exec_finish(e, end);
}

static void on_cancel(void *user, cm_pass *p, uint32_t id)
{
    struct rt_pass *rp = user;
    struct rt_call *c = rp->e && !rp->e->ending.set ? rp->e->calls : NULL;

    (void)p;
    while (c && c->id != id)
        c = c->next;
    if (c && c->kind == CM_CALL_TIMER)
        rt_sdk_clear(c);
    else if (c)
        rt_call_give_up(c);
}

static void on_ended(void *user, cm_pass *p, bool failed)
{
    struct rt_pass *rp = user;
    cm_exec *e = rp->e;

    (void)p;
    if (!e || e->program_ended)
        return;
    e->program_ended = true;
    e->program_failed = failed;
    e->program_ended_at = cm_mono_ms();
}

static uint32_t add_u32(uint32_t a, uint32_t b)
{
    return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

cm_status rt_exec_start_pass(cm_exec *e, struct cm_str code, struct cm_value input, const uint8_t seed[16],
                             struct cm_err *err)
{
    static const struct cm_pass_events events = {on_call, on_step_end, on_log,  on_wait,
                                                 on_end,  on_cancel,   on_ended};
    cm_autobuf bind = CM_BUF_INIT(CM_FRAME_MAX_BYTES);
    struct cm_pass_spec ps = {
        .runtime = e->rt->name,
        .source = code,
        .input = input,
        .now_ms = e->clock,
        .limits = e->limits,
    };
    cm_status st;

    memcpy(ps.seed, seed, sizeof ps.seed);
    /* What is in flight is for us to limit (call.c queues): to the sandbox every call that may be issued may
     * be unanswered. */
    ps.limits.calls_in_flight = add_u32(e->limits.calls_in_flight, e->limits.subrequests);
    cm_catalog_bind(e->rt->o.catalog, &bind);
    if (e->rt->o.fetch && bind.len) {
        bind.len--; /* the object goes on */
        cm_buf_add_z(&bind, ",\"fetch\":true}");
    }
    cm_config_add_modules(e->rt->o.config, &bind);
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
    return cm_err_limit(err, "source_limit",
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
    cm_autobuf limits = CM_BUF_INIT(4096);
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
        st = cm_value_checked(input, e->limits.frame_bytes, &canonical, err);
    if (st != CM_OK)
        return cm_err_prefix(err, "input");
    cm_limits_write(&e->limits, &limits);
    row.limits_json = cm_buf_str(&limits);
    row.connectors_json = names.ptr;
    row.input = cm_value_view(&canonical);
    memcpy(row.seed, seed, sizeof row.seed);
    st = cm_store_begin(rt->o.store, &row, err);
    if (st == CM_OK)
        rt_touch(rt);
    return st;
}

void rt_exec_link(cm_exec *e)
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
    (void)cm_store_commit(e->rt->o.store, false, NULL);
}

cm_exec *rt_exec_new(cm_runtime *rt, const struct cm_limits *l, cm_exec_fn fn, void *user)
{
    cm_exec *e = cm_new(cm_exec);

    *e = (cm_exec){.rt = rt, .fn = fn, .user = user, .limits = *l, .calls_tail = &e->calls};
    e->logs = CM_BUF_INIT(LOGS_MAX(e) + 128); /* what was dropped (finish.c), and the bracket */
    e->began_at = cm_mono_ms();
    e->losses = cm_store_losses(rt->o.store);
    return e;
}

/** A spec of our own, with names in place of secrets. */
struct clean_spec {
    struct cm_exec_spec spec;
    char *code;
    struct cm_own_value input, args;
    bool changed;
};

static void clean_spec_done(struct clean_spec *c)
{
    free(c->code);
    cm_value_done(&c->input);
    cm_value_done(&c->args);
}

/**
 * Before anything is recorded or run, so that the record is what runs, and a replay runs the same: a program with a secret in it got it
 * from somebody's words, and can do nothing with it that its name would not.
 */
static cm_status clean_spec(const cm_runtime *rt, const struct cm_exec_spec *spec, struct clean_spec *c,
                            struct cm_err *err)
{
    size_t len = spec->code.len;
    cm_status st;

    c->spec = *spec;
    c->input = cm_value_dup(spec->input);
    c->args = cm_value_dup(spec->call_args);
    c->code = cm_secrets_redact(rt->o.secrets, spec->code, &len);
    if (c->code)
        c->spec.code = cm_str_mk(c->code, len);
    c->changed = c->code || cm_secrets_occur(rt->o.secrets, spec->input.json) ||
                 cm_secrets_occur(rt->o.secrets, spec->call_args.json);
    st = rt_without_secrets(rt, &c->input, false, err);
    if (st == CM_OK)
        st = rt_without_secrets(rt, &c->args, false, err);
    c->spec.input = cm_value_view(&c->input);
    c->spec.call_args = cm_value_view(&c->args);
    return st;
}

static cm_status start(cm_runtime *rt, const struct cm_exec_spec *spec, bool had_secrets, cm_exec_fn fn,
                       void *user, cm_exec **out, struct cm_err *err)
{
    cm_autobuf code = CM_BUF_INIT(2 * CM_NAME_MAX_BYTES + 64);
    uint8_t seed[16];
    cm_exec *e;
    cm_status st = check_size(spec, err);

    if (st != CM_OK)
        return st;
    if (rt->closing)
        return cm_err_set(err, CM_E_CANCELLED, "the runtime is being closed");
    /* Before the row: what was refused for want of room must not push the records of what ran out of the store. */
    if (!spec->call_path && cm_sandbox_admits(rt->o.sandbox, rt->name, err) != CM_OK)
        return CM_E_LIMIT;
    e = rt_exec_new(rt, &spec->limits, fn, user);
    e->passes = 1;
    e->created_at = e->clock = cm_now_ms();
    make_id(e);
    cm_random_bytes(seed, sizeof seed);
    if (had_secrets)
        rt_exec_warn(
            e, "The program or its input held a value that the configuration keeps secret. It ran with "
               "\"[secret NAME]\" in its place: connectors add such values to what they send by themselves.");
    if (spec->call_path)
        st = direct_program(e, spec, &code, err);
    if (st == CM_OK)
        st = begin_row(e, spec->call_path ? cm_buf_str(&code) : spec->code,
                       spec->call_path ? spec->call_args : spec->input, seed, err);
    if (st == CM_OK && !spec->call_path) {
        st = rt_exec_start_pass(e, spec->code, spec->input, seed, err);
        if (st != CM_OK)
            record_not_started(e, err);
    }
    if (st != CM_OK) {
        rt_exec_free(e);
        return st;
    }
    rt_exec_link(e);
    rt_event_started(rt, e->id, e->passes);
    if (e->direct_path)
        cm_soon_post(rt->direct);
    if (out)
        *out = e;
    return CM_OK;
}

cm_status cm_exec_start(cm_runtime *rt, const struct cm_exec_spec *spec, cm_exec_fn fn, void *user,
                        cm_exec **out, struct cm_err *err)
{
    struct clean_spec clean = {0};
    cm_status st = clean_spec(rt, spec, &clean, err);

    if (st == CM_OK)
        st = start(rt, &clean.spec, clean.changed, fn, user, out, err);
    clean_spec_done(&clean);
    return st;
}

void cm_exec_cancel(cm_exec *e)
{
    rt_exec_end(e, CM_EXEC_CANCELLED, NULL, "%s", "");
    e->unshaped = e->finishing;
    rt_shape_cancel(e);
}

const char *cm_exec_id(const cm_exec *e)
{
    return e->id;
}

char *cm_exec_progress(const cm_exec *e)
{
    const struct rt_call *c = e->calls;
    char what[640];

    while (c && c->kind != CM_CALL_TOOL && c->kind != CM_CALL_STEP && c->kind != CM_CALL_RUN)
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
            rt_exec_finish(e, NULL);
            return true;
        }
        if (!e->direct_started) {
            const char *dot = strchr(e->direct_path, '.');

            e->direct_started = true;
            rt_call_issue(e, 1, CM_CALL_TOOL, cm_str_mk(e->direct_path, (size_t)(dot - e->direct_path)),
                          cm_str_of(dot + 1), cm_value_view(&e->direct_args), (struct cm_call_place){0});
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
        cm_pass_stop(rp->pass, CM_PASS_CANCELLED, "cancelled", "the runtime was closed");
    }
    rt_exec_finish(e, NULL);
}
