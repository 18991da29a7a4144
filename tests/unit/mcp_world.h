/** A connector to an MCP server on standard input and output. */
#ifndef CM_TESTS_MCP_WORLD_H
#define CM_TESTS_MCP_WORLD_H

#include "connector/kinds.h"

#include <stdint.h>
#include <stdio.h>

#include "waiting.h"

struct world {
    cm_loop *loop;
    cm_connector *c;
    cm_secrets *secrets;
    struct seen seen;
    int told;
};

MAYBE_UNUSED static void on_told(void *user, cm_connector *c)
{
    (void)c;
    ((struct world *)user)->told++;
}

MAYBE_UNUSED static void settle(struct world *w)
{
    int before = w->told;

    cm_connector_ensure(w->c, on_told, w);
    WAIT_WHILE(w, w->told == before);
}

MAYBE_UNUSED static cm_call *begin(struct world *w, const char *method, const char *args, struct seen *into)
{
    long i = cm_connector_find(w->c, cm_str_of(method));
    cm_call *k = NULL;

    if (i < 0)
        fail_msg("there is no method '%s'", method);
    cm_connector_call(w->c, (size_t)i, (struct cm_value){cm_str_of(args), {NULL, 0}}, take, into, &k);
    return k;
}

MAYBE_UNUSED static const char *call(struct world *w, const char *method, const char *args)
{
    int before = w->seen.n;

    (void)begin(w, method, args, &w->seen);
    WAIT_WHILE(w, w->seen.n == before);
    return w->seen.json;
}

MAYBE_UNUSED static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in: %s", part, text);
}

MAYBE_UNUSED static void assert_warned(struct world *w, const char *part)
{
    const char *const *list = NULL;
    size_t n = cm_connector_warnings(w->c, &list);

    for (size_t i = 0; i < n; i++)
        if (strstr(list[i], part))
            return;
    fail_msg("no warning of %zu has '%s'; the first: %s", n, part, n ? list[0] : "-");
}

static const struct cm_method *method_of(struct world *w, const char *name)
{
    const struct cm_method *methods = NULL;
    long i = cm_connector_find(w->c, cm_str_of(name));

    (void)cm_connector_methods(w->c, &methods);
    if (i < 0)
        fail_msg("there is no method '%s'", name);
    return &methods[i];
}

MAYBE_UNUSED static int set_up(void **state)
{
    struct world *w = cm_new(struct world);

    assert_int_equal(cm_loop_new(&w->loop, NULL), CM_OK);
    w->secrets = cm_secrets_new();
    *state = w;
    return 0;
}

MAYBE_UNUSED static int tear_down(void **state)
{
    struct world *w = *state;

    cm_connector_free(w->c);
    cm_loop_free(w->loop);
    cm_secrets_free(w->secrets);
    free(w->seen.json);
    free(w->seen.marks);
    free(w);
    return 0;
}

MAYBE_UNUSED static const char *env_of(const char *name, const char *otherwise)
{
    const char *value = getenv(name);

    return value ? value : otherwise;
}

MAYBE_UNUSED static void open_connector(struct world *w, const char *const *argv, uint32_t start_timeout_ms)
{
    cm_autofree char *path = cm_asprintf("PATH=%s", env_of("PATH", "/usr/bin:/bin"));
    const char *const env[] = {path, "RUDE_SECRET=hunter2-hunter2", NULL};
    const struct cm_connector_base base = {.name = "srv",
                                           .origin = "mcpServers.srv",
                                           .secrets = w->secrets,
                                           .start_timeout_ms = start_timeout_ms};

    w->c = cm_connector_mcp_stdio(w->loop, &base, &(struct cm_mcp_stdio_spec){.argv = argv, .env = env});
}

#endif
