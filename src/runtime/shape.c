/*
 * What of an execution is told, and what of it is kept, when it has ended: transformResult and log.drop.
 *
 * The record of the result is never changed by what is told. A transformation by a callback is done at once; one by a snippet is a run of
 * its own, with a record of its own, and the execution's end is told when that has ended. Whatever goes wrong with it is a warning beside
 * the result as it is.
 *
 * What is dropped leaves the record in the transaction in which the execution ends, so that no moment and no crash leaves it there.
 */
#include "base/clock.h"
#include "runtime/internal.h"

#include <stdio.h>

#define TOLD_MAX_BYTES (256u << 20)

/* ---- log.drop ---- */

struct drop {
    uint32_t seq;
    unsigned parts;
};
struct drops {
    const cm_config *config;
    bool completed;
    struct drop *list;
    size_t n, cap;
};

_Static_assert((int)CM_DROP_ARGS == CM_CALL_ARGS && (int)CM_DROP_RESULT == CM_CALL_OUTCOME, "parts differ");

static bool find_drop(void *user, const struct cm_call_row *row)
{
    struct drops *d = user;
    unsigned parts =
        row->kind == CM_CALL_TOOL ? cm_config_drops(d->config, row->connector, row->method, d->completed) : 0;

    if (parts == 0)
        return true;
    if (d->n == d->cap) {
        d->cap = d->cap ? 2 * d->cap : 32;
        d->list = cm_realloc(d->list, d->cap * sizeof *d->list);
    }
    d->list[d->n++] = (struct drop){row->seq, parts};
    return true;
}

cm_status rt_drop_parts(cm_runtime *rt, const char *id, enum cm_exec_state state, struct cm_err *err)
{
    struct drops d = {.config = rt->o.config, .completed = state == CM_EXEC_COMPLETED};
    cm_status st;

    if (!cm_config_drops_any(rt->o.config))
        return CM_OK;
    st = cm_store_calls(rt->o.store, id, find_drop, &d, err);
    for (size_t i = 0; i < d.n && st == CM_OK; i++)
        st = cm_store_call_drop(rt->o.store, id, d.list[i].seq, d.list[i].parts, err);
    free(d.list);
    return st;
}

/* ---- transformResult ---- */

uint64_t rt_told_bytes(const cm_exec *e)
{
    uint64_t max = e->rt->o.config ? cm_config_settings(e->rt->o.config)->transform_max_bytes : 0;

    return max && max < e->limits.result_bytes ? max : e->limits.result_bytes;
}

void cm_runtime_on_result(cm_runtime *rt, cm_transform_fn fn, void *user)
{
    rt->o.transform = fn;
    rt->o.transform_user = user;
}

/** What came back is told only if it is JSON. */
static cm_status check_told(struct cm_buf *told, struct cm_err *err)
{
    cm_auto(yyjson_doc) doc = NULL;
    cm_status st = cm_buf_check(told, "the result", err);

    return st == CM_OK && told->len ? cm_json_parse(cm_buf_str(told), CM_JSON_BIGNUM, &doc, err) : st;
}

void rt_transform(const cm_runtime *rt, const struct cm_exec_row *row, struct rt_outcome_opts *opts,
                  struct cm_buf *told)
{
    cm_autobuf json = CM_BUF_INIT(TOLD_MAX_BYTES);
    bool appended = false;
    struct cm_err err = {0};

    if (!rt->o.transform || row->state != CM_EXEC_COMPLETED || !row->has_result)
        return;
    cm_status st = cm_value_to_reader_json(row->result, &json, &appended, &err);
    if (st == CM_OK && !appended)
        return;
    if (st == CM_OK)
        st = rt->o.transform(rt->o.transform_user, row->id, cm_buf_str(&json), told, &err);
    if (st == CM_OK)
        st = check_told(told, &err);
    if (st == CM_OK) {
        opts->told = cm_buf_str(told);
        return;
    }
    (void)snprintf(opts->warning, sizeof opts->warning,
                   "The result was not transformed (transformResult) and is shown as it is: %.500s",
                   err.message);
}

/* ---- by a snippet ---- */

struct rt_shape {
    struct rt_shape *next, **prev;
    cm_exec *e;      /* the one that has ended; told at the end of this */
    cm_exec *shaper; /* the run of the snippet */
};

