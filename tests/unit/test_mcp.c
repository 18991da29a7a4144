/**
 * Both ends of MCP without a carrier, by scripts of messages (tests/cases/mcp/client, …/server), results by
 * pairs (tests/cases/mcp/results.txt), and the serving end over real pipes.
 *
 * A script line is an action or what must come of it, in order and without anything more:
 *
 *   < JSON               the peer sends this
 *   > JSON               we sent this (compared as JSON)
 *   ! TEXT               our owner was told this
 *   anything else        an action of our owner; see the tables `client_actions` and `server_actions`
 */
#include "base/fd.h"
#include "base/limits.h"
#include "base/parse.h"
#include "connector/mcp.h"
#include "mcp/client.h"
#include "mcp/server.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define EVENTS_MAX 64
#define HELD_MAX   8

struct script {
    const char *file;
    unsigned line;
    char *events[EVENTS_MAX]; /* "> …" and "! …", oldest first */
    size_t n_events;
    cm_mcp_client *client;
    cm_mcp_server *server;
    cm_mcp_request *held[HELD_MAX]; /* calls that wait for an action */
    size_t n_held;
};

static void note(struct script *s, char *take_event)
{
    assert_true(s->n_events < EVENTS_MAX);
    s->events[s->n_events++] = take_event;
}

static char *canonical(struct cm_str json)
{
    cm_auto(yyjson_doc) doc = NULL;
    cm_autobuf b = CM_BUF_INIT(1u << 20);

    if (cm_json_parse(json, CM_JSON_BIGNUM, &doc, NULL) != CM_OK)
        return cm_memdup_z(json.ptr, json.len);
    cm_json_write_canonical(&b, yyjson_doc_get_root(doc));
    return cm_buf_take(&b, NULL);
}

static cm_status on_send(void *user, struct cm_str message, struct cm_err *err)
{
    cm_autofree char *text = canonical(message);

    (void)err;
    note(user, cm_asprintf("> %s", text));
    return CM_OK;
}

static void expect(struct script *s, char *take_expected)
{
    cm_autofree char *expected = take_expected;
    cm_autofree char *seen = s->n_events ? s->events[0] : cm_strdup("nothing");

    if (s->n_events) {
        s->n_events--;
        memmove(s->events, s->events + 1, s->n_events * sizeof *s->events);
    }
    if (strcmp(seen, expected) != 0)
        fail_msg("%s:%u\nexpected: %s\n     got: %s", s->file, s->line, expected, seen);
}

static void expect_line(struct script *s, struct cm_str line)
{
    if (line.ptr[0] == '!') {
        expect(s, cm_memdup_z(line.ptr, line.len));
        return;
    }
    cm_autofree char *json = canonical(cm_str_mk(line.ptr + 2, line.len - 2));
    expect(s, cm_asprintf("> %s", json));
}

struct action {
    const char *name;
    void (*run)(struct script *s, struct cm_str rest);
};

static void act(struct script *s, const struct action *actions, size_t n, struct cm_str line)
{
    const char *space = memchr(line.ptr, ' ', line.len);
    struct cm_str name = cm_str_mk(line.ptr, space ? (size_t)(space - line.ptr) : line.len);
    struct cm_str rest = space ? cm_str_mk(space + 1, line.len - name.len - 1) : cm_str_mk(line.ptr, 0);

    for (size_t i = 0; i < n; i++) {
        if (!cm_str_eq_z(name, actions[i].name))
            continue;
        actions[i].run(s, rest);
        return;
    }
    fail_msg("%s:%u: no action '%.*s'", s->file, s->line, CM_STR_ARG(name));
}

/* The next word of rest, taken off it. */
static struct cm_str word(struct cm_str *rest)
{
    const char *space = memchr(rest->ptr, ' ', rest->len);
    struct cm_str w = cm_str_mk(rest->ptr, space ? (size_t)(space - rest->ptr) : rest->len);

    *rest = space ? cm_str_mk(space + 1, rest->len - w.len - 1) : cm_str_mk(rest->ptr, 0);
    return w;
}

static uint32_t number(struct cm_str *rest)
{
    uint32_t n = 0;

    assert_int_equal(cm_parse_u32(word(rest), &n, NULL), CM_OK);
    return n;
}

