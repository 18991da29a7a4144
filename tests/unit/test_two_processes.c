/**
 * Two processes on one store do two things to one execution at the same moment: each pair of things that people and programs do. One wins, the
 * other is told in words what became of it, nothing happens twice, and the record says what both were told.
 *
 * The other process is forked before anything else, has a runtime and a sandbox of its own, and takes one order after the other through a
 * pipe. Both begin when a number in memory that they share says so.
 */
#include "base/sanitize.h"

#include "human_world.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define ROUNDS (CM_SANITIZED ? 6 : 12)

enum act { APPROVE, REJECT, REJECT_ALL, CANCEL, COMPLETE, EXPIRE, ROLL_BACK, PRUNE, RESUME };

/** What somebody was told. */
struct said {
    cm_status st;
    bool told; /* an outcome */
    enum cm_exec_state state;
    char text[4096]; /* the error, the outcome, or the report */
};

struct order {
    enum act act;
    unsigned pause; /* turns of a loop before it begins */
    char id[64];
};

/** Memory of both. */
struct both {
    _Atomic unsigned ready, go;
};
static struct both *both;
static const char *only;
static int to_other, from_other;
static char dir[] = "/tmp/cm-two-XXXXXX", *effects_path;

/* ---- acts ---- */

static void keep_text(struct said *s, const char *text)
{
    (void)snprintf(s->text, sizeof s->text, "%s", text ? text : "");
}

static void on_report(void *user, struct cm_str report, const struct cm_err *err)
{
    struct said *s = user;

    s->told = true;
    s->st = report.ptr ? CM_OK : err->status;
    (void)snprintf(s->text, sizeof s->text, "%.*s", CM_STR_ARG(report));
    if (err)
        keep_text(s, err->message);
}

static cm_status decide(struct world *w, enum act act, struct waiter *k, struct cm_err *err)
{
    cm_status st = act == APPROVE      ? approve(w, k, first, err)
                   : act == REJECT     ? reject(w, k, first, err)
                   : act == REJECT_ALL ? reject(w, k, NULL, err)
                                       : cm_runtime_resume(w->rt, w->id, on_told, k, &k->exec, err);

    if (st == CM_OK)
        await_told(k);
    return st;
}

/** In the way in which each act is asked for; waits until there is something to tell. */
static void act(struct world *w, enum act act, struct said *s)
{
    struct waiter k = {.w = w};
    struct cm_err err = {0};

    *s = (struct said){.st = CM_OK};
    switch (act) {
    case APPROVE:
    case REJECT:
    case REJECT_ALL:
    case RESUME:
        s->st = decide(w, act, &k, &err);
        break;
    case CANCEL:
        s->st = cm_runtime_cancel(w->rt, w->id, &err);
        break;
    case COMPLETE: /* its call is answered; who started it is told */
        cm_native_reply_json(cm_steal(&w->slow), CM_STR("1"));
        return;
    case EXPIRE:
        s->st = cm_runtime_expire(w->rt, cm_now_ms() + TTL_MS + 1, &err);
        break;
    case ROLL_BACK:
        s->st = cm_runtime_rollback(w->rt, w->id, on_report, s, &err);
        while (s->st == CM_OK && !s->told)
            assert_true(cm_loop_once(w->loop) || s->told);
        if (s->told)
            return;
        break;
    case PRUNE:
        s->st = cm_store_prune(w->store, "default", 0, NULL, &err);
        if (s->st == CM_OK)
            s->st = cm_store_commit(w->store, true, &err);
        break;
    }
    s->told = k.told;
    s->state = k.state;
    keep_text(s, s->st != CM_OK ? err.message : k.outcome ? k.outcome : k.err.message);
    free(k.outcome);
}

static void unmake(void *user, cm_call *k, struct cm_str args)
{
    note_effect(user, "unmake", args);
    cm_native_reply_json(k, CM_STR("true"));
}

static void open_here(struct world *w, enum way way)
{
    const struct cm_native_tool make = {.name = "make", .fn = note, .revert = unmake, .user = w};

    open_world(w, way, dir);
    assert_int_equal(cm_connector_native_add(w->conn, &make, NULL), CM_OK);
    w->shared = fopen(effects_path, "a");
    assert_non_null(w->shared);
}

static void close_here(struct world *w)
{
    (void)fclose(w->shared);
    close_world(w);
}

/* ---- the other process ---- */

static void wait_for_go(unsigned pause)
{
    unsigned go = atomic_load(&both->go);

    atomic_fetch_add(&both->ready, 1);
    while (atomic_load(&both->go) == go)
        (void)sched_yield();
    for (unsigned i = 0; i < pause; i++)
        (void)sched_yield();
}