static const char *snippet_of(const cm_runtime *rt)
{
    return rt->o.config ? cm_config_settings(rt->o.config)->transform_snippet : NULL;
}

/** The execution's end is told, with `told` in place of its result where there is something. */
static void tell_shaped(cm_exec *e, struct cm_str told, const char *warning)
{
    struct rt_outcome_opts opts = {.result_bytes = rt_told_bytes(e), .told = told};
    cm_autobuf out = CM_BUF_INIT(RT_OUTCOME_MAX_BYTES);
    struct rt_kept kept = {0};
    struct cm_err err = {0};
    cm_status st;

    if (warning)
        (void)snprintf(opts.warning, sizeof opts.warning,
                       "The result was not transformed (transformResult) and is shown as it is: %.500s",
                       warning);
    st = cm_store_execution(e->rt->o.store, e->id, rt_keep_row, &kept, &err);
    if (st == CM_OK)
        st = rt_outcome_write(e->rt->o.store, &kept.row, &opts, &out, &err);
    if (st == CM_OK)
        rt_exec_tell(e, kept.row.state, cm_buf_str(&out), NULL);
    else
        rt_exec_tell(e, CM_EXEC_ERROR, (struct cm_str){0}, &err);
    rt_kept_done(&kept);
    rt_exec_free(e);
}

static void on_shaped(void *user, enum cm_exec_state state, struct cm_str outcome, const struct cm_err *err)
{
    struct rt_shape *s = user;
    cm_exec *e = s->e;
    cm_auto(yyjson_doc) doc = NULL;
    cm_autobuf told = CM_BUF_INIT(TOLD_MAX_BYTES);
    char why[CM_ERR_MAX_BYTES + 128] = "";

    *s->prev = s->next;
    if (s->next)
        s->next->prev = s->prev;
    if (state == CM_EXEC_COMPLETED && cm_json_parse(outcome, CM_JSON_BIGNUM, &doc, NULL) == CM_OK) {
        yyjson_val *result = cm_json_get(yyjson_doc_get_root(doc), "result");

        if (result)
            cm_json_write(&told, result);
        else
            cm_buf_add_z(&told, "null");
    } else {
        const char *message = err ? err->message : NULL;

        if (!message && cm_json_parse(outcome, CM_JSON_BIGNUM, &doc, NULL) == CM_OK)
            message = cm_json_get_z(cm_json_get(yyjson_doc_get_root(doc), "error"), "message");
        (void)snprintf(why, sizeof why, "snippet '%s' ended as %s%s%.1000s", snippet_of(e->rt),
                       cm_exec_state_text(state), message ? ": " : "", message ? message : "");
        if (state == CM_EXEC_PAUSED) /* nobody waits for a human to see a result */
            (void)cm_runtime_cancel_start(e->rt, cm_exec_id(s->shaper), NULL, NULL, NULL);
    }
    free(s);
    tell_shaped(e, cm_buf_str(&told), why[0] ? why : NULL);
}

bool rt_shape_later(cm_exec *e, const struct cm_exec_row *row)
{
    cm_runtime *rt = e->rt;
    const char *name = snippet_of(rt);
    cm_autofree char *code = NULL;
    size_t len = 0;
    struct cm_err err = {0};
    struct rt_shape *s;
    cm_status st;

    if (!name || e->is_shaper || rt->closing || row->state != CM_EXEC_COMPLETED || !row->has_result)
        return false;
    s = cm_new(struct rt_shape);
    s->e = e;
    st = cm_runtime_snippet_program(rt, name, row->result, &code, &len, &err);
    if (st == CM_OK) {
        const struct cm_exec_spec spec = {
            .code = cm_str_mk(code, len), .input = row->result, .limits = rt->o.limits};

        st = cm_exec_start(rt, &spec, on_shaped, s, &s->shaper, &err);
    }
    if (st != CM_OK) {
        free(s);
        tell_shaped(e, (struct cm_str){0}, err.message);
        return true;
    }
    s->shaper->is_shaper = true;
    s->next = rt->shapes;
    s->prev = &rt->shapes;
    if (s->next)
        s->next->prev = &s->next;
    rt->shapes = s;
    return true;
}

void rt_shape_cancel(const cm_exec *e)
{
    for (struct rt_shape *s = e->rt->shapes; s; s = s->next)
        if (s->e == e) {
            cm_exec_cancel(s->shaper);
            return;
        }
}
