/**
 * One pass: what it was asked, the calls it has open, and its one end. Its clocks are in clocks.c.
 *
 * Whether the worker runs or waits is counted, not believed: RUN and each OUTCOME give it a turn, and each
 * turn ends in one WAIT or DONE. It waits when all turns have ended; a WAIT that crosses an OUTCOME on its
 * way changes nothing.
 */
#include "sandbox/internal.h"

#include "base/clock.h"
#include "base/utf8.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>

/*
 * Data over the limit that the kernel lets through. The engine asks for memory of small objects by 32 MB at a time, and all of it
 * counts at once: without some room a program of such objects would be refused its limit's last part. Where it is touched
 * nevertheless, it is less than the 20 MB by which a worker may exceed its limit.
 */
#define CHUNK_SLACK_KB (4u << 10)
#define RESTART_CPU_US 200000 /* used for the pass, the work of ending a process of this size included */
#define FREE_ENOUGH    2u     /* workers of a runtime that wait: sandbox.c, takes_second */
#define CPU_BACKSTOP_S 3      /* seconds of CPU over the limit at most before the kernel steps in */

static struct cm_call *find_call(cm_pass *p, uint32_t id)
{
    for (size_t i = 0; i < p->n_calls; i++) {
        if (p->calls[i].id == id)
            return &p->calls[i];
    }
    return NULL;
}

static void drop_call(cm_pass *p, struct cm_call *c)
{
    p->n_open_timers -= c->kind == CM_CALL_TIMER;
    *c = p->calls[--p->n_calls];
}

static uint32_t count_open(const cm_pass *p)
{
    uint32_t n = 0;

    for (size_t i = 0; i < p->n_calls; i++)
        n += p->calls[i].state == CM_CALL_OPEN;
    return n;
}

/** ---- the end ---- */

/** Put the pass among the ended; on_end comes from the sweep. The worker is no longer its own. */
static void conclude(cm_pass *p)
{
    cm_sandbox *sb = p->sb;

    p->ended = true;
    p->clock = CM_CLOCK_OFF;
    cm_timer_stop(p->timer);
    if (p->worker) {
        uint64_t cpu = cm_worker__cpu_us(p->worker);
        p->cpu_us = cpu > p->cpu_start_us ? cpu - p->cpu_start_us : 0;
        p->worker->pass = NULL;
        p->worker = NULL;
    }
    p->next = NULL;
    *sb->ended_tail = p;
    sb->ended_tail = &p->next;
    cm_sandbox__wake(sb);
}

/**
 * It stands still, and its worker has said all that it has to say: what is wanted of it no more is dropped, and the worker serves on, as
 * it does after a program's own end. It has no more to do with this program than then, and is believed no more: what it may say now is
 * IDLE, and soon, or it is killed. Whoever runs, met a limit or broke the protocol never comes here.
 */
static void drop(cm_pass *p)
{
    struct cm_worker *w = p->worker;

    p->stopping = true;
    conclude(p);
    cm_worker__tidy(w);
    if (!cm_worker__send(w, CM_FRAME_DROP, 0, 0, NULL, 0))
        w->retire = true;
    cm_worker__kill_unfit(w);
}

/**
 * The verdict stands: stop the program if it still runs. The reason is noted before the kill; what it had
 * logged is kept.
 */
static void stop_and_conclude(cm_pass *p)
{
    struct cm_worker *w = p->worker;

    p->stopping = true;
    if (w)
        cm_worker__hear_out(w);
    if (!w)
        cm_queue__remove(p->sb, p);
    conclude(p);
    if (w)
        cm_worker__kill(w);
}

void cm_pass__end(cm_pass *p, enum cm_end_code code, const char *detail)
{
    if (p->stopping || p->ended)
        return;
    cm_verdict__make(&p->verdict, code, &p->limits, detail);
    stop_and_conclude(p);
}

/** It stands still, and its runtime has not two others already, with which programs can follow each other: a third would only wait. */
static bool is_worth_keeping(const cm_pass *p)
{
    return p->worker && p->worker->state == CM_WORKER_BUSY && p->n_waits == p->n_turns &&
           cm_worker__count_free(p->sb, p->lane) < FREE_ENOUGH;
}

void cm_pass_stop(cm_pass *p, enum cm_pass_end_kind kind, const char *code, const char *message)
{
    if (p->stopping || p->ended)
        return;
    p->verdict = (struct cm_verdict){kind, cm_strdup(code), cm_strdup(message)};
    if (is_worth_keeping(p))
        drop(p);
    else
        stop_and_conclude(p);
}

