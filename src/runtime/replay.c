/* The record of a run that goes on, matched with what its program does now (replay.h). */
#include "runtime/replay.h"

#include "wire/wire.h"

#include <inttypes.h>
#include <stdio.h>

#define SEQ_MAX      (1u << 20) /* over what any run may record: a larger one is damage */
#define EXCERPT_MAX  160        /* bytes of arguments in a sentence */
#define EXCERPT_BACK 40         /* of them before the first difference */

struct rt_replay {
    struct rt_entry *entries; /* by seq */
    size_t n, cap;
    struct rt_entry **by_parent; /* by (parent, ordinal) */
    struct rt_entry **order;     /* of delivery; then those that were never delivered */
    size_t n_order, at;
    uint32_t n_seqs, next_seq; /* behind the highest recorded; what the next new call gets */
    bool *taken;               /* by seq */
    int64_t *last;             /* by parent + 1: the seq of its newest call in this pass */
};

const char rt_replay_advice[] = "A program that waited for somebody runs again from its first line, with the "
                                "recorded outcomes in place of its calls, so it must do "
                                "the same each time. What a step's function changes outside of itself is not "
                                "there the next time: return it from the step instead. "
                                "Nothing more was called; start the program anew.";

rt_replay *rt_replay_new(void)
{
    return cm_new(rt_replay);
}

void rt_replay_free(rt_replay *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->n; i++) {
        struct rt_entry *e = &r->entries[i];

        cm_value_done(&e->args);
        cm_value_done(&e->asked);
        cm_value_done(&e->outcome);
        for (size_t k = 0; k < CM_ARRAY_LEN(e->texts); k++)
            free(e->texts[k]);
    }
    free(r->entries);
    free(r->by_parent);
    free(r->order);
    free(r->taken);
    free(r->last);
    free(r);
}

/* ---- loading ---- */

static const char *keep_text(struct rt_entry *e, size_t i, const char *z)
{
    e->texts[i] = cm_strdup(z ? z : "");
    return e->texts[i];
}

void rt_replay_add(rt_replay *r, const struct cm_call_row *row)
{
    struct rt_entry *e;

    if (r->n == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 32;
        r->entries = cm_realloc(r->entries, r->cap * sizeof *r->entries);
    }
    e = &r->entries[r->n++];
    *e = (struct rt_entry){.row = *row, .ordinal = row->ordinal};
    e->args = cm_value_dup(row->args);
    e->asked = cm_value_dup(row->asked);
    e->outcome = cm_value_dup(row->outcome);
    e->row.args = cm_value_view(&e->args);
    e->row.asked = cm_value_view(&e->asked);
    e->row.outcome = cm_value_view(&e->outcome);
    e->row.connector = keep_text(e, 0, row->connector);
    e->row.method = keep_text(e, 1, row->method);
    e->row.args_hash = keep_text(e, 2, row->args_hash);
    e->row.asked_hash = keep_text(e, 3, row->asked_hash);
    e->row.decision = keep_text(e, 4, row->decision);
    e->row.rule = keep_text(e, 5, row->rule);
    e->texts[6] = cm_memdup_z(row->code.ptr, row->code.len);
    e->row.code = cm_str_mk(e->texts[6], row->code.len);
    e->row.decided_by = e->row.reason = e->row.revert_error = "";
}

static struct rt_entry *find_seq(rt_replay *r, int64_t seq)
{
    size_t low = 0, high = r->n;

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (r->entries[mid].row.seq == seq)
            return &r->entries[mid];
        if (r->entries[mid].row.seq < seq)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

static int order_by_parent(const void *a, const void *b)
{
    const struct rt_entry *x = *(struct rt_entry *const *)a, *y = *(struct rt_entry *const *)b;

    if (x->row.parent_seq != y->row.parent_seq)
        return x->row.parent_seq < y->row.parent_seq ? -1 : 1;
    if (x->ordinal != y->ordinal)
        return x->ordinal < y->ordinal ? -1 : 1;
    return x->row.seq < y->row.seq ? -1 : 1;
}

static int order_by_delivery(const void *a, const void *b)
{
    const struct rt_entry *x = *(struct rt_entry *const *)a, *y = *(struct rt_entry *const *)b;

    if ((x->row.delivery == 0) != (y->row.delivery == 0))
        return x->row.delivery == 0 ? 1 : -1;
    if (x->row.delivery != y->row.delivery)
        return x->row.delivery < y->row.delivery ? -1 : 1;
    return x->row.seq < y->row.seq ? -1 : 1;
}

static bool runs_a_function(const struct rt_entry *e)
{
    return e->row.kind == CM_CALL_STEP || e->row.kind == CM_CALL_RUN;
}

static cm_status check_rows(rt_replay *r, struct cm_err *err)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct cm_call_row *row = &r->entries[i].row;

