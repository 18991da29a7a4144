/*
 * Handles outlive their owners: libuv closes one only at a later turn. So each object of ours is freed in its
 * close callback, and `fn` is cleared at once, which is what makes "no callback after free" true even from
 * inside a callback.
 */
#include "loop/internal.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/processors.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

struct cm_timer {
    uv_timer_t uv;
    cm_timer_fn fn;
    void *user;
};

struct cm_soon {
    uv_idle_t idle; /* keeps the loop from sleeping while posted */
    cm_soon_fn fn;
    void *user;
};

struct cm_watch {
    uv_poll_t uv;
    unsigned events;
    cm_watch_fn fn;
    void *user;
};

struct work {
    uv_work_t uv;
    cm_work_fn run;
    cm_work_fn done;
    void *user;
};

#define LOOP_FDS 8 /* what a loop opens for itself, and a little more */

/**
 * libuv aborts where it finds a descriptor of its own among the standard three, or none left for its first pipe. Both are errors of
 * ours to tell.
 */
static cm_status check_descriptors(struct cm_err *err)
{
    int probes[LOOP_FDS], n = 0;

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            return cm_err_set(err, CM_E_INVALID,
                              "descriptor %d is closed: 0, 1 and 2 must be open, if only on /dev/null", fd);
    while (n < LOOP_FDS && (probes[n] = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)) >= 0)
        n++;
    int eno = n < LOOP_FDS ? errno : 0;
    for (int i = 0; i < n; i++)
        (void)close(probes[i]);
    return eno ? cm_err_errno(err, eno, "cannot make an event loop") : CM_OK;
}

/* Whatever the turn's timers had to say goes out before the loop waits for an answer to it. */
static void before_wait(uv_prepare_t *uv)
{
    cm_loop__send_all(uv->data);
}

cm_status cm_loop_new(cm_loop **out, struct cm_err *err)
{
    cm_status st = check_descriptors(err);

    if (st != CM_OK)
        return st;
    cm_loop *l = cm_new(cm_loop);
    int rc = uv_loop_init(&l->uv);

    if (rc != 0) {
        free(l);
        return cm_err_set(err, CM_E_IO, "cannot make an event loop: %s", uv_strerror(rc));
    }
    l->before_wait.data = l;
    (void)uv_prepare_init(&l->uv, &l->before_wait);
    (void)uv_prepare_start(&l->before_wait, before_wait);
    uv_unref((uv_handle_t *)&l->before_wait);
    *out = l;
    return CM_OK;
}

void cm_loop_free(cm_loop *l)
{
    if (!l)
        return;
    cm_loop__end_children(l);
    uv_close((uv_handle_t *)&l->before_wait, NULL);
    /* What is left are handles that close and work that finishes; both end by themselves. */
    (void)uv_run(&l->uv, UV_RUN_DEFAULT);
    int rc = uv_loop_close(&l->uv);
    if (rc != 0)
        abort(); /* an object on the loop was not freed: a bug of ours, and freeing the loop now would corrupt
                    memory */
    free(l);
}

/* The end of a turn sends what its descriptors' callbacks had to say: the caller may wait elsewhere before the
 * next. */
static bool turn(cm_loop *l, uv_run_mode mode)
{
    l->turning = true;
    bool active = uv_run(&l->uv, mode) != 0;
    l->turning = false;
    cm_loop__send_all(l);
    return active;
}

void cm_loop_look(cm_loop *l, cm_loop_looks_fn looks, void *user)
{
    l->looks = looks;
    l->looks_user = user;
    l->came_soon = true;
}

/** True: there is something to handle. */
static bool look(const cm_loop *l, int64_t from_us)
{
    struct pollfd p = {.fd = uv_backend_fd(&l->uv), .events = POLLIN};

    while (poll(&p, 1, 0) == 0) {
        if (cm_mono_us() - from_us >= CM_LOOK_US)
            return false;
        (void)sched_yield(); /* whoever is to answer may want this very processor */
    }
    return true;
}

bool cm_loop_once(cm_loop *l)
{
    int64_t from_us;

    if (!l->looks || uv_backend_timeout(&l->uv) == 0 || !l->looks(l->looks_user))
        return turn(l, UV_RUN_ONCE);
    from_us = cm_mono_us();
    if (l->came_soon && look(l, from_us))
        return turn(l, UV_RUN_ONCE);
    bool active = turn(l, UV_RUN_ONCE);
    l->came_soon = l->heard_us >= from_us && l->heard_us - from_us < CM_SOON_US;
    return active;
}

