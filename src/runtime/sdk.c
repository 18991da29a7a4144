/*
 * The `codemode` global's questions and the timers: host calls that have no effect. They are recorded with
 * their answer in one, so that a replay gets the same one, but are no part of `calls` and no subrequests.
 */
#include "base/clock.h"
#include "base/parse.h"
#include "runtime/internal.h"

#include <math.h>

#define ANSWER_MAX_BYTES (16u << 20)

/** The text of a question: the string itself, or the first of these members of an object. */
static struct cm_str question(yyjson_val *v)
{
    static const char *const keys[] = {"query", "path", "target"};

    if (yyjson_is_str(v))
        return cm_json_str(v);
    for (size_t i = 0; i < CM_ARRAY_LEN(keys); i++)
        if (yyjson_is_str(cm_json_get(v, keys[i])))
            return cm_json_str(cm_json_get(v, keys[i]));
    return (struct cm_str){0};
}

static size_t limit_of(yyjson_val *v)
{
    yyjson_val *limit = cm_json_get(v, "limit");
    double n = yyjson_is_num(limit) ? yyjson_get_num(limit) : 0;

    return n >= 1 && n <= CM_SEARCH_MAX ? (size_t)n : n > CM_SEARCH_MAX ? CM_SEARCH_MAX : 0;
}

/** A target that does not exist is an answer, with the nearest names in it, not an error: a look-up is never
 * a dead end. */
static void not_found(struct cm_str target, const struct cm_err *err, struct cm_buf *out)
{
    cm_buf_clear(out);
    cm_buf_add_z(out, "{\"found\":false,\"kind\":\"method\",\"path\":");
    cm_json_write_string(out, target);
    cm_buf_add_z(out, ",\"types\":");
    cm_json_write_string(out, cm_str_of(err->message));
    cm_buf_add_char(out, '}');
}

static void answer_lookup(struct rt_call *c)
{
    cm_catalog *catalog = c->e->rt->o.catalog;
    cm_auto(yyjson_doc) doc = NULL;
    cm_autobuf out = CM_BUF_INIT(ANSWER_MAX_BYTES);
    cm_autovalue value = {0};
    struct cm_err err = {0};
    yyjson_val *root = NULL;
    cm_status st = cm_runtime_look_at_snippets(c->e->rt, &err);

    if (c->args.json_len &&
        cm_json_parse(cm_str_mk(c->args.json, c->args.json_len), CM_JSON_STRICT, &doc, NULL) == CM_OK)
        root = yyjson_doc_get_root(doc);
    if (st != CM_OK)
        (void)cm_err_prefix(&err, "the snippets");
    else if (c->kind == CM_CALL_SEARCH)
        cm_catalog_search(catalog, question(root), limit_of(root), &out);
    else if (cm_catalog_describe(catalog, question(root), &out, &err) != CM_OK)
        not_found(question(root), &err, &out);
    if (st == CM_OK)
        st = cm_buf_check(&out, "the answer", &err);
    if (st == CM_OK)
        st = cm_value_from_json(cm_buf_str(&out), ANSWER_MAX_BYTES, &value, &err);
    if (st != CM_OK)
        rt_call_fail(c, CM_CALL_FAILED, "lookup_failed", "codemode.%s: %s",
                     c->kind == CM_CALL_SEARCH ? "search" : "describe", err.message);
    else
        rt_call_answer(c, CM_CALL_APPLIED, false, cm_value_view(&value));
}

static void on_ready(void *user, cm_connector *conn)
{
    struct rt_call *c = user;

    (void)conn;
    if (--c->n_lookups == 0 && !c->e->ending.set)
        answer_lookup(c);
}

/** Whether a question can be answered from this connector alone: "github" and "github.x" name it. */
static bool is_named(const cm_connector *conn, struct cm_str target)
{
    struct cm_str name = cm_str_of(cm_connector_name(conn));

    return cm_str_has_prefix(target, name) && (target.len == name.len || target.ptr[name.len] == '.');
}

/** Look at what is ready; start what is not, and wait for all of it: a search that misses a slow server would
 * be a wrong answer. */
static void issue_lookup(struct rt_call *c)
{
    cm_runtime *rt = c->e->rt;
    cm_auto(yyjson_doc) doc = NULL;
    struct cm_str target = {0};
    cm_connector *only = NULL;
    size_t total;

    c->phase = RT_LOOKUP;
    if (c->kind == CM_CALL_DESCRIBE && c->args.json_len &&
        cm_json_parse(cm_str_mk(c->args.json, c->args.json_len), CM_JSON_STRICT, &doc, NULL) == CM_OK)
        target = question(yyjson_doc_get_root(doc));
    for (size_t i = 0; i < rt->o.n_connectors && target.len; i++)
        if (is_named(rt->o.connectors[i], target))
            only = rt->o.connectors[i];
    total = only ? 1 : rt->o.n_connectors;
    /* Counted before the first is asked; none answers from inside ensure. */
    for (size_t i = 0; i < total; i++)
        if (cm_connector_state(only ? only : rt->o.connectors[i]) != CM_CONN_READY)
            c->n_lookups++;
    if (c->n_lookups == 0) {
        answer_lookup(c);
        return;
    }
    for (size_t i = 0; i < total; i++) {
        cm_connector *it = only ? only : rt->o.connectors[i];

        if (cm_connector_state(it) != CM_CONN_READY)
            cm_connector_ensure(it, on_ready, c);
    }
}

