/*
 * A run that goes on from its record, from its first line to where it is a run like any other. Which row a call is, and what is delivered
 * next, is for replay.c to say; here it is done.
 *
 * Happy path: issue -> the row -> recorded outcomes are delivered in their order, with their clock and their number -> the record is
 * at its end: calls without an outcome get theirs, in the order in which they were issued.
 *
 * A call without an outcome in the record: one that waits for a human waits on; one that was approved is sent, unless policy denies it
 * by now; one that was sent is sent again where that is safe, and is asked about where it is not. What was issued and never recorded is a
 * new call. Timers that had not fired run for what is left of them, once the program stands still: until then it may clear them, as it
 * did before.
 */
#include "base/clock.h"
#include "runtime/internal.h"

#define ASKED_RULE "interrupted: it may have taken effect already"

/* ---- deliveries ---- */

static struct rt_call *call_of(const cm_exec *e, const struct rt_entry *entry)
{
    struct rt_call *c = e->calls;

    while (c && c->entry != entry)
        c = c->next;
    return c;
}

/** The call is answered, and gone. */
static void to_program(struct rt_call *c, const struct rt_entry *entry, int64_t clock, int64_t delivery)
{
    cm_exec *e = c->e;
    uint32_t id = c->id;

    rt_call_unlink(c);
    rt_call_free(c);
    e->waiting = false;
    cm_pass_deliver(e->pass->pass, id, entry->row.failed, false, entry->row.outcome, clock,
                    (uint32_t)delivery);
}

static void start_function(struct rt_call *c, const struct rt_entry *entry)
{
    c->start = entry->row.delivery;
    c->start_clock = entry->row.delivered_at;
    if (c->kind == CM_CALL_RUN)
        rt_snippet_execute(c, entry->row.code);
    else
        rt_call_start_function(c, (struct cm_value){0});
}

/** An outcome that nobody had been given: a rejection, or what came while nobody listened. */
static void give_late(struct rt_call *c, const struct rt_entry *entry)
{
    cm_exec *e = c->e;
    struct cm_err err = {0};

    rt_exec_move_clock(e);
    e->n_deliveries++;
    rt_touch(e->rt);
    if (cm_store_call_deliver(e->rt->o.store, e->id, c->seq, e->n_deliveries, e->clock, &err) != CM_OK)
        rt_exec_store_failed(e, &err);
    else
        to_program(c, entry, e->clock, e->n_deliveries);
}

static void give(cm_exec *e, struct rt_entry *entry)
{
    struct rt_call *c = call_of(e, entry);

    entry->given = true;
    if (!c)
        return;
    if (entry->row.delivered_at > e->clock)
        e->clock = entry->row.delivered_at;
    if (rt_entry_starts(entry))
        start_function(c, entry);
    else if (entry->row.delivery == 0)
        give_late(c, entry);
    else
        to_program(c, entry, entry->row.delivered_at, entry->row.delivery);
}

/* ---- the end of the record ---- */

static void wait_for_human(struct rt_call *c)
{
    c->phase = RT_PENDING;
    c->e->n_pending++;
    rt_exec_check_quiescent(c->e);
}

bool rt_again_ask(struct rt_call *c, const char *rule)
{
    cm_exec *e = c->e;
    struct cm_err err = {0};

    rt_touch(e->rt);
    if (cm_store_call_ask(e->rt->o.store, e->id, c->seq, rule, &err) == CM_OK)
        return true;
    rt_exec_store_failed(e, &err);
    return false;
}

bool rt_again_was_approved(const struct rt_call *c)
{
    return !cm_z_eq(c->entry->row.decision, cm_decision_text(CM_DECIDE_EXECUTE));
}

/** It was sent, and whether it took effect nobody here can know. */
static void ask(struct rt_call *c)
{
    if (rt_again_ask(c, ASKED_RULE))
        wait_for_human(c);
}

static void go_on_approved(struct rt_call *c)
{
    /* The program's bytes have the hash of those that were approved; a human's own stand in the record. */
    cm_autovalue own = cm_value_dup(cm_value_view(&c->args));
    const struct cm_call_row *row = &c->entry->row;

    rt_call_approved(c, row->asked_hash[0] ? row->args : cm_value_view(&own));
}

