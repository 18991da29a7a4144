#include "store/moves.h"

#define TO(id) (1u << CM_EXEC_##id)

/*
 * To RUNNING from itself: another process goes on with what a dead one had. What has ended is never taken up again, it can only be undone,
 * as often as it takes.
 */
static const unsigned exec_moves[CM_EXEC_STATE_COUNT_] = {
    [CM_EXEC_RUNNING] = TO(RUNNING) | TO(PAUSED) | TO(COMPLETED) | TO(ERROR) | TO(REJECTED) | TO(CANCELLED),
    [CM_EXEC_PAUSED] = TO(RUNNING) | TO(REJECTED) | TO(CANCELLED) | TO(EXPIRED),
    [CM_EXEC_COMPLETED] = TO(ROLLED_BACK),
    [CM_EXEC_ERROR] = TO(ROLLED_BACK),
    [CM_EXEC_REJECTED] = TO(ROLLED_BACK),
    [CM_EXEC_ROLLED_BACK] = TO(ROLLED_BACK),
    [CM_EXEC_CANCELLED] = TO(ROLLED_BACK),
    [CM_EXEC_EXPIRED] = TO(ROLLED_BACK),
};

#undef TO
#define TO(id) (1u << CM_CALL_##id)

/*
 * To PENDING: it was sent, and a human is to say whether it is sent again. From PENDING to an outcome: it was approved, and refused by a
 * policy that denies it by now. What has an outcome keeps it; what may have had an effect can be undone.
 */
static const unsigned call_moves[CM_CALL_STATE_COUNT_] = {
    [CM_CALL_PENDING] = TO(EXECUTING) | TO(APPLIED) | TO(FAILED) | TO(REJECTED) | TO(CANCELLED) | TO(UNKNOWN),
    [CM_CALL_EXECUTING] = TO(APPLIED) | TO(FAILED) | TO(CANCELLED) | TO(UNKNOWN) | TO(PENDING) | TO(REVERTED),
    [CM_CALL_APPLIED] = TO(REVERTED),
    [CM_CALL_FAILED] = TO(REVERTED),
    [CM_CALL_UNKNOWN] = TO(PENDING) | TO(REVERTED),
    [CM_CALL_REJECTED] = TO(REVERTED), /* only one that had been sent before it was asked about */
    [CM_CALL_CANCELLED] = TO(REVERTED),
    [CM_CALL_REVERTED] = 0,
};

bool cm_exec_may_move(enum cm_exec_state from, enum cm_exec_state to)
{
    return (exec_moves[from] >> to) & 1;
}

bool cm_call_may_move(enum cm_call_state from, enum cm_call_state to)
{
    return (call_moves[from] >> to) & 1;
}

unsigned cm_exec_moves_to(enum cm_exec_state to)
{
    unsigned mask = 0;

    for (unsigned from = 0; from < CM_EXEC_STATE_COUNT_; from++)
        mask |= cm_exec_may_move(from, to) ? 1u << from : 0;
    return mask;
}
