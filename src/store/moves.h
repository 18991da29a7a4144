/** What an execution and a call can become, as data: the one place that says so. */
#ifndef CM_STORE_MOVES_H
#define CM_STORE_MOVES_H

#include "store/store.h"

bool cm_exec_may_move(enum cm_exec_state from, enum cm_exec_state to);
bool cm_call_may_move(enum cm_call_state from, enum cm_call_state to);
/** The states that can become this one: a mask, as cm_store_finish takes one. */
unsigned cm_exec_moves_to(enum cm_exec_state to);

#endif