/** A recorded call without an outcome. */
static void go_on(struct rt_call *c)
{
    const struct cm_call_row *row = &c->entry->row;

    switch (row->state) {
    case CM_CALL_PENDING:
        if (row->decided_at)
            go_on_approved(c);
        else
            wait_for_human(c);
        return;
    case CM_CALL_EXECUTING:
        if (cm_decide_abandoned(row->method_flags) == CM_CALL_UNKNOWN) {
            ask(c);
            return;
        }
        c->resend = true;
        rt_call_try(c);
        return;
    case CM_CALL_UNKNOWN:
        ask(c);
        return;
    case CM_CALL_APPLIED:
    case CM_CALL_FAILED:
    case CM_CALL_REJECTED:
    case CM_CALL_CANCELLED:
    case CM_CALL_REVERTED:
    case CM_CALL_STATE_COUNT_:
        break;
    }
    rt_exec_end(c->e, CM_EXEC_ERROR, "store_error",
                "The record of this run is damaged: its call %u is %s and has no outcome.", c->seq,
                cm_call_state_text(row->state));
}

/** Its program has given it up once more, as it did before it was interrupted. */
static void end_given_up(struct rt_call *c)
{
    if (!c->entry || c->entry->row.state != CM_CALL_UNKNOWN || rt_again_ask(c, ASKED_RULE))
        rt_call_end_given_up(c);
}

static void go(struct rt_call *c)
{
    if (c->given_up) {
        end_given_up(c);
        return;
    }
    c->phase = RT_QUEUED;
    if (!c->entry)
        rt_call_begin(c);
    else if (c->kind == CM_CALL_TOOL)
        go_on(c);
    else if (c->kind == CM_CALL_STEP || c->kind == CM_CALL_RUN) { /* a file of before starts had a place */
        rt_exec_move_clock(c->e);
        c->entry->row.delivered_at = c->e->clock;
        c->entry->row.delivery = ++c->e->n_deliveries;
        start_function(c, c->entry);
    } else {
        rt_call_begin(c);
    }
}

/** Every call that waits for the end of the record, or every timer, in the order of issue. */
static void go_all(cm_exec *e, bool timers)
{
    for (;;) {
        struct rt_call *c = e->calls;

        while (c && (c->phase != RT_PARKED || (c->kind == CM_CALL_TIMER && !c->entry) != timers))
            c = c->next;
        /* Of a program that failed nobody needs what was not sent yet. */
        if (!c || e->ending.set || e->program_failed)
            return;
        go(c);
    }
}

static void pump(cm_exec *e)
{
    struct rt_entry *entry;

    if (e->giving || !e->replaying)
        return;
    e->giving = true;
    while (!e->ending.set && (entry = rt_replay_next(e->replay)))
        give(e, entry);
    e->giving = false;
    if (e->ending.set || !rt_replay_is_live(e->replay))
        return;
    e->replaying = false;
    go_all(e, false);
}

/* ---- calls ---- */

bool rt_again_number(struct rt_call *c)
{
    cm_exec *e = c->e;
    const struct rt_issue is = {.kind = (uint8_t)c->kind,
                                .connector = c->connector,
                                .method = c->method,
                                .args = cm_value_view(&c->args),
                                .hash = c->hash,
                                .parent_seq = c->parent_seq,
                                .ordinal = c->ordinal};
    struct cm_err err = {0};

    if (!e->replay) {
        c->seq = e->n_issued++;
        return true;
    }
    if (rt_replay_issue(e->replay, &is, &c->entry, &c->seq, &err) != CM_OK) {
        rt_call_unlink(c);
        rt_call_free(c);
        rt_exec_end(e, CM_EXEC_ERROR, "divergence", "%s", err.message);
        return false;
    }
    if (c->seq >= e->n_issued)
        e->n_issued = c->seq + 1;
    return true;
}

/** Its method says that it is to run again in each replay. What was refused is refused for good. */
static bool is_asked_anew(const struct rt_entry *entry)
{
    return entry->row.kind == CM_CALL_TOOL && entry->row.has_outcome && entry->row.delivery > 0 &&
           (entry->row.method_flags & CM_METHOD_REEXECUTE) &&
           !cm_z_eq(entry->row.decision, cm_decision_text(CM_DECIDE_REFUSE));
}