static bool is_engine_signal(int sig)
{
    return sig == SIGSEGV || sig == SIGABRT || sig == SIGILL || sig == SIGTRAP || sig == SIGBUS;
}

/**
 * A worker that ran out of data says so by its exit status. What is left are the engine's own reservations, of which it may use one
 * up and trap without having asked the kernel: its resident memory has then grown by more than half of the limit.
 */
static bool is_out_of_memory(const cm_pass *p, const struct cm_worker *w, const struct cm_control_msg *m)
{
    uint64_t limit_kb = (uint64_t)p->limits.memory_mb << 10;

    if (m->exit_code == CLD_EXITED || !is_engine_signal(m->exit_status))
        return false;
    return m->max_rss_kb > w->start.resident_kb + limit_kb / 2;
}

void cm_pass__heard(cm_pass *p)
{
    cm_buf_done(&p->run);
}

/**
 * Whether it may be started again as if nothing had been: the worker was killed from outside before a byte of it
 * came, most often as an idle one whose end was not known yet when the pass was given to it. Then no call, no line
 * and no result of the program exists. Once, and only if the worker died young: what the kernel kills for want of
 * memory has worked for some time, and would meet the same end again.
 */
static bool may_restart(const cm_pass *p, const struct cm_control_msg *m)
{
    if (p->restarted || p->run.len == 0)
        return false;
    /* A clock that could not be read is that of a worker which was dead already. */
    return !m || (m->exit_code != CLD_EXITED && m->exit_status == SIGKILL &&
                  (p->cpu_start_us == 0 || m->cpu_us < p->cpu_start_us + RESTART_CPU_US));
}

static void restart(cm_pass *p)
{
    cm_pass__set_clock(p, CM_CLOCK_OFF);
    p->worker->pass = NULL;
    p->worker = NULL;
    p->n_turns = 0;
    p->restarted = true;
    cm_queue__add(p->sb, p);
    cm_pass__check_clocks(p);
    cm_sandbox__wake(p->sb);
}

void cm_pass__worker_died(cm_pass *p, const struct cm_control_msg *m)
{
    char text[256] = "together with the process that starts sandboxes";

    if (p->stopping || p->ended)
        return;
    if (may_restart(p, m)) {
        restart(p);
        return;
    }
    if (m && m->exit_code == CLD_EXITED && m->exit_status == CM_EXIT_CPU)
        cm_verdict__make(&p->verdict, CM_END_CPU, &p->limits, NULL);
    else if (m && m->exit_code == CLD_EXITED && m->exit_status == CM_EXIT_MEMORY)
        cm_verdict__make(&p->verdict, CM_END_MEMORY, &p->limits, NULL);
    else if (m && is_out_of_memory(p, p->worker, m))
        cm_verdict__make(&p->verdict, CM_END_MEMORY, &p->limits, NULL);
    else
        cm_verdict__make(&p->verdict, CM_END_CRASHED, &p->limits,
                         m ? cm_verdict__exit_text(m, text, sizeof(text)) : text);
    conclude(p);
}

void cm_pass__finish(cm_pass *p)
{
    const struct cm_pass_end end = {
        .kind = p->verdict.kind,
        .code = p->verdict.code ? p->verdict.code : "",
        .message = p->verdict.message ? p->verdict.message : "",
        .cpu_us = p->cpu_us,
        .log_bytes = p->log_bytes,
    };

    p->ev->on_end(p->user, p, &end);
    cm_pass__free(p);
}

void cm_pass__free(cm_pass *p)
{
    cm_timer_free(p->timer);
    cm_verdict__done(&p->verdict);
    cm_buf_done(&p->run);
    cm_lane__unref(p->sb, p->lane);
    free(p->bind_json);
    free(p->calls);
    free(p);
}

/** ---- frames of the worker ---- */

