/** `codemode serve`: the daemon is in src/serve. */
#include "serve/serve.h"
#include "cli/cli.h"

int cm_cli_serve(struct cm_cli *cli)
{
    struct cm_err err;
    int status = CM_CLI_OK;

    if (cli->n_args)
        return cm_cli_usage(cli, "'%s' is one argument too many", cli->args[0]);
    cm_auto(cm_ctx) ctx = cm_cli_open(cli, &status);
    if (!ctx)
        return status;
    return cm_serve_stdio(ctx, &err) == CM_OK ? CM_CLI_OK : cm_cli_fail(&err);
}
