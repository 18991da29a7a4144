/** `codemode store backup`: a copy of the store, while others use it. */
#include "api/api.h"
#include "cli/cli.h"
#include "json/json.h"

#include <stdio.h>

int cm_cli_store(struct cm_cli *cli)
{
    struct cm_err err;
    int status = CM_CLI_OK;

    if (!cli->n_args || !cm_z_eq(cli->args[0], "backup"))
        return cm_cli_usage(cli, "'%s': expected 'backup FILE'", cli->n_args ? cli->args[0] : "");
    if (cli->n_args != 2)
        return cm_cli_usage(cli, "backup where? expected the name of one file, which does not exist yet");
    cli->options.one_shot = cli->options.on_demand = true;
    cm_auto(cm_ctx) ctx = cm_cli_open(cli, &status);
    if (!ctx)
        return status;
    if (cm_backup(ctx, cli->args[1], &err) != CM_OK)
        return cm_cli_fail(&err);
    if (!cli->json)
        return CM_CLI_OK;
    cm_autobuf b = CM_BUF_INIT(65536);
    cm_buf_add_z(&b, "{\"backup\":");
    cm_json_write_string(&b, cm_str_of(cli->args[1]));
    cm_buf_add_char(&b, '}');
    return cm_cli_print_text(cm_buf_take(&b, NULL));
}
