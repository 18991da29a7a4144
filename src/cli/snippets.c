/** `codemode snippets`: programs that somebody kept. */
#include "api/api.h"
#include "base/fd.h"
#include "cli/answer.h"
#include "cli/cli.h"
#include "cli/table.h"

#include <stdio.h>

#define SCHEMA_FILE_MAX (1u << 20)

static const char *text_of(yyjson_val *v, const char *key)
{
    const char *z = cm_json_get_z(v, key);

    return z ? z : "";
}

/* ---- the list */

static const struct cm_column columns[] = {
    {.head = "NAME", .max_width = 24},
    {.head = "CALLS", .max_width = 20},
    {.head = "DESCRIPTION", .rest = true},
    {.head = "SAVED", .max_width = 19},
};

static char *joined(yyjson_val *list)
{
    cm_autobuf b = CM_BUF_INIT(65536);
    yyjson_val *v;
    size_t i, max;

    yyjson_arr_foreach(list, i, max, v)
    {
        cm_buf_addf(&b, "%s%s", i ? ", " : "", yyjson_get_str(v) ? yyjson_get_str(v) : "");
    }
    return cm_buf_take(&b, NULL);
}

static void fill(yyjson_val *s, char **cells)
{
    yyjson_val *at = cm_json_get(s, "savedAt");

    cells[0] = cm_strdup(text_of(s, "name"));
    cells[1] = joined(cm_json_get(s, "connectors"));
    cells[2] = cm_strdup(text_of(s, "description"));
    cells[3] = cm_cli_time(yyjson_is_int(at) ? yyjson_get_sint(at) : 0);
}

static int print_list(yyjson_val *root)
{
    yyjson_val *list = cm_json_get(root, "snippets"), *s;
    size_t n = yyjson_arr_size(list), n_cells = n * CM_ARRAY_LEN(columns), i, max;

    if (!n) {
        cm_cli_complain("no snippets; 'codemode snippets save NAME ID' keeps the program of an execution");
        return CM_CLI_OK;
    }
    cm_autofree char **cells = cm_calloc(n_cells, sizeof *cells);
    yyjson_arr_foreach(list, i, max, s)
    {
        fill(s, cells + i * CM_ARRAY_LEN(columns));
    }
    cm_cli_table(columns, CM_ARRAY_LEN(columns), (const char *const *)cells, n);
    for (i = 0; i < n_cells; i++)
        free(cells[i]);
    return CM_CLI_OK;
}

static int list(struct cm_cli *cli, cm_ctx *ctx)
{
    struct cm_err err;
    char *json = NULL;

    if (cm_snippets(ctx, &json, &err) != CM_OK)
        return cm_cli_fail(&err);
    return cm_cli_answer(cli, json, print_list);
}

/* ---- one */

/** The program alone, so that it can go into a file; what else is known of it goes to standard error. */
static int print_one(yyjson_val *s)
{
    struct cm_str code = cm_json_str(cm_json_get(s, "code"));
    cm_autofree char *calls = joined(cm_json_get(s, "connectors"));

    if (*text_of(s, "description"))
        cm_cli_complain("%s", text_of(s, "description"));
    if (*calls)
        cm_cli_complain("calls %s", calls);
    if (cm_json_get(s, "inputSchema")) {
        cm_autobuf b = CM_BUF_INIT(SCHEMA_FILE_MAX);
        cm_json_write(&b, cm_json_get(s, "inputSchema"));
        cm_cli_complain("input %s", cm_buf_str(&b).ptr);
    }
    return cm_cli_put_result(code.ptr ? code.ptr : "", code.len) ? CM_CLI_OK : CM_CLI_FAILED;
}

static int show(struct cm_cli *cli, cm_ctx *ctx, const char *name)
{
    struct cm_err err;
    char *json = NULL;

    if (cm_snippet_show(ctx, name, &json, &err) != CM_OK)
        return cm_cli_fail(&err);
    return cm_cli_answer(cli, json, print_one);
}

/** {"saved":NAME} or {"deleted":NAME}, for programs. */
static int done(const struct cm_cli *cli, const char *what, const char *name)
{
    if (!cli->json)
        return CM_CLI_OK;
    cm_autobuf b = CM_BUF_INIT(4096);
    cm_buf_addf(&b, "{\"%s\":", what);
    cm_json_write_string(&b, cm_str_of(name));
    cm_buf_add_char(&b, '}');
    return cm_cli_print_text(cm_buf_take(&b, NULL));
}

/** The schema is a file, or JSON itself. */
static cm_status read_schema(const char *given, char **text, struct cm_err *err)
{
    size_t len = 0;

    if (!given || given[0] == '{') {
        *text = given ? cm_strdup(given) : NULL;
        return CM_OK;
    }
    return cm_read_file(given, SCHEMA_FILE_MAX, text, &len, err);
}

static int save(struct cm_cli *cli, cm_ctx *ctx, const char *name, const char *id)
{
    cm_autofree char *schema = NULL;
    struct cm_err err;
    cm_status st = read_schema(cm_cli_value(cli, "--schema"), &schema, &err);
    const struct cm_snippet s = {.name = name,
                                 .execution_id = id,
                                 .description = cm_cli_value(cli, "--description"),
                                 .input_schema = schema};

    if (st == CM_OK)
        st = cm_snippet_save(ctx, &s, &err);
    return st == CM_OK ? done(cli, "saved", name) : cm_cli_fail(&err);
}

static int delete_one(struct cm_cli *cli, cm_ctx *ctx, const char *name)
{
    struct cm_err err;

    return cm_snippet_delete(ctx, name, &err) == CM_OK ? done(cli, "deleted", name) : cm_cli_fail(&err);
}

int cm_cli_snippets(struct cm_cli *cli)
{
    const char *word = cli->n_args ? cli->args[0] : "";
    bool saves = cm_z_eq(word, "save"), shows = cm_z_eq(word, "show"), deletes = cm_z_eq(word, "delete");
    int status = CM_CLI_OK;

    if (*word && !saves && !shows && !deletes)
        return cm_cli_usage(cli, "'%s': expected 'save NAME ID', 'show NAME' or 'delete NAME'", word);
    if (saves && cli->n_args != 3)
        return cm_cli_usage(cli, "save what? expected a name and the id of an execution");
    if ((shows || deletes) && cli->n_args != 2)
        return cm_cli_usage(cli, "%s which? expected the name of one snippet", word);
    if (!saves && (cm_cli_value(cli, "--description") || cm_cli_value(cli, "--schema")))
        return cm_cli_usage(cli, "--description and --schema are for 'save'");
    cli->options.one_shot = cli->options.on_demand = true;
    cm_auto(cm_ctx) ctx = cm_cli_open(cli, &status);
    if (!ctx)
        return status;
    if (saves)
        return save(cli, ctx, cli->args[1], cli->args[2]);
    if (shows)
        return show(cli, ctx, cli->args[1]);
    return deletes ? delete_one(cli, ctx, cli->args[1]) : list(cli, ctx);
}