/* ---- the client ---- */

static char *names_of(yyjson_val *tools)
{
    cm_autobuf b = CM_BUF_INIT(65536);
    yyjson_arr_iter iter;
    yyjson_val *tool;

    (void)yyjson_arr_iter_init(tools, &iter);
    while ((tool = yyjson_arr_iter_next(&iter)))
        cm_buf_addf(&b, " %s", cm_json_get_z(tool, "name"));
    return cm_buf_take(&b, NULL);
}

static void on_ready(void *user, yyjson_val *tools, const char *instructions)
{
    cm_autofree char *names = names_of(tools);

    note(user,
         cm_asprintf("! ready%s%s%s", names, instructions ? ": " : "", instructions ? instructions : ""));
}

static void on_failed(void *user, const struct cm_err *err)
{
    note(user, cm_asprintf("! failed %s", err->message));
}

static void on_tools_changed(void *user, yyjson_val *tools)
{
    cm_autofree char *names = names_of(tools);

    note(user, cm_asprintf("! changed%s", names));
}

static void on_client_garbage(void *user, struct cm_str head, const struct cm_err *why)
{
    (void)why;
    note(user, cm_asprintf("! garbage %.*s", CM_STR_ARG(head)));
}

static void on_result(void *user, const struct cm_rpc_reply *reply)
{
    cm_autobuf b = CM_BUF_INIT(65536);

    if (reply->status == CM_OK)
        cm_json_write(&b, reply->result);
    else
        cm_buf_addf(&b, "%s %d %s", cm_status_name(reply->status), reply->code, reply->message);
    note(user, cm_asprintf("! result %s", b.ptr));
}

static void do_start(struct script *s, struct cm_str rest)
{
    (void)rest;
    cm_mcp_client_start(s->client);
}

static void do_client_receive(struct script *s, struct cm_str rest)
{
    cm_mcp_client_receive(s->client, rest);
}

static void call_tool(struct script *s, struct cm_str rest, bool as_task)
{
    struct cm_str tool = word(&rest);
    cm_autofree char *name = cm_memdup_z(tool.ptr, tool.len);
    struct cm_err err;
    uint64_t id = 0;

    if (cm_mcp_client_call(s->client, name, rest, as_task, on_result, s, &id, &err) != CM_OK)
        note(s, cm_asprintf("! refused %s", err.message));
}

static void do_call(struct script *s, struct cm_str rest)
{
    call_tool(s, rest, false);
}

static void do_task(struct script *s, struct cm_str rest)
{
    call_tool(s, rest, true);
}

static void do_cancel(struct script *s, struct cm_str rest)
{
    uint32_t id = number(&rest);
    cm_autofree char *reason = cm_memdup_z(rest.ptr, rest.len);

    cm_mcp_client_cancel(s->client, id, reason);
}

static void do_close(struct script *s, struct cm_str rest)
{
    cm_autofree char *why = cm_memdup_z(rest.ptr, rest.len);

    cm_mcp_client_close(s->client, why);
}

static const struct action client_actions[] = {
    {"<", do_client_receive}, {"start", do_start},   {"call", do_call},
    {"task", do_task},        {"cancel", do_cancel}, {"close", do_close},
};

/* ---- the server ---- */

static void tools(void *user, struct cm_buf *out)
{
    (void)user;
    cm_buf_add_z(out, "[{\"name\":\"code\",\"inputSchema\":{\"type\":\"object\"}}]");
}

static void on_call(void *user, cm_mcp_request *rq, struct cm_str tool, yyjson_val *args)
{
    struct script *s = user;
    cm_autobuf b = CM_BUF_INIT(65536);

    if (args)
        cm_json_write(&b, args);
    note(s, cm_asprintf("! call %.*s %s", CM_STR_ARG(tool), cm_buf_str(&b).ptr));
    if (cm_str_eq_z(tool, "echo")) {
        cm_mcp_request_result(rq, cm_json_str(cm_json_get(args, "text")), CM_STR(""), false);
        return;
    }
    assert_true(s->n_held < HELD_MAX);
    s->held[s->n_held++] = rq;
}

