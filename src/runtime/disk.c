/*
 * Waiting for the disk, on another thread.
 *
 * Happy path: something is recorded, in the store's open group -> rt_disk_wait -> at the end of the loop's turn the group is committed, one
 * for everything that the turn had to record -> the log is synced on another thread, unless a sync is under way, which began before -> back
 * on the loop, whoever waited goes on, in the order in which they asked. One sync serves everybody who asked before it began. The loop
 * meanwhile serves other runs, and their limits.
 *
 * What waits: an intent before its call is sent; an end or a pause before it is told (decisions among them: they are told by the next end
 * or pause); the intent of a revert before it is sent, and a report of reverts. Whatever else is recorded is on the disk with the next of
 * these, since the log is one file: so what is there is always the beginning of what happened, and nobody outside has heard of what is
 * missing.
 *
 * Failures: a group that cannot be committed, or a sync that fails, fails whoever waited for it: nothing is sent, nothing is told but the
 * reason. Runs that began before it have lost records, too, and find out before their own end is told (cm_store_losses). After a failed
 * sync the system may have dropped what it could not write and call the file clean, and what is written behind such a gap cannot be read
 * back: so the log is moved into the database as a whole before a sync is believed again.
 *
 * A checkpoint waits for the disk as well, so it is made on another thread, too, beside the syncs. One that comes to its end lets the log
 * begin anew; where there is always somebody who writes, none does, and a log of LOG_MAX_PAGES is brought to its end on the loop, right
 * after the other thread has moved all but what was written since: that costs two syncs for each 64 MB.
 */
#include "runtime/internal.h"

#include <errno.h>
#include <unistd.h>

#define LOG_PAGES     1000
#define LOG_MAX_PAGES 16384

struct rt_disk_wait {
    struct rt_disk_wait *next;
    cm_on_disk_fn fn; /* NULL: nobody waits any more */
    void *user;
    unsigned losses; /* of the store, when its record was made */
};

struct waits {
    struct rt_disk_wait *first, **last;
};

struct rt_disk {
    cm_runtime *rt;
    struct waits recorded; /* in the open group */
    struct waits committed, syncing;
    cm_job *sync, *checkpoint; /* under way */
    int fd, eno;
    bool asked;   /* a sync is wanted, and nobody waits for it */
    bool suspect; /* a sync has failed */
    uint64_t n_begun, n_done;
    size_t tried_pages; /* the log was so long when it was last to be moved; 0: it has begun anew since */
    bool moved;         /* all of it was */
    bool *gone;         /* set by rt_disk_close for whom it was called from */
};

static void append(struct waits *to, struct rt_disk_wait *w)
{
    w->next = NULL;
    *to->last = w;
    to->last = &w->next;
}

static void empty(struct waits *w)
{
    w->first = NULL;
    w->last = &w->first;
}

static void move(struct waits *from, struct waits *to)
{
    if (!from->first)
        return;
    *to->last = from->first;
    to->last = from->last;
    empty(from);
}

/** Call them, in order. A loss since their record was made is theirs, whatever became of the sync. False: the runtime is gone. */
static bool call_all(struct rt_disk *d, struct waits *list, const struct cm_err *failed)
{
    bool gone = false, *outer = d->gone;

    d->gone = &gone;
    while (list->first) {
        struct rt_disk_wait *w = list->first;
        const cm_store *s = d->rt->o.store;
        const struct cm_err *err = failed                            ? failed
                                   : w->losses != cm_store_losses(s) ? cm_store_loss(s)
                                                                     : NULL;

        list->first = w->next;
        if (!list->first)
            empty(list);
        if (w->fn)
            w->fn(w->user, err);
        free(w);
        if (gone) {
            if (outer)
                *outer = true;
            return false;
        }
    }
    d->gone = outer;
    return true;
}

/* ---- on another thread ---- */

static void sync_log(void *user)
{
    struct rt_disk *d = user;

    if (!d->suspect) {
        d->eno = fdatasync(d->fd) == 0 ? 0 : errno;
        return;
    }
    /* Each descriptor hears of a failure once: the first try may be told of the one that we know of. */
    bool moved = cm_store_checkpoint(d->rt->o.store, true);
    if (!moved)
        moved = cm_store_checkpoint(d->rt->o.store, true);
    d->eno = moved ? 0 : EIO;
}

static void move_log(void *user)
{
    struct rt_disk *d = user;

    d->moved = cm_store_checkpoint(d->rt->o.store, false);
}

/* ---- on the loop ---- */

static void go(struct rt_disk *d);

/** The sync has ended. False: the runtime is gone. */
static bool finish_sync(struct rt_disk *d)
{
    struct waits list;
    struct cm_err err = {0};

    empty(&list);
    move(&d->syncing, &list);
    d->suspect = d->eno != 0;
    d->n_done = d->n_begun;
    if (d->eno)
        cm_store_sync_failed(d->rt->o.store, d->eno, &err);
    rt_events_on_disk(d->rt);
    return call_all(d, &list, d->eno ? &err : NULL);
}

