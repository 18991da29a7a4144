/** `codemode executions`: the audit trail. */
#include "api/api.h"
#include "base/clock.h"
#include "base/parse.h"
#include "cli/answer.h"
#include "cli/cli.h"
#include "cli/table.h"
#include "json/json.h"

#include <stdio.h>

#define SHOWN_MAX_BYTES 4000 /* of a result or an error, for people; --json has it all */

static int64_t time_of(yyjson_val *v, const char *key)
{
    yyjson_val *t = cm_json_get(v, key);

    return yyjson_is_int(t) ? yyjson_get_sint(t) : 0;
}

static const char *text_of(yyjson_val *v, const char *key)
{
    const char *z = cm_json_get_z(v, key);

    return z ? z : "";
}

/* ---- the list */

static void print_listed(yyjson_val *e)
{
    cm_autofree char *age = cm_cli_span(cm_now_ms() - time_of(e, "createdAt"));
    cm_autobuf line = CM_BUF_INIT(4096);
    struct cm_str code = cm_json_str(cm_json_get(e, "code"));

    cm_buf_addf(&line, "%s  %s  %s\n", text_of(e, "executionId"), text_of(e, "status"), age);
    if (code.len) {
        const char *end = memchr(code.ptr, '\n', code.len);
        cm_buf_add_z(&line, "    ");
        cm_cli_cut(&line, cm_str_mk(code.ptr, end ? (size_t)(end - code.ptr) : code.len), CM_CLI_WIDTH - 4);
        cm_buf_add_char(&line, '\n');
    }
    fwrite(line.ptr, 1, line.len, stdout);
}

static int print_list(yyjson_val *root)
{
    yyjson_val *e;
    size_t i, max;

    yyjson_arr_foreach(cm_json_get(root, "executions"), i, max, e)
    {
        print_listed(e);
    }
    return CM_CLI_OK;
}

static int list(struct cm_cli *cli, cm_ctx *ctx)
{
    const char *text = cm_cli_value(cli, "--limit");
    uint32_t limit = 0;
    struct cm_err err;
    char *json = NULL;

    if (text && (cm_parse_u32(cm_str_of(text), &limit, &err) != CM_OK || limit == 0))
        return cm_cli_usage(cli, "--limit '%s': expected a whole number from 1", text);
    if (cm_executions(ctx, limit, &json, &err) != CM_OK)
        return cm_cli_fail(&err);
    return cm_cli_answer(cli, json, print_list);
}

/* ---- --watch: each time that its state is another one */

static char *key_of(yyjson_val *e)
{
    return cm_asprintf("%s %s %lld", text_of(e, "executionId"), text_of(e, "status"),
                       (long long)time_of(e, "updatedAt"));
}

static void print_change(yyjson_val *e)
{
    cm_autofree char *when = cm_cli_time(time_of(e, "updatedAt"));

    printf("%s  %s  %s\n", text_of(e, "executionId"), text_of(e, "status"), when);
}

static cm_status read_list(cm_ctx *ctx, const char *id, char **json, struct cm_err *err)
{
    (void)id;
    return cm_executions(ctx, 0, json, err);
}

static const struct cm_cli_watched watched = {
    .read = read_list, .list = "executions", .key = key_of, .print = print_change, .newest_first = true};

/* ---- one */

static void print_block(const char *heading, struct cm_str text)
{
    size_t shown = text.len > SHOWN_MAX_BYTES ? SHOWN_MAX_BYTES : text.len;

    printf("%s\n", heading);
    for (size_t at = 0; at < shown;) {
        const char *end = memchr(text.ptr + at, '\n', shown - at);
        size_t len = end ? (size_t)(end - text.ptr) - at : shown - at;
        cm_autobuf line = CM_BUF_INIT(65536);
        cm_buf_add_z(&line, "  ");
        cm_cli_cut(&line, cm_str_mk(text.ptr + at, len), CM_CLI_WIDTH - 2);
        fwrite(line.ptr, 1, line.len, stdout);
        putchar('\n');
        at += len + 1;
    }
    if (shown < text.len)
        printf("  … %zu more bytes (--json shows all)\n", text.len - shown);
}

