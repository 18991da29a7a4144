/**
 * The pool: which pass gets which worker. One function, pump(), looks at the whole picture and is called
 * whenever something changed:
 *
 *   1. each waiting pass, oldest first, takes a worker bound to its runtime, else an unbound one, which it
 *      binds; but no more of them at once than the processors can serve, except those that compute for long or
 *      wait: programs that end in a moment do so sooner in a few workers that are warm than in many that are not;
 *   2. for passes still waiting, workers are asked for; where the maximum is reached, the pass that has been
 *      held longest gives way (whoever decides later starts it again from its record), then the bound worker
 *      that has been idle longest;
 *   3. the pool of unbound workers is filled up, the first time a moment later: a single run should not pay
 *      for a second worker.
 *
 * Failure modes: a worker that cannot be had is tried again, three times in a row; then every waiting pass is
 * told why. Events and freeing happen in the sweep, on the loop, so that no caller's frame stands on what is
 * freed.
 */
#include "sandbox/internal.h"

#include "base/clock.h"
#include "base/processors.h"

#include <poll.h>
#include <stdio.h>

#define MAX_WORKERS_DEFAULT 64u
#define MAX_QUEUED_DEFAULT  1000u
#define POOL_DEFAULT        2u
#define REFILL_DELAY_MS     100
#define WORKER_FAILURES_MAX 3u
#define BROKEN_PAUSE_MS     1000  /* how long a failure stands before a new pass tries again */
#define AT_ONCE             2u    /* for each processor: programs that began to compute a moment ago */
#define MOMENT_US           20000 /* in all; at CM_SAMPLE_FIRST_MS the pool is looked at again */
#define SAMPLE_MIN_MS       2
#define SAMPLE_MAX_MS       50
#define SAMPLE_EARLY_MS     10    /* so much before its time a worker is looked at together with another */
#define TOUCH_KB_PER_MS     2048  /* a new page takes 2 µs at least: nobody fills more than that */
#define START_MAX_MS        10000 /* a worker that has not said HELLO by then never will */
#define TIDY_MAX_MS         2000  /* a collection takes milliseconds; more is not tidying */
#define MEMORY_SLACK_KB     (2u << 10) /* the kernel comes first; samples catch what it does not count */
#define CLOSE_WAIT_MS       2000

/** ---- the pool ---- */

struct census {
    uint32_t live;    /* all that are not on their way out */
    uint32_t coming;  /* forking or starting */
    uint32_t unbound; /* ready and unbound */
    uint32_t free;    /* ready, or ready in a moment */
    uint32_t held;    /* their passes wait for a human */
};

static bool is_held(const struct cm_worker *w)
{
    return w->pass && w->pass->held;
}

static struct census take_census(const cm_sandbox *sb)
{
    struct census c = {0};

    for (const struct cm_worker *w = sb->workers; w; w = w->next) {
        c.live += w->state != CM_WORKER_DYING && w->state != CM_WORKER_GONE;
        c.coming += w->state == CM_WORKER_FORKING || w->state == CM_WORKER_STARTING;
        c.unbound += w->state == CM_WORKER_READY && !w->lane;
        c.free += w->state == CM_WORKER_READY || w->state == CM_WORKER_TIDYING;
        c.held += is_held(w);
    }
    return c;
}

/** It is killed, and its runtime has one less. */
static void kill_ready(struct cm_worker *w)
{
    if (w->lane)
        w->lane->n_workers--;
    cm_worker__kill(w);
}

/** A ready worker for the runtime: its own first, else the newest unbound one, since the zygote's first is not warm. Ones past their
 * age are killed on the way. */
static struct cm_worker *pick_worker(cm_sandbox *sb, const struct cm_lane *lane)
{
    struct cm_worker *unbound = NULL;

    for (struct cm_worker *w = sb->workers; w; w = w->next) {
        if (w->state != CM_WORKER_READY)
            continue;
        if (!cm_worker__is_fit(w)) {
            kill_ready(w);
            continue;
        }
        if (!w->lane)
            unbound = unbound ? unbound : w;
        else if (w->lane == lane)
            return w;
    }
    return unbound;
}

/** Whether one of the runtime's workers that is tidying up will do: that is a matter of a millisecond, a fork
 * of ten. */
static bool claim_tidying(cm_sandbox *sb, const struct cm_lane *lane)
{
    for (struct cm_worker *w = sb->workers; w; w = w->next) {
        if (w->state == CM_WORKER_TIDYING && !w->claimed && cm_worker__is_fit(w) && w->lane == lane) {
            w->claimed = true;
            return true;
        }
    }
    return false;
}