static void on_cancel(void *user, cm_mcp_request *rq)
{
    struct script *s = user;

    for (size_t i = 0; i < s->n_held; i++)
        if (s->held[i] == rq)
            note(s, cm_asprintf("! cancel %zu", i));
}

static void on_closed(void *user)
{
    note(user, cm_strdup("! closed"));
}

static void on_idle(void *user)
{
    note(user, cm_strdup("! idle"));
}

static void do_server_receive(struct script *s, struct cm_str rest)
{
    cm_mcp_server_receive(s->server, rest);
}

static cm_mcp_request *take_held(struct script *s, uint32_t n)
{
    assert_true(n < s->n_held && s->held[n]);
    return cm_steal(&s->held[n]);
}

static void do_result(struct script *s, struct cm_str rest)
{
    cm_mcp_request *rq = take_held(s, number(&rest));

    if (rest.len > 0 && rest.ptr[0] == '{')
        cm_mcp_request_result(rq, cm_str_mk(NULL, 0), rest, false);
    else
        cm_mcp_request_result(rq, rest, CM_STR(""), false);
}

static void do_failure(struct script *s, struct cm_str rest)
{
    cm_mcp_request *rq = take_held(s, number(&rest));

    cm_mcp_request_result(rq, rest, CM_STR("{\"ok\":false}"), true);
}

static void do_error(struct script *s, struct cm_str rest)
{
    cm_mcp_request *rq = take_held(s, number(&rest));
    cm_autofree char *message = cm_memdup_z(rest.ptr, rest.len);

    cm_mcp_request_error(rq, -32602, message);
}

static void do_progress(struct script *s, struct cm_str rest)
{
    uint32_t n = number(&rest), value = number(&rest);
    cm_autofree char *message = rest.len ? cm_memdup_z(rest.ptr, rest.len) : NULL;

    assert_true(n < s->n_held && s->held[n]);
    cm_mcp_request_progress(s->held[n], value, message);
}

static void do_changed(struct script *s, struct cm_str rest)
{
    (void)rest;
    cm_mcp_server_tools_changed(s->server);
}

static void do_hang_up(struct script *s, struct cm_str rest)
{
    (void)rest;
    cm_mcp_server_hang_up(s->server);
    cm_mcp_server_tell_closed(s->server);
}

static void do_free(struct script *s, struct cm_str rest)
{
    (void)rest;
    cm_mcp_server_free(s->server);
    s->server = NULL;
}

static const struct action server_actions[] = {
    {"<", do_server_receive},  {"result", do_result},   {"failure", do_failure}, {"error", do_error},
    {"progress", do_progress}, {"changed", do_changed}, {"hang-up", do_hang_up}, {"free", do_free},
};

/* ---- running scripts ---- */

static void run_script(struct script *s, const struct action *actions, size_t n)
{
    cm_autofree char *text = NULL;
    size_t len = 0;
    struct cm_err err;

    if (cm_read_file(s->file, 1u << 20, &text, &len, &err) != CM_OK)
        fail_msg("%s", err.message);
    for (const char *at = text; *at;) {
        size_t line_len = strcspn(at, "\n");
        struct cm_str line = cm_str_mk(at, line_len);
        at += line_len + (at[line_len] == '\n');
        s->line++;
        if (line.len == 0 || line.ptr[0] == '#')
            continue;
        if (line.ptr[0] == '>' || line.ptr[0] == '!')
            expect_line(s, line);
        else if (s->n_events)
            expect(s, cm_asprintf("nothing before '%.*s'", CM_STR_ARG(line)));
        else
            act(s, actions, n, line);
    }
    if (s->n_events)
        expect(s, cm_strdup("nothing"));
}

static void run_client_script(const char *file)
{
    static const struct cm_mcp_client_ops ops = {on_send, on_ready, on_failed, on_tools_changed,
                                                 on_client_garbage};
    struct script s = {.file = file};

    s.client = cm_mcp_client_new(&ops, &s);
    run_script(&s, client_actions, CM_ARRAY_LEN(client_actions));
    cm_mcp_client_free(s.client);
    while (s.n_events)
        free(s.events[--s.n_events]);
}

