/**
 * rpc: JSON-RPC 2.0 over any carrier of messages. The core pairs requests with answers and knows no
 * descriptor; rpc/lines.h carries it over a pair of streams, one JSON text a line (MCP 2025-11-25, "stdio").
 *
 * It is not MCP: method names and payloads are the caller's. Batches are refused (MCP dropped them in
 * 2025-06-18). Numbers that no machine type holds keep their text (CM_JSON_BIGNUM), so that a result is
 * handed on as it came. Invariants: each request's callback runs exactly once (answer, error, cancel or
 * close) unless it was forgotten; ids we issue are never reused; whatever a callback does, cm_rpc_free
 * included, is safe.
 */
#ifndef CM_RPC_RPC_H
#define CM_RPC_RPC_H

#include "base/base.h"
#include "json/json.h"

#include <stdint.h>

typedef struct cm_rpc cm_rpc;

/** An answer to our request. result is borrowed; error: code and message of the peer (status CM_E_PROTOCOL
 * etc. when there is no answer). */
struct cm_rpc_reply {
    cm_status status; /* CM_OK: result is set */
    yyjson_val *result;
    int code;            /* JSON-RPC error code, or 0 */
    const char *message; /* "" with CM_OK */
    yyjson_val *data;    /* of an error, may be NULL */
};
typedef void (*cm_rpc_reply_fn)(void *user, const struct cm_rpc_reply *reply);

/** What the core needs and tells. */
struct cm_rpc_ops {
    /** Send one message (compact JSON, no newline). */
    cm_status (*send)(void *user, struct cm_str message, struct cm_err *err);
    /** The peer asks. id is JSON text (string or number) to answer with cm_rpc_answer/_refuse, now or later.
     * params may be NULL. */
    void (*on_request)(void *user, struct cm_str id, struct cm_str method, yyjson_val *params);
    void (*on_notification)(void *user, struct cm_str method, yyjson_val *params);
    /** A message that is none: not JSON, no JSON-RPC. The core has answered with -32700/-32600 where the
     * rules ask for it. Optional. */
    void (*on_garbage)(void *user, struct cm_str text, const struct cm_err *why);
    /**
     * Whether text that is no message is answered with -32700 or -32600, under its id or null (JSON-RPC 2.0,
     * section 5). For the serving side. A client leaves it false: a server that logs to its standard output
     * would log our complaint too, and so for ever.
     */
    bool answers_garbage;
};

cm_rpc *cm_rpc_new(const struct cm_rpc_ops *ops, void *user);
/** Outstanding requests end with CM_E_CANCELLED. */
void cm_rpc_free(cm_rpc *r);
CM_DEFINE_AUTO(cm_rpc, cm_rpc_free)
/** One received message. */
void cm_rpc_receive(cm_rpc *r, struct cm_str message);
/**
 * Something the carrier received and could not make a message of (a line too long, no UTF-8): its first and
 * last bytes and why. Garbage; but where the id of a request of ours stands at its start or end, it was the
 * answer, and that request fails with `why` instead of waiting for ever.
 */
void cm_rpc_receive_garbage(cm_rpc *r, struct cm_str head, struct cm_str tail, const struct cm_err *why);
/** End all outstanding requests with this status and message (the peer went away). */
void cm_rpc_close(cm_rpc *r, cm_status st, const char *why);
/** Ask. params: JSON text or empty. *id may be kept for cm_rpc_forget. */
cm_status cm_rpc_request(cm_rpc *r, const char *method, struct cm_str params, cm_rpc_reply_fn fn, void *user,
                         uint64_t *id, struct cm_err *err);
/** The callback of this request does not run any more; a late answer is dropped. */
void cm_rpc_forget(cm_rpc *r, uint64_t id);
cm_status cm_rpc_notify(cm_rpc *r, const char *method, struct cm_str params, struct cm_err *err);
cm_status cm_rpc_answer(cm_rpc *r, struct cm_str id, struct cm_str result_json, struct cm_err *err);
cm_status cm_rpc_refuse(cm_rpc *r, struct cm_str id, int code, const char *message, struct cm_err *err);

#endif
