/**
 * loop: descriptors, timers, children and blocking work on one thread, over libuv. uv.h stays inside this
 * folder.
 *
 * It is not a protocol: streams give bytes. Every object is freed by its own free function at any time, also
 * from inside its own callback; no callback comes after that. Installs no signal handler and changes no
 * signal mask (a library lives here).
 */
#ifndef CM_LOOP_LOOP_H
#define CM_LOOP_LOOP_H

#include "base/base.h"

#include <stdint.h>
#include <sys/types.h>

typedef struct cm_loop cm_loop;

/** Errors: CM_E_INVALID descriptor 0, 1 or 2 is closed; CM_E_IO no descriptors left. */
cm_status cm_loop_new(cm_loop **out, struct cm_err *err);
/** All objects on it must have been freed. Runs what is left of closing. */
void cm_loop_free(cm_loop *l);
CM_DEFINE_AUTO(cm_loop, cm_loop_free)
/** Wait for events and handle them once. False when nothing is active. */
bool cm_loop_once(cm_loop *l);
/**
 * Before cm_loop_once sleeps, look for bytes of a stream for a moment, where the last ones came at once and looks() says that it is worth
 * it: being woken takes longer than many an answer. One for a loop; NULL: never.
 */
typedef bool (*cm_loop_looks_fn)(void *user);
void cm_loop_look(cm_loop *l, cm_loop_looks_fn looks, void *user);
/** Handle what is ready without waiting. */
void cm_loop_nowait(cm_loop *l);
/** Readable when cm_loop_nowait has work; borrowed. */
int cm_loop_fd(const cm_loop *l);
/** Milliseconds until the next timer: 0 now, -1 none. */
int cm_loop_timeout_ms(const cm_loop *l);

/** ---- timers: one shot ---- */
typedef struct cm_timer cm_timer;
typedef void (*cm_timer_fn)(void *user);
cm_timer *cm_timer_new(cm_loop *l, cm_timer_fn fn, void *user);
/** Arm or re-arm, in milliseconds from now (from this very moment, not from the loop's cached time). */
void cm_timer_start(cm_timer *t, uint64_t ms);
void cm_timer_stop(cm_timer *t);
void cm_timer_free(cm_timer *t);
CM_DEFINE_AUTO(cm_timer, cm_timer_free)

/** ---- soon: run fn on the loop, after the current callback returned ---- */
typedef void (*cm_soon_fn)(void *user);
typedef struct cm_soon cm_soon;
cm_soon *cm_soon_new(cm_loop *l, cm_soon_fn fn, void *user);
/** Several posts before it runs are one run. */
void cm_soon_post(cm_soon *s);
void cm_soon_free(cm_soon *s);
CM_DEFINE_AUTO(cm_soon, cm_soon_free)

/** ---- descriptors: readiness ---- */
enum cm_watch_event { CM_WATCH_READ = 1, CM_WATCH_WRITE = 2 };
typedef struct cm_watch cm_watch;
typedef void (*cm_watch_fn)(void *user, unsigned events);
/** Watches fd, which stays the caller's and must be closed after cm_watch_free. Starts with no events. fd: no
 * regular file. */
cm_watch *cm_watch_new(cm_loop *l, int fd, cm_watch_fn fn, void *user);
void cm_watch_set(cm_watch *w, unsigned events);
void cm_watch_free(cm_watch *w);
CM_DEFINE_AUTO(cm_watch, cm_watch_free)

/** ---- streams: bytes in, bytes out over one or two descriptors ---- */
typedef struct cm_stream cm_stream;
struct cm_stream_events {
    void (*on_data)(void *user, struct cm_str bytes);
    /** The input ended (eno 0) or failed. Comes once. */
    void (*on_end)(void *user, int eno);
    /** Everything queued has been written. Optional. */
    void (*on_drain)(void *user);
};
/** Takes both descriptors (they may be the same, or -1) and makes them non-blocking; a regular file is read
 * as well. */
