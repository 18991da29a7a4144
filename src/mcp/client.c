/*
 * Happy path: initialize -> its answer -> notifications/initialized -> tools/list, page after page ->
 * on_ready; then calls.
 *
 *   NEW --start--> INITIALIZING --> LISTING --> READY --close--> OVER
 *                       '------------'--- refused, unreadable, closed ---> OVER, on_failed
 *
 * A listing collects the text of its pages in one buffer and parses that once at the end: the document then
 * holds nothing but tools, and the texts of two listings tell whether anything changed.
 */
#include "mcp/client.h"

#include "base/limits.h"
#include "mcp/calls.h"
#include "mcp/versions.h"

#define PAGES_MAX        1000
#define CURSOR_MAX_BYTES 4096
#define RPC_NO_METHOD    (-32601)

enum state { NEW, INITIALIZING, LISTING, READY, OVER };

struct listing {
    bool active;
    bool again; /* the list changed while it was read */
    struct cm_buf text;
    size_t n_tools;
    char **cursors; /* those followed so far */
    size_t n_cursors;
};

struct cm_mcp_client {
    struct cm_mcp_client_ops ops;
    void *user;
    cm_rpc *rpc;
    enum state state;
    char *instructions;
    struct listing listing;
    char *tools_text; /* of the current list */
    size_t tools_len;
    yyjson_doc *tools;
    struct cm_mcp_calls calls;
    bool runs_tasks;
    unsigned busy;
    bool doomed;
};

/* ---- life ---- */

static void listing_clear(struct listing *l)
{
    cm_buf_done(&l->text);
    for (size_t i = 0; i < l->n_cursors; i++)
        free(l->cursors[i]);
    free(l->cursors);
    *l = (struct listing){.again = l->again, .text = CM_BUF_INIT(CM_RPC_MAX_BYTES)};
}

static void leave(cm_mcp_client *c)
{
    if (--c->busy > 0 || !c->doomed)
        return;
    listing_clear(&c->listing);
    yyjson_doc_free(c->tools);
    free(c->tools_text);
    free(c->instructions);
    free(c);
}

void cm_mcp_client_free(cm_mcp_client *c)
{
    if (!c || c->doomed)
        return;
    c->busy++;
    c->doomed = true;
    c->state = OVER;
    /* Ends what is outstanding: the callbacks of calls run, the handshake's see `doomed`. */
    cm_rpc_free(c->rpc);
    leave(c);
}

static void fail(cm_mcp_client *c, const struct cm_err *err)
{
    bool waiting = c->state == INITIALIZING || c->state == LISTING || c->state == NEW;

    c->state = OVER;
    if (waiting && !c->doomed)
        c->ops.on_failed(c->user, err);
}

void cm_mcp_client_receive(cm_mcp_client *c, struct cm_str message)
{
    if (c->doomed)
        return;
    c->busy++;
    cm_rpc_receive(c->rpc, message);
    leave(c);
}

void cm_mcp_client_receive_garbage(cm_mcp_client *c, struct cm_str head, struct cm_str tail,
                                   const struct cm_err *why)
{
    if (c->doomed)
        return;
    c->busy++;
    cm_rpc_receive_garbage(c->rpc, head, tail, why);
    leave(c);
}

void cm_mcp_client_close(cm_mcp_client *c, const char *why)
{
    struct cm_err err;

    if (c->doomed)
        return;
    c->busy++;
    cm_rpc_close(c->rpc, CM_E_UNAVAILABLE, why);
    (void)cm_err_set(&err, CM_E_UNAVAILABLE, "%s", why);
    fail(c, &err);
    leave(c);
}

const char *cm_mcp_client_waits_for(const cm_mcp_client *c)
{
    return c->state == INITIALIZING ? "initialize" : c->state == LISTING ? "tools/list" : NULL;
}

/* Why there is no result: the server's own words, or ours where it said nothing. */
static void explain(const struct cm_rpc_reply *reply, const char *method, struct cm_err *err)
{
    if (reply->status == CM_E_PROTOCOL && reply->code != 0)
        (void)cm_err_set(err, reply->status, "it refused %s: %s (code %d)", method, reply->message,
                         reply->code);
    else if (reply->status == CM_E_UNAVAILABLE)
        (void)cm_err_set(err, reply->status, "%s", reply->message);
    else
        (void)cm_err_set(err, reply->status, "its answer to %s cannot be used: %s", method, reply->message);
}

