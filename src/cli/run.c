/** `codemode run`: what any program that embeds the library could do, with <codemode.h> alone. */
#include "cli/cli.h"

#include <stdlib.h>

static int run(const struct cm_cli *cli, cm_ctx *ctx, const struct cm_run_options *options)
{
    cm_outcome *outcome = NULL;
    struct cm_err err;

    cm_cli_cancel_on_signals(ctx);
    if (cm_run(ctx, options, &outcome, &err) != CM_OK)
        return cm_cli_print_failure(cli, &err);
    return cm_cli_print_outcome(cli, outcome);
}

int cm_cli_run(struct cm_cli *cli)
{
    struct cm_run_options options = {
        .input_json = cm_cli_value(cli, "--input"),
        .limits_json = cm_cli_value(cli, "--limits"),
        .snippet = cm_cli_value(cli, "--snippet"),
    };
    int status = CM_CLI_USAGE;
    char *code = NULL;
    cm_ctx *ctx;

    if (cli->n_args > 1)
        return cm_cli_usage(cli, "one program at a time; '%s' is one too many", cli->args[1]);
    if (options.snippet && (cli->n_args || cm_cli_value(cli, "--eval")))
        return cm_cli_usage(cli, "--snippet names a saved program; give no other one beside it");
    if (!options.snippet) {
        code = cm_cli_program(cli, cli->n_args ? cli->args[0] : NULL, cm_cli_value(cli, "--eval"),
                              &options.code_len, &status);
        if (!code)
            return status;
    }
    options.code = code;
    cli->options.one_shot = true;
    ctx = cm_cli_open(cli, &status);
    if (ctx)
        status = run(cli, ctx, &options);
    cm_close(ctx);
    free(code);
    return status;
}
