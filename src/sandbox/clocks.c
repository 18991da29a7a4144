/**
 * The three clocks of a pass, and how they all stop.
 *
 * The CPU clock is read, not signalled: a worker has one thread, so it cannot use CPU faster than time
 * passes, and a loop timer set to what is left of the limit can only fire too early, never too late. It then
 * reads the process's CPU clock and arms itself for the rest. For the same reason a program that goes on after
 * an outcome is not looked at: a timer that was armed while it ran comes no later than any of its limits, and
 * what it waited in between only puts them off. So no signal and no thread enters the embedder's process. Behind it RLIMIT_CPU stands in the kernel, for a host whose loop is held up.
 *
 * A pass that is held waits for a human, for as long as that takes: no timer is armed for it. Its program
 * stands still, so it uses no CPU; a worker that was taken over and computes all the same is ended by
 * RLIMIT_CPU, and what it used counts when the pass goes on. Its memory was looked at while it ran, and
 * RLIMIT_DATA stands.
 */
#include "sandbox/internal.h"

#include "base/clock.h"

#include <assert.h>
#include <stdio.h>

static int64_t ms_up(int64_t us)
{
    return us <= 0 ? 0 : (us + 999) / 1000;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t cpu_left_us(const cm_pass *p)
{
    uint64_t now = cm_worker__cpu_us(p->worker);
    uint64_t used = now > p->cpu_start_us ? now - p->cpu_start_us : 0;

    return (int64_t)p->limits.cpu_ms * 1000 - (int64_t)used;
}

static int64_t wall_left_us(const cm_pass *p)
{
    return (int64_t)p->limits.wall_ms * 1000 - p->wall_us - (cm_mono_us() - p->resumed_us);
}

static void end_by_deadline(cm_pass *p)
{
    char open[64] = "";

    if (p->n_calls)
        (void)snprintf(open, sizeof(open), " %zu call%s unanswered.", p->n_calls,
                       p->n_calls == 1 ? " was" : "s were");
    else if (!p->worker)
        (void)snprintf(open, sizeof(open), " It was still waiting for a free sandbox process.");
    cm_pass__end(p, CM_END_DEADLINE, open);
}

/** Look at all clocks: end the pass, or arm the timer for the next one that can run out. */
void cm_pass__check_clocks(cm_pass *p)
{
    int64_t left = p->start_ms + (int64_t)p->limits.deadline_ms - cm_mono_ms();

    if (left <= 0) {
        end_by_deadline(p);
        return;
    }
    if (p->clock == CM_CLOCK_RUNNING) {
        int64_t cpu = cpu_left_us(p);
        int64_t wall = wall_left_us(p);
        if (cpu <= 0 || wall <= 0) {
            cm_pass__end(p, cpu <= 0 ? CM_END_CPU : CM_END_WALL, NULL);
            return;
        }
        left = least(left, least(ms_up(cpu), ms_up(wall)));
    }
    p->armed_running = p->clock == CM_CLOCK_RUNNING;
    cm_timer_start(p->timer, (uint64_t)left);
}

void cm_pass__on_timer(void *user)
{
    cm_pass *p = user;

    if (!p->ended)
        cm_pass__check_clocks(p);
}

void cm_pass__set_clock(cm_pass *p, enum cm_pass_clock to)
{
    if (p->clock == to)
        return;
    int64_t now_us = cm_mono_us();

    if (p->clock == CM_CLOCK_RUNNING)
        p->wall_us += now_us - p->resumed_us;
    p->clock = to;
    if (to != CM_CLOCK_RUNNING) {
        if (p->sb->queue)
            cm_sandbox__wake(p->sb); /* another one may compute meanwhile */
        return;
    }
    p->resumed_us = now_us;
    cm_sandbox__sample(p->sb, CM_SAMPLE_FIRST_MS);
    if (!p->armed_running)
        cm_pass__check_clocks(p);
}

/** ---- held ---- */

void cm_pass_hold(cm_pass *p)
{
    if (p->stopping || p->ended)
        return;
    assert(p->clock == CM_CLOCK_WAITING && !p->held && "only a program that stands still can be held");
    p->held = true;
    p->held_ms = cm_mono_ms();
    p->armed_running = false;
    cm_timer_stop(p->timer);
    cm_sandbox__wake(p->sb); /* somebody may be waiting for its worker */
}

bool cm_pass_release(cm_pass *p)
{
    if (p->stopping || p->ended)
        return false;
    assert(p->held);
    p->held = false;
    p->start_ms += cm_mono_ms() - p->held_ms;
    cm_pass__check_clocks(p);
    return true;
}
