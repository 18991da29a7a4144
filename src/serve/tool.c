/** The one tool as a client sees it (reference R1.1). */
#include "serve/serve.h"

#include "base/names.h"

/* The root is a plain object: model APIs refuse anyOf there. `result` may be anything. */
static const char schemas[] =
    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"code\":{\"type\":\"string\",\"description\":"
    "\"JavaScript: the body of an async function, or one function expression. Return the result.\"}},"
    "\"required\":[\"code\"],\"additionalProperties\":false},"
    "\"outputSchema\":{\"type\":\"object\",\"properties\":{"
    "\"status\":{\"type\":\"string\",\"enum\":[\"completed\",\"error\",\"paused\",\"cancelled\",\"rejected\","
    "\"expired\","
    "\"rolled_back\",\"running\"]},"
    "\"executionId\":{\"type\":\"string\"},"
    "\"result\":{\"description\":\"What the program returned; absent when that was undefined.\"},"
    "\"logs\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
    "\"warnings\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
    "\"calls\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"
    "\"pending\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"
    "\"error\":{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},\"message\":{\"type\":"
    "\"string\"}}},"
    "\"truncated\":{\"type\":\"object\"}},"
    "\"required\":[\"status\",\"executionId\"]},"
    /* A program may do whatever a connector can. */
    "\"annotations\":{\"title\":\"Run a "
    "program\",\"readOnlyHint\":false,\"destructiveHint\":true,\"idempotentHint\":false,"
    "\"openWorldHint\":true}";

void cm_serve__tools(cm_ctx *ctx, struct cm_buf *out)
{
    char *description = NULL;

    cm_buf_add_z(out, "[{\"name\":\"codemode\",\"title\":\"Run a program\",\"description\":");
    if (cm_tool_description(ctx, &description, NULL) == CM_OK)
        cm_json_write_string(out, cm_str_of(description));
    else
        cm_buf_add_z(out, "\"Run a JavaScript program.\"");
    cm_text_free(description);
    cm_buf_addf(out, ",%s}]", schemas);
}

cm_status cm_serve__program(yyjson_val *args, struct cm_str *code, struct cm_err *err)
{
    yyjson_val *v = cm_json_get(args, "code");
    yyjson_val *key, *value;
    size_t i, max;

    if (!yyjson_is_str(v))
        return cm_err_set(
            err, CM_E_INVALID,
            "code is %s; expected a string: the JavaScript program to run, as in {\"code\": \"return 1\"}",
            cm_json_kind(v));
    yyjson_obj_foreach(args, i, max, key, value)
    {
        if (!cm_str_eq_z(cm_json_str(key), "code"))
            return cm_err_set(err, CM_E_INVALID, "unknown argument '%.*s'; the only one is code, a string",
                              CM_STR_ARG(cm_json_str(key)));
    }
    *code = cm_json_str(v);
    return CM_OK;
}

char *cm_serve__failure(const cm_outcome *o)
{
    const char *frame = cm_outcome_error_frame(o), *name = cm_outcome_error(o, "name");
    const char *message = cm_outcome_error(o, "message");

    if (!frame)
        return NULL;
    return cm_asprintf("%s: %s\n%s", name ? name : "Error", message ? message : "", frame);
}

char *cm_serve__paused(const cm_ctx *ctx, const cm_outcome *o)
{
    cm_autofree char *words = cm_asprintf("approve %s", cm_outcome_execution_id(o));
    cm_autofree char *command = cm_api_command(ctx, words);
    cm_autobuf b = CM_BUF_INIT(1u << 20);
    const char *text;

    cm_buf_add_z(&b, "The program is paused; it has not failed. A human must approve before this is done:\n");
    for (size_t i = 0; (text = cm_outcome_pending(o, i)) != NULL; i++)
        cm_buf_addf(&b, "  %s\n", text);
    cm_buf_addf(
        &b,
        "None of it has run. Tell the user what waits and that this command shows and approves it:\n"
        "  %s\n"
        "(\"reject\" in place of \"approve\" refuses it.) Once it is approved the program goes on by itself "
        "from where it stands, and that command prints what it ends with. Do not send the program again: "
        "what it has done already would be done twice.",
        command);
    return cm_buf_take(&b, NULL);
}

void cm_serve__refusal(struct cm_buf *out, const struct cm_err *err)
{
    cm_buf_add_z(out,
                 "{\"status\":\"error\",\"executionId\":\"\",\"error\":{\"name\":\"Error\",\"message\":");
    cm_json_write_string(out, cm_str_of(err->message));
    cm_buf_addf(out, ",\"code\":\"%s\"}}", cm_err_code(err));
}
