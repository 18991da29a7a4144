/**
 * The MCP connector against the official example servers (skipped by name where they are not installed).
 *
 * CM_REQUIRE_PEERS=1 makes a missing peer a failure.
 */
#include "base/fd.h"
#include "connector/kinds.h"

#include <sys/stat.h>
#include <unistd.h>

#include "mcp_world.h"

#define PEERS "node_modules/@modelcontextprotocol/"

/* Connect to an installed peer, or skip. */
static void open_peer(struct world *w, const char *package, const char *argument)
{
    cm_autofree char *script =
        cm_asprintf("%s/" PEERS "%s/dist/index.js", env_of("CM_SOURCE_ROOT", "."), package);
    const char *const argv[] = {"node", script, argument, NULL};

    if (access(script, R_OK) != 0) {
        if (getenv("CM_REQUIRE_PEERS"))
            fail_msg("missing: %s", script);
        print_message("skipped: @modelcontextprotocol/%s is not installed (npm ci)\n", package);
        skip();
    }
    open_connector(w, argv, 0);
    settle(w);
    if (cm_connector_state(w->c) != CM_CONN_READY)
        fail_msg("%s", cm_connector_error(w->c));
}

static void the_everything_server_is_listed_called_and_understood(void **state)
{
    struct world *w = *state;
    struct cm_schema_ref in = {0}, out = {0};

    open_peer(w, "server-everything", "stdio");
    assert_non_null(cm_connector_instructions(w->c));
    assert_string_equal(method_of(w, "get_sum")->origin, "get-sum");
    assert_true(method_of(w, "echo")->flags & CM_METHOD_READ_ONLY);
    cm_connector_schemas(w->c, (size_t)cm_connector_find(w->c, CM_STR("get_structured_content")), &in, &out);
    assert_non_null(cm_json_get(out.node, "properties"));
    assert_non_null(cm_json_get(in.node, "properties"));

    assert_string_equal(call(w, "echo", "{\"message\":\"hi\"}"), "\"Echo: hi\"");
    assert_string_equal(call(w, "get_sum", "{\"a\":2,\"b\":40}"), "\"The sum of 2 and 40 is 42.\"");
    assert_string_equal(call(w, "get_structured_content", "{\"location\":\"New York\"}"),
                        "{\"temperature\":33,\"conditions\":\"Cloudy\",\"humidity\":82}");
    assert_has(call(w, "get_tiny_image", "{}"), "\"mimeType\":\"image/png\"");
    assert_string_equal(w->seen.marks, "{\"/1/data\":\"bytes\"}");
    assert_has(call(w, "get_env", "{}"), "\"PATH\":");
    /* This one runs only as a task, of some seconds. */
    assert_has(call(w, "simulate_research_query", "{\"topic\":\"tea\"}"), "tea");
    assert_false(w->seen.failed);
    assert_has(call(w, "get_sum", "{\"a\":\"two\"}"), "-32602");
    assert_true(w->seen.failed);
}

static void the_filesystem_server_reads_and_refuses(void **state)
{
    struct world *w = *state;
    char dir[] = "/tmp/cm-mcp-XXXXXX";

    assert_non_null(mkdtemp(dir));
    cm_autofree char *file = cm_asprintf("%s/notes.txt", dir);
    cm_autofree char *read_args = cm_asprintf("{\"path\":\"%s\"}", file);
    cm_autofree char *write_args = cm_asprintf("{\"path\":\"%s\",\"content\":\"one\\ntwo\"}", file);
    open_peer(w, "server-filesystem", dir);
    assert_has(call(w, "write_file", write_args), "Successfully wrote");
    assert_false(w->seen.failed);
    assert_has(call(w, "read_text_file", read_args), "one\\ntwo");
    assert_false(w->seen.failed);
    assert_has(call(w, "read_text_file", "{\"path\":\"/etc/hostname\"}"), "outside allowed directories");
    assert_true(w->seen.failed);
    (void)unlink(file);
    (void)rmdir(dir);
}

static void the_memory_server_keeps_a_graph(void **state)
{
    struct world *w = *state;

    open_peer(w, "server-memory", NULL);
    assert_has(call(w, "search_nodes", "{\"query\":\"no such thing\"}"), "\"entities\":[]");
    assert_false(w->seen.failed);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(the_everything_server_is_listed_called_and_understood),
        T(the_filesystem_server_reads_and_refuses),
        T(the_memory_server_keeps_a_graph),
    };

    return cmocka_run_group_tests_name("mcp_servers", tests, NULL, NULL);
}
