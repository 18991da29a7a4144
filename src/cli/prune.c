/** `codemode prune`: executions that have ended and are not wanted any more. */
#include "api/api.h"
#include "base/parse.h"
#include "cli/cli.h"

#include <stdio.h>

/** A number option, or *out as it is. */
static bool read_number(struct cm_cli *cli, const char *name, uint32_t *out, bool *given)
{
    const char *text = cm_cli_value(cli, name);
    struct cm_err err;

    *given = text != NULL;
    if (!text || cm_parse_u32(cm_str_of(text), out, &err) == CM_OK)
        return true;
    cm_cli_usage(cli, "%s '%s': expected a whole number from 0", name, text);
    return false;
}

static void print_count(const struct cm_cli *cli, const char *what, size_t n, bool first)
{
    if (cli->json)
        printf("%s\"%s\":%zu", first ? "" : ",", what, n);
    else
        printf("%s %zu execution%s\n", what, n, n == 1 ? "" : "s");
}

int cm_cli_prune(struct cm_cli *cli)
{
    uint32_t keep = 0, ms = 0;
    bool keeps = false, expires = false;
    size_t n_deleted = 0, n_expired = 0;
    struct cm_err err;
    int status = CM_CLI_OK;

    if (cli->n_args)
        return cm_cli_usage(cli, "'%s' is one argument too many", cli->args[0]);
    if (!read_number(cli, "--keep", &keep, &keeps) || !read_number(cli, "--expire", &ms, &expires))
        return CM_CLI_USAGE;
    cli->options.one_shot = cli->options.on_demand = true;
    cm_auto(cm_ctx) ctx = cm_cli_open(cli, &status);
    if (!ctx)
        return status;
    bool prunes = keeps || !expires;
    if (expires && cm_expire(ctx, ms, &n_expired, &err) != CM_OK)
        return cm_cli_fail(&err);
    if (prunes && cm_prune(ctx, keeps ? keep : SIZE_MAX, &n_deleted, &err) != CM_OK)
        return cm_cli_fail(&err);
    fputs(cli->json ? "{" : "", stdout);
    if (expires)
        print_count(cli, "expired", n_expired, true);
    if (prunes)
        print_count(cli, "deleted", n_deleted, !expires);
    fputs(cli->json ? "}\n" : "", stdout);
    return CM_CLI_OK;
}