static void on_synced(void *user)
{
    struct rt_disk *d = user;

    d->sync = NULL;
    if (finish_sync(d))
        go(d);
}

static void on_moved(void *user)
{
    struct rt_disk *d = user;

    d->checkpoint = NULL;
    if (!d->moved && cm_store_log_pages(d->rt->o.store) > LOG_MAX_PAGES)
        d->moved = cm_store_checkpoint(d->rt->o.store, true);
}

/** Nothing is there to wait for: whoever waits goes on now. */
static void go_without(struct rt_disk *d, const struct cm_err *failed)
{
    struct waits list;

    empty(&list);
    move(&d->committed, &list);
    d->n_done = ++d->n_begun;
    rt_events_on_disk(d->rt);
    (void)call_all(d, &list, failed);
}

/** What has been moved stays in the log until that begins anew, so it is not its length but its growth that counts. */
static void look_at_log(struct rt_disk *d)
{
    size_t pages = cm_store_log_pages(d->rt->o.store);

    if (pages < d->tried_pages)
        d->tried_pages = 0;
    if (d->checkpoint || pages < d->tried_pages + (d->moved || !d->tried_pages ? LOG_PAGES : LOG_PAGES / 4))
        return;
    d->tried_pages = pages;
    d->checkpoint = cm_job_start(d->rt->o.loop, move_log, on_moved, d);
}

/** Sync what is committed, unless a sync is under way. */
static void go(struct rt_disk *d)
{
    struct cm_err err = {0};

    look_at_log(d);
    if (d->sync || (!d->committed.first && !d->asked))
        return;
    d->asked = false;
    d->fd = cm_store_log_fd(d->rt->o.store, &err);
    if (d->fd < 0) {
        go_without(d, err.status == CM_OK ? NULL : &err);
        return;
    }
    move(&d->committed, &d->syncing);
    d->n_begun++;
    d->sync = cm_job_start(d->rt->o.loop, sync_log, on_synced, d);
}

struct rt_disk_wait *rt_disk_wait(cm_runtime *rt, cm_on_disk_fn fn, void *user)
{
    struct rt_disk_wait *w = cm_new(struct rt_disk_wait);

    *w = (struct rt_disk_wait){.fn = fn, .user = user, .losses = cm_store_losses(rt->o.store)};
    append(&rt->disk->recorded, w);
    rt_touch(rt);
    return w;
}

void rt_disk_forget(struct rt_disk_wait *w)
{
    if (w)
        w->fn = NULL;
}

void rt_disk_ask(cm_runtime *rt)
{
    rt->disk->asked = true;
    rt_touch(rt);
}

uint64_t rt_disk_next(const cm_runtime *rt)
{
    return rt->disk->n_begun + 1;
}

bool rt_disk_has(const cm_runtime *rt, uint64_t sync)
{
    return rt->disk->n_done >= sync;
}

bool rt_disk_is_idle(const cm_runtime *rt)
{
    const struct rt_disk *d = rt->disk;

    return !d->recorded.first && !d->committed.first && !d->syncing.first && !d->asked;
}

bool rt_disk_turn(cm_runtime *rt, const struct cm_err *failed)
{
    struct rt_disk *d = rt->disk;
    struct waits list;

    if (failed) {
        empty(&list);
        move(&d->recorded, &list);
        return call_all(d, &list, failed);
    }
    move(&d->recorded, &d->committed);
    go(d);
    return true;
}

cm_status rt_disk_open(cm_runtime *rt, struct cm_err *err)
{
    struct rt_disk *d = cm_new(struct rt_disk);
    struct cm_err why = {0};

    *d = (struct rt_disk){.rt = rt};
    empty(&d->recorded);
    empty(&d->committed);
    empty(&d->syncing);
    rt->disk = d;
    cm_store_defer(rt->o.store, true);
    /* Now, while the name that SQLite has leads there. */
    if (cm_store_log_fd(rt->o.store, &why) < 0 && why.status != CM_OK) {
        if (err)
            *err = why;
        return why.status;
    }
    return CM_OK;
}

void rt_disk_drain(cm_runtime *rt)
{
    struct rt_disk *d = rt->disk;
    struct cm_err err = {0};

    if (d->checkpoint)
        cm_job_end(cm_steal(&d->checkpoint));
    if (d->sync) {
        cm_job_end(cm_steal(&d->sync));
        if (!finish_sync(d))
            return;
    }
    while (d->recorded.first || d->committed.first || d->asked) {
        cm_status st = cm_store_commit(rt->o.store, true, &err);

        d->asked = false;
        d->n_done = ++d->n_begun;
        rt_events_on_disk(rt);
        move(&d->recorded, &d->committed);
        move(&d->committed, &d->syncing);
        if (!call_all(d, &d->syncing, st == CM_OK ? NULL : &err))
            return;
    }
}

void rt_disk_close(cm_runtime *rt)
{
    struct rt_disk *d = cm_steal(&rt->disk);

    if (d->gone)
        *d->gone = true;
    cm_store_defer(rt->o.store, false);
    free(d);
}