        if (row->seq >= SEQ_MAX || (i > 0 && row->seq <= r->entries[i - 1].row.seq) || row->parent_seq < -1 ||
            row->parent_seq >= row->seq || row->kind >= CM_CALL_KIND_COUNT_)
            return cm_err_set(err, CM_E_INVALID, "the record of this run is damaged at its call %u",
                              row->seq);
    }
    return CM_OK;
}

/** Where the row does not say it: the order of the rows of one parent. */
static void number_siblings(rt_replay *r)
{
    uint32_t *n_children = cm_calloc((size_t)r->n_seqs + 1, sizeof *n_children);

    for (size_t i = 0; i < r->n; i++) {
        struct rt_entry *e = &r->entries[i];
        uint32_t *n = &n_children[e->row.parent_seq + 1];

        *n = e->ordinal > 0 ? e->ordinal : *n + 1;
        e->ordinal = *n;
    }
    free(n_children);
}

cm_status rt_replay_begin(rt_replay *r, struct cm_err *err)
{
    cm_status st = check_rows(r, err);

    if (st != CM_OK)
        return st;
    r->n_seqs = r->next_seq = r->n ? r->entries[r->n - 1].row.seq + 1 : 0;
    r->by_parent = cm_calloc(r->n + 1, sizeof(struct rt_entry *));
    r->order = cm_calloc(r->n + 1, sizeof(struct rt_entry *));
    r->taken = cm_calloc((size_t)r->n_seqs + 1, sizeof *r->taken);
    r->last = cm_calloc((size_t)r->n_seqs + 1, sizeof *r->last);
    for (int64_t p = -1; p < (int64_t)r->n_seqs; p++)
        r->last[p + 1] = p;
    number_siblings(r);
    for (size_t i = 0; i < r->n; i++) {
        struct rt_entry *e = &r->entries[i];
        const struct rt_entry *parent = e->row.parent_seq >= 0 ? find_seq(r, e->row.parent_seq) : NULL;

        r->taken[e->row.seq] = true;
        r->by_parent[i] = e;
        e->skipped = parent && (parent->skipped || (runs_a_function(parent) && parent->row.has_outcome));
        if (!e->skipped && (e->row.has_outcome || e->row.delivery > 0))
            r->order[r->n_order++] = e;
    }
    qsort(r->by_parent, r->n, sizeof(struct rt_entry *), order_by_parent);
    qsort(r->order, r->n_order, sizeof(struct rt_entry *), order_by_delivery);
    return CM_OK;
}

/* ---- words ---- */

static void add_excerpt(struct cm_buf *out, struct cm_str text, size_t from)
{
    size_t start = from > EXCERPT_BACK ? from - EXCERPT_BACK : 0;

    if (text.len <= EXCERPT_MAX)
        start = 0;
    /* Neither end within a character. */
    while (start > 0 && start < text.len && ((unsigned char)text.ptr[start] & 0xc0) == 0x80)
        start--;
    size_t end = text.len - start > EXCERPT_MAX ? start + EXCERPT_MAX : text.len;
    while (end > start && end < text.len && ((unsigned char)text.ptr[end] & 0xc0) == 0x80)
        end--;
    cm_buf_add_z(out, start ? "…" : "");
    cm_buf_add_str(out, cm_str_mk(text.ptr + start, end - start));
    cm_buf_add_z(out, end < text.len ? "…" : "");
}

/** A call in words; arguments around the byte `from`, which is where two of them differ. */
static void add_call(struct cm_buf *out, uint8_t kind, const char *connector, const char *method,
                     struct cm_value args, size_t from)
{
    static const char *const fronts[CM_CALL_KIND_COUNT_] = {[CM_CALL_SEARCH] = "codemode.search(",
                                                            [CM_CALL_DESCRIBE] = "codemode.describe(",
                                                            [CM_CALL_RUN] = "codemode.run(",
                                                            [CM_CALL_TIMER] = "a timer ("};

    if (kind == CM_CALL_STEP) {
        cm_buf_addf(out, "codemode.step(\"%s\")", method);
        return;
    }
    if (kind < CM_CALL_KIND_COUNT_ && fronts[kind])
        cm_buf_add_z(out, fronts[kind]);
    else
        cm_buf_addf(out, "%s.%s(", connector, method);
    add_excerpt(out, args.json, from);
    cm_buf_add_char(out, ')');
}

static struct cm_value asked_args(const struct rt_entry *e)
{
    return e->row.asked_hash[0] ? e->row.asked : e->row.args;
}

void rt_entry_describe(const struct rt_entry *e, struct cm_buf *out)
{
    add_call(out, e->row.kind, e->row.connector, e->row.method, asked_args(e), 0);
    cm_buf_addf(out, ", recorded as call %u", e->row.seq);
}

