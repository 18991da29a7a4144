/** Tool sets: local commands as tools (design, section 7, "Tools and services of ours"). */
#include "config/internal.h"

static const char *const toolset_keys[] = {"tools",   "instructions", "description", "disabled",
                                           "timeout", "timeoutMs",    NULL};
static const char *const tool_keys[] = {"command",          "description", "inputSchema", "outputSchema",
                                        "requiresApproval", "readOnly",    "idempotent",  "replay",
                                        "revert",           "timeoutMs",   "env",         "cwd",
                                        "disabled",         NULL};
static const char *const tool_foreign[] = {"name", "title", NULL};

static cm_status read_schema(cm_config *c, yyjson_val *obj, const char *at, const char *key, const char **out,
                             struct cm_err *err)
{
    yyjson_val *v = cm_json_get(obj, key);

    if (!v)
        return CM_OK;
    if (!yyjson_is_obj(v) && !yyjson_is_bool(v))
        return cm_config__type(v, at, key, "a JSON Schema (an object)", err);
    cm_autobuf b = CM_BUF_INIT(CM_CONFIG_MAX_BYTES);
    cm_json_write(&b, v);
    if (cm_buf_check(&b, key, err) != CM_OK)
        return cm_err_prefix(err, "%s", at);
    *out = cm_config__keep(c, cm_buf_take(&b, NULL));
    return CM_OK;
}

static cm_status read_argv(cm_config *c, yyjson_val *obj, const char *at, const char *key,
                           const char *const **out, struct cm_err *err)
{
    yyjson_val *v = cm_json_get(obj, key);
    const char *const *list = NULL;

    if (yyjson_is_str(v))
        return cm_err_set(
            err, CM_E_CONFIG,
            "%s.%s: is a string; expected an array such as [\"wc\", \"-w\"], since no shell splits it", at,
            key);
    cm_status st = cm_config__strings(c, obj, at, key, &list, err);
    if (st != CM_OK || !list)
        return st;
    if (!list[0] || !*list[0])
        return cm_err_set(err, CM_E_CONFIG, "%s.%s: is empty; expected a program and its arguments", at, key);
    cm_config__secrets_of_argv(c, list, at);
    if (strchr(list[0], '/')) {
        size_t n = 0;
        while (list[n])
            n++;
        const char **own = cm_config__keep(c, cm_calloc(n + 1, sizeof *own));
        memcpy(own, list, n * sizeof *own);
        own[0] = cm_config__path(c, list[0]);
        list = own;
    }
    *out = list;
    return CM_OK;
}

/** {"command": […]}, or the array alone. */
static cm_status read_revert(cm_config *c, yyjson_val *obj, const char *at, const char *const **out,
                             struct cm_err *err)
{
    yyjson_val *v = cm_json_get(obj, "revert");
    cm_autofree char *place = cm_asprintf("%s.revert", at);

    if (!yyjson_is_obj(v))
        return read_argv(c, obj, at, "revert", out, err);
    cm_config__unknown(c, v, place, (const char *const[]){"command", NULL}, NULL);
    if (!cm_json_get(v, "command"))
        return cm_err_set(err, CM_E_CONFIG, "%s.command: is missing; expected an array of strings", place);
    return read_argv(c, v, place, "command", out, err);
}

static cm_status read_replay(cm_config *c, yyjson_val *obj, const char *at, bool *out, struct cm_err *err)
{
    const char *replay = NULL;
    cm_status st = cm_config__string(c, obj, at, "replay", CM_TEXT_PLAIN, &replay, err);

    if (st != CM_OK || !replay)
        return st;
    *out = cm_z_eq(replay, "reexecute");
    if (!*out && !cm_z_eq(replay, "record"))
        return cm_err_set(err, CM_E_CONFIG, "%s.replay: is '%s'; expected \"record\" or \"reexecute\"", at,
                          replay);
    return CM_OK;
}

struct flag {
    const char *key;
    size_t offset;
};
static const struct flag flags[] = {
    {"requiresApproval", offsetof(struct cm_config_tool, requires_approval)},
    {"readOnly", offsetof(struct cm_config_tool, read_only)},
    {"idempotent", offsetof(struct cm_config_tool, idempotent)},
};