static void on_call(cm_pass *p, const struct cm_frame *f)
{
    unsigned kind = (unsigned char)f->parts[0].ptr[0];
    const char *pos = f->parts[5].ptr;

    if (kind >= CM_CALL_KIND_COUNT_ || f->id != p->last_id + 1) {
        cm_pass__end(p, CM_END_PROTOCOL, "a call of unknown kind or out of order");
        return;
    }
    p->last_id = f->id;
    p->n_open_timers += kind == CM_CALL_TIMER;
    if (p->n_calls == p->cap_calls) {
        p->cap_calls = p->cap_calls ? p->cap_calls * 2 : 8;
        p->calls = cm_realloc(p->calls, p->cap_calls * sizeof(*p->calls));
    }
    p->calls[p->n_calls++] = (struct cm_call){f->id, (uint8_t)kind, CM_CALL_OPEN};
    if (p->n_open_timers > p->limits.timers)
        cm_pass__end(p, CM_END_TIMERS, NULL);
    else if (p->n_calls - p->n_open_timers > p->limits.calls_in_flight)
        cm_pass__end(p, CM_END_CALLS, NULL);
    else
        p->ev->on_call(
            p->user, p, f->id, (enum cm_call_kind)kind, f->parts[1], f->parts[2],
            (struct cm_value){f->parts[3], f->parts[4]},
            (struct cm_call_place){cm_wire_get_u32(pos), cm_wire_get_u32(pos + 4), cm_wire_get_u32(pos + 8)});
}

static void on_step(cm_pass *p, const struct cm_frame *f)
{
    struct cm_call *c = find_call(p, f->id);

    if (!c || c->state != CM_CALL_EXECUTING) {
        cm_pass__end(p, CM_END_PROTOCOL, "the end of a step that was not running");
        return;
    }
    /* Its promise settles with the recorded form, which the runtime delivers like any outcome. */
    c->state = CM_CALL_OPEN;
    p->ev->on_step_end(p->user, p, f->id, (f->flags & CM_FRAME_ERROR) != 0,
                       (struct cm_value){f->parts[0], f->parts[1]});
}

/** One whose outcome is on its way is known no more, which is no fault of the worker's. */
static void on_cancel(cm_pass *p, const struct cm_frame *f)
{
    struct cm_call *c = find_call(p, f->id);

    if (f->id > p->last_id || (c && c->kind != CM_CALL_TIMER && c->kind != CM_CALL_TOOL)) {
        cm_pass__end(p, CM_END_PROTOCOL, "the cancelling of what is neither a timer nor a connector's call");
        return;
    }
    if (!c || !p->ev->on_cancel)
        return;
    if (c->kind == CM_CALL_TIMER)
        drop_call(p, c);
    p->ev->on_cancel(p->user, p, f->id);
}

static void on_log(cm_pass *p, const struct cm_frame *f)
{
    unsigned level = (unsigned char)f->parts[0].ptr[0];
    struct cm_str text = f->parts[1];
    cm_autofree char *repaired = NULL;

    if (level >= CM_LOG_LEVEL_COUNT_) {
        cm_pass__end(p, CM_END_PROTOCOL, "a console line of unknown level");
        return;
    }
    p->log_bytes += text.len;
    if (p->log_full)
        return;
    /* Cut first: what is dropped needs no repair. The cut may fall inside a character only where there was
     * none. */
    bool cut = text.len > p->log_left;
    if (cut)
        text.len = cm_utf8_cut(text, p->log_left);
    if (cm_utf8_valid_prefix(text) != text.len) {
        repaired = cm_utf8_repair(text, &text.len);
        text.ptr = repaired;
    }
    p->log_left -= text.len < p->log_left ? text.len : p->log_left;
    if (!cut || text.len > 0)
        p->ev->on_log(p->user, p, (enum cm_log_level)level, text);
    if (!cut || p->ended)
        return;
    char note[160];
    int n = snprintf(note, sizeof(note),
                     "[further console output was dropped: the limit is %llu bytes (limits.logBytes)]",
                     (unsigned long long)p->limits.log_bytes);
    p->log_full = true;
    p->ev->on_log(p->user, p, CM_LOG_WARN, cm_str_mk(note, (size_t)n));
}

static void on_wait(cm_pass *p, const struct cm_frame *f)
{
    uint32_t open = count_open(p);
    bool ended = (f->flags & CM_FRAME_ENDED) != 0;

    if (p->n_waits == p->n_turns) {
        cm_pass__end(p, CM_END_PROTOCOL, "a wait while it was waiting");
        return;
    }
    p->n_waits++;
    /* Told also where an outcome is on its way already. */
    if (ended && p->ev->on_ended)
        p->ev->on_ended(p->user, p, (f->flags & CM_FRAME_ERROR) != 0);
    if (p->n_waits < p->n_turns)
        return;
    if (open == 0) {
        cm_pass__end(p, CM_END_PROTOCOL, "a wait with no call to wait for");
        return;
    }
    cm_pass__set_clock(p, CM_CLOCK_WAITING);
    if (ended && !p->ev->on_ended)
        cm_pass_finish(p);
    else
        p->ev->on_wait(p->user, p, open);
}

