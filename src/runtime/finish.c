/*
 * The one place where an execution ends: how it ended is judged, its calls are settled, the row is finished,
 * the outcome is built from the record; when the row is on the disk the callback runs.
 *
 * The record is the authority: where another process has moved the execution meanwhile, its state is what is
 * told. Where the record cannot be written there is no outcome, only the reason.
 */
#include "base/clock.h"
#include "runtime/internal.h"

#include <inttypes.h>
#include <stdio.h>

#define OUTCOME_MAX_BYTES (1u << 30)

/** What is collected before anything is written, and kept until it is told. */
struct final {
    cm_exec *e;
    enum cm_exec_state state;
    struct cm_own_value result;
    bool has_result;
    struct cm_buf error, warnings;
    struct cm_exec_row row; /* of these */
    struct cm_buf out;      /* the outcome */
};

static void fail_final(const cm_exec *e, struct final *f, const char *code, const char *message)
{
    f->state = CM_EXEC_ERROR;
    f->has_result = false;
    cm_buf_clear(&f->error);
    rt_host_error(e->rt, code, message, &f->error);
}

/** The same with U+FFFD for halves of characters: `text.slice(0, 100)` leaves such a half, and what the program
 * did is done. */
static bool take_repaired(cm_exec *e, struct final *f, struct cm_value value)
{
    size_t len = 0;
    cm_autofree char *json = cm_json_repair(value.json, &len);

    if (cm_str_eq(value.json, cm_str_mk(json, len)))
        return false;
    value.json = cm_str_mk(json, len);
    if (cm_value_checked(value, CM_FRAME_MAX_BYTES, &f->result, NULL) != CM_OK)
        return false;
    rt_exec_warn(e, "The result held half of a character (a lone surrogate, as slice can leave it); U+FFFD "
                    "stands in its place.");
    f->has_result = true;
    return true;
}

static void take_result(cm_exec *e, struct final *f, struct cm_value value)
{
    struct cm_err err = {0};
    char message[CM_ERR_MAX_BYTES + 128];

    if (value.json.len == 0)
        return;
    if (cm_value_checked(value, CM_FRAME_MAX_BYTES, &f->result, &err) == CM_OK) {
        f->has_result = true;
        return;
    }
    if (take_repaired(e, f, value))
        return;
    (void)snprintf(message, sizeof message, "The program completed, but its result cannot be returned: %s",
                   err.message);
    fail_final(e, f, "invalid_result", message);
}

/** A limit's message says how far the program had come: which call was the last is often the cause. */
static void fail_by_limit(const cm_exec *e, struct final *f, const struct cm_pass_end *end)
{
    char message[4096], queued[160] = "";
    uint32_t n = cm_z_eq(end->code, "deadline") ? rt_calls_queued(e) : 0;

    if (n > 0)
        (void)snprintf(
            queued, sizeof queued,
            " %u of the calls had not been made: at most %u are under way at once (limits.callsInFlight).", n,
            e->limits.calls_in_flight);
    (void)snprintf(message, sizeof message, "%s%s%s%s%s", end->message, queued,
                   e->last_call[0] ? " The last call was " : "", e->last_call, e->last_call[0] ? "." : "");
    fail_final(e, f, end->code, message);
}

static bool find_rejected(void *user, const struct cm_call_row *row)
{
    bool *found = user;

    *found = row->state == CM_CALL_REJECTED;
    return !*found;
}

/** Whether a human's no is what the program ended with. Words that a program throws itself are none where nobody said no. */
static bool is_rejection(const cm_exec *e, struct cm_str error)
{
    cm_auto(yyjson_doc) doc = NULL;
    bool found = false;

    if (cm_json_parse(error, CM_JSON_STRICT, &doc, NULL) == CM_OK &&
        cm_str_eq_z(cm_json_str(cm_json_get(yyjson_doc_get_root(doc), "code")), "rejected"))
        found = cm_store_calls(e->rt->o.store, e->id, find_rejected, &found, NULL) != CM_OK || found;
    return found; /* where the record cannot be read, the program is believed */
}

