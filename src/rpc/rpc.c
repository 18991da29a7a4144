/**
 * JSON-RPC 2.0 with the narrowing of MCP 2025-11-25 ("Messages"): ids are strings or integers, never null; no
 * batches.
 *
 * A message goes through one of four ways, told apart by its members:
 *
 *   method and id      a request       on_request, answered by the caller
 *   method, no id      a notification  on_notification
 *   id, no method      an answer       the callback of the request with that id, or nothing if it was
 * forgotten anything else      garbage         on_garbage; answered only where ops say so
 */
#include "rpc/rpc.h"

#include "base/limits.h"

#include <inttypes.h>

/* Ids are echoed and kept while a request runs: a peer has no use for longer ones. */
#define ID_MAX_BYTES 1024
/* How much of an unreadable message is looked at for an id, at either end, and shown. */
#define ENDS_BYTES 256

struct pending {
    uint64_t id;
    cm_rpc_reply_fn fn;
    void *user;
};

struct cm_rpc {
    struct cm_rpc_ops ops;
    void *user;
    struct pending *pending; /* ascending by id, since ids only grow */
    size_t n_pending, cap;
    uint64_t last_id;
    char *closed; /* why, once the peer went away */
    unsigned busy;
    bool doomed;
};

cm_rpc *cm_rpc_new(const struct cm_rpc_ops *ops, void *user)
{
    cm_rpc *r = cm_new(cm_rpc);

    r->ops = *ops;
    r->user = user;
    return r;
}

static void leave(cm_rpc *r)
{
    if (--r->busy > 0 || !r->doomed)
        return;
    free(r->pending);
    free(r->closed);
    free(r);
}

void cm_rpc_free(cm_rpc *r)
{
    if (!r)
        return;
    r->busy++;
    cm_rpc_close(r, CM_E_CANCELLED, "the connection was closed");
    r->doomed = true;
    leave(r);
}

