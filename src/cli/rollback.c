/** `codemode rollback`: undo what an execution did. */
#include "api/api.h"
#include "base/parse.h"
#include "cli/answer.h"
#include "cli/table.h"

#include <stdio.h>

static const struct cm_column columns[] = {
    {.head = "#", .max_width = 5, .right = true},
    {.head = "CALL", .max_width = 32},
    {.head = "REVERT", .max_width = 9},
    {.head = "WHY", .rest = true},
};

struct rows {
    char **cells;
    size_t n;
};

static void add_rows(struct rows *r, yyjson_val *list, const char *what, const char *why)
{
    yyjson_val *call;
    size_t i, max;

    r->cells =
        cm_realloc(r->cells, (r->n + yyjson_arr_size(list) + 1) * CM_ARRAY_LEN(columns) * sizeof *r->cells);
    yyjson_arr_foreach(list, i, max, call)
    {
        const char *connector = cm_json_get_z(call, "connector"), *method = cm_json_get_z(call, "method");
        const char *reason = why ? cm_json_get_z(call, why) : NULL;
        char **cells = r->cells + r->n++ * CM_ARRAY_LEN(columns);

        cells[0] = cm_asprintf("%llu", (unsigned long long)yyjson_get_uint(cm_json_get(call, "seq")));
        cells[1] = cm_asprintf("%s.%s", connector ? connector : "", method ? method : "");
        cells[2] = cm_strdup(what);
        cells[3] = cm_strdup(reason ? reason : "");
    }
}

/** A table cuts; who must act on a failure needs all of it. */
static void print_failures(yyjson_val *failed)
{
    yyjson_val *call;
    size_t i, max;

    yyjson_arr_foreach(failed, i, max, call)
    {
        const char *error = cm_json_get_z(call, "error");

        cm_cli_complain("call %llu was not undone: %s",
                        (unsigned long long)yyjson_get_uint(cm_json_get(call, "seq")), error ? error : "");
    }
}

static int exit_of(yyjson_val *root)
{
    return yyjson_arr_size(cm_json_get(root, "failed")) ? CM_CLI_FAILED : CM_CLI_OK;
}

static int print_report(yyjson_val *root)
{
    struct rows r = {0};
    const char *status = cm_json_get_z(root, "status");

    add_rows(&r, cm_json_get(root, "reverted"), "done", NULL);
    add_rows(&r, cm_json_get(root, "failed"), "failed", "error");
    add_rows(&r, cm_json_get(root, "skipped"), "skipped", "reason");
    printf("status  %s\n", status ? status : "");
    if (r.n)
        cm_cli_table(columns, CM_ARRAY_LEN(columns), (const char *const *)r.cells, r.n);
    for (size_t i = 0; i < r.n * CM_ARRAY_LEN(columns); i++)
        free(r.cells[i]);
    free(r.cells);
    print_failures(cm_json_get(root, "failed"));
    return exit_of(root);
}

static bool read_unknown(struct cm_cli *cli, enum cm_rollback_unknown *out)
{
    bool again = cm_cli_value(cli, "--again") != NULL, done = cm_cli_value(cli, "--done") != NULL;

    *out = again ? CM_ROLLBACK_AGAIN : done ? CM_ROLLBACK_DONE : CM_ROLLBACK_ASK;
    if (!again || !done)
        return true;
    cm_cli_usage(cli, "--again and --done exclude each other");
    return false;
}

static int roll_back(struct cm_cli *cli, cm_ctx *ctx, const struct cm_rollback_options *o)
{
    cm_auto(yyjson_doc) doc = NULL;
    struct cm_err err;
    char *json = NULL;

    cm_cli_cancel_on_signals(ctx);
    if (cm_rollback(ctx, o, &json, &err) != CM_OK)
        return cm_cli_fail(&err);
    if (!cli->json)
        return cm_cli_answer(cli, json, print_report);
    if (cm_json_parse(cm_str_of(json), CM_JSON_BIGNUM, &doc, &err) != CM_OK)
        doc = NULL;
    int status = exit_of(yyjson_doc_get_root(doc));
    int printed = cm_cli_print_text(json);
    return status ? status : printed;
}

int cm_cli_rollback(struct cm_cli *cli)
{
    cm_autofree uint32_t *seqs = cm_calloc((size_t)cli->n_args + 1, sizeof *seqs);
    cm_autofree char *by = cm_cli_who();
    struct cm_rollback_options o = {.seqs = seqs, .by = by};
    struct cm_err err;
    int status = CM_CLI_OK;

    if (!cli->n_args)
        return cm_cli_usage(cli, "undo what? expected the id of one execution");
    o.id = cli->args[0];
    for (int i = 1; i < cli->n_args; i++)
        if (cm_parse_u32(cm_str_of(cli->args[i]), &seqs[o.n_seqs++], &err) != CM_OK)
            return cm_cli_usage(cli,
                                "'%s': expected the number of a call, as 'codemode executions ID' shows it",
                                cli->args[i]);
    if (!read_unknown(cli, &o.unknown))
        return CM_CLI_USAGE;
    cli->options.one_shot = cli->options.on_demand = true;
    cm_auto(cm_ctx) ctx = cm_cli_open(cli, &status);
    return ctx ? roll_back(cli, ctx, &o) : status;
}
