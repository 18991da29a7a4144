#include "runtime/decide.h"

#include <stdio.h>

#define SAFE_TWICE (CM_METHOD_READ_ONLY | CM_METHOD_IDEMPOTENT)

const char *cm_refusal_code(enum cm_refusal r)
{
    static const char *const codes[CM_REFUSAL_COUNT_] = {
#define CODE_(name, code) [CM_REFUSAL_##name] = code,
        CM_REFUSAL_MAP(CODE_)
#undef CODE_
    };

    return codes[r];
}

const char *cm_decision_text(enum cm_decision d)
{
    switch (d) {
    case CM_DECIDE_PAUSE:
        return "pause";
    case CM_DECIDE_EXECUTE:
        return "execute";
    case CM_DECIDE_END:
    case CM_DECIDE_REFUSE:
    case CM_DECIDE_START:
        break;
    }
    return "refuse";
}

bool cm_decide_sync(unsigned method_flags)
{
    return (method_flags & SAFE_TWICE) == 0;
}

enum cm_call_state cm_decide_abandoned(unsigned method_flags)
{
    return method_flags & SAFE_TWICE ? CM_CALL_CANCELLED : CM_CALL_UNKNOWN;
}

static struct cm_call_decision decision(enum cm_decision action, const char *rule)
{
    struct cm_call_decision d = {.action = action};

    (void)snprintf(d.rule, sizeof d.rule, "%s", rule);
    return d;
}

static struct cm_call_decision refuse(enum cm_refusal why, const char *rule)
{
    struct cm_call_decision d = decision(CM_DECIDE_REFUSE, rule);

    d.refusal = why;
    return d;
}

static void name_rule(struct cm_call_decision *d, const struct cm_call_facts *f)
{
    (void)snprintf(d->rule, sizeof d->rule, "policy[%zu] %s", f->rule_index, f->rule->match);
}

/** The method is known and takes the arguments: who says whether it may run? */
static struct cm_call_decision permit(const struct cm_call_facts *f)
{
    struct cm_call_decision d = decision(CM_DECIDE_EXECUTE, "default");

    if (f->rule) {
        if (f->rule->action != CM_POLICY_ALLOW)
            d.action = CM_DECIDE_PAUSE;
        name_rule(&d, f);
    } else if (f->method_flags & CM_METHOD_REQUIRES_APPROVAL) {
        d = decision(CM_DECIDE_PAUSE, "tool: requiresApproval");
    }
    d.sync = cm_decide_sync(f->method_flags);
    return d;
}

struct cm_call_decision cm_decide_call(const struct cm_call_facts *f)
{
    if (f->n_subrequests > f->max_subrequests)
        return decision(CM_DECIDE_END, "limits.subrequests");
    if (!f->args_canonical)
        return refuse(CM_REFUSAL_INVALID_ARGUMENTS, "arguments");
    if (!f->connector_known)
        return refuse(CM_REFUSAL_UNKNOWN_CONNECTOR, "connector");
    if (f->rule && f->rule->action == CM_POLICY_DENY) {
        struct cm_call_decision d = refuse(CM_REFUSAL_DENIED, "");

        name_rule(&d, f);
        return d;
    }
    switch (f->connector) {
    case CM_CONN_IDLE:
    case CM_CONN_STARTING:
        return decision(CM_DECIDE_START, "connector");
    case CM_CONN_FAILED:
        return refuse(CM_REFUSAL_UNAVAILABLE, "connector");
    case CM_CONN_READY:
        break;
    }
    if (!f->method_known)
        return refuse(CM_REFUSAL_UNKNOWN_METHOD, "method");
    if (!f->args_fit)
        return refuse(CM_REFUSAL_INVALID_ARGUMENTS, "schema");
    return permit(f);
}
