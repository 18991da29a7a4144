/*
 * A run that waits for a human: how it pauses, how its pass is kept, how it goes on in place.
 *
 * Happy path: the program stands still and everything it waits for needs a human -> at the end of the loop's turn the row is PAUSED ->
 * the pass is held for graceMs; told when the row is on the disk -> somebody decides, in the record -> the execution is claimed, the pass
 * released -> what stands in the record about its calls is done.
 *
 * The record is the authority. What is held here is no more than a faster way to where a replay of the record leads, so it is given up
 * without a word: when its time is over, when its worker is needed or dies, when another process has claimed the execution (`passes` says
 * so) or ended it. Decisions are read from the record, never handed over, so that it does not matter which process wrote them; and a run
 * looks there before it pauses, in the transaction in which it does, so that none is missed that came while it ran.
 */
#include "base/clock.h"
#include "runtime/internal.h"

#define OUTCOME_MAX_BYTES (1u << 30)

/* ---- who is told ---- */

struct rt_listener {
    struct rt_listener *next;
    cm_exec_fn fn;
    void *user;
};

void rt_exec_listen(cm_exec *e, cm_exec_fn fn, void *user)
{
    struct rt_listener **at = &e->listeners;

    if (!e->fn && !*at) {
        e->fn = fn;
        e->user = user;
        return;
    }
    while (*at)
        at = &(*at)->next;
    *at = cm_new(struct rt_listener);
    **at = (struct rt_listener){.fn = fn, .user = user};
}

struct rt_listener *rt_exec_take_listeners(cm_exec *e)
{
    struct rt_listener *rest = cm_steal(&e->listeners), *first;
    cm_exec_fn fn = cm_steal(&e->fn);

    if (!fn)
        return rest;
    first = cm_new(struct rt_listener);
    *first = (struct rt_listener){.next = rest, .fn = fn, .user = e->user};
    return first;
}

void rt_tell(struct rt_listener *take_list, enum cm_exec_state state, struct cm_str outcome,
             const struct cm_err *err)
{
    for (struct rt_listener *l = take_list, *next; l; l = next) {
        next = l->next;
        l->fn(l->user, state, outcome, err);
        free(l);
    }
}

void rt_exec_tell(cm_exec *e, enum cm_exec_state state, struct cm_str outcome, const struct cm_err *err)
{
    /* It may go on, and be gone, from inside the first of them. */
    rt_tell(rt_exec_take_listeners(e), state, outcome, err);
}

/* ---- what was decided ---- */

struct decision {
    uint32_t seq;
    bool approved;
    struct cm_own_value value; /* the arguments, or the error */
};

struct decisions {
    const cm_exec *e;
    struct decision *list;
    size_t n, cap;
};

static struct rt_call *find_pending(const cm_exec *e, uint32_t seq)
{
    struct rt_call *c = e->calls;

    while (c && (c->seq != seq || c->phase != RT_PENDING))
        c = c->next;
    return c;
}

static bool collect(void *user, const struct cm_call_row *row)
{
    struct decisions *d = user;
    bool approved = row->state == CM_CALL_PENDING && row->decided_at != 0;

    if ((!approved && row->state != CM_CALL_REJECTED) || !find_pending(d->e, row->seq))
        return true;
    if (d->n == d->cap) {
        d->cap = d->cap ? 2 * d->cap : 8;
        d->list = cm_realloc(d->list, d->cap * sizeof *d->list);
    }
    d->list[d->n++] = (struct decision){
        .seq = row->seq, .approved = approved, .value = cm_value_dup(approved ? row->args : row->outcome)};
    return true;
}