/* Index of the request, or n_pending. */
static size_t find_pending(const cm_rpc *r, uint64_t id)
{
    size_t lo = 0, hi = r->n_pending;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (r->pending[mid].id < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < r->n_pending && r->pending[lo].id == id ? lo : r->n_pending;
}

static bool take_pending(cm_rpc *r, uint64_t id, struct pending *out)
{
    size_t i = find_pending(r, id);

    if (i == r->n_pending)
        return false;
    *out = r->pending[i];
    r->n_pending--;
    memmove(r->pending + i, r->pending + i + 1, (r->n_pending - i) * sizeof *r->pending);
    return true;
}

void cm_rpc_close(cm_rpc *r, cm_status st, const char *why)
{
    struct pending p;

    r->busy++;
    if (!r->closed)
        r->closed = cm_strdup(why);
    /* A callback may ask again: that is refused, since `closed` is set, so this ends. */
    while (r->n_pending > 0 && take_pending(r, r->pending[0].id, &p))
        p.fn(p.user, &(struct cm_rpc_reply){.status = st, .message = r->closed});
    leave(r);
}

static cm_status send(cm_rpc *r, struct cm_buf *b, struct cm_err *err)
{
    cm_status st = cm_buf_check(b, "the message", err);

    if (st != CM_OK)
        return st;
    if (r->closed)
        return cm_err_set(err, CM_E_UNAVAILABLE, "%s", r->closed);
    r->busy++;
    st = r->ops.send(r->user, cm_buf_str(b), err);
    leave(r);
    return st;
}

static void add_call(struct cm_buf *b, const char *method, struct cm_str params)
{
    cm_buf_add_z(b, "\"method\":");
    cm_json_write_string(b, cm_str_of(method));
    if (params.len > 0) {
        cm_buf_add_z(b, ",\"params\":");
        cm_buf_add_str(b, params);
    }
    cm_buf_add_char(b, '}');
}

cm_status cm_rpc_request(cm_rpc *r, const char *method, struct cm_str params, cm_rpc_reply_fn fn, void *user,
                         uint64_t *id, struct cm_err *err)
{
    cm_autobuf b = CM_BUF_INIT(CM_RPC_MAX_BYTES);
    struct pending dropped;
    uint64_t mine = ++r->last_id;

    cm_buf_addf(&b, "{\"jsonrpc\":\"2.0\",\"id\":%" PRIu64 ",", mine);
    add_call(&b, method, params);
    if (r->n_pending == r->cap) {
        r->cap = r->cap ? r->cap * 2 : 8;
        r->pending = cm_realloc(r->pending, r->cap * sizeof *r->pending);
    }
    /* Noted before it is sent: a carrier in the same process may answer from inside send. */
    r->pending[r->n_pending++] = (struct pending){mine, fn, user};
    if (id)
        *id = mine;
    r->busy++;
    cm_status st = send(r, &b, err);
    /* Where it is gone already its callback has run, and the failure was told that way. */
    if (st != CM_OK && !take_pending(r, mine, &dropped))
        st = CM_OK;
    leave(r);
    return st;
}

void cm_rpc_forget(cm_rpc *r, uint64_t id)
{
    struct pending dropped;

    (void)take_pending(r, id, &dropped);
}

cm_status cm_rpc_notify(cm_rpc *r, const char *method, struct cm_str params, struct cm_err *err)
{
    cm_autobuf b = CM_BUF_INIT(CM_RPC_MAX_BYTES);

    cm_buf_add_z(&b, "{\"jsonrpc\":\"2.0\",");
    add_call(&b, method, params);
    return send(r, &b, err);
}

cm_status cm_rpc_answer(cm_rpc *r, struct cm_str id, struct cm_str result_json, struct cm_err *err)
{
    cm_autobuf b = CM_BUF_INIT(CM_RPC_MAX_BYTES);

    cm_buf_add_z(&b, "{\"jsonrpc\":\"2.0\",\"id\":");
    cm_buf_add_str(&b, id);
    cm_buf_add_z(&b, ",\"result\":");
    cm_buf_add_str(&b, result_json);
    cm_buf_add_char(&b, '}');
    return send(r, &b, err);
}

cm_status cm_rpc_refuse(cm_rpc *r, struct cm_str id, int code, const char *message, struct cm_err *err)
{
    cm_autobuf b = CM_BUF_INIT(CM_RPC_MAX_BYTES);

    cm_buf_add_z(&b, "{\"jsonrpc\":\"2.0\",\"id\":");
    cm_buf_add_str(&b, id);
    cm_buf_addf(&b, ",\"error\":{\"code\":%d,\"message\":", code);
    cm_json_write_string(&b, cm_str_of(message));
    cm_buf_add_z(&b, "}}");
    return send(r, &b, err);
}

/* ---- receiving ---- */

#define RPC_PARSE_ERROR     (-32700)
#define RPC_INVALID_REQUEST (-32600)
#define RPC_INVALID_PARAMS  (-32602)

/* code 0: never answered, since the text is an answer itself and two complaining peers would never stop. */
static void garbage(cm_rpc *r, struct cm_str text, struct cm_str id, int code, const struct cm_err *why)
{
    if (r->ops.answers_garbage && code != 0)
        (void)cm_rpc_refuse(r, id, code, why->message, NULL);
    if (r->ops.on_garbage)
        r->ops.on_garbage(r->user, text, why);
}

static uint64_t number_at(struct cm_str s, size_t *used)
{
    uint64_t n = 0;
    size_t i = 0;

    while (i < s.len && i < 18 && s.ptr[i] >= '0' && s.ptr[i] <= '9')
        n = n * 10 + (uint64_t)(s.ptr[i++] - '0');
    *used = i;
    return n;
}

static const struct cm_str id_key = {"\"id\":", 5};

/* `{"jsonrpc":"2.0","id":7,…`: before any object opens inside. 0 where there is none. */
static uint64_t id_at_start(struct cm_str head)
{
    const char *at = memmem(head.ptr, head.len, id_key.ptr, id_key.len);
    size_t used = 0;

    if (!at || head.ptr[0] != '{' || memchr(head.ptr + 1, '{', (size_t)(at - head.ptr - 1)))
        return 0;
    return number_at(cm_str_mk(at + id_key.len, (size_t)(head.ptr + head.len - at) - id_key.len), &used);
}

/* `…,"jsonrpc":"2.0","id":7}`: the very last member. 0 where there is none. */
static uint64_t id_at_end(struct cm_str tail)
{
    size_t used = 0;

    for (size_t i = tail.len; i-- > 0;) {
        struct cm_str rest = cm_str_mk(tail.ptr + i, tail.len - i);
        if (!cm_str_has_prefix(rest, id_key))
            continue;
        rest = cm_str_mk(rest.ptr + id_key.len, rest.len - id_key.len);
        uint64_t id = number_at(rest, &used);
        return used > 0 && rest.len == used + 1 && rest.ptr[used] == '}' ? id : 0;
    }
    return 0;
}

/* What could not be read, but may have been the answer somebody waits for. */
static void unreadable(cm_rpc *r, struct cm_str head, struct cm_str tail, const struct cm_err *why)
{
    struct pending p;
    uint64_t id = head.len ? id_at_start(head) : 0;

    if (id == 0)
        id = id_at_end(tail);
    if (id != 0 && take_pending(r, id, &p))
        p.fn(p.user, &(struct cm_rpc_reply){.status = why->status, .message = why->message});
    else
        garbage(r, head, CM_STR("null"), RPC_PARSE_ERROR, why);
}

void cm_rpc_receive_garbage(cm_rpc *r, struct cm_str head, struct cm_str tail, const struct cm_err *why)
{
    if (r->closed || r->doomed)
        return;
    r->busy++;
    unreadable(r, head, tail, why);
    leave(r);
}

/* The id as JSON text to echo. False where it is neither a string nor an integer, or too long to keep. */
static bool id_text(yyjson_val *id, struct cm_buf *out)
{
    if (!yyjson_is_str(id) && !yyjson_is_int(id))
        return false;
    cm_json_write(out, id);
    return !out->failed;
}

static void not_a_message(cm_rpc *r, yyjson_val *root, struct cm_str text, const char *why)
{
    cm_autobuf id = CM_BUF_INIT(ID_MAX_BYTES);
    bool is_request = cm_json_get(root, "method") && id_text(cm_json_get(root, "id"), &id);
    bool is_answer = cm_json_get(root, "result") || cm_json_get(root, "error");
    struct cm_err err;

    (void)cm_err_set(&err, CM_E_PROTOCOL, "%s", why);
    garbage(r, text, is_request ? cm_buf_str(&id) : CM_STR("null"), is_answer ? 0 : RPC_INVALID_REQUEST,
            &err);
}

static void receive_request(cm_rpc *r, yyjson_val *root, struct cm_str text)
{
    struct cm_str method = cm_json_str(cm_json_get(root, "method"));
    yyjson_val *id = cm_json_get(root, "id"), *params = cm_json_get(root, "params");
    cm_autobuf id_json = CM_BUF_INIT(ID_MAX_BYTES);

    if (!id_text(id, &id_json)) {
        not_a_message(r, root, text, "a request's id must be a string (of at most 1000 bytes) or an integer");
        return;
    }
    if (params && !yyjson_is_obj(params)) {
        cm_autofree char *why = cm_asprintf("params must be an object, not %s", cm_json_kind(params));
        (void)cm_rpc_refuse(r, cm_buf_str(&id_json), RPC_INVALID_PARAMS, why, NULL);
        return;
    }
    r->ops.on_request(r->user, cm_buf_str(&id_json), method, params);
}

/* The id of a request of ours: an integer, which some peers write as a real. 0 where it cannot be one. */
static uint64_t own_id(yyjson_val *id)
{
    if (yyjson_is_uint(id))
        return yyjson_get_uint(id);
    if (yyjson_is_real(id) && yyjson_get_real(id) >= 1 && yyjson_get_real(id) < 9007199254740992.0)
        return (uint64_t)yyjson_get_real(id);
    return 0;
}

static struct cm_rpc_reply reply_of(yyjson_val *root)
{
    yyjson_val *result = cm_json_get(root, "result");
    yyjson_val *error = cm_json_get(root, "error");

    if (yyjson_is_obj(error)) {
        yyjson_val *code = cm_json_get(error, "code");
        const char *message = cm_json_get_z(error, "message");
        int64_t number = yyjson_is_int(code) ? yyjson_get_sint(code) : 0;
        return (struct cm_rpc_reply){.status = CM_E_PROTOCOL,
                                     .code = number >= INT32_MIN && number <= INT32_MAX ? (int)number : 0,
                                     .message = message ? message : "an error without a message",
                                     .data = cm_json_get(error, "data")};
    }
    if (result)
        return (struct cm_rpc_reply){.status = CM_OK, .result = result, .message = ""};
    return (struct cm_rpc_reply){.status = CM_E_PROTOCOL,
                                 .message = "the answer has neither a result nor an error"};
}

static void receive_answer(cm_rpc *r, yyjson_val *root, yyjson_val *id, struct cm_str text)
{
    uint64_t number = own_id(id);
    struct pending p;

    /* An id of ours with nothing beside it is an answer too, a broken one: that request must not wait for
     * ever. */
    if (number == 0 || number > r->last_id) {
        bool empty = !cm_json_get(root, "result") && !cm_json_get(root, "error");
        not_a_message(r, root, text,
                      empty ? "a message needs a method, or an id with a result or an error"
                            : "an answer to a request that was never made");
        return;
    }
    if (!take_pending(r, number, &p))
        return; /* forgotten, or answered twice: the first answer counts */
    struct cm_rpc_reply reply = reply_of(root);
    p.fn(p.user, &reply);
}

static void dispatch(cm_rpc *r, yyjson_val *root, struct cm_str text)
{
    yyjson_val *method = cm_json_get(root, "method");
    yyjson_val *id = cm_json_get(root, "id");
    yyjson_val *params = cm_json_get(root, "params");

    if (yyjson_is_arr(root))
        not_a_message(r, root, text, "batches are not accepted: send each message by itself");
    else if (!yyjson_is_obj(root))
        not_a_message(r, root, text, "a message must be a JSON object");
    else if (!cm_str_eq_z(cm_json_str(cm_json_get(root, "jsonrpc")), "2.0"))
        not_a_message(r, root, text, "a message must carry \"jsonrpc\": \"2.0\"");
    else if (yyjson_is_str(method) && id)
        receive_request(r, root, text);
    else if (yyjson_is_str(method) && (!params || yyjson_is_obj(params)))
        r->ops.on_notification(r->user, cm_json_str(method), params);
    else if (method)
        not_a_message(r, root, text, "method must be a string and params an object");
    else
        receive_answer(r, root, id, text);
}

void cm_rpc_receive(cm_rpc *r, struct cm_str message)
{
    cm_auto(yyjson_doc) doc = NULL;
    struct cm_err err;

    if (r->closed || r->doomed)
        return;
    r->busy++;
    if (message.len > CM_RPC_MAX_BYTES)
        (void)cm_err_set(&err, CM_E_LIMIT, "the message is longer than the limit of %u bytes",
                         CM_RPC_MAX_BYTES);
    else
        (void)cm_json_parse(message, CM_JSON_BIGNUM | CM_JSON_REPAIR, &doc, &err);
    if (!doc) {
        size_t n = message.len < ENDS_BYTES ? message.len : ENDS_BYTES;
        unreadable(r, cm_str_mk(message.ptr, n), cm_str_mk(message.ptr + message.len - n, n), &err);
    } else {
        dispatch(r, yyjson_doc_get_root(doc), message);
    }
    leave(r);
}
