/** `codemode cancel`: an execution that runs, here or elsewhere, or waits. */
#include "api/api.h"
#include "cli/cli.h"
#include "json/json.h"

int cm_cli_cancel(struct cm_cli *cli)
{
    struct cm_err err;
    int status = CM_CLI_OK;

    if (cli->n_args != 1)
        return cm_cli_usage(cli, "cancel which? expected the id of one execution");
    cli->options.one_shot = cli->options.on_demand = true;
    cm_auto(cm_ctx) ctx = cm_cli_open(cli, &status);
    if (!ctx)
        return status;
    if (cm_cancel(ctx, cli->args[0], &err) != CM_OK)
        return cm_cli_fail(&err);
    if (!cli->json)
        return CM_CLI_OK;
    cm_autobuf b = CM_BUF_INIT(65536);
    cm_buf_add_z(&b, "{\"cancelled\":");
    cm_json_write_string(&b, cm_str_of(cli->args[0]));
    cm_buf_add_char(&b, '}');
    return cm_cli_print_text(cm_buf_take(&b, NULL));
}