/* ---- tools/list ---- */

static void on_page(void *user, const struct cm_rpc_reply *reply);

static cm_status ask_page(cm_mcp_client *c, struct cm_str cursor, struct cm_err *err)
{
    cm_autobuf params = CM_BUF_INIT(CURSOR_MAX_BYTES * 6 + 64);

    if (cursor.len > 0) {
        cm_buf_add_z(&params, "{\"cursor\":");
        cm_json_write_string(&params, cursor);
        cm_buf_add_char(&params, '}');
    }
    return cm_rpc_request(c->rpc, "tools/list", cm_buf_str(&params), on_page, c, NULL, err);
}

static cm_status add_page(struct listing *l, yyjson_val *result, struct cm_err *err)
{
    yyjson_val *tools = cm_json_get(result, "tools");
    yyjson_arr_iter iter;
    yyjson_val *tool;

    if (!yyjson_is_arr(tools))
        return cm_err_set(err, CM_E_PROTOCOL,
                          "its answer to tools/list must hold an array \"tools\", which is %s",
                          cm_json_kind(tools));
    if (yyjson_arr_size(tools) > CM_METHODS_MAX - l->n_tools)
        return cm_err_set(err, CM_E_LIMIT, "it lists more than the limit of %d tools", CM_METHODS_MAX);
    (void)yyjson_arr_iter_init(tools, &iter);
    while ((tool = yyjson_arr_iter_next(&iter))) {
        if (l->n_tools++ > 0)
            cm_buf_add_char(&l->text, ',');
        cm_json_write(&l->text, tool);
    }
    return cm_buf_check(&l->text, "its tool list", err);
}

/* Remember a cursor. A server that gives one twice would be asked for ever. */
static cm_status follow(struct listing *l, struct cm_str cursor, struct cm_err *err)
{
    if (cursor.len > CURSOR_MAX_BYTES)
        return cm_err_set(err, CM_E_LIMIT, "its tools/list gives a cursor longer than %d bytes",
                          CURSOR_MAX_BYTES);
    if (l->n_cursors >= PAGES_MAX)
        return cm_err_set(err, CM_E_LIMIT, "its tools/list has more than the limit of %d pages", PAGES_MAX);
    for (size_t i = 0; i < l->n_cursors; i++)
        if (cm_str_eq_z(cursor, l->cursors[i]))
            return cm_err_set(err, CM_E_PROTOCOL,
                              "its tools/list repeats the cursor '%.*s' of an earlier page",
                              (int)(cursor.len < 80 ? cursor.len : 80), cursor.ptr);
    l->cursors = cm_realloc(l->cursors, (l->n_cursors + 1) * sizeof *l->cursors);
    l->cursors[l->n_cursors++] = cm_memdup_z(cursor.ptr, cursor.len);
    return CM_OK;
}

static void begin_listing(cm_mcp_client *c, struct cm_err *err, cm_status *st)
{
    listing_clear(&c->listing);
    c->listing.active = true;
    c->listing.again = false;
    cm_buf_add_char(&c->listing.text, '[');
    *st = ask_page(c, CM_STR(""), err);
    if (*st != CM_OK)
        c->listing.active = false;
}

/* Read the list again, where that was asked for and nothing is being read. A failure keeps the list we have.
 */
static void refresh(cm_mcp_client *c)
{
    cm_status st = CM_OK;

    if (c->state == READY && c->listing.again && !c->listing.active)
        begin_listing(c, NULL, &st);
}

static void end_listing(cm_mcp_client *c)
{
    listing_clear(&c->listing);
    refresh(c);
}

static void fail_listing(cm_mcp_client *c, const struct cm_err *err)
{
    if (c->state == LISTING)
        fail(c, err);
    if (!c->doomed)
        end_listing(c);
}

