/** `codemode check`: what works, what does not, and why. */
#include "api/api.h"
#include "cli/cli.h"
#include "json/json.h"

#include <stdio.h>
#include <unistd.h>

static const char *text_of(yyjson_val *v, const char *key)
{
    const char *z = cm_json_get_z(v, key);

    return z ? z : "";
}

static void put_line(const char *left, const char *text)
{
    printf("%-10s", left);
    cm_cli_put_safe(stdout, text, strlen(text));
    putchar('\n');
}

static void print_warnings(yyjson_val *owner)
{
    yyjson_val *v;
    size_t i, max;

    yyjson_arr_foreach(cm_json_get(owner, "warnings"), i, max, v)
    {
        put_line("  warning", yyjson_get_str(v));
    }
}

/** The layers that do not hold here, each with what that means. */
static void print_missing(yyjson_val *layers)
{
    yyjson_val *v;
    size_t i, max;

    yyjson_arr_foreach(layers, i, max, v)
    {
        if (yyjson_get_bool(cm_json_get(v, "holds")))
            continue;
        cm_autofree char *line = cm_asprintf("%s: %s", text_of(v, "name"), text_of(v, "means"));
        put_line("  without", line);
    }
}

static void print_sandbox(yyjson_val *sandbox)
{
    yyjson_val *layers = cm_json_get(sandbox, "layers"), *v;
    size_t i, max, holding = 0;

    yyjson_arr_foreach(layers, i, max, v)
    {
        holding += yyjson_get_bool(cm_json_get(v, "holds"));
    }
    if (!yyjson_get_bool(cm_json_get(sandbox, "ok"))) {
        put_line("sandbox", "FAILED");
        put_line("", text_of(sandbox, "error"));
        return;
    }
    cm_autofree char *line = cm_asprintf("ok, %zu of %zu layers hold", holding, yyjson_arr_size(layers));
    put_line("sandbox", line);
    print_missing(layers);
}

static void print_connectors(yyjson_val *list)
{
    yyjson_val *v;
    size_t i, max;

    yyjson_arr_foreach(list, i, max, v)
    {
        bool ready = cm_z_eq(text_of(v, "state"), "ready");
        uint64_t n = yyjson_get_uint(cm_json_get(v, "methods"));
        cm_autofree char *line = cm_asprintf("%s: %s, %llu method%s", text_of(v, "name"), text_of(v, "kind"),
                                             (unsigned long long)n, n == 1 ? "" : "s");
        put_line(ready ? "ok" : "FAILED", ready ? line : text_of(v, "error"));
        if (!ready)
            put_line("", text_of(v, "origin"));
        print_warnings(v);
    }
}

/** Only those that cannot work: what is right needs no line. */
static void print_reverts(yyjson_val *root)
{
    const char *transform = cm_json_get_z(cm_json_get(root, "transformResult"), "error");
    yyjson_val *v;
    size_t i, max;

    yyjson_arr_foreach(cm_json_get(root, "reverts"), i, max, v)
    {
        cm_autofree char *line = cm_asprintf("reverts.%s: %s", text_of(v, "method"), text_of(v, "error"));
        if (cm_json_get(v, "error"))
            put_line("FAILED", line);
    }
    if (transform) {
        cm_autofree char *line = cm_asprintf("transformResult: %s", transform);
        put_line("FAILED", line);
    }
}

static void print_check(yyjson_val *root)
{
    yyjson_val *config = cm_json_get(root, "config"), *store = cm_json_get(root, "store");
    const char *path = cm_json_get_z(config, "path");
    const char *store_error = cm_json_get_z(store, "error");

    put_line("codemode", text_of(root, "version"));
    put_line("config", path ? path : "none");
    print_warnings(config);
    put_line("store", store_error ? store_error : text_of(store, "path"));
    print_sandbox(cm_json_get(root, "sandbox"));
    if (cm_json_get(root, "fetch"))
        put_line("fetch", text_of(root, "fetch"));
    print_connectors(cm_json_get(root, "connectors"));
    print_reverts(root);
}

/** Trust what would be found in the working directory, in the order of the look-up. */
static int trust(const struct cm_cli *cli)
{
    static const char *const names[] = {"codemode.json", ".mcp.json"};
    struct cm_err err;

    if (cli->options.config_path)
        return cm_cli_usage(cli, "--trust is for a file that is found; one that is named is trusted by that");
    for (size_t i = 0; i < CM_ARRAY_LEN(names); i++) {
        if (access(names[i], F_OK) != 0)
            continue;
        if (cm_config_trust(names[i], &err) != CM_OK)
            return cm_cli_fail(&err);
        cm_cli_complain("'%s' is trusted as it is now", names[i]);
        return CM_CLI_OK;
    }
    return cm_cli_usage(cli, "there is no codemode.json or .mcp.json in the working directory to trust");
}

int cm_cli_check(struct cm_cli *cli)
{
    cm_auto(yyjson_doc) doc = NULL;
    cm_autofree char *json = NULL;
    struct cm_err err;
    int status = CM_CLI_OK;

    if (cli->n_args)
        return cm_cli_usage(cli, "'%s' is one argument too many", cli->args[0]);
    if (cm_cli_value(cli, "--trust"))
        status = trust(cli);
    if (status != CM_CLI_OK)
        return status;
    cli->options.one_shot = true;
    cm_auto(cm_ctx) ctx = cm_cli_open(cli, &status);
    if (!ctx)
        return status;
    cm_cli_cancel_on_signals(ctx);
    if (cm_check(ctx, &json, &err) != CM_OK)
        return cm_cli_fail(&err);
    if (cm_json_parse(cm_str_of(json), CM_JSON_STRICT, &doc, &err) != CM_OK)
        return cm_cli_fail(&err);
    bool ok = yyjson_get_bool(cm_json_get(yyjson_doc_get_root(doc), "ok"));
    if (cli->json)
        status = cm_cli_print_text(cm_steal(&json));
    else
        print_check(yyjson_doc_get_root(doc));
    return ok ? status : CM_CLI_FAILED;
}
