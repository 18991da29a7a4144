/** `codemode pending`: what waits for a human. */
#include "api/api.h"
#include "cli/answer.h"
#include "cli/show.h"

#include <stdio.h>

static yyjson_val *calls_of(yyjson_val *root)
{
    return cm_json_get(root, "pending");
}

static int print_all(yyjson_val *root)
{
    if (!yyjson_arr_size(calls_of(root)))
        cm_cli_complain("nothing is pending");
    cm_cli_list_calls(calls_of(root));
    return CM_CLI_OK;
}

static int print_one(yyjson_val *root)
{
    if (!yyjson_arr_size(calls_of(root)))
        cm_cli_complain("nothing of it is pending");
    cm_cli_show_calls(stdout, calls_of(root));
    return CM_CLI_OK;
}

/** ---- --watch ---- */

static char *key_of(yyjson_val *call)
{
    const char *id = cm_json_get_z(call, "executionId");

    return cm_asprintf("%s %llu", id ? id : "",
                       (unsigned long long)yyjson_get_uint(cm_json_get(call, "seq")));
}

static void print_new(yyjson_val *call)
{
    const char *id = cm_json_get_z(call, "executionId");

    printf("%s\n", id ? id : "");
    cm_cli_show_call(stdout, call);
    putchar('\n');
}

static const struct cm_cli_watched watched = {
    .read = cm_pending, .list = "pending", .key = key_of, .print = print_new};

int cm_cli_pending(struct cm_cli *cli)
{
    const char *id = cli->n_args ? cli->args[0] : NULL;
    struct cm_err err;
    char *json = NULL;
    int status = CM_CLI_OK;

    if (cli->n_args > 1)
        return cm_cli_usage(cli, "'%s' is one argument too many", cli->args[1]);
    cli->options.one_shot = cli->options.on_demand = true;
    cm_auto(cm_ctx) ctx = cm_cli_open(cli, &status);
    if (!ctx)
        return status;
    if (cm_cli_value(cli, "--watch"))
        return cm_cli_watch(cli, ctx, id, &watched);
    if (cm_pending(ctx, id, &json, &err) != CM_OK)
        return cm_cli_fail(&err);
    return cm_cli_answer(cli, json, id ? print_one : print_all);
}