bool rt_again_issue(struct rt_call *c)
{
    cm_exec *e = c->e;
    struct rt_entry *entry = c->entry;

    if (!e->replay)
        return false;
    c->issue_clock = e->clock;
    if (!entry) {
        if (e->replaying || (e->catching_up && c->kind == CM_CALL_TIMER))
            c->phase = RT_PARKED;
        return c->phase == RT_PARKED;
    }
    c->recorded = true;
    c->flags = entry->row.method_flags;
    c->phase = RT_PARKED;
    if (is_asked_anew(entry)) {
        c->refresh = entry->refreshing = true;
        c->phase = RT_QUEUED;
        rt_call_try(c);
    } else if (entry->row.has_outcome || entry->row.delivery > 0) {
        pump(e);
    } else if (!e->replaying || c->kind == CM_CALL_STEP || c->kind == CM_CALL_RUN) {
        go(c);
    }
    return true;
}

void rt_again_fresh(struct rt_call *c, bool failed, struct cm_value value)
{
    struct rt_entry *entry = c->entry;
    cm_exec *e = c->e;

    c->phase = RT_PARKED;
    c->refresh = false;
    rt_call_set_idle(c);
    cm_value_done(&entry->outcome);
    entry->outcome = cm_value_dup(value);
    entry->row.outcome = cm_value_view(&entry->outcome);
    entry->row.failed = failed;
    entry->refreshing = false;
    pump(e);
    if (e->replaying && e->waiting)
        rt_again_waits(e);
}

void rt_again_cleared(struct rt_call *c)
{
    if (c->entry)
        rt_replay_drop(c->entry);
}

static bool is_asking_anew(const cm_exec *e)
{
    const struct rt_call *c = e->calls;

    while (c && !c->refresh)
        c = c->next;
    return c != NULL;
}

void rt_again_waits(cm_exec *e)
{
    pump(e); /* a timer that was waited for may have been cleared */
    if (e->ending.set || !e->waiting)
        return;
    if (e->replaying && !is_asking_anew(e)) {
        cm_autobuf what = CM_BUF_INIT(4096);

        rt_entry_describe(rt_replay_awaited(e->replay), &what);
        rt_exec_end(
            e, CM_EXEC_ERROR, "divergence",
            "The program went another way than before. It has not made %.*s; it waits for other calls. %s",
            CM_STR_ARG(cm_buf_str(&what)), rt_replay_advice);
    } else if (!e->replaying && e->catching_up) {
        e->catching_up = false;
        go_all(e, true);
    }
}

/* ---- console lines ---- */

/*
 * The program writes its lines again. Those of steps that are not run again are missing among them, so the lines of the record are taken
 * in their place: each line of now is one of theirs, and what stands before it there has been said.
 */
void rt_again_load_lines(cm_exec *e, struct cm_str logs_json)
{
    cm_auto(yyjson_doc) doc = NULL;
    yyjson_val *line;
    size_t i, max;

    if (!logs_json.len || cm_json_parse(logs_json, CM_JSON_STRICT, &doc, NULL) != CM_OK)
        return;
    e->lines = cm_calloc(yyjson_arr_size(yyjson_doc_get_root(doc)) + 1, sizeof *e->lines);
    yyjson_arr_foreach(yyjson_doc_get_root(doc), i, max, line)
    {
        cm_autobuf text = CM_BUF_INIT(logs_json.len * 6 + 64);

        /* The last element may be about lines that were dropped. */
        if (!yyjson_is_str(cm_json_get(line, "text")))
            continue;
        cm_json_write(&text, line);
        if (!text.failed)
            e->lines[e->n_lines++] = cm_buf_take(&text, NULL);
    }
}

bool rt_again_add_line(cm_exec *e, struct cm_str line, size_t kept)
{
    size_t at = e->line_at;

    while (at < e->n_lines && !cm_str_eq_z(line, e->lines[at]))
        at++;
    if (at < e->n_lines) {
        while (e->line_at < at)
            rt_log_add(e, cm_str_of(e->lines[e->line_at++]), 0);
        e->line_at++;
        rt_log_add(e, line, kept);
        return true;
    }
    if (!e->replaying && !e->catching_up)
        rt_again_rest_of_lines(e);
    return false;
}

void rt_again_rest_of_lines(cm_exec *e)
{
    while (e->line_at < e->n_lines)
        rt_log_add(e, cm_str_of(e->lines[e->line_at++]), 0);
}

void rt_again_done(cm_exec *e)
{
    rt_replay_free(e->replay);
    for (size_t i = 0; i < e->n_lines; i++)
        free(e->lines[i]);
    free(e->lines);
}
