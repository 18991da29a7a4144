/* The runtime itself: what all its executions share, and reading the record. */
#include "runtime/internal.h"

#include <inttypes.h>

#define MAX_EXECUTIONS 50
#define LIST_MAX       1000
#define FIRST_LINE_MAX 200

/** More executions have ended than are kept. Whoever waited for the end has been told by now, and waits for none of this. */
static void prune(cm_runtime *rt)
{
    if (rt->prune_due)
        (void)cm_store_prune(rt->o.store, rt->name, rt->o.max_executions, NULL, NULL);
    rt->prune_due = false;
}

/** End of the loop's turn: what was recorded is handed to the kernel, other processes may write again, and whoever waits for the disk
 * waits from now on. */
static void on_turn(void *user)
{
    cm_runtime *rt = user;
    struct cm_err err = {0};

    prune(rt);
    if (cm_store_commit(rt->o.store, false, &err) == CM_OK) {
        (void)rt_disk_turn(rt, NULL);
        return;
    }
    if (!rt_disk_turn(rt, &err))
        return;
    /* Records of whoever is running are lost. Each ending may take others with it, so the list is looked at
     * afresh. */
    for (bool more = true; more;) {
        cm_exec *e = rt->execs;

        while (e && e->ending.set)
            e = e->next;
        more = e != NULL;
        if (e)
            rt_exec_store_failed(e, &err);
    }
}

void rt_touch(cm_runtime *rt)
{
    cm_soon_post(rt->turn);
}

cm_status cm_runtime_open(const struct cm_runtime_opts *opts, cm_runtime **out, struct cm_err *err)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    const char *name = opts->name ? opts->name : "default";
    cm_runtime *rt;

    if (!name[0] || strspn(name, allowed) != strlen(name) || strlen(name) > CM_NAME_MAX_BYTES)
        return cm_err_set(err, CM_E_INVALID,
                          "runtime name '%.100s': only letters, digits, '_', '.' and '-' are allowed", name);
    rt = cm_new(cm_runtime);
    rt->o = *opts;
    if (rt->o.max_executions == 0)
        rt->o.max_executions = MAX_EXECUTIONS;
    rt->name = cm_strdup(name);
    rt->turn = cm_soon_new(opts->loop, on_turn, rt);
    rt->direct = cm_soon_new(opts->loop, rt_direct_turn, rt);
    rt->looks = cm_soon_new(opts->loop, rt_looks_turn, rt);
    rt->answering = cm_soon_new(opts->loop, rt_answers_turn, rt);
    rt->answers_tail = &rt->answers;
    cm_status st = rt_disk_open(rt, err);
    if (st != CM_OK) {
        cm_runtime_close(rt);
        return st;
    }
    rt_expiry_open(rt);
    if (opts->on_event)
        rt_events_set(rt, opts->on_event, opts->on_event_user);
    *out = rt;
    return CM_OK;
}

void cm_runtime_close(cm_runtime *rt)
{
    if (!rt)
        return;
    rt->closing = true;
    rt_deferred_close(rt);
    rt_looks_turn(rt); /* what stands still for a human is paused, not cancelled */
    while (rt->held)
        rt_held_drop(rt->held);
    rt_rollbacks_close(rt);
    while (rt->execs)
        rt_exec_close(rt->execs);
    rt_disk_drain(rt);
    rt_answers_turn(rt);
    prune(rt);
    (void)cm_store_commit(rt->o.store, false, NULL);
    rt_events_close(rt);
    rt_disk_close(rt);
    cm_soon_free(rt->turn);
    cm_soon_free(rt->direct);
    cm_soon_free(rt->looks);
    cm_soon_free(rt->answering);
    cm_timer_free(rt->expiry);
    free(rt->name);
    free(rt);
}

/* ---- reading ---- */

struct listing {
    struct cm_buf *out;
    size_t n;
};

static struct cm_str first_line(struct cm_str code)
{
    const char *nl;

