/*
 * Most garbage is a finished pass's realm, which the quick collection of what is young takes whole. What a pass had so much of that the
 * engine collected meanwhile is not young any more; such a pass touches or maps more memory, and all is collected after it. The figures
 * are ADR 7's and ADR 9's.
 */
#include "worker/garbage.h"

#include "worker/memory.h"

#include <sys/resource.h>

#define COLLECT_YOUNG_RUNS  10
#define COLLECT_YOUNG_PAGES (4U << 20 >> 12) /* first touched since the last collection, or copied */
#define COLLECT_ALL_RUNS    400
#define COLLECT_ALL_PAGES   (6U << 20 >> 12) /* since the last collection of everything */
#define COLLECT_ALL_BYTES   (4U << 20) /* or mapped: what nobody touched counts for the limit all the same */
#define COLLECT_ALL_TEXT    (512U << 10) /* or taken in: as data it is several times as large */

static long pages_touched(void)
{
    struct rusage u;

    return getrusage(RUSAGE_SELF, &u) == 0 ? u.ru_minflt : 0;
}

void cm_garbage_begin(struct cm_garbage *g)
{
    *g = (struct cm_garbage){
        .pages_before = pages_touched(),
        .pages_at_all = pages_touched(),
        .mapped_before = cm_memory_mapped(),
    };
}

void cm_garbage_collect(struct cm_garbage *g, cm_engine *e)
{
    long touched = pages_touched(), pages = touched - g->pages_before;
    bool all = ++g->runs_in_all >= COLLECT_ALL_RUNS || touched - g->pages_at_all > (long)COLLECT_ALL_PAGES ||
               g->text_taken > COLLECT_ALL_TEXT || cm_memory_mapped() - g->mapped_before > COLLECT_ALL_BYTES;

    if (!all && ++g->runs < COLLECT_YOUNG_RUNS && pages <= (long)COLLECT_YOUNG_PAGES)
        return;
    if (all) {
        cm_engine_collect(e);
        g->runs_in_all = 0;
    } else {
        cm_engine_collect_young(e);
    }
    g->runs = 0;
    g->text_taken = 0;
    g->pages_before = pages_touched();
    if (all)
        g->pages_at_all = g->pages_before;
    g->mapped_before = cm_memory_mapped();
}