static cm_status read_tool(cm_config *c, yyjson_val *obj, const char *at, struct cm_config_tool *t,
                           struct cm_err *err)
{
    cm_status st = cm_config__once(obj, at, true, err);

    cm_config__unknown(c, obj, at, tool_keys, tool_foreign);
    if (st == CM_OK)
        st = read_argv(c, obj, at, "command", &t->command, err);
    if (st == CM_OK && !t->command)
        return cm_err_set(err, CM_E_CONFIG,
                          "%s.command: is missing; expected an array such as [\"wc\", \"-w\"]", at);
    if (st == CM_OK)
        st = read_revert(c, obj, at, &t->revert, err);
    if (st == CM_OK)
        st = cm_config__string(c, obj, at, "description", CM_TEXT_PLAIN, &t->description, err);
    if (st == CM_OK)
        st = read_schema(c, obj, at, "inputSchema", &t->input_schema, err);
    if (st == CM_OK)
        st = read_schema(c, obj, at, "outputSchema", &t->output_schema, err);
    for (size_t i = 0; st == CM_OK && i < CM_ARRAY_LEN(flags); i++)
        st = cm_config__bool(obj, at, flags[i].key, (bool *)((char *)t + flags[i].offset), err);
    if (st == CM_OK)
        st = read_replay(c, obj, at, &t->reexecute, err);
    if (st == CM_OK)
        st = cm_config__u32(obj, at, "timeoutMs", 1, CM_CONFIG__TIMEOUT_MAX, &t->timeout_ms, err);
    if (st == CM_OK)
        st = cm_config__string(c, obj, at, "cwd", CM_TEXT_PLAIN, &t->cwd, err);
    if (st == CM_OK)
        t->cwd = t->cwd ? cm_config__path(c, t->cwd) : c->dir;
    if (st == CM_OK)
        st = cm_config__children_env(c, obj, at, &t->env, err);
    return st;
}

cm_status cm_config__read_toolset(cm_config *c, struct cm_config_entry *e, yyjson_val *obj, const char *at,
                                  struct cm_err *err)
{
    yyjson_val *tools = NULL, *key, *v;
    size_t i, max;
    cm_status st;

    cm_config__unknown(c, obj, at, toolset_keys, NULL);
    st = cm_config__string(c, obj, at, "description", CM_TEXT_PLAIN, &e->instructions, err);
    if (st == CM_OK)
        st = cm_config__string(c, obj, at, "instructions", CM_TEXT_PLAIN, &e->instructions, err);
    if (st == CM_OK)
        st = cm_config__u32(obj, at, "timeout", 1, CM_CONFIG__TIMEOUT_MAX, &e->timeout_ms, err);
    if (st == CM_OK)
        st = cm_config__u32(obj, at, "timeoutMs", 1, CM_CONFIG__TIMEOUT_MAX, &e->timeout_ms, err);
    if (st == CM_OK)
        st = cm_config__object(obj, at, "tools", &tools, err);
    if (st != CM_OK)
        return st;
    if (!tools)
        return cm_err_set(err, CM_E_CONFIG, "%s.tools: is missing; expected an object from tool name to tool",
                          at);
    if (yyjson_obj_size(tools) > CM_CONFIG__MAX_TOOLS)
        return cm_err_set(err, CM_E_CONFIG, "%s.tools: has %zu tools; at most %d are allowed", at,
                          yyjson_obj_size(tools), CM_CONFIG__MAX_TOOLS);
    struct cm_config_tool *list = cm_config__keep(c, cm_calloc(yyjson_obj_size(tools) + 1, sizeof *list));
    yyjson_obj_foreach(tools, i, max, key, v)
    {
        struct cm_config_tool tool = {
            .name = cm_config__keep(c, cm_memdup_z(yyjson_get_str(key), yyjson_get_len(key)))};
        cm_autofree char *place = cm_asprintf("%s.tools.%s", at, tool.name);
        struct cm_err why;
        if (yyjson_get_bool(cm_json_get(v, "disabled")))
            continue;
        st = yyjson_is_obj(v) ? read_tool(c, v, place, &tool, &why)
                              : cm_config__type(v, place, "", "an object", &why);
        /* One bad tool leaves the others alone. */
        if (st != CM_OK)
            cm_config__warn(c, "%s; this tool is left out", why.message);
        else
            list[e->n_tools++] = tool;
    }
    e->tools = list;
    return CM_OK;
}