    while (code.len &&
           (code.ptr[0] == '\n' || code.ptr[0] == '\r' || code.ptr[0] == ' ' || code.ptr[0] == '\t')) {
        code.ptr++;
        code.len--;
    }
    nl = code.len ? memchr(code.ptr, '\n', code.len) : NULL;
    if (nl)
        code.len = (size_t)(nl - code.ptr);
    return code.len > FIRST_LINE_MAX ? cm_str_mk(code.ptr, FIRST_LINE_MAX) : code;
}

static bool list_row(void *user, const struct cm_exec_row *row)
{
    struct listing *l = user;
    cm_auto(yyjson_doc) doc = NULL;
    struct cm_buf *out = l->out;

    cm_buf_addf(out, "%s{\"status\":\"%s\",\"executionId\":", l->n++ ? "," : "",
                cm_exec_state_text(row->state));
    cm_json_write_string(out, cm_str_of(row->id));
    if (row->error_json.len && cm_json_parse(row->error_json, CM_JSON_STRICT, &doc, NULL) == CM_OK) {
        cm_buf_add_z(out, ",\"error\":");
        cm_json_write(out, yyjson_doc_get_root(doc));
    }
    cm_buf_add_z(out, ",\"runtime\":");
    cm_json_write_string(out, cm_str_of(row->runtime));
    cm_buf_add_z(out, ",\"code\":");
    cm_json_write_string(out, first_line(row->code));
    cm_buf_addf(out, ",\"createdAt\":%" PRId64 ",\"updatedAt\":%" PRId64, row->created_at, row->updated_at);
    if (row->ended_at)
        cm_buf_addf(out, ",\"endedAt\":%" PRId64, row->ended_at);
    cm_buf_add_char(out, '}');
    return true;
}

cm_status cm_runtime_executions(cm_runtime *rt, size_t limit, struct cm_buf *out, struct cm_err *err)
{
    struct listing l = {.out = out};
    cm_status st = rt_catch_up(rt, err);

    if (st != CM_OK)
        return st;
    cm_buf_add_z(out, "{\"executions\":[");
    st = cm_store_executions(rt->o.store, rt->name,
                             limit == 0         ? MAX_EXECUTIONS
                             : limit > LIST_MAX ? LIST_MAX
                                                : limit,
                             false, list_row, &l, err);
    cm_buf_add_z(out, "]}");
    return st == CM_OK ? cm_buf_check(out, "the list of executions", err) : st;
}

bool rt_keep_row(void *user, const struct cm_exec_row *row)
{
    struct rt_kept *k = user;
    struct cm_str *const runs[] = {&k->row.code, &k->row.error_json, &k->row.logs_json, &k->row.warnings_json,
                                   &k->row.limits_json};

    k->row = *row;
    for (size_t i = 0; i < CM_ARRAY_LEN(runs); i++) {
        k->text[i] = cm_memdup_z(runs[i]->ptr, runs[i]->len);
        runs[i]->ptr = k->text[i];
    }
    k->row.id = k->text[5] = cm_strdup(row->id);
    k->row.runtime = k->text[6] = cm_strdup(row->runtime);
    k->row.connectors_json = NULL;
    k->input = cm_value_dup(row->input);
    k->row.input = cm_value_view(&k->input);
    k->result = cm_value_dup(row->result);
    k->row.result = cm_value_view(&k->result);
    return false;
}

void rt_kept_done(struct rt_kept *k)
{
    cm_value_done(&k->input);
    cm_value_done(&k->result);
    for (size_t i = 0; i < CM_ARRAY_LEN(k->text); i++)
        free(k->text[i]);
}

cm_status cm_runtime_execution(cm_runtime *rt, const char *id, struct cm_buf *out, struct cm_err *err)
{
    const struct rt_outcome_opts opts = {.record = true};
    struct rt_kept kept = {0};
    cm_status st = rt_catch_up(rt, err);

    if (st == CM_OK)
        st = cm_store_execution(rt->o.store, id, rt_keep_row, &kept, err);
    if (st == CM_OK)
        st = rt_outcome_write(rt->o.store, &kept.row, &opts, out, err);
    rt_kept_done(&kept);
    return st == CM_E_NOT_FOUND ? rt_no_such(id, err) : st;
}
