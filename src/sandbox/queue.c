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

struct standing {
    uint32_t n;    /* passes of the runtime that wait */
    uint64_t turn; /* of its last */
};

/** The turn that is being served. A pass that found a worker of its own runtime may have run ahead of it. */
static uint64_t present_turn(const cm_sandbox *sb)
{
    return sb->queue && sb->queue->turn < sb->turn ? sb->queue->turn : sb->turn;
}

static struct standing look(const cm_sandbox *sb, const char *runtime)
{
    struct standing s = {.turn = present_turn(sb)};

    for (const cm_pass *p = sb->queue; p; p = p->next) {
        if (!cm_z_eq(p->runtime, runtime))
            continue;
        s.n++;
        if (p->turn > s.turn)
            s.turn = p->turn;
    }
    return s;
}

cm_status cm_sandbox_admits(const cm_sandbox *sb, const char *runtime, struct cm_err *err)
{
    if (look(sb, runtime).n < sb->opts.max_queued)
        return CM_OK;
    return cm_err_limit(
        err, "queue_limit",
        "%u programs of runtime '%s' already wait for a sandbox process, which is the limit (maxQueued); "
        "%u run at once (maxWorkers). Nothing was started: send it again when one of them has ended.",
        sb->opts.max_queued, runtime, sb->opts.max_workers);
}

void cm_queue__add(cm_sandbox *sb, cm_pass *p)
{
    cm_pass **at = &sb->queue;

    p->turn = look(sb, p->runtime).turn + 1;
    while (*at && (*at)->turn <= p->turn)
        at = &(*at)->next;
    p->next = *at;
    *at = p;
}

void cm_queue__remove(cm_sandbox *sb, cm_pass *p)
{
    for (cm_pass **at = &sb->queue; *at; at = &(*at)->next) {
        if (*at != p)
            continue;
        *at = p->next;
        p->next = NULL;
        return;
    }
}

bool cm_queue__has(const cm_sandbox *sb, const char *runtime)
{
    return look(sb, runtime).n > 0;
}
