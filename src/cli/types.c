/** `codemode types`: declarations of what is configured, or of a bare document. */
#include "api/api.h"
#include "cli/cli.h"
#include "json/json.h"

/** The `types` member of the JSON of an OpenAPI description, and on stderr what was left out. */
static int print_openapi(const struct cm_cli *cli, char *take_json)
{
    cm_autofree char *json = take_json;
    cm_auto(yyjson_doc) doc = NULL;
    struct cm_err err;
    yyjson_val *item;
    size_t i, max;

    if (cli->json)
        return cm_cli_print_text(cm_steal(&json));
    if (cm_json_parse(cm_str_of(json), CM_JSON_STRICT, &doc, &err) != CM_OK)
        return cm_cli_fail(&err);
    yyjson_val *root = yyjson_doc_get_root(doc);
    yyjson_arr_foreach(cm_json_get(root, "skipped"), i, max, item)
    {
        const char *method = cm_json_get_z(item, "method"), *path = cm_json_get_z(item, "path");
        const char *reason = cm_json_get_z(item, "reason");
        cm_cli_complain("left out: %s %s: %s", method ? method : "", path ? path : "", reason ? reason : "");
    }
    struct cm_str types = cm_json_str(cm_json_get(root, "types"));
    return cm_cli_put_result(types.ptr ? types.ptr : "", types.len) ? CM_CLI_OK : CM_CLI_FAILED;
}

static int print_types(const struct cm_cli *cli, char *take_text)
{
    cm_autofree char *text = take_text;

    if (!cli->json)
        return cm_cli_print_text(cm_steal(&text));
    cm_autobuf b = CM_BUF_INIT(256u << 20);
    cm_buf_add_z(&b, "{\"types\":");
    cm_json_write_string(&b, cm_str_of(text));
    cm_buf_add_char(&b, '}');
    return cm_cli_print_text(cm_buf_take(&b, NULL));
}

/** A bare document is what the user named: whatever is wrong with it is usage. */
static int fail_document(const struct cm_err *err)
{
    (void)cm_cli_fail(err);
    return CM_CLI_USAGE;
}

static int types_of_config(struct cm_cli *cli)
{
    struct cm_err err;
    char *text = NULL;
    int status = CM_CLI_OK;

    cli->options.one_shot = cli->options.on_demand = true;
    cm_auto(cm_ctx) ctx = cm_cli_open(cli, &status);
    if (!ctx)
        return status;
    if (cm_types(ctx, cli->n_args ? cli->args[0] : NULL, &text, &err) != CM_OK)
        return cm_cli_fail(&err);
    return print_types(cli, text);
}

int cm_cli_types(struct cm_cli *cli)
{
    const char *schema = cm_cli_value(cli, "--schema");
    const char *openapi = cm_cli_value(cli, "--openapi");
    const char *name = cm_cli_value(cli, "--name");
    struct cm_err err;
    char *text = NULL;

    if (cli->n_args > 1)
        return cm_cli_usage(cli, "'%s' is one argument too many", cli->args[1]);
    if ((schema != NULL) + (openapi != NULL) + (cli->n_args > 0) > 1)
        return cm_cli_usage(cli, "PATH, --schema and --openapi are three ways to say what; give one");
    if (name && !schema && !openapi)
        return cm_cli_usage(cli, "--name goes with --schema or --openapi");
    if (schema)
        return cm_api_types_schema(schema, name, &text, &err) == CM_OK ? print_types(cli, text)
                                                                       : fail_document(&err);
    if (openapi)
        return cm_api_types_openapi(openapi, name, &text, &err) == CM_OK ? print_openapi(cli, text)
                                                                         : fail_document(&err);
    return types_of_config(cli);
}