/** Do what the record says about the calls that wait. *n: about how many it says something. */
static cm_status act_on_decisions(cm_exec *e, size_t *n, struct cm_err *err)
{
    struct decisions d = {.e = e};
    cm_status st = cm_store_calls(e->rt->o.store, e->id, collect, &d, err);

    for (size_t i = 0; i < d.n; i++) {
        struct rt_call *c = st == CM_OK && !e->ending.set ? find_pending(e, d.list[i].seq) : NULL;

        if (c && d.list[i].approved)
            rt_call_approved(c, cm_value_view(&d.list[i].value));
        else if (c)
            rt_call_rejected(c, cm_value_view(&d.list[i].value));
        cm_value_done(&d.list[i].value);
    }
    free(d.list);
    *n = d.n;
    return st;
}

/** Calls that wait for a human no more, since the program gave them up, and about which nobody has decided. */
static size_t withdraw_given_up(cm_exec *e)
{
    size_t n = 0;

    for (;;) {
        struct rt_call *c = e->calls;

        while (c && (c->phase != RT_PENDING || !c->given_up))
            c = c->next;
        if (!c || e->ending.set)
            return n;
        n++;
        rt_call_end_given_up(c);
    }
}

/* ---- held passes ---- */

static void link_into(cm_exec **list, cm_exec *e)
{
    e->next = *list;
    e->prev = list;
    if (e->next)
        e->next->prev = &e->next;
    *list = e;
}

/** Its pass ends, to nobody; what it waited for stands in the record as it is. */
static void let_go(cm_exec *e)
{
    if (e->pass) {
        struct rt_pass *rp = cm_steal(&e->pass);

        rp->e = NULL;
        cm_pass_stop(rp->pass, CM_PASS_CANCELLED, "cancelled", "the run goes on from its record");
    }
    (void)rt_calls_settle(e, CM_EXEC_PAUSED, NULL);
}

void rt_held_drop(cm_exec *e)
{
    rt_exec_unlink(e);
    let_go(e);
    rt_exec_free(e);
}

static void on_grace(void *user)
{
    rt_held_drop(user);
}

static void hold(cm_exec *e)
{
    e->held = true;
    e->held_at = cm_mono_ms();
    link_into(&e->rt->held, e);
    cm_pass_hold(e->pass->pass);
    e->grace = cm_timer_new(e->rt->o.loop, on_grace, e);
    cm_timer_start(e->grace, e->rt->o.grace_ms);
}

cm_exec *rt_held_find(const cm_runtime *rt, const char *id)
{
    cm_exec *e = rt->held;

    while (e && !cm_z_eq(e->id, id))
        e = e->next;
    return e;
}

cm_status rt_held_resume(cm_exec *e, uint32_t passes, cm_exec **out, struct cm_err *err)
{
    cm_status st;

    *out = NULL;
    /* Somebody else has taken it further since, or its worker is gone. */
    if (e->passes != passes || !cm_pass_release(e->pass->pass)) {
        rt_held_drop(e);
        return CM_OK;
    }
    st = cm_store_claim(e->rt->o.store, e->id, cm_now_ms(), err);
    if (st != CM_OK) {
        rt_held_drop(e);
        return st;
    }
    e->passes++;
    e->held = false;
    cm_timer_free(cm_steal(&e->grace));
    e->began_at += cm_mono_ms() - e->held_at;
    e->losses = cm_store_losses(e->rt->o.store);
    rt_exec_unlink(e);
    link_into(&e->rt->execs, e);
    rt_exec_look_soon(e);
    *out = e;
    return CM_OK;
}

/* ---- pausing ---- */

static cm_status write_paused(cm_exec *e, struct cm_buf *out, struct cm_err *err)
{
    const struct rt_outcome_opts opts = {.result_bytes = e->limits.result_bytes};
    cm_autobuf warnings = CM_BUF_INIT(1u << 20);
    cm_autobuf logs = CM_BUF_INIT(e->logs.len + 2);
    cm_store *store = e->rt->o.store;
    cm_status st;

    if (cm_store_losses(store) != e->losses)
        return cm_err_set(err, CM_E_IO, "%s", cm_store_loss(store)->message);
    if (e->logs.len) { /* the program goes on writing into its own */
        cm_buf_add_str(&logs, cm_buf_str(&e->logs));
        cm_buf_add_char(&logs, ']');
    }
    rt_write_warnings(e, &warnings);

    const struct cm_exec_row row = {
        .id = e->id,
        .runtime = e->rt->name,
        .state = CM_EXEC_PAUSED,
        .logs_json = cm_buf_str(&logs),
        .warnings_json = cm_buf_str(&warnings),
        .created_at = e->created_at,
        .updated_at = cm_now_ms(),
        .passes = e->passes,
    };

    st = cm_store_finish(store, e->id, 1u << CM_EXEC_RUNNING, &row, err);
    return st == CM_OK ? rt_outcome_write(store, &row, &opts, out, err) : st;
}

