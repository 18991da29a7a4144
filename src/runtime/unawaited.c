/*
 * Calls that the program did not await. Its end is not the end of them: what has effects should not be torn off
 * in the middle, and what awaits a call (the callbacks of a forEach) is the author's program, too. So calls go on
 * after the program's end, and so does what they lead to; the result is read when all is done, and the program's
 * side warns of each call that was answered then (js/prelude/unawaited.js).
 *
 * It is bounded: by limits.unawaitedMs from the program's end, less where nothing under way has effects, and
 * always so that the result is there before the deadline. Then what is unanswered is cancelled (settle.c).
 * What waits for a human is withdrawn at once: nobody waits for the answer. Of a program that failed nothing new is
 * made, and only calls with effects are waited for.
 */
#include "base/clock.h"
#include "runtime/internal.h"

#define READS_MS  5000 /* a result that nobody has asked for is not worth more */
#define MARGIN_MS 1000 /* before the deadline; a tenth of a short one */

enum worth { WORTH_NOTHING, WORTH_READS, WORTH_EFFECTS };

static enum worth worth_of(const struct rt_call *c)
{
    bool failed = c->e->program_failed;

    switch (c->phase) {
    case RT_SENT:
        if (cm_decide_abandoned(c->flags) == CM_CALL_UNKNOWN)
            return WORTH_EFFECTS;
        return failed ? WORTH_NOTHING : WORTH_READS;
    case RT_QUEUED:
    case RT_STARTING:
    case RT_SYNCING:
    case RT_PARKED:
        return failed || c->kind != CM_CALL_TOOL ? WORTH_NOTHING : WORTH_EFFECTS; /* not known yet */
    case RT_STEP:
    case RT_LOOKUP:
        return failed ? WORTH_NOTHING : WORTH_READS;
    case RT_PENDING:
    case RT_TIMER:
        break;
    }
    return WORTH_NOTHING;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/** Milliseconds that are left for calls worth this much. */
static int64_t left_ms(const cm_exec *e, enum worth worth)
{
    int64_t grace = worth == WORTH_EFFECTS ? e->limits.unawaited_ms : least(e->limits.unawaited_ms, READS_MS);
    int64_t margin = least(MARGIN_MS, e->limits.deadline_ms / 10);
    int64_t deadline = e->limits.deadline_ms - (cm_mono_ms() - e->began_at) - margin;

    return worth == WORTH_NOTHING ? 0 : least(e->program_ended_at + grace - cm_mono_ms(), deadline);
}

static void give_up(void *user)
{
    cm_exec *e = user;

    if (e->ending.set || e->finishing_pass)
        return;
    e->finishing_pass = true;
    cm_pass_finish(e->pass->pass);
}

void rt_unawaited_look(cm_exec *e)
{
    enum worth most = WORTH_NOTHING;
    int64_t left;

    for (const struct rt_call *c = e->calls; c; c = c->next) {
        enum worth worth = worth_of(c);

        most = worth > most ? worth : most;
    }
    left = left_ms(e, most);
    if (left <= 0) {
        give_up(e);
        return;
    }
    if (!e->unawaited)
        e->unawaited = cm_timer_new(e->rt->o.loop, give_up, e);
    cm_timer_start(e->unawaited, (uint64_t)left);
}

void rt_unawaited_done(cm_exec *e)
{
    cm_timer_free(cm_steal(&e->unawaited));
}