/** A call that the record has, and a human may have approved, must not be left out without a word. */
static bool has_diverged(const cm_exec *e, struct final *f)
{
    const struct rt_entry *missing = e->replay ? rt_replay_missing(e->replay) : NULL;
    cm_autobuf text = CM_BUF_INIT(4096);

    if (!missing)
        return false;
    cm_buf_add_z(&text, "The program went another way than before. It has ended without ");
    rt_entry_describe(missing, &text);
    cm_buf_addf(&text, ". %s", rt_replay_advice);
    fail_final(e, f, "divergence", cm_buf_str(&text).ptr);
    return true;
}

static void judge_pass(cm_exec *e, struct final *f, const struct cm_pass_end *end)
{
    f->state = CM_EXEC_COMPLETED;
    switch (end->kind) {
    case CM_PASS_COMPLETED:
        if (has_diverged(e, f))
            break;
        take_result(e, f, end->value);
        break;
    case CM_PASS_THREW:
        if (end->code[0]) { /* an error that nobody caught, but of a limit's making */
            fail_by_limit(e, f, end);
            rt_guest_place(end->meta_json, &f->error);
            break;
        }
        rt_guest_error(end->meta_json, &f->error);
        f->state = is_rejection(e, cm_buf_str(&f->error)) ? CM_EXEC_REJECTED : CM_EXEC_ERROR;
        rt_guest_fields(end->value, &f->error);
        break;
    case CM_PASS_LIMIT:
        fail_by_limit(e, f, end);
        break;
    case CM_PASS_CRASHED:
    case CM_PASS_PROTOCOL:
    case CM_PASS_EVICTED:
    case CM_PASS_FAILED: {
        static const char *const codes[] = {[CM_PASS_CRASHED] = "crashed",
                                            [CM_PASS_PROTOCOL] = "protocol",
                                            [CM_PASS_FAILED] = "no_worker",
                                            [CM_PASS_EVICTED] = "evicted"};

        fail_final(e, f, end->code[0] ? end->code : codes[end->kind], end->message);
        break;
    }
    case CM_PASS_CANCELLED:
        f->state = CM_EXEC_CANCELLED;
        break;
    }
    rt_guest_warnings(e, end->meta_json);
}

static void judge_direct(cm_exec *e, struct final *f)
{
    struct cm_value v = cm_value_view(&e->direct_result);

    if (e->direct_failed) {
        f->state = CM_EXEC_ERROR;
        /* Its fields are those of a program's error, so it is rebuilt in the same way. */
        cm_autobuf meta = CM_BUF_INIT(CM_FRAME_MAX_BYTES + 64);

        cm_buf_add_z(&meta, "{\"error\":");
        cm_buf_add_str(&meta, v.json);
        cm_buf_add_char(&meta, '}');
        rt_guest_error(cm_buf_str(&meta), &f->error);
        rt_guest_fields(v, &f->error);
    } else {
        f->state = CM_EXEC_COMPLETED;
        f->result = cm_value_dup(v);
        f->has_result = v.json.len > 0;
    }
}

static void judge(cm_exec *e, struct final *f, const struct cm_pass_end *end)
{
    if (e->ending.set) {
        f->state = e->ending.state;
        if (e->ending.code)
            rt_host_error(e->rt, e->ending.code, e->ending.message, &f->error);
    } else if (end) {
        judge_pass(e, f, end);
    } else if (e->direct_answered) {
        judge_direct(e, f);
    } else {
        f->state = CM_EXEC_CANCELLED;
    }
}