void cm_loop_nowait(cm_loop *l)
{
    (void)turn(l, UV_RUN_NOWAIT);
}

int cm_loop_fd(const cm_loop *l)
{
    return uv_backend_fd(&l->uv);
}

int cm_loop_timeout_ms(const cm_loop *l)
{
    return uv_backend_timeout(&l->uv);
}

static void free_handle(uv_handle_t *h)
{
    free(h->data);
}

/* ---- timers ---- */

cm_timer *cm_timer_new(cm_loop *l, cm_timer_fn fn, void *user)
{
    cm_timer *t = cm_new(cm_timer);

    (void)uv_timer_init(&l->uv, &t->uv);
    t->uv.data = t;
    t->fn = fn;
    t->user = user;
    return t;
}

static void timer_fired(uv_timer_t *uv)
{
    cm_timer *t = uv->data;

    if (t->fn)
        t->fn(t->user);
}

void cm_timer_start(cm_timer *t, uint64_t ms)
{
    uv_update_time(t->uv.loop);
    (void)uv_timer_start(&t->uv, timer_fired, ms, 0);
}

void cm_timer_stop(cm_timer *t)
{
    (void)uv_timer_stop(&t->uv);
}

void cm_timer_free(cm_timer *t)
{
    if (!t)
        return;
    t->fn = NULL;
    uv_close((uv_handle_t *)&t->uv, free_handle);
}

/* ---- soon ---- */

cm_soon *cm_soon_new(cm_loop *l, cm_soon_fn fn, void *user)
{
    cm_soon *s = cm_new(cm_soon);

    (void)uv_idle_init(&l->uv, &s->idle);
    s->idle.data = s;
    s->fn = fn;
    s->user = user;
    return s;
}

static void soon_fired(uv_idle_t *uv)
{
    cm_soon *s = uv->data;

    (void)uv_idle_stop(uv);
    if (s->fn)
        s->fn(s->user);
}

void cm_soon_post(cm_soon *s)
{
    (void)uv_idle_start(&s->idle, soon_fired);
}

void cm_soon_free(cm_soon *s)
{
    if (!s)
        return;
    s->fn = NULL;
    uv_close((uv_handle_t *)&s->idle, free_handle);
}

/* ---- descriptors ---- */

cm_watch *cm_watch_new(cm_loop *l, int fd, cm_watch_fn fn, void *user)
{
    cm_watch *w = cm_new(cm_watch);

    if (uv_poll_init(&l->uv, &w->uv, fd) != 0)
        abort(); /* a regular file or a closed descriptor: the caller's bug */
    w->uv.data = w;
    w->fn = fn;
    w->user = user;
    return w;
}

static void watch_fired(uv_poll_t *uv, int status, int events)
{
    cm_watch *w = uv->data;
    unsigned ev = 0;

    /* An error is told as readiness: the read or write that follows finds out what it is. */
    if (status < 0)
        ev = w->events;
    if (events & (UV_READABLE | UV_DISCONNECT))
        ev |= CM_WATCH_READ;
    if (events & UV_WRITABLE)
        ev |= CM_WATCH_WRITE;
    ev &= w->events;
    if (ev && w->fn)
        w->fn(w->user, ev);
}

void cm_watch_set(cm_watch *w, unsigned events)
{
    int uv = 0;

    if (events == w->events)
        return;
    w->events = events;
    if (events & CM_WATCH_READ)
        uv |= UV_READABLE;
    if (events & CM_WATCH_WRITE)
        uv |= UV_WRITABLE;
    if (uv)
        (void)uv_poll_start(&w->uv, uv, watch_fired);
    else
        (void)uv_poll_stop(&w->uv);
}

void cm_watch_free(cm_watch *w)
{
    if (!w)
        return;
    w->fn = NULL;
    uv_close((uv_handle_t *)&w->uv, free_handle);
}

/* ---- work ---- */

static void work_run(uv_work_t *uv)
{
    struct work *w = uv->data;

    w->run(w->user);
}

static void work_done(uv_work_t *uv, int status)
{
    struct work *w = uv->data;

    (void)status;
    if (w->done)
        w->done(w->user);
    free(w);
}

void cm_work_post(cm_loop *l, cm_work_fn run, cm_work_fn done, void *user)
{
    struct work *w = cm_new(struct work);

    w->uv.data = w;
    w->run = run;
    w->done = done;
    w->user = user;
    if (uv_queue_work(&l->uv, &w->uv, work_run, work_done) != 0)
        abort(); /* only for a NULL function */
}