static void install(cm_mcp_client *c, yyjson_doc *take_doc, char *take_text, size_t len)
{
    yyjson_doc *old = c->tools;
    bool first = c->state == LISTING;

    free(c->tools_text);
    c->tools_text = take_text;
    c->tools_len = len;
    c->tools = take_doc;
    c->state = READY;
    if (first)
        c->ops.on_ready(c->user, yyjson_doc_get_root(c->tools), c->instructions);
    else
        c->ops.on_tools_changed(c->user, yyjson_doc_get_root(c->tools));
    /* Only now: until it returned, the owner's table pointed into it. */
    yyjson_doc_free(old);
}

static void finish_listing(cm_mcp_client *c)
{
    cm_autofree char *text = NULL;
    cm_auto(yyjson_doc) doc = NULL;
    struct cm_err err;
    size_t len = 0;

    cm_buf_add_char(&c->listing.text, ']');
    if (cm_buf_check(&c->listing.text, "its tool list", &err) != CM_OK) {
        fail_listing(c, &err);
        return;
    }
    text = cm_buf_take(&c->listing.text, &len);
    if (c->state == READY && cm_str_eq(cm_str_mk(text, len), cm_str_mk(c->tools_text, c->tools_len))) {
        end_listing(c);
        return;
    }
    if (cm_json_parse(cm_str_mk(text, len), CM_JSON_BIGNUM, &doc, &err) != CM_OK) {
        (void)cm_err_prefix(&err, "its tool list");
        fail_listing(c, &err);
        return;
    }
    install(c, cm_steal(&doc), cm_steal(&text), len);
    if (!c->doomed)
        end_listing(c);
}

static void on_page(void *user, const struct cm_rpc_reply *reply)
{
    cm_mcp_client *c = user;
    struct cm_str cursor = cm_json_str(cm_json_get(reply->result, "nextCursor"));
    struct cm_err err;
    cm_status st;

    if (c->doomed)
        return;
    c->busy++;
    if (reply->status != CM_OK) {
        explain(reply, "tools/list", &err);
        fail_listing(c, &err);
        leave(c);
        return;
    }
    st = add_page(&c->listing, reply->result, &err);
    if (st == CM_OK && cursor.len > 0)
        st = follow(&c->listing, cursor, &err);
    if (st == CM_OK && cursor.len > 0)
        st = ask_page(c, cursor, &err);
    if (st != CM_OK)
        fail_listing(c, &err);
    else if (cursor.len == 0)
        finish_listing(c);
    leave(c);
}

/* ---- initialize ---- */

static void no_tools(cm_mcp_client *c)
{
    c->listing.active = true;
    cm_buf_add_char(&c->listing.text, '[');
    finish_listing(c);
}

static cm_status check_version(yyjson_val *result, struct cm_err *err)
{
    yyjson_val *version = cm_json_get(result, "protocolVersion");
    struct cm_str text = cm_json_str(version);

    if (!text.ptr)
        return cm_err_set(err, CM_E_PROTOCOL,
                          "its answer to initialize must hold a string \"protocolVersion\", which is %s",
                          cm_json_kind(version));
    if (!cm_mcp_version_is_known(text))
        return cm_err_set(err, CM_E_PROTOCOL,
                          "it speaks MCP revision '%.*s'; codemode speaks " CM_MCP_VERSIONS_TEXT,
                          (int)(text.len < 80 ? text.len : 80), text.ptr);
    return CM_OK;
}

static void begin_operation(cm_mcp_client *c, yyjson_val *result)
{
    yyjson_val *capabilities = cm_json_get(result, "capabilities");
    const char *instructions = cm_json_get_z(result, "instructions");
    struct cm_err err;
    cm_status st;

    c->instructions = instructions && *instructions ? cm_strdup(instructions) : NULL;
    c->runs_tasks =
        cm_json_get(cm_json_get(cm_json_get(cm_json_get(capabilities, "tasks"), "requests"), "tools"),
                    "call") != NULL;
    c->state = LISTING;
    st = cm_rpc_notify(c->rpc, "notifications/initialized", CM_STR(""), &err);
    if (st != CM_OK || c->doomed) {
        fail(c, &err);
        return;
    }
    /* Without the capability the server has no tools and must not be asked (2025-11-25, "Capability
     * Negotiation"). */
    if (!cm_json_get(capabilities, "tools")) {
        no_tools(c);
        return;
    }
    begin_listing(c, &err, &st);
    if (st != CM_OK)
        fail(c, &err);
}

