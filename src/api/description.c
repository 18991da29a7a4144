/** What a model reads about the one tool (reference R1.1): how to work, the rules, and the connectors by
 * name. No methods, no types. */
#include "api/internal.h"

#include "connector/kinds.h"

/** Past so many the list would cost more than it tells; search finds the rest. */
#define CONNECTORS_SHOWN 40
#define HINT_MAX_BYTES   120

static const char opening[] =
    "Run a JavaScript program (not TypeScript) in a sandbox whose connectors are global objects; what it "
    "returns is the result.\n"
    "\n"
    "## Workflow\n"
    "1. Find methods: `return await codemode.search(\"short intent phrase\")`\n"
    "2. Read one's types: `return await codemode.describe(path)`, with a result's `path`\n"
    "3. Call it: `await connector.method(args)`; one program can make many calls, also in loops and with "
    "Promise.all, and return "
    "just what you need\n"
    "\n"
    "## Rules\n";

/** Named where there are some; past so many search does it better. */
#define SNIPPETS_SHOWN 20

static const char snippets[] = "\n## Snippets\n"
                               "Saved programs: `await codemode.run(\"name\", input)` runs one; search finds "
                               "them, describe shows them. Write a "
                               "program that may be "
                               "saved as a function of its input: `async (input) => { … }`.\n";

static const char rules[] =
    " plus standard JavaScript. There is no `host`, `fs`, `require`, `process` or any other Node API; all "
    "input and output goes "
    "through connectors.\n"
    "- Never guess method names. Search first when a connector has not been used in this conversation.\n"
    "- `codemode.describe(\"connector.method\")` gives TypeScript declarations; every call takes one object "
    "of arguments.\n"
    "- A failed call throws an Error with the service's own message; catch it where you can go on.\n"
    "- Wrap whatever has effects or varies and is no connector call in `await codemode.step(name, fn)`: it "
    "runs once, its value is "
    "recorded.\n"
    "- Some methods need a human's approval: the run pauses there. Write the program as though the call just "
    "returned.\n"
    "- A result with status \"paused\" waits for a human: tell the user what is pending and wait. Do not "
    "send the program again.\n"
    "- Everything outside calls and steps must be deterministic. The clock stands still between calls.\n";

/** The first line of what the configuration or the connector says about itself, cut to a hint. */
static void add_hint(struct cm_buf *b, const char *text)
{
    size_t len = text ? strcspn(text, "\r\n") : 0;

    if (!len)
        return;
    cm_buf_add_z(b, " \xE2\x80\x94 ");
    if (len > HINT_MAX_BYTES)
        for (len = HINT_MAX_BYTES; len > 0 && ((unsigned char)text[len] & 0xC0) == 0x80; len--)
            continue;
    cm_buf_add(b, text, len);
}

static void add_globals(const cm_ctx *ctx, struct cm_buf *b, size_t shown)
{
    cm_buf_add_z(b, "- The ONLY globals are ");
    for (size_t i = 0; i < shown; i++)
        cm_buf_addf(b, "%s`%s`", i ? ", " : "", cm_connector_name(ctx->connectors[i]));
    if (ctx->n_connectors > shown)
        cm_buf_addf(b, ", %zu more connectors", ctx->n_connectors - shown);
    cm_buf_add_z(b, shown ? " and `codemode`," : "`codemode`");
}

static void add_fetch(const cm_ctx *ctx, struct cm_buf *b)
{
    if (!ctx->fetch) {
        cm_buf_add_z(b, "- Do not use `fetch`.\n");
        return;
    }
    cm_buf_add_z(b, "- `fetch` reaches only ");
    cm_connector_fetch_places(ctx->fetch, b);
    cm_buf_add_z(b, ". Prefer connectors.\n");
}

static void add_modules(const cm_ctx *ctx, struct cm_buf *b)
{
    struct cm_str names = cm_config_modules(ctx->config);

    if (names.len > 0)
        cm_buf_addf(b, "- Modules that can be imported: %.*s. Connectors need no import.\n",
                    CM_STR_ARG(names));
}

/** A line for each: what is said of it is somebody's words, not the program's. */
static cm_status add_snippets(cm_ctx *ctx, struct cm_buf *b, struct cm_err *err)
{
    cm_autobuf json = CM_BUF_INIT(CM_API__TEXT_MAX_BYTES);
    cm_auto(yyjson_doc) doc = NULL;
    cm_status st = cm_api__runtime(ctx, err);
    yyjson_val *list, *s;
    size_t i, max;

    cm_buf_add_z(b, snippets);
    if (st == CM_OK)
        st = cm_runtime_snippets(ctx->runtime, &json, err);
    if (st == CM_OK)
        st = cm_json_parse(cm_buf_str(&json), CM_JSON_STRICT, &doc, err);
    if (st != CM_OK)
        return st;
    list = cm_json_get(yyjson_doc_get_root(doc), "snippets");
    yyjson_arr_foreach(list, i, max, s)
    {
        if (i == SNIPPETS_SHOWN)
            break;
        cm_buf_addf(b, "- `%s`", cm_json_get_z(s, "name"));
        add_hint(b, cm_json_get_z(s, "description"));
        cm_buf_add_char(b, '\n');
    }
    if (yyjson_arr_size(list) > SNIPPETS_SHOWN)
        cm_buf_addf(b, "- and %zu more\n", yyjson_arr_size(list) - SNIPPETS_SHOWN);
    return CM_OK;
}

cm_status cm_tool_description(cm_ctx *ctx, char **text, struct cm_err *err)
{
    const struct cm_config_entry *entries = NULL;
    size_t n_entries = cm_config_entries(ctx->config, &entries);
    size_t shown = ctx->n_connectors < CONNECTORS_SHOWN ? ctx->n_connectors : CONNECTORS_SHOWN;
    cm_autobuf b = CM_BUF_INIT(CM_API__TEXT_MAX_BYTES);

    cm_buf_add_z(&b, opening);
    add_globals(ctx, &b, shown);
    cm_buf_add_z(&b, rules);
    add_fetch(ctx, &b);
    add_modules(ctx, &b);
    cm_status st = add_snippets(ctx, &b, err);
    if (st != CM_OK)
        return st;
    if (shown)
        cm_buf_add_z(&b, "\n## Available connectors\n");
    for (size_t i = 0; i < shown; i++) {
        cm_buf_addf(&b, "- `%s`", cm_connector_name(ctx->connectors[i]));
        add_hint(&b, i < n_entries ? entries[i].instructions : NULL);
        cm_buf_add_char(&b, '\n');
    }
    return cm_api__give(ctx, &b, text, err);
}