static cm_status diverges(const struct rt_entry *e, const struct rt_issue *is, struct cm_err *err)
{
    cm_autobuf text = CM_BUF_INIT(4096);
    struct cm_value before = asked_args(e);
    size_t same = 0;

    while (same < before.json.len && same < is->args.json.len &&
           before.json.ptr[same] == is->args.json.ptr[same])
        same++;
    cm_buf_addf(&text, "The program went another way than before. Its call %u was ", e->row.seq);
    add_call(&text, e->row.kind, e->row.connector, e->row.method, before, same);
    cm_buf_add_z(&text, "; now it is ");
    add_call(&text, is->kind, is->connector, is->method, is->args, same);
    if (cm_str_eq(before.json, is->args.json) && !cm_str_eq(before.marks, is->args.marks))
        cm_buf_addf(&text, ", with values of other types (%.*s, now %.*s)",
                    (int)(before.marks.len > 80 ? 80 : before.marks.len), before.marks.ptr,
                    (int)(is->args.marks.len > 80 ? 80 : is->args.marks.len), is->args.marks.ptr);
    return cm_err_set(err, CM_E_CONFLICT, "%.*s. %s", CM_STR_ARG(cm_buf_str(&text)), rt_replay_advice);
}

/* ---- matching ---- */

/** The first of this parent whose ordinal is not below; *at its place in by_parent. */
static struct rt_entry *find_ordinal(const rt_replay *r, int64_t parent, uint32_t ordinal)
{
    size_t low = 0, high = r->n;

    while (low < high) {
        size_t mid = (low + high) / 2;
        const struct rt_entry *e = r->by_parent[mid];

        if (e->row.parent_seq < parent || (e->row.parent_seq == parent && e->ordinal < ordinal))
            low = mid + 1;
        else
            high = mid;
    }
    return low < r->n && r->by_parent[low]->row.parent_seq == parent ? r->by_parent[low] : NULL;
}

/**
 * The number of a call without a row: one that is missing between its siblings, so that a run has the same numbers whether it was
 * interrupted or not; else a new one.
 */
static uint32_t free_seq(rt_replay *r, int64_t parent, const struct rt_entry *next_sibling)
{
    int64_t end = next_sibling ? next_sibling->row.seq : r->n_seqs;

    if (parent >= (int64_t)r->n_seqs)
        return r->next_seq++;
    for (int64_t seq = r->last[parent + 1] + 1; seq < end; seq++)
        if (!r->taken[seq]) {
            r->taken[seq] = true;
            return (uint32_t)seq;
        }
    return r->next_seq++;
}

static bool is_same(const struct rt_entry *e, const struct rt_issue *is)
{
    return e->row.kind == is->kind && cm_z_eq(e->row.connector, is->connector) &&
           cm_z_eq(e->row.method, is->method) &&
           cm_z_eq(e->row.asked_hash[0] ? e->row.asked_hash : e->row.args_hash, is->hash);
}

cm_status rt_replay_issue(rt_replay *r, const struct rt_issue *is, struct rt_entry **entry, uint32_t *seq,
                          struct cm_err *err)
{
    struct rt_entry *e = find_ordinal(r, is->parent_seq, is->ordinal);

    if (!e || e->ordinal != is->ordinal || e->issued) {
        *entry = NULL;
        *seq = free_seq(r, is->parent_seq, e);
    } else if (!is_same(e, is)) {
        return diverges(e, is, err);
    } else {
        e->issued = true;
        *entry = e;
        *seq = e->row.seq;
    }
    if (is->parent_seq < (int64_t)r->n_seqs)
        r->last[is->parent_seq + 1] = *seq;
    return CM_OK;
}

/* ---- deliveries ---- */

static void pass_given(rt_replay *r)
{
    while (r->at < r->n_order && r->order[r->at]->given)
        r->at++;
}

struct rt_entry *rt_replay_next(rt_replay *r)
{
    struct rt_entry *e;

    pass_given(r);
    e = r->at < r->n_order ? r->order[r->at] : NULL;
    return e && e->issued && !e->refreshing ? e : NULL;
}

const struct rt_entry *rt_replay_awaited(rt_replay *r)
{
    pass_given(r);
    return r->at < r->n_order ? r->order[r->at] : NULL;
}

bool rt_replay_is_live(rt_replay *r)
{
    pass_given(r);
    return r->at == r->n_order;
}

void rt_replay_drop(struct rt_entry *e)
{
    e->given = true;
}

const struct rt_entry *rt_replay_missing(const rt_replay *r)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct rt_entry *e = &r->entries[i];

        if (!e->issued && !e->skipped && (e->row.kind == CM_CALL_TOOL || runs_a_function(e)))
            return e;
    }
    return NULL;
}

struct rt_entry *rt_replay_entry(rt_replay *r, size_t i)
{
    return i < r->n ? &r->entries[i] : NULL;
}

bool rt_entry_starts(const struct rt_entry *e)
{
    return !e->row.has_outcome;
}
