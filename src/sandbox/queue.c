/**
 * The passes that wait for a worker, in the order in which they get one.
 *
 * It is fair between runtimes, not first come, first served: each pass has a turn, one above the last of its runtime
 * that waits, and the queue is sorted by it. A thousand programs of one runtime delay the first of another by one or
 * two programs, and not by a thousand. A runtime of which none waits joins behind the turn that is being served, so
 * that one which always has a single program waiting does not pass those who wait for their second.
 *
 * The limit counts the passes of one runtime: a runtime that fills its queue is refused, and the others are not.
 */
#include "sandbox/internal.h"

/* ---- lanes */

static struct cm_lane *find_lane(const cm_sandbox *sb, const char *name)
{
    struct cm_lane *l = sb->lanes;

    while (l && !cm_z_eq(l->name, name))
        l = l->next;
    return l;
}

struct cm_lane *cm_lane__ref(cm_sandbox *sb, const char *name)
{
    struct cm_lane *l = find_lane(sb, name);
    size_t size = strlen(name) + 1;

    if (!l) {
        l = cm_calloc(1, sizeof *l + size);
        memcpy(l->name, name, size);
        l->next = sb->lanes;
        sb->lanes = l;
    }
    l->n_refs++;
    return l;
}

void cm_lane__unref(cm_sandbox *sb, struct cm_lane *lane)
{
    if (!lane || --lane->n_refs > 0)
        return;
    for (struct cm_lane **at = &sb->lanes; *at; at = &(*at)->next) {
        if (*at != lane)
            continue;
        *at = lane->next;
        free(lane);
        return;
    }
}

/* ---- the queue */

/** The turn that is being served. A pass that found a worker of its own runtime may have run ahead of it. */
static uint64_t present_turn(const cm_sandbox *sb)
{
    return sb->queue && sb->queue->turn < sb->turn ? sb->queue->turn : sb->turn;
}

cm_status cm_sandbox_admits(const cm_sandbox *sb, const char *runtime, struct cm_err *err)
{
    const struct cm_lane *lane = find_lane(sb, runtime);

    if (!lane || lane->n_waiting < sb->opts.max_queued)
        return CM_OK;
    return cm_err_limit(
        err, "queue_limit",
        "%u programs of runtime '%s' already wait for a sandbox process, which is the limit (maxQueued); "
        "%u run at once (maxWorkers). Nothing was started: send it again when one of them has ended.",
        sb->opts.max_queued, runtime, sb->opts.max_workers);
}

void cm_queue__add(cm_sandbox *sb, cm_pass *p)
{
    struct cm_lane *lane = p->lane;
    uint64_t after = present_turn(sb);
    cm_pass **at = &sb->queue;

    if (lane->n_waiting > 0 && lane->last_turn > after)
        after = lane->last_turn;
    p->turn = lane->last_turn = after + 1;
    lane->n_waiting++;
    while (*at && (*at)->turn <= p->turn)
        at = &(*at)->next;
    p->next = *at;
    *at = p;
}

void cm_queue__take(cm_sandbox *sb, cm_pass **at)
{
    cm_pass *p = *at;

    *at = p->next;
    p->next = NULL;
    p->lane->n_waiting--;
    sb->turn = p->turn > sb->turn ? p->turn : sb->turn;
}

void cm_queue__remove(cm_sandbox *sb, cm_pass *p)
{
    struct cm_lane *lane = p->lane;
    cm_pass **at = &sb->queue;

    while (*at && *at != p)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = p->next;
    p->next = NULL;
    lane->n_waiting--;
    lane->last_turn = 0; /* the next of its passes does not wait for one that went away */
    for (const cm_pass *other = sb->queue; other; other = other->next)
        if (other->lane == lane)
            lane->last_turn = other->turn;
}