cm_stream *cm_stream_new(cm_loop *l, int take_in_fd, int take_out_fd, const struct cm_stream_events *ev,
                         void *user);
/** Queue bytes (copied). CM_E_LIMIT when more than max_queued would wait (default 64 MB), CM_E_IO after the
 * peer hung up. */
cm_status cm_stream_write(cm_stream *s, struct cm_str bytes, struct cm_err *err);
/**
 * The queue itself, for whoever puts many small pieces together: append to it, then cm_stream_send. NULL: the
 * output is closed, or the peer hung up.
 */
struct cm_buf *cm_stream_begin(cm_stream *s);
/**
 * What was appended is written with all that is appended until then: when the stream's own on_data has
 * returned, at the latest when the loop would wait next or its turn ends; at once outside of a turn.
 * CM_E_LIMIT: the last append did not fit and is not queued.
 */
cm_status cm_stream_send(cm_stream *s, struct cm_err *err);
size_t cm_stream_queued(const cm_stream *s);
/**
 * Read what has come already, up to about max_bytes, before the loop would: on_data comes from inside,
 * on_end not.
 */
void cm_stream_read_now(cm_stream *s, size_t max_bytes);
/** Stop or resume reading (back-pressure). */
void cm_stream_pause(cm_stream *s, bool paused);
/** Close the output once what is queued has been written; the input goes on. */
void cm_stream_close_write(cm_stream *s);
void cm_stream_free(cm_stream *s);
CM_DEFINE_AUTO(cm_stream, cm_stream_free)

/** ---- children ---- */
typedef struct cm_child cm_child;
struct cm_child_spec {
    const char *const *argv; /* argv[0] is looked up in PATH of `env` when it has no slash */
    const char *const *env;  /* NULL-terminated NAME=value list; the whole environment */
    const char *cwd;         /* NULL: as the host */
    bool stderr_events;      /* false: standard error is dropped */
};
struct cm_child_events {
    void (*on_stdout)(void *user, struct cm_str bytes);
    /** Only with stderr_events. */
    void (*on_stderr)(void *user, struct cm_str bytes);
    /** Once, after it ended *and* its output has been read (or 200 ms after it ended, where a grandchild
     * holds the pipe). */
    void (*on_exit)(void *user, int exit_code, int signal);
};
/** Starts it in a process group of its own. Errors: CM_E_NOT_FOUND no such program (names it and the PATH).
 */
cm_status cm_child_spawn(cm_loop *l, const struct cm_child_spec *spec, const struct cm_child_events *ev,
                         void *user, cm_child **out, struct cm_err *err);
cm_status cm_child_write(cm_child *c, struct cm_str bytes, struct cm_err *err);
void cm_child_close_stdin(cm_child *c);
/** Signal its whole group. */
void cm_child_kill(cm_child *c, int signal);
pid_t cm_child_pid(const cm_child *c);
/**
 * No event afterwards. A child still running gets its standard input closed and SIGTERM, after 2 s SIGKILL
 * (both to the group), and is reaped in the background; cm_loop_free ends what is left at once.
 */
void cm_child_free(cm_child *c);
CM_DEFINE_AUTO(cm_child, cm_child_free)

/** ---- blocking work in the pool ---- */
typedef void (*cm_work_fn)(void *user);
/** run on another thread, then done on the loop's. Both get user; done always comes, before cm_loop_free
 * returns at the latest. */
void cm_work_post(cm_loop *l, cm_work_fn run, cm_work_fn done, void *user);
/** The same, of which the owner can wait for the end: valid until done has been called, or cm_job_end. */
typedef struct cm_job cm_job;
cm_job *cm_job_start(cm_loop *l, cm_work_fn run, cm_work_fn done, void *user);
/** Blocks until run has run (here, where no thread has come to it); done does not come. */
void cm_job_end(cm_job *j);

#endif