/** One runtime for every order, as a server has. */
static int other_process(int in, int out)
{
    struct world w;
    struct order o;
    struct said s;

    (void)setenv("CMOCKA_TEST_ABORT", "1", 1); /* what fails here must not go on with the parent's tests */
    open_here(&w, RELEASED);
    while (read(in, &o, sizeof o) == (ssize_t)sizeof o) {
        memcpy(w.id, o.id, sizeof w.id);
        wait_for_go(o.pause);
        act(&w, o.act, &s);
        assert_int_equal(write(out, &s, sizeof s), sizeof s);
    }
    close_here(&w);
    close_sandbox();
    return 0;
}

/* ---- a round ---- */

struct found {
    bool there;
    enum cm_exec_state state;
};

static bool see(void *user, const struct cm_exec_row *row)
{
    *(struct found *)user = (struct found){true, row->state};
    return false;
}

static unsigned count_effects(const char *line)
{
    FILE *f = fopen(effects_path, "r");
    char text[256];
    unsigned n = 0;

    assert_non_null(f);
    while (fgets(text, sizeof text, f))
        n += strncmp(text, line, strlen(line)) == 0;
    (void)fclose(f);
    return n;
}

/** What came of it. a did the first act of the pair, b the second. */
struct round {
    struct said a, b;
    struct found found;
    unsigned effects; /* of the pair's line */
    bool here;        /* this process was the first to do its act */
};

struct pair {
    const char *name;
    enum act a, b;
    const char *program;
    const char *effect; /* the line that is counted */
    enum { PAUSED, ENDED, RUNNING, DEAD } from;
    const char *(*wrong)(const struct round *r); /* what must not be, or NULL */
};

/** An execution whose process was killed before its first call. */
static void leave_dead(struct world *w, const char *program)
{
    int wstatus;
    pid_t child;

    (void)snprintf(w->id, sizeof w->id, "exec_dead_%u", atomic_load(&both->go));
    child = fork();
    if (child == 0) {
        const struct cm_exec_row row = {.id = w->id,
                                        .runtime = "default",
                                        .code = cm_str_of(program),
                                        .created_at = cm_now_ms(),
                                        .passes = 1};
        cm_store *s = NULL;

        if (cm_store_open(w->where, &s, NULL) == CM_OK && cm_store_begin(s, &row, NULL) == CM_OK &&
            cm_store_commit(s, true, NULL) == CM_OK)
            (void)raise(SIGKILL);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &wstatus, 0), child);
    assert_true(WIFSIGNALED(wstatus));
}

static void prepare(struct world *w, struct waiter *k, const struct pair *p)
{
    if (p->from == DEAD) {
        leave_dead(w, p->program);
        return;
    }
    start(w, k, cm_str_of(p->program));
    if (p->from == RUNNING) {
        await_slow(w);
        return;
    }
    await_told(k);
    assert_int_equal(k->state, p->from == PAUSED ? CM_EXEC_PAUSED : CM_EXEC_COMPLETED);
    free(cm_steal(&k->outcome));
}

static void one_round(const struct pair *p, unsigned n, struct round *r)
{
    struct world w;
    struct waiter k = {0};
    struct said here, there;
    /* Who started it is the one that completes it. */
    const bool swapped = p->a != COMPLETE && n % 2;
    struct order o = {.act = swapped ? p->a : p->b, .pause = n % 3 == 0 ? n * 8 : 0};
    const unsigned before = count_effects(p->effect);
    struct cm_err err = {0};

    open_here(&w, n % 4 < 2 ? HELD : RELEASED);
    k.w = &w;
    prepare(&w, &k, p);
    memcpy(o.id, w.id, sizeof o.id);
    assert_int_equal(write(to_other, &o, sizeof o), sizeof o);
    while (atomic_load(&both->ready) == 0)
        (void)sched_yield();
    atomic_store(&both->ready, 0);
    atomic_fetch_add(&both->go, 1);
    for (unsigned i = 0; n % 3 > 0 && i < n * 400; i++) /* it is asked through less than the other */
        (void)sched_yield();
    act(&w, swapped ? p->b : p->a, &here);
    if (p->a == COMPLETE) {
        await_told(&k);
        here = (struct said){.st = k.outcome ? CM_OK : k.err.status, .told = true, .state = k.state};
        keep_text(&here, k.outcome ? k.outcome : k.err.message);
        free(cm_steal(&k.outcome));
    }
    assert_int_equal(read(from_other, &there, sizeof there), sizeof there);
    *r = (struct round){.a = swapped ? there : here, .b = swapped ? here : there};
    if (cm_store_execution(w.store, w.id, see, &r->found, &err) != CM_OK)
        assert_int_equal(err.status, CM_E_NOT_FOUND);
    r->effects = count_effects(p->effect) - before;
    r->here = r->a.st != CM_OK ? swapped : r->b.st != CM_OK ? !swapped : n % 2;
    close_here(&w);
}

