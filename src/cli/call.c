/** `codemode call`: one method, with policy, limits and log like any other. */
#include "api/api.h"
#include "cli/cli.h"

int cm_cli_call(struct cm_cli *cli)
{
    cm_autofree char *from_stdin = NULL;
    const char *args = cli->n_args > 1 ? cli->args[1] : NULL;
    cm_outcome *outcome = NULL;
    struct cm_err err;
    size_t len = 0;
    int status = CM_CLI_USAGE;

    if (cli->n_args < 1)
        return cm_cli_usage(cli, "which method? expected connector.method");
    if (cli->n_args > 2)
        return cm_cli_usage(cli, "'%s' is one argument too many; the arguments are one JSON object",
                            cli->args[2]);
    if (args && cm_z_eq(args, "-")) {
        from_stdin = cm_cli_program(cli, "-", NULL, &len, &status);
        if (!from_stdin)
            return status;
        args = from_stdin;
    }
    cli->options.one_shot = cli->options.on_demand = true;
    cm_auto(cm_ctx) ctx = cm_cli_open(cli, &status);
    if (!ctx)
        return status;
    cm_cli_cancel_on_signals(ctx);
    if (cm_call_method(ctx, cli->args[0], args, &outcome, &err) != CM_OK)
        return cm_cli_print_failure(cli, &err);
    return cm_cli_print_outcome(cli, outcome);
}
