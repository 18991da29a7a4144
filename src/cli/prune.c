/** `codemode prune`: executions that have ended and are not wanted any more. */
#include "api/api.h"
#include "base/parse.h"
#include "cli/cli.h"

#include <stdio.h>

int cm_cli_prune(struct cm_cli *cli)
{
    const char *text = cm_cli_value(cli, "--keep");
    uint32_t keep = 0;
    size_t n = 0;
    struct cm_err err;
    int status = CM_CLI_OK;

    if (cli->n_args)
        return cm_cli_usage(cli, "'%s' is one argument too many", cli->args[0]);
    if (text && cm_parse_u32(cm_str_of(text), &keep, &err) != CM_OK)
        return cm_cli_usage(cli, "--keep '%s': expected a whole number from 0", text);
    cli->options.one_shot = true;
    cm_auto(cm_ctx) ctx = cm_cli_open(cli, &status);
    if (!ctx)
        return status;
    if (cm_prune(ctx, text ? keep : SIZE_MAX, &n, &err) != CM_OK)
        return cm_cli_fail(&err);
    if (cli->json)
        printf("{\"deleted\":%zu}\n", n);
    else
        printf("deleted %zu execution%s\n", n, n == 1 ? "" : "s");
    return CM_CLI_OK;
}