void rt_write_warnings(const cm_exec *e, struct cm_buf *out)
{
    if (e->n_warnings == 0)
        return;
    for (size_t i = 0; i < e->n_warnings; i++) {
        cm_autofree char *clean = cm_secrets_redact(e->rt->o.secrets, cm_str_of(e->warnings[i]), NULL);

        cm_buf_add_char(out, i ? ',' : '[');
        cm_json_write_string(out, cm_str_of(clean ? clean : e->warnings[i]));
    }
    cm_buf_add_char(out, ']');
}

/** What the outcome says of console output that was dropped, beside the line that says it in its place. */
static void note_dropped_logs(cm_exec *e, const struct cm_pass_end *end)
{
    uint64_t kept = e->logs_kept < e->limits.log_bytes ? e->logs_kept : e->limits.log_bytes;

    if (!end || (end->log_bytes <= e->limits.log_bytes && !e->logs_lost))
        return;
    cm_buf_addf(&e->logs, "%c{\"bytes\":%" PRIu64 ",\"shown\":%" PRIu64 "}", e->logs.len ? ',' : '[',
                end->log_bytes, kept);
}

/** What the record holds of the end, with names in place of secrets. */
static void hide_secrets(cm_exec *e, struct final *f)
{
    struct cm_err err = {0};
    cm_autofree char *error = cm_secrets_redact(e->rt->o.secrets, cm_buf_str(&f->error), NULL);

    if (error) {
        cm_buf_clear(&f->error);
        cm_buf_add_z(&f->error, error);
    }
    if (f->has_result && rt_without_secrets(e->rt, &f->result, false, &err) != CM_OK) {
        char message[CM_ERR_MAX_BYTES + 128];

        (void)snprintf(message, sizeof message,
                       "The program completed, but its result cannot be returned: %s", err.message);
        fail_final(e, f, "invalid_result", message);
    }
}

/** Another process (or a command) has ended it: what stands in the record is what is told. */
static cm_status tell_recorded(cm_exec *e, enum cm_exec_state *state, struct cm_buf *out, struct cm_err *err)
{
    const struct rt_outcome_opts opts = {.result_bytes = e->limits.result_bytes};
    struct rt_kept kept = {0};
    cm_status st = cm_store_execution(e->rt->o.store, e->id, rt_keep_row, &kept, err);

    if (st == CM_OK) {
        *state = kept.row.state;
        st = rt_outcome_write(e->rt->o.store, &kept.row, &opts, out, err);
    }
    rt_kept_done(&kept);
    return st;
}

/** Build the outcome from the record; where the embedder has a say in it, once it is on the disk. */
static cm_status build(struct final *f, bool on_disk, struct cm_err *err)
{
    cm_exec *e = f->e;
    struct rt_outcome_opts opts = {.result_bytes = rt_told_bytes(e)};
    cm_autobuf told = CM_BUF_INIT(RT_OUTCOME_MAX_BYTES);
    cm_status st;

    if (f->out.len || (e->rt->o.transform && !on_disk))
        return CM_OK;
    rt_transform(e->rt, &f->row, &opts, &told);
    st = rt_outcome_write(e->rt->o.store, &f->row, &opts, &f->out, err);
    return st == CM_OK ? cm_buf_check(&f->out, "the outcome", err) : st;
}

/** Finish the row and build the outcome. An error leaves no truthful outcome. */
static cm_status conclude(struct final *f, struct cm_err *err)
{
    cm_exec *e = f->e;
    const struct cm_exec_row *row = &f->row;
    cm_store *store = e->rt->o.store;
    cm_status st;

    st = rt_drop_parts(e->rt, e->id, row->state, err);
    if (st == CM_OK)
        st = cm_store_finish(store, e->id, 1u << CM_EXEC_RUNNING, row, err);
    if (st != CM_OK) {
        /* It runs on in the record, and whoever goes on with it there finds its calls as they were; others may write. */
        cm_store_back(store);
        (void)cm_store_commit(store, false, NULL);
    }
    if (st == CM_E_CONFLICT)
        return tell_recorded(e, &f->state, &f->out, err);
    /* Its row was lost with a group: that is the reason, and not that there is no such execution. */
    if (st == CM_E_NOT_FOUND && cm_store_losses(store) != e->losses)
        return cm_err_set(err, CM_E_IO, "The run could not be recorded: %s", cm_store_loss(store)->message);
    return st == CM_OK ? build(f, false, err) : st;
}