/* ---- timers ---- */

/*
 * The clock that a program sees stands still during a turn: all timers that it starts in one begin at the same moment, and which fires
 * first is a matter of their milliseconds alone, however late a busy host hears of the next one. So they count from one moment, and none
 * fires before the turn has ended in which it was started; those that are due then fire in their order.
 */

/** The one that is to fire next, or NULL. */
static struct rt_call *next_due(const cm_exec *e)
{
    uint32_t turns = cm_pass_turns(e->pass->pass);
    int64_t now = cm_mono_ms();
    struct rt_call *next = NULL;

    for (struct rt_call *c = e->calls; c; c = c->next)
        if (c->phase == RT_TIMER && c->due_at <= now && c->turn < turns &&
            (!next || c->due_at < next->due_at))
            next = c;
    return next;
}

void rt_sdk_fire(cm_exec *e)
{
    struct rt_call *c;

    while (e->n_timers && !e->ending.set && (c = next_due(e)) != NULL) {
        e->n_timers--;
        rt_call_answer(c, CM_CALL_APPLIED, false,
                       (struct cm_value){CM_STR("null"), CM_STR("{\"\":\"undefined\"}")});
    }
}

static void on_timer(void *user)
{
    struct rt_call *c = user;

    c->due_at = cm_mono_ms() < c->due_at ? cm_mono_ms() : c->due_at;
    rt_sdk_fire(c->e);
}

/** Milliseconds as a program may write them: a number, rounded up to one that a run can live through;
 * anything else is 0. */
static uint64_t timer_ms(const struct rt_call *c)
{
    cm_auto(yyjson_doc) doc = NULL;
    double ms = 0;

    if (c->args.json_len &&
        cm_json_parse(cm_str_mk(c->args.json, c->args.json_len), CM_JSON_STRICT, &doc, NULL) == CM_OK &&
        yyjson_is_num(yyjson_doc_get_root(doc)))
        ms = yyjson_get_num(yyjson_doc_get_root(doc));
    if (!(ms > 0))
        return 0;
    return ms > (double)c->e->limits.deadline_ms ? c->e->limits.deadline_ms : (uint64_t)ceil(ms);
}

/** When the timers of this turn began. Where that was before the run was interrupted, the program's clock then tells. */
static int64_t began_at(const struct rt_call *c)
{
    cm_exec *e = c->e;

    if (e->timers_turn != c->turn + 1) {
        int64_t passed = c->issue_clock ? cm_now_ms() - c->issue_clock : 0;

        e->timers_turn = c->turn + 1;
        e->timers_from = cm_mono_ms() - (passed > 0 ? passed : 0);
    }
    return e->timers_from;
}

static void issue_timer(struct rt_call *c)
{
    cm_exec *e = c->e;

    c->phase = RT_TIMER;
    if (++e->n_timers > e->limits.timers) {
        rt_exec_end(e, CM_EXEC_ERROR, "timers_limit",
                    "The program has more than %u timers running at once (limits.timers). Wait for some "
                    "before starting others.",
                    e->limits.timers);
        return;
    }
    c->due_at = began_at(c) + (int64_t)timer_ms(c);
    int64_t left = c->due_at - cm_mono_ms();
    c->timer = cm_timer_new(e->rt->o.loop, on_timer, c);
    cm_timer_start(c->timer, left > 0 ? (uint64_t)left : 0);
}

void rt_sdk_clear(struct rt_call *c)
{
    c->e->n_timers -= c->phase == RT_TIMER;
    rt_again_cleared(c);
    rt_call_unlink(c);
    rt_call_free(c);
}

void rt_sdk_issue(struct rt_call *c)
{
    if (c->kind == CM_CALL_TIMER)
        issue_timer(c);
    else
        issue_lookup(c);
}

void rt_sdk_stop(struct rt_call *c)
{
    const cm_runtime *rt = c->e->rt;

    if (c->timer)
        cm_timer_stop(c->timer);
    if (c->phase == RT_LOOKUP)
        for (size_t i = 0; i < rt->o.n_connectors; i++)
            cm_connector_forget(rt->o.connectors[i], c);
}