/* ---- what must not be ---- */

static bool has(const struct said *s, const char *words)
{
    return strstr(s->text, words) != NULL;
}

/** It was done, and led to this end. */
static bool won(const struct said *s, enum cm_exec_state state)
{
    return s->st == CM_OK && s->told && s->state == state;
}

static bool lost(const struct said *s)
{
    return s->st == CM_E_CONFLICT && (has(s, "completed") || has(s, "running") || has(s, "already") ||
                                      has(s, "rejected") || has(s, "cancelled") || has(s, "expired"));
}

/** One wins, and what it did is what the record says. */
static const char *one_of(const struct round *r, enum cm_exec_state if_a, enum cm_exec_state if_b,
                          bool b_tells)
{
    const bool a = won(&r->a, if_a), b = b_tells ? won(&r->b, if_b) : r->b.st == CM_OK;

    if (a == b)
        return a ? "both won" : "nobody won";
    if (!lost(a ? &r->b : &r->a))
        return "the loser was not told why";
    if (r->found.state != (a ? if_a : if_b))
        return "the record says otherwise";
    return NULL;
}

static const char *approve_approve(const struct round *r)
{
    if (r->effects != 1)
        return "the call did not run once";
    return one_of(r, CM_EXEC_COMPLETED, CM_EXEC_COMPLETED, true);
}

/** A rejected call that its program does not catch ends it as rejected. */
static const char *approve_reject(const struct round *r)
{
    if (r->effects != (r->found.state == CM_EXEC_COMPLETED))
        return "what was rejected ran, or what was approved did not";
    return one_of(r, CM_EXEC_COMPLETED, CM_EXEC_REJECTED, true);
}

/** What was approved can be cancelled, until it has completed: then both are done, and the approver is told that it was cancelled. */
static const char *approve_cancel(const struct round *r)
{
    if (r->b.st == CM_OK) {
        if (r->found.state != CM_EXEC_CANCELLED)
            return "it was cancelled, and the record says otherwise";
        return won(&r->a, CM_EXEC_CANCELLED) || lost(&r->a) ? NULL : "the approver was not told";
    }
    if (!won(&r->a, CM_EXEC_COMPLETED) || r->effects != 1 || r->found.state != CM_EXEC_COMPLETED)
        return "nobody won";
    return lost(&r->b) ? NULL : "who came too late to cancel was not told";
}

static const char *reject_cancel(const struct round *r)
{
    if (r->effects != 0)
        return "it ran";
    return one_of(r, CM_EXEC_REJECTED, CM_EXEC_CANCELLED, false);
}

static const char *complete_cancel(const struct round *r)
{
    return one_of(r, CM_EXEC_COMPLETED, CM_EXEC_CANCELLED, false) &&
                   !(won(&r->a, CM_EXEC_CANCELLED) && r->b.st == CM_OK && r->found.state == CM_EXEC_CANCELLED)
               ? "who ran it and who cancelled it were told different ends"
               : NULL;
}

/** Who lets things expire is not told of this one. */
static const char *approve_expire(const struct round *r)
{
    if (r->effects != (r->found.state == CM_EXEC_COMPLETED))
        return "what had expired ran, or what was approved did not";
    if (r->found.state == CM_EXEC_COMPLETED)
        return won(&r->a, CM_EXEC_COMPLETED) ? NULL : "the approver was not told";
    return r->found.state == CM_EXEC_EXPIRED && lost(&r->a) ? NULL : "the approver was not told";
}

static bool reverted(const struct said *s)
{
    return s->st == CM_OK && has(s, "\"reverted\":[{");
}

static const char *rollback_rollback(const struct round *r)
{
    const struct said *other = reverted(&r->a) ? &r->b : &r->a;

    if (r->effects != 1 || reverted(&r->a) == reverted(&r->b))
        return "it was not undone once";
    if (r->found.state != CM_EXEC_ROLLED_BACK)
        return "the record does not say that it was rolled back";
    return other->st == CM_E_CONFLICT || has(other, "already") || has(other, "revert_unknown") ||
                   has(other, "another") || has(other, "\"status\":\"rolled_back\",\"reverted\":[]")
               ? NULL
               : "the other was not told";
}