/** A pause that is recorded, and told when that is on the disk. */
struct told_pause {
    cm_exec *
        e; /* kept until then, since who is told may still cancel it; it may run again, or be gone from every list */
    struct rt_listener *listeners;
    struct cm_buf out;
};

static void on_paused(void *user, const struct cm_err *err)
{
    struct told_pause *p = user;
    cm_exec *e = p->e;
    struct rt_listener *listeners = p->listeners;
    struct cm_buf out = p->out;

    free(p);
    /* As it stands in the record, which nobody knows now. Its worker is of no use any more. */
    if (err && e->held)
        rt_held_drop(e);
    if (!err)
        rt_announce(e->rt, e->id, CM_EXEC_PAUSED, true, (struct cm_str){0});
    struct cm_str text = {NULL, 0};
    if (!err)
        text = cm_buf_str(&out);
    rt_tell(listeners, err ? CM_EXEC_ERROR : CM_EXEC_PAUSED, text, err);
    cm_buf_done(&out);
    e->n_telling--;
    if (e->gone && e->n_telling == 0)
        rt_exec_free(e);
}

static void pause(cm_exec *e)
{
    cm_runtime *rt = e->rt;
    struct cm_buf out = CM_BUF_INIT(OUTCOME_MAX_BYTES);
    struct cm_err err = {0};
    cm_status st = write_paused(e, &out, &err);
    struct told_pause *p;

    if (st != CM_OK)
        cm_buf_done(&out);
    if (st == CM_E_CONFLICT) { /* another process has moved it: its end says to where */
        (void)cm_store_commit(rt->o.store, false, NULL);
        rt_exec_end(e, CM_EXEC_CANCELLED, NULL, "%s", "");
        return;
    }
    if (st != CM_OK) {
        rt_exec_store_failed(e, &err);
        return;
    }
    rt_exec_unlink(e);
    p = cm_new(struct told_pause);
    *p = (struct told_pause){.e = e, .listeners = rt_exec_take_listeners(e), .out = out};
    e->n_telling++;
    (void)rt_disk_wait(rt, on_paused, p);
    /* Before it is told: somebody may see it in the record, and decide. */
    if (rt->o.grace_ms > 0 && e->pass && !rt->closing)
        hold(e);
    else
        rt_held_drop(e);
}

static void look(cm_exec *e)
{
    cm_runtime *rt = e->rt;
    struct cm_err err = {0};
    size_t n = 0;
    cm_status st;

    if (e->ending.set || e->n_pending == 0)
        return;
    rt_touch(rt);
    st = cm_store_hold(rt->o.store, &err);
    if (st == CM_OK)
        st = act_on_decisions(e, &n, &err);
    if (st == CM_OK)
        n += withdraw_given_up(e);
    if (st != CM_OK)
        rt_exec_store_failed(e, &err);
    else if (n == 0 && rt_exec_is_quiescent(e))
        pause(e);
}

void rt_exec_look_soon(cm_exec *e)
{
    e->look = true;
    cm_soon_post(e->rt->looks);
}

void rt_looks_turn(void *user)
{
    cm_runtime *rt = user;

    /* Each may take others with it, so the list is looked at afresh. */
    for (bool more = true; more;) {
        cm_exec *e = rt->execs;

        while (e && !e->look)
            e = e->next;
        more = e != NULL;
        if (e) {
            e->look = false;
            look(e);
        }
    }
}
