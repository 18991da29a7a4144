/**
 * What two processes on one store tell each other: a socket beside the lock of whoever runs executions.
 *
 * A decision is made good by a conditional write into the store, whoever writes it; the socket only brings it to the process that may
 * still hold the program as it stands (or that runs it, for a cancel), so that it goes on there. Whatever is wrong with the socket or
 * with who answers, the asking process does it by itself, and the store lets one of the two win.
 *
 * One connection, one request. Lines of JSON, each ended by a line feed:
 *
 *     asks     {"do":"approve"|"resume"|"reject"|"cancel","runtime":…,"id":…,"seqs":[…],"args":"JSON","hash":…,"by":…,"reason":…}
 *     answers  {"ack":true}                         it is being done here; anything else, or nothing in time: it is not
 *              {"outcome":{…}} | {"done":true} | {"error":{"status":N,"code":…,"message":…}}
 *
 * Who may ask: the user who runs the process (SO_PEERCRED), as with the store itself, which that user may write. Who is believed: the
 * same. The path is in a folder of mode 0700 and the socket is 0600, which keeps others from filling its queue.
 */
#ifndef CM_API_CONTROL_H
#define CM_API_CONTROL_H

#include "base/base.h"
#include "loop/loop.h"
#include <codemode.h>

typedef struct cm_api__ask cm_api__ask;

/** Longest request: arguments of the largest size, escaped, and the rest. */
#define CM_API__REQUEST_MAX_BYTES (64u << 20)

/** ---- control.c: being asked ---- */

/** Listen, once this process has an execution. Where that does not work nothing is said: then others do it by themselves. */
void cm_api__control_open(cm_ctx *ctx);
/** Stop listening; connections are closed by _hang_up, after what they wait for has ended. */
void cm_api__control_close(cm_ctx *ctx);
void cm_api__hang_up(cm_ctx *ctx);

/** ---- ask.c: asking ---- */

/**
 * Bring the request to whoever listens at `path`. False: nobody of ours does. Afterwards the operation ends through cm_api__op_end, or is
 * done by this process (cm_api__op_act) where no answer comes; nothing of it happens inside.
 */
bool cm_api__ask_start(cm_op *op, const char *path, struct cm_str request);
/** Wait no longer: the operation ends at the next turn, with an error that says so. */
void cm_api__ask_cancel(cm_api__ask *ask);
/** End every operation that another process does, now: the context is being closed. */
void cm_api__asks_end(cm_ctx *ctx);

/** ---- socket.c ---- */

/** A socket bound to (listens) or connected with that path, non-blocking; -1: it cannot be. */
int cm_api__socket_listen(const char *path);
int cm_api__socket_connect(const char *path);
/** Whether the other end is a process of this user. */
bool cm_api__socket_is_ours(int fd);

#endif