static void on_initialized(void *user, const struct cm_rpc_reply *reply)
{
    cm_mcp_client *c = user;
    struct cm_err err;

    if (c->doomed)
        return;
    c->busy++;
    if (reply->status != CM_OK) {
        explain(reply, "initialize", &err);
        fail(c, &err);
    } else if (check_version(reply->result, &err) != CM_OK) {
        fail(c, &err);
    } else {
        begin_operation(c, reply->result);
    }
    leave(c);
}

void cm_mcp_client_start(cm_mcp_client *c)
{
    static const struct cm_str params =
        CM_STR("{\"protocolVersion\":\"" CM_MCP_PROTOCOL_VERSION "\",\"capabilities\":{},"
               "\"clientInfo\":{\"name\":\"codemode\",\"version\":\"" CM_VERSION "\"}}");
    struct cm_err err;

    if (c->state != NEW)
        return;
    c->busy++;
    c->state = INITIALIZING;
    if (cm_rpc_request(c->rpc, "initialize", params, on_initialized, c, NULL, &err) != CM_OK)
        fail(c, &err);
    leave(c);
}

/* ---- what the server sends by itself ---- */

static cm_status on_send(void *user, struct cm_str message, struct cm_err *err)
{
    cm_mcp_client *c = user;

    return c->ops.send(c->user, message, err);
}

static void on_request(void *user, struct cm_str id, struct cm_str method, yyjson_val *params)
{
    cm_mcp_client *c = user;

    (void)params;
    if (cm_str_eq_z(method, "ping")) {
        (void)cm_rpc_answer(c->rpc, id, CM_STR("{}"), NULL);
        return;
    }
    cm_autofree char *why = cm_asprintf("codemode declared no capability for '%.*s'; it answers ping only",
                                        (int)(method.len < 80 ? method.len : 80), method.ptr);
    (void)cm_rpc_refuse(c->rpc, id, RPC_NO_METHOD, why, NULL);
}

/* Log lines, progress and whatever else a server tells are allowed and mean nothing here. */
static void on_notification(void *user, struct cm_str method, yyjson_val *params)
{
    cm_mcp_client *c = user;

    (void)params;
    if (!cm_str_eq_z(method, "notifications/tools/list_changed"))
        return;
    c->listing.again = true;
    refresh(c);
}

static void on_garbage(void *user, struct cm_str text, const struct cm_err *why)
{
    cm_mcp_client *c = user;

    if (c->ops.on_garbage && !c->doomed)
        c->ops.on_garbage(c->user, text, why);
}

cm_mcp_client *cm_mcp_client_new(const struct cm_mcp_client_ops *ops, void *user)
{
    static const struct cm_rpc_ops rpc_ops = {.send = on_send,
                                              .on_request = on_request,
                                              .on_notification = on_notification,
                                              .on_garbage = on_garbage};
    cm_mcp_client *c = cm_new(cm_mcp_client);

    c->ops = *ops;
    c->user = user;
    c->listing.text = CM_BUF_INIT(CM_RPC_MAX_BYTES);
    c->rpc = cm_rpc_new(&rpc_ops, c);
    c->calls.rpc = c->rpc;
    return c;
}

/* ---- calls ---- */

bool cm_mcp_client_runs_tasks(const cm_mcp_client *c)
{
    return c->runs_tasks;
}

cm_status cm_mcp_client_call(cm_mcp_client *c, const char *tool, struct cm_str args_json, bool as_task,
                             cm_mcp_result_fn fn, void *user, uint64_t *id, struct cm_err *err)
{
    if (c->state != READY)
        return cm_err_set(err, CM_E_UNAVAILABLE, "the server is not ready for calls");
    c->busy++;
    cm_status st = cm_mcp_calls_send(&c->calls, tool, args_json, as_task, fn, user, id, err);
    leave(c);
    return st;
}

void cm_mcp_client_cancel(cm_mcp_client *c, uint64_t id, const char *reason)
{
    c->busy++;
    cm_mcp_calls_cancel(&c->calls, id, reason);
    leave(c);
}