static void print_value(const char *heading, yyjson_val *v)
{
    cm_autobuf b = CM_BUF_INIT(256u << 20);

    if (!v)
        return;
    if (yyjson_is_str(v))
        cm_buf_add_str(&b, cm_json_str(v));
    else
        cm_json_write_pretty(&b, v);
    print_block(heading, cm_buf_str(&b));
}

static void print_error_of(yyjson_val *error)
{
    cm_autobuf b = CM_BUF_INIT(1u << 20);
    cm_autofree char *frame = cm_api_frame(error);

    if (!error)
        return;
    cm_buf_addf(&b, "%s: %s", text_of(error, "name"), text_of(error, "message"));
    if (frame)
        cm_buf_addf(&b, "\n%s", frame);
    print_block("error", cm_buf_str(&b));
}

static const struct cm_column call_columns[] = {
    {.head = "#", .max_width = 4, .right = true},  {.head = "CALL", .max_width = 28},
    {.head = "ARGUMENTS", .rest = true},           {.head = "STATE", .max_width = 9},
    {.head = "MS", .max_width = 7, .right = true},
};

static void fill_call(yyjson_val *call, char **cells)
{
    const char *connector = text_of(call, "connector");
    int64_t from = time_of(call, "startedAt"), to = time_of(call, "endedAt");
    cm_autobuf args = CM_BUF_INIT(256u << 20);

    cells[0] = cm_asprintf("%llu", (unsigned long long)yyjson_get_uint(cm_json_get(call, "seq")));
    cells[1] = cm_asprintf("%s%s%s", connector, *connector ? "." : "step ", text_of(call, "method"));
    if (cm_json_get(call, "args"))
        cm_json_write(&args, cm_json_get(call, "args"));
    cells[2] = cm_buf_take(&args, NULL);
    cells[3] = cm_strdup(text_of(call, "state"));
    cells[4] = from && to ? cm_asprintf("%lld", (long long)(to - from)) : cm_strdup("");
}

static void print_calls(yyjson_val *calls)
{
    size_t n = yyjson_arr_size(calls), n_cells = n * CM_ARRAY_LEN(call_columns), i, max;
    yyjson_val *call;

    if (!n)
        return;
    cm_autofree char **cells = cm_calloc(n_cells, sizeof *cells);
    yyjson_arr_foreach(calls, i, max, call)
    {
        fill_call(call, cells + i * CM_ARRAY_LEN(call_columns));
    }
    printf("calls\n");
    cm_cli_table(call_columns, CM_ARRAY_LEN(call_columns), (const char *const *)cells, n);
    for (i = 0; i < n_cells; i++)
        free(cells[i]);
}

/** Who decided, why, and what the program had asked for where it was given something else. */
static void add_decision(struct cm_buf *b, yyjson_val *call)
{
    cm_autofree char *when = cm_cli_time(time_of(call, "decidedAt"));
    const char *by = text_of(call, "decidedBy"), *reason = text_of(call, "reason");

    if (!time_of(call, "decidedAt"))
        return;
    cm_buf_addf(b, "call %llu %s%s%s, %s%s%s\n",
                (unsigned long long)yyjson_get_uint(cm_json_get(call, "seq")),
                cm_z_eq(text_of(call, "state"), "rejected") ? "rejected" : "approved", *by ? " by " : "", by,
                when, *reason ? ": " : "", reason);
    if (!cm_json_get(call, "asked"))
        return;
    cm_buf_add_z(b, "  in place of ");
    cm_json_write(b, cm_json_get(call, "asked"));
    cm_buf_add_char(b, '\n');
}

