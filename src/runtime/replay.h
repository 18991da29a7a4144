/**
 * replay: what a run that goes on from its record gets from there, and what it does not. Rows in, decisions out: no store, no clock, no
 * pass.
 *
 * The program runs again from its first line and makes the same calls. The k-th call that was issued with one parent (a step, or none) is
 * the k-th that was recorded with it, and must be the same call, byte for byte; what has no row was issued, and forgotten in a crash.
 * Then come the deliveries of the record, in their order, each as soon as its call was issued: outcomes, and the starts of steps that
 * have none. What was recorded as an outcome but never delivered (a rejection) comes after them. Then the run is live.
 *
 * A step with an outcome is not run again, so neither are the calls beneath it, and nothing of them is waited for.
 */
#ifndef CM_RUNTIME_REPLAY_H
#define CM_RUNTIME_REPLAY_H

#include "base/base.h"
#include "store/store.h"

/** One row of the record, and how far the replay is with it. */
struct rt_entry {
    struct cm_call_row
        row; /* its texts are owned by the entry; decided_by, reason, revert_error are not kept */
    struct cm_own_value args, asked, outcome;
    char *texts[7];
    uint32_t ordinal; /* among the calls of its parent, from 1 */
    bool skipped;     /* beneath a step that has its outcome */
    bool issued;      /* the program has made this call again */
    bool given;       /* its delivery has been given again */
    bool refreshing;  /* its outcome is asked for anew, and has not come yet */
    uint32_t id;      /* of the call in this pass */
};

typedef struct rt_replay rt_replay;

rt_replay *rt_replay_new(void);
void rt_replay_free(rt_replay *r);
CM_DEFINE_AUTO(rt_replay, rt_replay_free)
/** Copies one row; in ascending order of seq. */
void rt_replay_add(rt_replay *r, const struct cm_call_row *row);
/** All rows are in. Errors: CM_E_INVALID something else has damaged the record. */
cm_status rt_replay_begin(rt_replay *r, struct cm_err *err);

/** A call as the program makes it now. All borrowed. */
struct rt_issue {
    uint8_t kind;
    const char *connector, *method;
    struct cm_value args; /* for words: what is compared is their hash */
    const char *hash;
    int64_t parent_seq;
    uint32_t ordinal;
};
/**
 * Which row this call is. *entry NULL: it has none, and *seq is the number that it gets.
 *
 * Errors: CM_E_CONFLICT  the program went another way than before; the message names both sides.
 */
cm_status rt_replay_issue(rt_replay *r, const struct rt_issue *is, struct rt_entry **entry, uint32_t *seq,
                          struct cm_err *err);
/** What is to be delivered now (the caller sets `given`); NULL: its call was not issued yet or is asked for anew, or nothing is left. */
struct rt_entry *rt_replay_next(rt_replay *r);
/** Whose delivery all others wait for; NULL when nothing is left. */
const struct rt_entry *rt_replay_awaited(rt_replay *r);
/** Everything recorded has been delivered. */
bool rt_replay_is_live(rt_replay *r);
/** The program cleared this timer: nothing is delivered for it any more. */
void rt_replay_drop(struct rt_entry *e);
/** A call or step of the record that the program has not made again, or NULL. */
const struct rt_entry *rt_replay_missing(const rt_replay *r);
/** Rows, one by one; NULL behind the last. */
struct rt_entry *rt_replay_entry(rt_replay *r, size_t i);

/** Whether a delivery of this row starts its function, whose value will be another one. */
bool rt_entry_starts(const struct rt_entry *e);
/** "github.create_issue({…}), recorded as call 3" and what to do about a program that differs, as a sentence of its own. */
void rt_entry_describe(const struct rt_entry *e, struct cm_buf *out);
extern const char rt_replay_advice[];

#endif
