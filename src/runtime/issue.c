/* A call as it comes from the program: its name, its bytes, its place in the record, and who sees to it. */
#include "base/clock.h"
#include "runtime/internal.h"

#include <stdio.h>

/** What is to be known of an id when its call is gone: calls of a step may outlive it. */
static void note_parent(const struct rt_call *c)
{
    cm_exec *e = c->e;

    /* Ids are dense (the sandbox sees to it), so every one below this is noted. */
    e->parents[c->id] = (struct rt_parent){.seq = rt_kind_has_function(c->kind) ? (int64_t)c->seq : -1};
    e->n_parents = (size_t)c->id + 1;
}

/** The step that a call belongs to as its worker says, or the program itself. A worker that lies misleads nobody but its own program. */
static struct rt_parent *parent_of(cm_exec *e, uint32_t id, uint32_t step)
{
    if (id >= e->cap_parents) {
        e->cap_parents = id < 16 ? 32 : 2 * (size_t)id;
        e->parents = cm_realloc(e->parents, e->cap_parents * sizeof *e->parents);
    }
    if (e->n_parents == 0) {
        e->parents[0] = (struct rt_parent){.seq = -1};
        e->n_parents = 1;
    }
    return &e->parents[step < e->n_parents && e->parents[step].seq >= 0 ? step : 0];
}

/** No argument, and an explicit undefined, are the empty object: that is what is logged, shown and sent. */
static struct cm_value or_empty_object(struct cm_value args)
{
    if (args.json.len == 0 || cm_str_eq_z(args.marks, "{\"\":\"undefined\"}"))
        return (struct cm_value){CM_STR("{}"), CM_STR("{}")};
    return args;
}

static void take_args(struct rt_call *c, struct cm_value args)
{
    if (c->kind == CM_CALL_TOOL)
        args = or_empty_object(args);
    c->args_ok = cm_value_canonical(args, c->e->limits.arg_bytes, &c->args, &c->args_err) == CM_OK;
    /* Before anything is logged, shown or hashed: what is sent is what is shown. A program has a secret only from somebody's words. */
    if (c->args_ok && rt_without_secrets(c->e->rt, &c->args, true, &c->args_err) != CM_OK) {
        cm_value_done(&c->args);
        c->args_ok = false;
    }
    /* What is too deep is under its own limit, whose message stands. */
    if (!c->args_ok && args.json.len + args.marks.len > c->e->limits.arg_bytes)
        (void)cm_err_set(
            &c->args_err, CM_E_LIMIT,
            "the arguments have %zu bytes, a call may have %llu (limits.argBytes). Send less with "
            "each call: the fields that are needed, or the data in parts.",
            args.json.len + args.marks.len, (unsigned long long)c->e->limits.arg_bytes);
    rt_hash_args(cm_value_view(&c->args), c->hash);
}

void rt_call_begin(struct rt_call *c)
{
    if (c->kind != CM_CALL_TOOL && !c->args_ok && c->args_err.status == CM_E_LIMIT) {
        rt_call_fail(c, CM_CALL_FAILED, RT_ARGUMENTS_LIMIT, "codemode.%s: %s",
                     c->kind == CM_CALL_SEARCH ? "search"
                     : c->kind == CM_CALL_RUN  ? "run"
                                               : "describe",
                     c->args_err.message);
        return;
    }
    switch (c->kind) {
    case CM_CALL_TOOL:
        rt_call_tool(c);
        return;
    case CM_CALL_STEP:
        rt_call_step(c);
        return;
    case CM_CALL_RUN:
        rt_snippet_issue(c);
        return;
    case CM_CALL_SEARCH:
    case CM_CALL_DESCRIBE:
    case CM_CALL_TIMER:
        rt_sdk_issue(c);
        return;
    case CM_CALL_KIND_COUNT_:
        break;
    }
    rt_exec_end(c->e, CM_EXEC_ERROR, "protocol", "The worker made a call of a kind that does not exist.");
}

/** Whether there is room in the record for one more. False: the execution is ended. */
static bool has_room(struct rt_call *c)
{
    cm_exec *e = c->e;

    if (c->entry) /* it has its place there */
        return true;
    if (e->n_issued <= RT_ENTRIES_MAX)
        return rt_account(e, c->args.json_len + c->args.marks_len);
    rt_exec_end(e, CM_EXEC_ERROR, "entries_limit",
                "The program made more than %d host calls, timers, searches and steps included. Do the "
                "work in fewer.",
                RT_ENTRIES_MAX);
    return false;
}

void rt_call_issue(cm_exec *e, uint32_t id, enum cm_call_kind kind, struct cm_str connector,
                   struct cm_str method, struct cm_value args, struct cm_call_place at)
{
    struct rt_call *c = cm_new(struct rt_call);
    struct rt_parent *parent = parent_of(e, id, at.step);
    /* A step is called what its program likes. */
    cm_autofree char *clean = cm_secrets_redact(e->rt->o.secrets, method, &method.len);

    *c = (struct rt_call){.e = e, .id = id, .kind = kind, .line = at.line, .column = at.column};
    c->parent_seq = parent->seq;
    c->ordinal = ++parent->n_children;
    c->connector = kind == CM_CALL_TOOL ? rt_clean_name(connector) : cm_strdup("codemode");
    c->method = rt_clean_name(clean ? cm_str_mk(clean, method.len) : method);
    c->started_at = cm_now_ms();
    if (kind == CM_CALL_TIMER)
        c->turn = cm_pass_turns(e->pass->pass);
    c->phase = RT_QUEUED;
    rt_call_link(c);
    take_args(c, args);
    e->waiting = false;
    /* Nothing is wrong with them: a refusal would say so, and when the program goes on from its record it would be another call. */
    if (!c->args_ok && c->args_err.status == CM_E_NOMEM) {
        const struct cm_err err = c->args_err;

        rt_call_unlink(c);
        rt_call_free(c);
        rt_exec_store_failed(e, &err);
        return;
    }
    if (!rt_again_number(c))
        return;
    note_parent(c);
    if (has_room(c) && !rt_again_issue(c))
        rt_call_begin(c);
}

void rt_call_describe(const struct rt_call *c, char *out, size_t cap)
{
    int n = snprintf(out, cap, "%s.%s%s", c->connector,
                     c->kind == CM_CALL_STEP  ? "step:"
                     : c->kind == CM_CALL_RUN ? "run:"
                                              : "",
                     c->method);

    if (c->line && n >= 0 && (size_t)n < cap)
        (void)snprintf(out + n, cap - (size_t)n, " (line %u)", c->line);
}
