/** `codemode tools`: what a program can call. */
#include "api/api.h"
#include "base/limits.h"
#include "base/parse.h"
#include "cli/answer.h"
#include "cli/cli.h"
#include "cli/table.h"
#include "json/json.h"

#include <stdio.h>

static const char *text_of(yyjson_val *v, const char *key)
{
    const char *z = cm_json_get_z(v, key);

    return z ? z : "";
}

static void put_cut(const char *indent, const char *text)
{
    cm_autobuf line = CM_BUF_INIT(65536);
    size_t len = strcspn(text, "\r\n");

    if (!len)
        return;
    cm_buf_add_z(&line, indent);
    cm_cli_cut(&line, cm_str_mk(text, len), CM_CLI_WIDTH - (unsigned)strlen(indent));
    fwrite(line.ptr, 1, line.len, stdout);
    putchar('\n');
}

static void print_hits(yyjson_val *root)
{
    yyjson_val *v;
    size_t i, max;

    yyjson_arr_foreach(cm_json_get(root, "results"), i, max, v)
    {
        const char *signature = text_of(v, "signature");
        put_cut("", *signature ? signature : text_of(v, "path"));
        put_cut("    ", text_of(v, "description"));
        if (yyjson_get_bool(cm_json_get(v, "requiresApproval")))
            printf("    needs approval\n");
    }
}

static void print_notes(yyjson_val *root)
{
    yyjson_val *v;
    size_t i, max;
    size_t shown = yyjson_arr_size(cm_json_get(root, "results"));
    uint64_t total = yyjson_get_uint(cm_json_get(root, "total"));

    if (total > shown)
        cm_cli_complain("%zu of %llu shown; --limit shows more", shown, (unsigned long long)total);
    if (!shown)
        cm_cli_complain("nothing found");
    yyjson_arr_foreach(cm_json_get(root, "suggestions"), i, max, v)
    {
        cm_cli_complain("did you mean %s?", yyjson_get_str(v) ? yyjson_get_str(v) : text_of(v, "path"));
    }
    yyjson_arr_foreach(cm_json_get(root, "unavailable"), i, max, v)
    {
        const char *name = text_of(v, "connector"), *error = text_of(v, "error");
        bool named = strncmp(error, name, strlen(name)) == 0;
        cm_cli_complain("%s%s%s", named ? "" : name, named ? "" : ": ", error);
    }
}

static int print_found(yyjson_val *root)
{
    print_hits(root);
    print_notes(root);
    return CM_CLI_OK;
}

static int search(struct cm_cli *cli, cm_ctx *ctx, const char *query)
{
    const char *text = cm_cli_value(cli, "--limit");
    uint32_t limit = *query ? 0 : CM_METHODS_MAX;
    struct cm_err err;
    char *json = NULL;

    if (text && (cm_parse_u32(cm_str_of(text), &limit, &err) != CM_OK || limit == 0))
        return cm_cli_usage(cli, "--limit '%s': expected a whole number from 1", text);
    if (cm_search(ctx, query, limit, &json, &err) != CM_OK)
        return cm_cli_fail(&err);
    return cm_cli_answer(cli, json, print_found);
}

static int print_types(yyjson_val *root)
{
    struct cm_str types = cm_json_str(cm_json_get(root, "types"));

    return cm_cli_put_result(types.ptr ? types.ptr : "", types.len) ? CM_CLI_OK : CM_CLI_FAILED;
}

static int describe(struct cm_cli *cli, cm_ctx *ctx, const char *path)
{
    struct cm_err err;
    char *json = NULL;

    if (cm_describe(ctx, path, &json, &err) != CM_OK)
        return cm_cli_fail(&err);
    return cm_cli_answer(cli, json, print_types);
}

/** The words of a query need no quotes. */
static char *joined(const char **words, int n)
{
    struct cm_buf b = CM_BUF_INIT(65536);

    for (int i = 0; i < n; i++) {
        cm_buf_add_z(&b, i ? " " : "");
        cm_buf_add_z(&b, words[i]);
    }
    return cm_buf_take(&b, NULL);
}

int cm_cli_tools(struct cm_cli *cli)
{
    const char *word = cli->n_args ? cli->args[0] : "";
    bool searches = cm_z_eq(word, "search"), describes = cm_z_eq(word, "describe");
    cm_autofree char *query = joined(cli->args + (searches ? 1 : 0), searches ? cli->n_args - 1 : 0);
    int status = CM_CLI_OK;

    if (*word && !searches && !describes)
        return cm_cli_usage(cli, "'%s': expected 'search QUERY' or 'describe PATH'", word);
    if (searches && !*query)
        return cm_cli_usage(cli, "search for what? expected some words");
    if (describes && cli->n_args != 2)
        return cm_cli_usage(cli, "describe what? expected one connector or connector.method");
    cli->options.one_shot = cli->options.on_demand = true;
    cm_auto(cm_ctx) ctx = cm_cli_open(cli, &status);
    if (!ctx)
        return status;
    cm_cli_cancel_on_signals(ctx);
    return describes ? describe(cli, ctx, cli->args[1]) : search(cli, ctx, query);
}