void cm_pass__frame(cm_pass *p, const struct cm_frame *f)
{
    /* Between its turns a worker has nothing to say. */
    if (p->n_waits == p->n_turns) {
        cm_pass__end(p, CM_END_PROTOCOL, "a frame while it was waiting");
        return;
    }
    switch (f->type) {
    case CM_FRAME_CALL:
        on_call(p, f);
        return;
    case CM_FRAME_STEP:
        on_step(p, f);
        return;
    case CM_FRAME_LOG:
        on_log(p, f);
        return;
    case CM_FRAME_WAIT:
        on_wait(p, f);
        return;
    case CM_FRAME_DONE:
        cm_pass__done(p, f);
        return;
    case CM_FRAME_CANCEL:
        on_cancel(p, f);
        return;
    case CM_FRAME_HELLO:
    case CM_FRAME_BIND:
    case CM_FRAME_RUN:
    case CM_FRAME_OUTCOME:
    case CM_FRAME_FINISH:
    case CM_FRAME_DROP:
    case CM_FRAME_IDLE:
        return; /* the worker's table lets none of these through */
    }
}

/** ---- to the worker ---- */

/**
 * Kernel limits of this pass, set only where they differ from what stands. The CPU limit counts the process's
 * whole life in seconds, so that it needs moving once in many passes.
 */
static void set_kernel_limits(const cm_pass *p, struct cm_worker *w)
{
    uint64_t used_s = p->cpu_start_us / 1000000;
    uint64_t least_s = used_s + (p->limits.cpu_ms + 999) / 1000 + 1;
    uint64_t cpu_s = w->cpu_s < least_s || w->cpu_s > least_s + CPU_BACKSTOP_S ? least_s + 1 : 0;
    uint64_t data_kb = w->base_kb ? w->base_kb + ((uint64_t)p->limits.memory_mb << 10) + CHUNK_SLACK_KB : 0;

    if (data_kb == w->data_kb)
        data_kb = 0;
    if (cpu_s == 0 && data_kb == 0)
        return;
    if (data_kb)
        w->data_kb = data_kb;
    if (cpu_s)
        w->cpu_s = cpu_s;
    cm_worker__limit(w, data_kb, cpu_s);
}

void cm_pass__dispatch(cm_pass *p, struct cm_worker *w)
{
    if (!w->lane)
        w->lane = cm_lane__ref(w->sb, p->lane->name);
    /* Chosen so above; here it counts, and the worker itself looks at the name again. */
    assert(w->lane == p->lane && "a worker serves one runtime");
    p->worker = w;
    w->pass = p;
    w->state = CM_WORKER_BUSY;
    w->n_runs++;
    w->used_ms = cm_mono_ms();
    w->look_ms = 0;
    p->cpu_start_us = cm_worker__cpu_us(w);
    set_kernel_limits(p, w);
    if (!w->bind_json || !cm_z_eq(w->bind_json, p->bind_json)) {
        const struct cm_str parts[] = {cm_str_of(w->lane->name), cm_str_of(p->bind_json)};
        (void)cm_worker__send(w, CM_FRAME_BIND, 0, 0, parts, 2);
        free(w->bind_json);
        w->bind_json = cm_strdup(p->bind_json);
    }
    (void)cm_worker__send_bytes(w, cm_buf_str(&p->run));
    p->n_turns = 1;
    cm_pass__set_clock(p, CM_CLOCK_RUNNING);
}

void cm_pass_deliver(cm_pass *p, uint32_t id, bool failed, bool execute, struct cm_value value,
                     int64_t now_ms, uint32_t draw)
{
    char now[12];

    if (p->stopping || p->ended)
        return;
    struct cm_call *c = find_call(p, id);
    assert(!p->held && "a pass that is held gets nothing before its release");
    assert(c && c->state == CM_CALL_OPEN && "an outcome for a call that is not open");
    assert(!execute || c->kind == CM_CALL_STEP || c->kind == CM_CALL_RUN);
    cm_wire_put_u64(now, (uint64_t)now_ms);
    cm_wire_put_u32(now + 8, draw);
    const struct cm_str parts[] = {{now, sizeof(now)}, value.json, value.marks};
    uint8_t flags = (uint8_t)((failed ? CM_FRAME_ERROR : 0) | (execute ? CM_FRAME_EXECUTE : 0));
    if (execute)
        c->state = CM_CALL_EXECUTING;
    else
        drop_call(p, c);
    if (!cm_worker__send(p->worker, CM_FRAME_OUTCOME, flags, id, parts, 3)) {
        cm_pass__end(p, CM_END_FRAME, ", or more results arrived than the program had read");
        return;
    }
    p->n_turns++;
    cm_pass__set_clock(p, CM_CLOCK_RUNNING);
}