/**
 * Whether a runtime gets another worker from the pool rather than wait until its own has tidied up: programs that follow each other
 * without a pause then find the one ready while the other makes its next realm. Two are enough for that, a third would only wait. Not the
 * last that there may be: the next runtime would have to wait for another one's end.
 */
static bool takes_second(const cm_sandbox *sb, const struct cm_lane *lane, uint32_t n_live)
{
    return lane->n_workers < 2 && sb->opts.pool_size > 1 && n_live < sb->opts.max_workers;
}

/**
 * Whether a ready worker is given up for a pass of `lane`. Evenly shared workers stay where they are: a new process
 * costs more than many a program. A runtime that has none is always given one.
 */
static bool may_evict(const struct cm_worker *w, const struct cm_lane *lane)
{
    return w->lane->n_waiting == 0 || lane->n_workers == 0 || w->lane->n_workers > lane->n_workers + 1;
}

/** Kill the ready worker that is missed least: idle longest, of a runtime with nothing to run if there is one. */
static bool evict_one(cm_sandbox *sb, const struct cm_lane *lane)
{
    struct cm_worker *victim = NULL;
    bool victim_wanted = false;

    for (struct cm_worker *w = sb->workers; w; w = w->next) {
        if (w->state != CM_WORKER_READY || !w->lane || !may_evict(w, lane))
            continue;
        bool wanted = w->lane->n_waiting > 0;
        if (victim && (wanted > victim_wanted || (wanted == victim_wanted && w->used_ms >= victim->used_ms)))
            continue;
        victim = w;
        victim_wanted = wanted;
    }
    if (victim)
        kill_ready(victim);
    return victim != NULL;
}

/** Take the worker of the pass that has been held longest. */
static bool evict_held(cm_sandbox *sb)
{
    cm_pass *victim = NULL;

    for (struct cm_worker *w = sb->workers; w; w = w->next)
        if (is_held(w) && (!victim || w->pass->held_ms < victim->held_ms))
            victim = w->pass;
    if (victim)
        cm_pass__end(victim, CM_END_EVICTED, NULL);
    return victim != NULL;
}

static bool ask_for_worker(cm_sandbox *sb)
{
    uint64_t serial = ++sb->next_serial;

    if (!cm_control__fork(sb, serial))
        return false;
    struct cm_worker *w = cm_worker__new(sb, serial);
    w->next = sb->workers;
    sb->workers = w;
    return true;
}

/** Ask for one more worker, in the place of another where the maximum is reached. False: there is none to be had. */
static bool make_worker_for(cm_sandbox *sb, const struct cm_lane *lane)
{
    if (take_census(sb).live >= sb->opts.max_workers && !evict_held(sb) && !evict_one(sb, lane))
        return false;
    return ask_for_worker(sb);
}

/** Count anew what a round of matching goes by. Returns for how many runtimes passes wait. */
static uint32_t begin_round(cm_sandbox *sb)
{
    uint32_t n = 0;

    for (struct cm_lane *l = sb->lanes; l; l = l->next) {
        l->n_workers = 0;
        l->stuck = false;
        n += l->n_waiting > 0;
    }
    for (struct cm_worker *w = sb->workers; w; w = w->next) {
        w->claimed = false;
        if (w->lane && w->state != CM_WORKER_DYING && w->state != CM_WORKER_GONE && !is_held(w))
            w->lane->n_workers++;
    }
    return n;
}

/** Whether it has computed for less than a moment in all, however often it waited in between. */
static bool began_now(const cm_pass *p, int64_t now_us)
{
    return p->clock == CM_CLOCK_RUNNING && p->wall_us + now_us - p->resumed_us < MOMENT_US;
}

/**
 * How many more programs may begin now. Those that have computed for longer than a moment do not count, so nobody waits for a program
 * that does not end, nor for one that goes on at once after each of its calls; only for some that may end in a moment.
 */
static uint32_t free_turns(const cm_sandbox *sb)
{
    uint32_t most = AT_ONCE * sb->n_processors, n = 0;
    int64_t now_us = cm_mono_us();

    for (const struct cm_worker *w = sb->workers; w && n < most; w = w->next)
        n += w->state == CM_WORKER_BUSY && w->pass && began_now(w->pass, now_us);
    return most - n;
}