static void run_server_script(const char *file)
{
    static const struct cm_mcp_server_ops ops = {tools, on_call, on_cancel, on_closed};
    static const struct cm_mcp_server_info info = {"codemode", "Code mode", "0.1.0", "Write a program."};
    struct script s = {.file = file};

    s.server = cm_mcp_server_new_over(&(struct cm_mcp_carrier){.send = on_send, .idle = on_idle, .self = &s},
                                      &info, &ops, &s);
    run_script(&s, server_actions, CM_ARRAY_LEN(server_actions));
    cm_mcp_server_free(s.server);
    while (s.n_events)
        free(s.events[--s.n_events]);
    for (size_t i = 0; i < s.n_held; i++)
        if (s.held[i])
            cm_mcp_request_error(s.held[i], 0, "");
}

static char *case_path(const char *name)
{
    const char *root = getenv("CM_SOURCE_ROOT");

    return cm_asprintf("%s/tests/cases/mcp/%s", root ? root : ".", name);
}

static void run_folder(const char *name, void (*run)(const char *file))
{
    cm_autofree char *dir = case_path(name);
    struct dirent **entries = NULL;
    int n = scandir(dir, &entries, NULL, alphasort);
    int ran = 0;

    for (int i = 0; i < n; i++) {
        cm_autofree char *file = cm_asprintf("%s/%s", dir, entries[i]->d_name);
        bool is_script = strstr(entries[i]->d_name, ".txt") != NULL;
        free(entries[i]);
        if (is_script) {
            run(file);
            ran++;
        }
    }
    free(entries);
    print_message("%d scripts of %s\n", ran, name);
    assert_true(ran > 0);
}

static void the_client_keeps_to_its_scripts(void **state)
{
    (void)state;
    run_folder("client", run_client_script);
}

static void the_server_keeps_to_its_scripts(void **state)
{
    (void)state;
    run_folder("server", run_server_script);
}

/* ---- results ---- */

static char *unwrap(struct cm_str line)
{
    cm_auto(yyjson_doc) doc = NULL;
    struct cm_mcp_outcome o = {0};
    struct cm_err err;
    char *text;

    assert_int_equal(cm_json_parse(line, CM_JSON_BIGNUM, &doc, &err), CM_OK);
    if (cm_mcp_unwrap(yyjson_doc_get_root(doc), &o, &err) != CM_OK)
        text = cm_asprintf("error %s", err.message);
    else if (o.failed)
        text = cm_asprintf("! %s %s", o.message, cm_buf_str(&o.fields).ptr);
    else
        text = cm_asprintf("= %.*s%s%.*s", (int)o.value.json_len, o.value.json,
                           o.value.marks_len > 2 ? " marks " : "",
                           o.value.marks_len > 2 ? (int)o.value.marks_len : 0, o.value.marks);
    cm_mcp_outcome_done(&o);
    for (char *nl = text; (nl = strchr(nl, '\n'));)
        *nl = '~';
    return text;
}

/* Pairs of lines: a CallToolResult, and "= value [marks …]" or "! message fields" (a newline shown as '~').
 */
static void results_mean_what_the_pairs_say(void **state)
{
    (void)state;
    cm_autofree char *file = case_path("results.txt");
    cm_autofree char *text = NULL, *got = NULL;
    unsigned n = 0;

    assert_int_equal(cm_read_file(file, 1u << 20, &text, NULL, NULL), CM_OK);
    for (char *line = text, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        next += *next ? (*next = '\0', 1) : 0;
        if (line[0] == '#')
            continue;
        if (!got) {
            got = unwrap(cm_str_of(line));
            continue;
        }
        if (strcmp(got, line) != 0)
            fail_msg("pair %u\nexpected: %s\n     got: %s", n, line, got);
        free(cm_steal(&got));
        n++;
    }
    assert_null(got);
    assert_true(n > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_client_keeps_to_its_scripts),
        cmocka_unit_test(the_server_keeps_to_its_scripts),
        cmocka_unit_test(results_mean_what_the_pairs_say),
    };

    return cmocka_run_group_tests_name("mcp", tests, NULL, NULL);
}