static void print_decisions(yyjson_val *calls)
{
    cm_autobuf b = CM_BUF_INIT(256u << 20);
    yyjson_val *call;
    size_t i, max;

    yyjson_arr_foreach(calls, i, max, call)
    {
        add_decision(&b, call);
    }
    if (b.len)
        print_block("decisions", cm_str_mk(b.ptr, b.len - 1));
}

static void print_logs(yyjson_val *logs)
{
    cm_autobuf b = CM_BUF_INIT(64u << 20);
    yyjson_val *line;
    size_t i, max;

    if (!yyjson_arr_size(logs))
        return;
    yyjson_arr_foreach(logs, i, max, line)
    {
        cm_buf_add_str(&b, cm_json_str(line));
        cm_buf_add_char(&b, '\n');
    }
    print_block("console", cm_buf_str(&b));
}

/** Whole: they say what to do. */
static void print_warnings(yyjson_val *warnings)
{
    yyjson_val *text;
    size_t i, max;

    yyjson_arr_foreach(warnings, i, max, text)
    {
        printf("warning  ");
        cm_cli_put_safe(stdout, yyjson_get_str(text), yyjson_get_len(text));
        putchar('\n');
    }
}

static int print_execution(yyjson_val *e)
{
    int64_t from = time_of(e, "createdAt"), to = time_of(e, "updatedAt");
    cm_autofree char *when = cm_cli_time(from);
    cm_autofree char *span = cm_cli_span(to - from);

    printf("%s\n  status   %s\n  runtime  %s\n  started  %s, took %s\n", text_of(e, "executionId"),
           text_of(e, "status"), text_of(e, "runtime"), when, span);
    print_block("program", cm_json_str(cm_json_get(e, "code")));
    print_value("result", cm_json_get(e, "result"));
    print_error_of(cm_json_get(e, "error"));
    print_logs(cm_json_get(e, "logs"));
    print_warnings(cm_json_get(e, "warnings"));
    print_calls(cm_json_get(e, "calls"));
    print_decisions(cm_json_get(e, "calls"));
    return CM_CLI_OK;
}

static int show(struct cm_cli *cli, cm_ctx *ctx, const char *id)
{
    struct cm_err err;
    char *json = NULL;

    if (cm_execution(ctx, id, &json, &err) != CM_OK)
        return cm_cli_fail(&err);
    return cm_cli_answer(cli, json, print_execution);
}

static int delete_one(struct cm_cli *cli, cm_ctx *ctx, const char *id)
{
    struct cm_err err;

    if (cm_execution_delete(ctx, id, &err) != CM_OK)
        return cm_cli_fail(&err);
    if (!cli->json)
        return CM_CLI_OK;
    cm_autobuf b = CM_BUF_INIT(4096);
    cm_buf_add_z(&b, "{\"deleted\":");
    cm_json_write_string(&b, cm_str_of(id));
    cm_buf_add_char(&b, '}');
    return cm_cli_print_text(cm_buf_take(&b, NULL));
}

int cm_cli_executions(struct cm_cli *cli)
{
    bool deletes = cli->n_args && cm_z_eq(cli->args[0], "delete");
    int status = CM_CLI_OK;

    if (deletes && cli->n_args != 2)
        return cm_cli_usage(cli, "delete which? expected the id of one execution");
    if (!deletes && cli->n_args > 1)
        return cm_cli_usage(cli, "'%s' is one argument too many", cli->args[1]);
    if (cli->n_args && cm_cli_value(cli, "--watch"))
        return cm_cli_usage(cli, "--watch is of the list; leave '%s' out", cli->args[0]);
    cli->options.one_shot = cli->options.on_demand = true;
    cm_auto(cm_ctx) ctx = cm_cli_open(cli, &status);
    if (!ctx)
        return status;
    if (deletes)
        return delete_one(cli, ctx, cli->args[1]);
    if (cm_cli_value(cli, "--watch"))
        return cm_cli_watch(cli, ctx, NULL, &watched);
    return cli->n_args ? show(cli, ctx, cli->args[0]) : list(cli, ctx);
}