/**
 * Give every waiting pass that can have one its worker, and see that there is one on its way for the others. A long queue is not walked
 * to its end: where nothing was to be had for one pass, there is nothing for the next one of its runtime.
 */
static void match(cm_sandbox *sb)
{
    struct census c = take_census(sb);
    uint32_t coming = c.coming;
    cm_pass **at = &sb->queue;

    if (c.free == 0 && c.held == 0 && c.live >= sb->opts.max_workers)
        return;
    uint32_t n_lanes = begin_round(sb);
    uint32_t turns = free_turns(sb);
    while (*at && n_lanes > 0 && turns > 0) {
        cm_pass *p = *at;
        struct cm_lane *lane = p->lane;
        struct cm_worker *w = lane->stuck ? NULL : pick_worker(sb, lane);
        bool claimed =
            !lane->stuck && (!w || (!w->lane && !takes_second(sb, lane, c.live))) && claim_tidying(sb, lane);
        if (w && !claimed) {
            lane->n_workers += !w->lane;
            cm_queue__take(sb, at);
            n_lanes -= lane->n_waiting == 0;
            cm_pass__dispatch(p, w);
            turns--;
            continue;
        }
        /* Each worker that is coming is for one of those who wait, in their order. */
        if (!claimed && !lane->stuck) {
            bool expects = coming > 0 || make_worker_for(sb, lane);
            coming -= expects && coming > 0;
            lane->n_workers += expects;
            lane->stuck = !expects;
            n_lanes -= !expects;
        }
        turns -= !lane->stuck;
        at = &p->next;
    }
}

static void refill_later(cm_sandbox *sb)
{
    if (sb->refill_armed)
        return;
    sb->refill_armed = true;
    cm_timer_start(sb->refill, REFILL_DELAY_MS);
}

static void keep_pool(cm_sandbox *sb, bool now)
{
    struct census c = take_census(sb);

    if (sb->opts.one_shot && sb->next_serial > 0)
        return; /* a second one would cost the warming of the engine, while the first runs the program */
    while (c.unbound + c.coming < sb->opts.pool_size && c.live < sb->opts.max_workers) {
        if (!now) {
            refill_later(sb);
            return;
        }
        if (!ask_for_worker(sb))
            return;
        c.coming++;
        c.live++;
    }
}

void cm_sandbox__pump(cm_sandbox *sb)
{
    if (sb->closing || sb->broken)
        return;
    match(sb);
    keep_pool(sb, sb->n_passes > 1 || (sb->n_passes == 0 && !sb->refill_armed));
}

static void on_refill(void *user)
{
    cm_sandbox *sb = user;

    sb->refill_armed = false;
    if (!sb->closing && !sb->broken)
        keep_pool(sb, true);
}

/** ---- the sweep ---- */

static void free_gone_workers(cm_sandbox *sb)
{
    struct cm_worker **at = &sb->workers;

    while (*at) {
        struct cm_worker *w = *at;
        if (w->state != CM_WORKER_GONE) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        cm_worker__free(w);
    }
}

static void finish_ended(cm_sandbox *sb)
{
    while (sb->ended) {
        cm_pass *p = sb->ended;
        sb->ended = p->next;
        if (!sb->ended)
            sb->ended_tail = &sb->ended;
        cm_pass__finish(p);
    }
}

static void sweep(void *user)
{
    cm_sandbox *sb = user;

    free_gone_workers(sb);
    finish_ended(sb);
    cm_sandbox__pump(sb);
}

void cm_sandbox__wake(cm_sandbox *sb)
{
    if (!sb->closing)
        cm_soon_post(sb->sweep);
}

/** ---- failures ---- */

static void fail_queue(cm_sandbox *sb, const char *why)
{
    while (sb->queue)
        cm_pass__end(sb->queue, CM_END_NO_WORKER, why);
}

void cm_sandbox__broken(cm_sandbox *sb, const char *why)
{
    free(sb->broken);
    sb->broken = cm_strdup(why);
    sb->broken_ms = cm_mono_ms();
    fail_queue(sb, why);
}

void cm_sandbox__worker_failed(cm_sandbox *sb, const char *why)
{
    if (++sb->n_worker_failures >= WORKER_FAILURES_MAX)
        cm_sandbox__broken(sb, why);
    cm_sandbox__wake(sb);
}

/** The first pass, where the zygote was to wait for it. Or one that came although nothing worked a moment ago: after a pause it is
 * worth another try, otherwise it ends at once. */
