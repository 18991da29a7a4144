#include "base/limits.h"
#include "base/names.h"
#include "connector/mcp.h"
#include "connector/namemap.h"

/* A name in a message: whole where it is reasonable. */
#define SHOWN(s) (int)((s).len < 80 ? (s).len : 80), (s).ptr

void cm_mcp_tools_done(struct cm_mcp_tools *t)
{
    for (size_t i = 0; i < t->n; i++)
        free((char *)(uintptr_t)t->methods[i].name);
    free(t->methods);
    free(t->schemas);
    *t = (struct cm_mcp_tools){0};
}

/*
 * Hints as the server gives them. They are claims: what a server may do without asking is for the policy to
 * say, and a person who configured a server trusts it as far as that. destructiveHint means something only
 * where readOnlyHint is not true (2025-11-25, ToolAnnotations), and its default of true is no claim at all:
 * only what was said becomes a flag.
 */
static unsigned flags_of(yyjson_val *annotations)
{
    bool read_only = yyjson_is_true(cm_json_get(annotations, "readOnlyHint"));
    unsigned flags = read_only ? CM_METHOD_READ_ONLY : 0;

    if (yyjson_is_true(cm_json_get(annotations, "idempotentHint")))
        flags |= CM_METHOD_IDEMPOTENT;
    if (!read_only && yyjson_is_true(cm_json_get(annotations, "destructiveHint")))
        flags |= CM_METHOD_DESTRUCTIVE;
    return flags;
}

static const char *description_of(yyjson_val *tool)
{
    const char *const candidates[] = {
        cm_json_get_z(tool, "description"),
        cm_json_get_z(tool, "title"),
        cm_json_get_z(cm_json_get(tool, "annotations"), "title"),
    };

    for (size_t i = 0; i < CM_ARRAY_LEN(candidates); i++)
        if (candidates[i] && *candidates[i])
            return candidates[i];
    return "";
}

/* The tool's name, or {NULL, 0} with a warning. */
static struct cm_str name_of(yyjson_val *tool, size_t place, cm_connector *c)
{
    yyjson_val *name = cm_json_get(tool, "name");
    struct cm_str text = cm_json_str(name);
    struct cm_str none = {NULL, 0};

    if (!yyjson_is_obj(tool)) {
        cm_connector__warn(c, "tool %zu is left out: a tool must be an object, not %s", place,
                           cm_json_kind(tool));
        return none;
    }
    if (!text.ptr || text.len == 0) {
        cm_connector__warn(c, "tool %zu is left out: its name must be a string that is not empty, and is %s",
                           place, text.ptr ? "empty" : cm_json_kind(name));
        return none;
    }
    if (text.len > CM_NAME_MAX_BYTES) {
        cm_connector__warn(c, "tool %zu ('%.*s…') is left out: its name is longer than %d bytes", place,
                           SHOWN(text), CM_NAME_MAX_BYTES);
        return none;
    }
    /* What we print and send is a C string: a name must not be another one from there on. */
    if (memchr(text.ptr, '\0', text.len)) {
        cm_connector__warn(c, "tool %zu ('%s') is left out: its name holds a NUL character", place, text.ptr);
        return none;
    }
    return text;
}

/* Whether the tool can be called at all; a warning where not. Sets the schemas. */
static bool is_usable(yyjson_val *tool, struct cm_str name, struct cm_mcp_tool_schemas *schemas,
                      bool runs_tasks, cm_connector *c)
{
    yyjson_val *input = cm_json_get(tool, "inputSchema");
    yyjson_val *output = cm_json_get(tool, "outputSchema");
    struct cm_str tasks = cm_json_str(cm_json_get(cm_json_get(tool, "execution"), "taskSupport"));

    if (input && !yyjson_is_obj(input)) {
        cm_connector__warn(c, "tool '%.*s' is left out: its inputSchema must be an object, not %s",
                           SHOWN(name), cm_json_kind(input));
        return false;
    }
    if (cm_str_eq_z(tasks, "required") && !runs_tasks) {
        cm_connector__warn(
            c, "tool '%.*s' is left out: it runs only as a task, and the server runs no tools as tasks",
            SHOWN(name));
        return false;
    }
    if (output && !yyjson_is_obj(output)) {
        cm_connector__warn(c, "the outputSchema of tool '%.*s' is ignored: it must be an object, not %s",
                           SHOWN(name), cm_json_kind(output));
        output = NULL;
    }
    *schemas = (struct cm_mcp_tool_schemas){input, output, cm_str_eq_z(tasks, "required")};
    return true;
}

static void warn_taken(cm_connector *c, struct cm_str name, const char *identifier,
                       const struct cm_method *first)
{
    if (cm_str_eq_z(name, first->origin))
        cm_connector__warn(c, "tool '%.*s' is listed twice; the second one is left out", SHOWN(name));
    else
        cm_connector__warn(c, "tool '%.*s' is left out: its identifier '%s' is taken by tool '%s'",
                           SHOWN(name), identifier, first->origin);
}

static void add_tool(struct cm_mcp_tools *t, struct cm_namemap *taken, yyjson_val *tool, size_t place,
                     bool runs_tasks, cm_connector *c)
{
    struct cm_mcp_tool_schemas schemas = {0};
    struct cm_str name = name_of(tool, place, c);

    if (!name.ptr || !is_usable(tool, name, &schemas, runs_tasks, c))
        return;
    cm_autofree char *identifier = cm_name_to_method(name);
    long first = cm_namemap_get(taken, cm_str_of(identifier));
    if (first >= 0) {
        warn_taken(c, name, identifier, &t->methods[first]);
        return;
    }
    t->methods[t->n] = (struct cm_method){
        .name = identifier,
        .origin = name.ptr,
        .description = description_of(tool),
        .flags = flags_of(cm_json_get(tool, "annotations")),
    };
    t->schemas[t->n] = schemas;
    cm_namemap_put(taken, identifier, t->n);
    (void)cm_steal(&identifier);
    t->n++;
}

void cm_mcp_tools_build(struct cm_mcp_tools *t, yyjson_val *tools, bool runs_tasks, cm_connector *c)
{
    size_t n = yyjson_arr_size(tools);
    struct cm_namemap taken = {0};
    yyjson_arr_iter iter;
    yyjson_val *tool;
    size_t place = 0;

    *t = (struct cm_mcp_tools){.methods = cm_calloc(n, sizeof *t->methods),
                               .schemas = cm_calloc(n, sizeof *t->schemas)};
    (void)yyjson_arr_iter_init(tools, &iter);
    while ((tool = yyjson_arr_iter_next(&iter)))
        add_tool(t, &taken, tool, place++, runs_tasks, c);
    cm_namemap_done(&taken);
}