static void final_free(struct final *f)
{
    cm_value_done(&f->result);
    cm_buf_done(&f->error);
    cm_buf_done(&f->warnings);
    cm_buf_done(&f->out);
    free(f);
}

/** It is on the disk, or err says why nobody knows. */
static void on_ended(void *user, const struct cm_err *failed)
{
    struct final *f = user;
    cm_exec *e = f->e;
    struct cm_err err = failed ? *failed : (struct cm_err){0};
    cm_status st = failed ? failed->status : build(f, true, &err);

    e->rt->prune_due = true;
    rt_touch(e->rt);
    rt_announce(e->rt, e->id, st == CM_OK ? f->state : CM_EXEC_ERROR, true, f->row.error_json);
    if (st == CM_OK && !e->unshaped && rt_shape_later(e, &f->row))
        e = NULL; /* told and freed from there */
    else if (st == CM_OK)
        rt_exec_tell(e, f->state, cm_buf_str(&f->out), NULL);
    else
        rt_exec_tell(e, CM_EXEC_ERROR, (struct cm_str){0}, &err);
    final_free(f);
    if (e)
        rt_exec_free(e);
}

void rt_exec_finish(cm_exec *e, const struct cm_pass_end *end)
{
    struct final *f = cm_new(struct final);
    int64_t now = cm_now_ms();
    struct cm_err err = {0};
    cm_status marked, st;

    *f = (struct final){.e = e,
                        .error = CM_BUF_INIT(1u << 20),
                        .warnings = CM_BUF_INIT(1u << 20),
                        .out = CM_BUF_INIT(OUTCOME_MAX_BYTES)};
    e->finishing = true;
    judge(e, f, end);
    hide_secrets(e, f);
    e->ending.set = true; /* what settles now is delivered to nobody */
    marked = cm_store_mark(e->rt->o.store, &err);
    st = rt_calls_settle(e, f->state, marked == CM_OK ? &err : NULL);
    if (marked != CM_OK)
        st = marked;
    if (st == CM_E_CONFLICT)
        st = CM_OK; /* ended by another process: finishing will say the same */
    if (st != CM_OK || cm_store_losses(e->rt->o.store) != e->losses) {
        char message[CM_ERR_MAX_BYTES + 128];

        (void)snprintf(message, sizeof message, "The run was ended because it could not be recorded: %s",
                       st != CM_OK ? err.message : cm_store_loss(e->rt->o.store)->message);
        fail_final(e, f, "store_error", message);
        (void)cm_store_calls_abandon(e->rt->o.store, e->id, NULL);
    }
    rt_again_rest_of_lines(e);
    note_dropped_logs(e, end);
    if (e->logs.len)
        cm_buf_add_char(&e->logs, ']');
    rt_write_warnings(e, &f->warnings);
    f->row = (struct cm_exec_row){
        .id = e->id,
        .runtime = e->rt->name,
        .state = f->state,
        .has_result = f->has_result,
        .result = cm_value_view(&f->result),
        .error_json = cm_buf_str(&f->error),
        .logs_json = cm_buf_str(&e->logs),
        .warnings_json = cm_buf_str(&f->warnings),
        .created_at = e->created_at,
        .updated_at = now,
        .ended_at = now,
        .passes = e->passes,
    };
    st = conclude(f, &err);
    rt_exec_unlink(e);
    if (st == CM_OK)
        (void)rt_disk_wait(e->rt, on_ended, f);
    else
        on_ended(f, &err);
}