void cm_sandbox__try_again(cm_sandbox *sb)
{
    if (sb->opts.on_demand) {
        sb->opts.on_demand = false;
        cm_control__start(sb);
    }
    if (!sb->broken)
        return;
    if (cm_mono_ms() - sb->broken_ms < BROKEN_PAUSE_MS) {
        fail_queue(sb, sb->broken);
        return;
    }
    free(cm_steal(&sb->broken));
    sb->n_worker_failures = WORKER_FAILURES_MAX - 1;
    cm_control__start(sb);
}

/** ---- samples ---- */

/** Look at a worker; returns after how many milliseconds it wants to be looked at again, 0: not at all. */
static int64_t sample_worker(struct cm_worker *w)
{
    int64_t for_ms = cm_mono_ms() - w->since_ms;

    if (w->state == CM_WORKER_TIDYING && for_ms > TIDY_MAX_MS) {
        cm_worker__kill(w);
        return 0;
    }
    if (w->state == CM_WORKER_STARTING && for_ms > START_MAX_MS &&
        for_ms - cm_worker__starved_ms(w) > START_MAX_MS) {
        cm_sandbox__worker_failed(w->sb, "it did not get ready in time");
        cm_worker__kill(w);
        return 0;
    }
    if (w->state == CM_WORKER_STARTING || w->state == CM_WORKER_TIDYING)
        return SAMPLE_MAX_MS;
    if (w->state != CM_WORKER_BUSY || w->pass->clock != CM_CLOCK_RUNNING)
        return 0;
    int64_t now_ms = cm_mono_ms();
    /* Another worker is the reason for this round: one that fills memory is not to make all be looked at. */
    if (w->look_ms > now_ms + SAMPLE_EARLY_MS)
        return w->look_ms - now_ms;
    uint64_t max_kb = w->base_anon_kb + ((uint64_t)w->pass->limits.memory_mb << 10) + MEMORY_SLACK_KB;
    uint64_t now_kb = cm_worker__memory(w).anon_kb;
    if (now_kb > max_kb) {
        cm_pass__end(w->pass, CM_END_MEMORY, NULL);
        return 0;
    }
    /* As with the CPU clock: not before the bound can have been reached, give or take the least period. */
    int64_t ms = (int64_t)((max_kb - now_kb) / TOUCH_KB_PER_MS);
    ms = ms < SAMPLE_MIN_MS ? SAMPLE_MIN_MS : ms > SAMPLE_MAX_MS ? SAMPLE_MAX_MS : ms;
    w->look_ms = now_ms + ms;
    return ms;
}

static void on_sample(void *user)
{
    cm_sandbox *sb = user;
    int64_t next_ms = 0;

    sb->sample_ms = 0;
    for (struct cm_worker *w = sb->workers; w; w = w->next) {
        int64_t ms = sample_worker(w);
        if (ms && (!next_ms || ms < next_ms))
            next_ms = ms;
    }
    if (next_ms)
        cm_sandbox__sample(sb, next_ms);
    if (sb->queue)
        cm_sandbox__wake(sb); /* who computes for long holds up nobody: free_turns */
}

void cm_sandbox__sample(cm_sandbox *sb, int64_t ms)
{
    int64_t at_ms = cm_mono_ms() + ms;

    if (sb->closing || (sb->sample_ms && sb->sample_ms <= at_ms))
        return;
    sb->sample_ms = at_ms;
    cm_timer_start(sb->sampler, (uint64_t)ms);
}

/** ---- looking before sleeping ---- */

static bool computes(const struct cm_worker *w)
{
    return w->state == CM_WORKER_BUSY ? w->pass && w->pass->clock == CM_CLOCK_RUNNING
                                      : w->state != CM_WORKER_READY && w->state != CM_WORKER_GONE;
}

/** One processor for whoever looks, and one for each worker that has something to do: looking takes time from none of them. */
static bool is_worth_looking(void *user)
{
    const cm_sandbox *sb = user;
    unsigned n = 0;

    for (const struct cm_worker *w = sb->workers; w && n < sb->n_processors; w = w->next)
        n += computes(w);
    return n > 0 && n < sb->n_processors;
}

/** ---- life ---- */

static const char *const isolations[] = {"realm", "vm", "process"};

static cm_status check_isolation(const char *isolation, struct cm_err *err)
{
    for (size_t i = 0; i < CM_ARRAY_LEN(isolations); i++) {
        if (!isolation || cm_z_eq(isolation, isolations[i]))
            return CM_OK;
    }
    return cm_err_set(err, CM_E_INVALID,
                      "isolation '%s' is not known; it is \"realm\", \"vm\" or \"process\"", isolation);
}

