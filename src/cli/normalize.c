/** `codemode normalize`: the program as it would run. */
#include "api/api.h"
#include "cli/cli.h"

int cm_cli_normalize(struct cm_cli *cli)
{
    struct cm_err err;
    size_t len = 0;
    char *text = NULL;
    int status = CM_CLI_USAGE;

    if (cli->n_args > 1)
        return cm_cli_usage(cli, "one program at a time; '%s' is one too many", cli->args[1]);
    cm_autofree char *code =
        cm_cli_program(cli, cli->n_args ? cli->args[0] : NULL, cm_cli_value(cli, "--eval"), &len, &status);
    if (!code)
        return status;
    cli->options.one_shot = true;
    cm_auto(cm_ctx) ctx = cm_cli_open(cli, &status);
    if (!ctx)
        return status;
    if (cm_normalize(ctx, code, len, &text, &err) != CM_OK) {
        (void)cm_cli_fail(&err);
        return CM_CLI_FAILED;
    }
    if (!cli->json)
        return cm_cli_print_text(text);
    cm_autobuf b = CM_BUF_INIT(256u << 20);
    cm_buf_add_z(&b, "{\"code\":");
    cm_json_write_string(&b, cm_str_of(text));
    cm_buf_add_char(&b, '}');
    cm_text_free(text);
    return cm_cli_print_text(cm_buf_take(&b, NULL));
}
