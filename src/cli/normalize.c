/** `codemode normalize`: the program as it would run. */
#include "api/api.h"
#include "cli/cli.h"

#include "json/json.h"

#include <stdio.h>

/** The program on standard output, what was read differently from how it was written on standard error. */
static int print_for_people(const char *json)
{
    cm_auto(yyjson_doc) doc = NULL;
    struct cm_err err;
    yyjson_val *warnings, *warning;
    size_t i, n;

    if (cm_json_parse(cm_str_of(json), CM_JSON_STRICT, &doc, &err) != CM_OK)
        return cm_cli_fail(&err);
    warnings = cm_json_get(yyjson_doc_get_root(doc), "warnings");
    yyjson_arr_foreach(warnings, i, n, warning)
    {
        (void)fputs("codemode: warning: ", stderr);
        cm_cli_put_safe(stderr, yyjson_get_str(warning), yyjson_get_len(warning));
        (void)fputc('\n', stderr);
    }
    struct cm_str code = cm_json_str(cm_json_get(yyjson_doc_get_root(doc), "code"));
    return cm_cli_print_text(cm_memdup_z(code.ptr, code.len));
}

int cm_cli_normalize(struct cm_cli *cli)
{
    struct cm_err err;
    size_t len = 0;
    int status = CM_CLI_USAGE;
    cm_autofree char *json = NULL;

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
    cm_status st = cm_api_normalize(ctx, cm_str_mk(code, len), &json, &err);
    if (cli->json && json) {
        status = cm_cli_print_text(cm_steal(&json));
        return status == 0 && st != CM_OK ? CM_CLI_FAILED : status;
    }
    if (st != CM_OK) {
        (void)cm_cli_fail(&err);
        return CM_CLI_FAILED;
    }
    return print_for_people(json);
}