/** What is paused or runs is never pruned. */
static const char *approve_prune(const struct round *r)
{
    if (!won(&r->a, CM_EXEC_COMPLETED) || r->effects != 1)
        return "the approval was lost";
    if (r->b.st != CM_OK)
        return "pruning failed";
    return !r->found.there || r->found.state == CM_EXEC_COMPLETED ? NULL : "the record says otherwise";
}

#define WIPE  "return (await t.wipe({n: 1})).n"
#define WIPED "wipe {\"n\":1}"
#define NOTE  "await t.note({n: 1}); return 1"
#define NOTED "note {\"n\":1}"

static const struct pair pairs[] = {
    {"approve, approve", APPROVE, APPROVE, WIPE, WIPED, PAUSED, approve_approve},
    {"approve, reject", APPROVE, REJECT, WIPE, WIPED, PAUSED, approve_reject},
    {"approve, reject the whole", APPROVE, REJECT_ALL, WIPE, WIPED, PAUSED, approve_reject},
    {"approve, cancel", APPROVE, CANCEL, WIPE, WIPED, PAUSED, approve_cancel},
    {"reject, cancel", REJECT_ALL, CANCEL, WIPE, WIPED, PAUSED, reject_cancel},
    {"complete, cancel", COMPLETE, CANCEL, "return await t.slow({n: 0})", "slow", RUNNING, complete_cancel},
    {"approve, expire", APPROVE, EXPIRE, WIPE, WIPED, PAUSED, approve_expire},
    {"roll back, roll back", ROLL_BACK, ROLL_BACK, "await t.make({n: 1})", "unmake", ENDED,
     rollback_rollback},
    {"approve, prune", APPROVE, PRUNE, WIPE, WIPED, PAUSED, approve_prune},
    {"resume, resume", RESUME, RESUME, NOTE, NOTED, DEAD, approve_approve},
};

static void of_each_pair_one_wins_and_the_other_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < CM_ARRAY_LEN(pairs); i++) {
        unsigned here = 0;

        if (only && !cm_z_eq(only, pairs[i].name))
            continue;

        for (unsigned n = 0; n < ROUNDS; n++) {
            struct round r;
            const char *wrong;

            one_round(&pairs[i], n, &r);
            wrong = pairs[i].wrong(&r);
            if (wrong)
                fail_msg("%s, round %u: %s. One: %d %s. The other: %d %s. The record: %s, %u effects",
                         pairs[i].name, n, wrong, (int)r.a.st, r.a.text, (int)r.b.st, r.b.text,
                         r.found.there ? cm_exec_state_text(r.found.state) : "none", r.effects);
            here += r.here;
        }
        print_message("# %s: this process came first in %u of %d\n", pairs[i].name, here, ROUNDS);
    }
}

/** Before anything else: the other process shares nothing but the folder, the pipes and two numbers. */
static int set_up(void **state)
{
    int down[2], up[2];
    pid_t child;

    assert_non_null(mkdtemp(dir));
    effects_path = cm_asprintf("%s/effects", dir);
    both = mmap(NULL, sizeof *both, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(both != MAP_FAILED);
    assert_int_equal(pipe(down), 0);
    assert_int_equal(pipe(up), 0);
    (void)fclose(fopen(effects_path, "w"));
    child = fork();
    if (child == 0) {
        (void)close(down[1]);
        (void)close(up[0]);
        _exit(other_process(down[0], up[1]));
    }
    (void)close(down[0]);
    (void)close(up[1]);
    to_other = down[1];
    from_other = up[0];
    *state = (void *)(intptr_t)child;
    return 0;
}

static int tear_down(void **state)
{
    cm_autofree char *clean = cm_asprintf("rm -r '%s'", dir);
    int wstatus;

    (void)close(to_other);
    assert_int_equal(waitpid((pid_t)(intptr_t)*state, &wstatus, 0), (pid_t)(intptr_t)*state);
    assert_true(WIFEXITED(wstatus) && WEXITSTATUS(wstatus) == 0);
    (void)close(from_other);
    close_sandbox();
    free(effects_path);
    return system(clean);
}

/** An argument: the only pair. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_each_pair_one_wins_and_the_other_is_told)};

    only = argc > 1 ? argv[1] : NULL;
    return cmocka_run_group_tests_name("two_processes", tests, set_up, tear_down);
}