cm_sandbox *cm_sandbox__make(cm_loop *loop, const struct cm_sandbox_opts *opts)
{
    cm_sandbox *sb = cm_new(cm_sandbox);

    sb->loop = loop;
    sb->opts = *opts;
    sb->opts.max_workers = opts->max_workers ? opts->max_workers : MAX_WORKERS_DEFAULT;
    sb->opts.max_queued = opts->max_queued ? opts->max_queued : MAX_QUEUED_DEFAULT;
    sb->opts.pool_size = opts->one_shot ? 1 : opts->pool_size ? opts->pool_size : POOL_DEFAULT;
    sb->opts.worker_path = NULL; /* the caller's text; ours is worker_path */
    sb->one_pass_each = opts->isolation && cm_z_eq(opts->isolation, "process");
    sb->vm_each = opts->isolation && cm_z_eq(opts->isolation, "vm");
    sb->opts.isolation = NULL;
    sb->opts.stack_kb = opts->stack_kb ? opts->stack_kb : CM_LIMITS_DEFAULT.stack_kb;
    sb->zygote.control_fd = sb->zygote.pidfd = -1;
    sb->ended_tail = &sb->ended;
    sb->sweep = cm_soon_new(loop, sweep, sb);
    sb->refill = cm_timer_new(loop, on_refill, sb);
    sb->sampler = cm_timer_new(loop, on_sample, sb);
    sb->n_processors = cm_processors();
    cm_loop_look(loop, is_worth_looking, sb);
    return sb;
}

cm_status cm_sandbox_open(cm_loop *loop, const struct cm_sandbox_opts *opts, cm_sandbox **out,
                          struct cm_err *err)
{
    cm_autofree char *path = NULL;
    cm_status st = check_isolation(opts->isolation, err);

    if (st == CM_OK)
        st = cm_find__worker(opts->worker_path, &path, err);
    if (st != CM_OK)
        return st;
    cm_sandbox *sb = cm_sandbox__make(loop, opts);
    sb->worker_path = cm_steal(&path);
    if (!sb->opts.on_demand) {
        /* One at once. The next has the engine warmed, half a second of CPU time, which a program that is on its way does without. */
        cm_control__start(sb);
        (void)ask_for_worker(sb);
        if (!sb->opts.one_shot)
            refill_later(sb);
    }
    *out = sb;
    return CM_OK;
}

/** Wait until a killed worker is gone, but not for ever: it is reaped by whoever inherited it. */
static void await_end(const struct cm_worker *w, int64_t until_ms)
{
    struct pollfd p = {.fd = w->pidfd, .events = POLLIN};
    int64_t left = until_ms - cm_mono_ms();

    if (w->pidfd >= 0 && left > 0)
        (void)poll(&p, 1, (int)left);
}

static void cancel_all(cm_sandbox *sb)
{
    while (sb->queue)
        cm_pass__end(sb->queue, CM_END_CANCELLED, NULL);
    for (struct cm_worker *w = sb->workers; w; w = w->next) {
        if (w->pass)
            cm_pass__end(w->pass, CM_END_CANCELLED, NULL);
        cm_worker__kill(w);
    }
}

void cm_sandbox_close(cm_sandbox *sb)
{
    if (!sb)
        return;
    int64_t until_ms = cm_mono_ms() + CLOSE_WAIT_MS;

    sb->closing = true;
    cm_loop_look(sb->loop, NULL, NULL);
    cancel_all(sb);
    cm_control__stop(sb);
    while (sb->workers) {
        struct cm_worker *w = sb->workers;
        sb->workers = w->next;
        await_end(w, until_ms);
        cm_worker__free(w);
    }
    finish_ended(sb);
    cm_soon_free(sb->sweep);
    cm_timer_free(sb->refill);
    cm_timer_free(sb->sampler);
    free(sb->worker_path);
    free(sb->broken);
    free(sb);
}

cm_status cm_sandbox_layers(const cm_sandbox *sb, uint64_t *layers, struct cm_err *err)
{
    if (sb->broken)
        return cm_err_set(err, CM_E_UNAVAILABLE, "no sandbox process can be started: %s", sb->broken);
    if (!sb->zygote.said_hello)
        return cm_err_set(err, CM_E_UNAVAILABLE, "the sandbox is still starting");
    *layers = sb->zygote.layers;
    return CM_OK;
}
