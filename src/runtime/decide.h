/**
 * What happens to a call: a pure function of what is known about it. Nothing here does anything; call.c acts
 * on the answer, and asks again when a connector has become ready.
 *
 * In this order, the first that applies: the limit on calls ends the run; bytes that have no canonical form,
 * an unknown connector and a policy that denies refuse; a connector that is not ready is started first, one
 * that failed refuses; an unknown method and arguments that do not fit its schema refuse, before any human is
 * asked; then the first policy rule that matches, then the tool's own mark, then "execute". A rule that says
 * `allow` thus answers for a tool that asks for approval: the operator has decided.
 */
#ifndef CM_RUNTIME_DECIDE_H
#define CM_RUNTIME_DECIDE_H

#include "config/config.h"
#include "connector/connector.h"
#include "store/store.h"

/** Why a call is refused; the code of the error that the program can catch. */
#define CM_REFUSAL_MAP(X)                     \
    X(INVALID_ARGUMENTS, "invalid_arguments") \
    X(UNKNOWN_CONNECTOR, "unknown_connector") \
    X(UNKNOWN_METHOD, "unknown_method")       \
    X(UNAVAILABLE, "connector_unavailable")   \
    X(DENIED, "denied")

enum cm_refusal {
#define CM_REFUSAL_ENUM_(name, code) CM_REFUSAL_##name,
    CM_REFUSAL_MAP(CM_REFUSAL_ENUM_)
#undef CM_REFUSAL_ENUM_
        CM_REFUSAL_COUNT_
};
const char *cm_refusal_code(enum cm_refusal r);

enum cm_decision {
    CM_DECIDE_END,     /* the limit on calls: the run ends */
    CM_DECIDE_REFUSE,  /* recorded as a failed call; `refusal` says why */
    CM_DECIDE_START,   /* ask again when the connector is READY or FAILED */
    CM_DECIDE_PAUSE,   /* recorded as pending: a human decides */
    CM_DECIDE_EXECUTE, /* intent, then the connector */
};
/** As it stands in the log: "refuse", "pause", "execute". */
const char *cm_decision_text(enum cm_decision d);

struct cm_call_facts {
    uint32_t n_subrequests; /* connector calls of this execution, this one included */
    uint32_t max_subrequests;
    bool args_canonical; /* the arguments have canonical bytes */
    bool args_fit;       /* and the method takes them; looked at only when the method is known */
    bool connector_known;
    enum cm_connector_state connector;
    bool method_known;
    unsigned method_flags;             /* enum cm_method_flag */
    const struct cm_policy_rule *rule; /* first that matches, or NULL */
    size_t rule_index;
};

#define CM_RULE_TEXT_MAX 160

struct cm_call_decision {
    enum cm_decision action;
    enum cm_refusal refusal;     /* with REFUSE */
    char rule[CM_RULE_TEXT_MAX]; /* what decided: "policy[2] *.delete_*", "tool: requiresApproval", "default",
                                    … */
    bool sync;                   /* with EXECUTE: its intent must be on the disk before it is sent */
};

struct cm_call_decision cm_decide_call(const struct cm_call_facts *f);

/** Whether the intent of a call waits for the disk: one that may not run twice must not be forgotten. */
bool cm_decide_sync(unsigned method_flags);
/** What a call in flight is when nobody waits for it any more: CANCELLED where running it again is safe,
 * otherwise UNKNOWN. */
enum cm_call_state cm_decide_abandoned(unsigned method_flags);

#endif