void cm_pass_finish(cm_pass *p)
{
    if (p->stopping || p->ended)
        return;
    if (!cm_worker__send(p->worker, CM_FRAME_FINISH, 0, 0, NULL, 0)) {
        cm_pass__end(p, CM_END_FRAME, ", or more results arrived than the program had read");
        return;
    }
    p->n_turns++;
    cm_pass__set_clock(p, CM_CLOCK_RUNNING);
}

uint32_t cm_pass_turns(const cm_pass *p)
{
    return p->n_waits;
}

int64_t cm_pass_pid(const cm_pass *p)
{
    return p->worker ? p->worker->pid : 0;
}

/** RUN's meta: all of it is ours, so nothing needs escaping. */
static void encode_run(cm_pass *p, const struct cm_pass_spec *spec)
{
    cm_autobuf meta = CM_BUF_INIT(256);

    cm_buf_add_z(&meta, "{\"seed\":\"");
    for (size_t i = 0; i < sizeof(spec->seed); i++)
        cm_buf_addf(&meta, "%02x", spec->seed[i]);
    cm_buf_addf(&meta, "\",\"now\":%lld,\"stackKb\":%u,\"mode\":\"%s\",\"name\":\"program\"}",
                (long long)spec->now_ms, spec->limits.stack_kb, spec->normalize ? "normalize" : "run");
    const struct cm_str parts[] = {cm_buf_str(&meta), spec->source, spec->input.json, spec->input.marks};
    cm_wire_encode(&p->run, CM_FRAME_RUN, 0, 0, parts, 4);
}

cm_status cm_sandbox_start(cm_sandbox *sb, const struct cm_pass_spec *spec, const struct cm_pass_events *ev,
                           void *user, cm_pass **out, struct cm_err *err)
{
    static const struct cm_str no_binding = CM_STR("{\"connectors\":[]}");
    struct cm_str bind = spec->bind_json.len ? spec->bind_json : no_binding;

    if (sb->closing)
        return cm_err_set(err, CM_E_UNAVAILABLE, "the sandbox is being closed");
    if (spec->source.len > spec->limits.source_bytes)
        return cm_err_limit(err, "source_limit",
                            "the program has %zu bytes, the limit is %llu (limits.sourceBytes)",
                            spec->source.len, (unsigned long long)spec->limits.source_bytes);
    if (bind.len > CM_FRAME_MAX_BYTES / 2)
        return cm_err_set(err, CM_E_LIMIT, "the connectors' names have %zu bytes, the limit is %u", bind.len,
                          CM_FRAME_MAX_BYTES / 2);
    if (cm_sandbox_admits(sb, spec->runtime, err) != CM_OK)
        return CM_E_LIMIT;
    cm_pass *p = cm_new(cm_pass);
    p->run = CM_BUF_INIT(CM_FRAME_MAX_BYTES + CM_WIRE_HEADER_BYTES);
    encode_run(p, spec);
    if (p->run.failed) {
        cm_pass__free(p);
        return cm_err_limit(err, "frame_limit", "the program and its input have more than %u bytes together",
                            CM_FRAME_MAX_BYTES);
    }
    p->sb = sb;
    p->ev = ev;
    p->user = user;
    p->lane = cm_lane__ref(sb, spec->runtime);
    p->bind_json = cm_memdup_z(bind.ptr, bind.len);
    p->limits = spec->limits;
    p->log_left = spec->limits.log_bytes;
    p->start_ms = cm_mono_ms();
    p->timer = cm_timer_new(sb->loop, cm_pass__on_timer, p);
    cm_queue__add(sb, p);
    sb->n_passes++;
    cm_pass__check_clocks(p);
    *out = p;
    cm_sandbox__try_again(sb);
    cm_sandbox__pump(sb);
    return CM_OK;
}
