/** `codemode approve` and `codemode reject`: what waits for a human, and what the human says. */
#include "api/api.h"
#include "base/parse.h"
#include "cli/show.h"

#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

/** What is pending of one execution, and which of it is meant. */
struct asked {
    const char *id;
    yyjson_doc *doc;
    yyjson_mut_doc *chosen_doc;
    yyjson_doc *chosen; /* the list of those that are meant */
    yyjson_doc *args;   /* given in place of the program's, or NULL */
    uint32_t *seqs;
    size_t n;
};

static void asked_done(struct asked *a)
{
    yyjson_doc_free(a->doc);
    yyjson_mut_doc_free(a->chosen_doc);
    yyjson_doc_free(a->chosen);
    yyjson_doc_free(a->args);
    free(a->seqs);
}

char *cm_cli_who(void)
{
    const struct passwd *user = getpwuid(getuid());

    return user && user->pw_name ? cm_strdup(user->pw_name) : cm_asprintf("user %u", (unsigned)getuid());
}

static bool parse_seqs(const struct cm_cli *cli, struct asked *a)
{
    struct cm_err err;

    a->seqs = cm_calloc((size_t)cli->n_args + 1, sizeof *a->seqs);
    for (int i = 1; i < cli->n_args; i++) {
        if (cm_parse_u32(cm_str_of(cli->args[i]), &a->seqs[a->n++], &err) == CM_OK)
            continue;
        cm_cli_usage(cli, "'%s': expected the number of a call, as 'codemode pending' shows it",
                     cli->args[i]);
        return false;
    }
    return true;
}

static bool parse_args(const struct cm_cli *cli, struct asked *a)
{
    const char *args = cli->command->fn == cm_cli_approve ? cm_cli_value(cli, "--args") : NULL;
    struct cm_err err;

    if (!args)
        return true;
    if (cm_json_parse(cm_str_of(args), CM_JSON_BIGNUM, &a->args, &err) != CM_OK)
        cm_cli_usage(cli, "--args: %s", err.message);
    else if (!yyjson_is_obj(yyjson_doc_get_root(a->args)))
        cm_cli_usage(cli, "--args is %s; expected a JSON object", cm_json_kind(yyjson_doc_get_root(a->args)));
    else
        return true;
    return false;
}

static yyjson_val *find_call(yyjson_val *pending, uint32_t seq)
{
    yyjson_val *call;
    size_t i, max;

    yyjson_arr_foreach(pending, i, max, call)
    {
        if (yyjson_get_uint(cm_json_get(call, "seq")) == seq)
            return call;
    }
    return NULL;
}

/** Nothing waits: what became of it says why. */
static int none_pending(cm_ctx *ctx, const struct asked *a, uint32_t seq)
{
    cm_auto(yyjson_doc) doc = NULL;
    struct cm_err err;
    char *json = NULL;
    const char *status = NULL;

    if (cm_execution(ctx, a->id, &json, &err) != CM_OK)
        return cm_cli_fail(&err);
    if (cm_json_parse(cm_str_of(json), CM_JSON_BIGNUM, &doc, &err) == CM_OK)
        status = cm_json_get_z(yyjson_doc_get_root(doc), "status");
    cm_cli_complain("call %u of %s is not pending; nothing is: the execution is %s", seq, a->id,
                    status ? status : "not to be read");
    cm_text_free(json);
    return CM_CLI_FAILED;
}

static int not_pending(cm_ctx *ctx, const struct asked *a, uint32_t seq)
{
    yyjson_val *pending = cm_json_get(yyjson_doc_get_root(a->doc), "pending"), *call;
    cm_autobuf list = CM_BUF_INIT(1u << 20);
    size_t i, max;

    yyjson_arr_foreach(pending, i, max, call)
    {
        cm_buf_addf(&list, "%s%llu", i ? ", " : "",
                    (unsigned long long)yyjson_get_uint(cm_json_get(call, "seq")));
    }
    if (!list.len)
        return none_pending(ctx, a, seq);
    cm_cli_complain("call %u of %s is not pending; pending: %s", seq, a->id, cm_buf_str(&list).ptr);
    return CM_CLI_FAILED;
}

/** The calls that were named, or all that are pending now: from here on they are the ones that are meant. */
static int choose(cm_ctx *ctx, struct asked *a)
{
    yyjson_val *pending = cm_json_get(yyjson_doc_get_root(a->doc), "pending"), *call;
    yyjson_mut_val *list;
    size_t i, max;

    a->chosen_doc = yyjson_mut_doc_new(NULL);
    list = yyjson_mut_arr(a->chosen_doc);
    yyjson_mut_doc_set_root(a->chosen_doc, list);
    for (i = 0; i < a->n; i++) {
        call = find_call(pending, a->seqs[i]);
        if (!call)
            return not_pending(ctx, a, a->seqs[i]);
        (void)yyjson_mut_arr_append(list, yyjson_val_mut_copy(a->chosen_doc, call));
    }
    if (a->n == 0) {
        a->seqs = cm_realloc(a->seqs, (yyjson_arr_size(pending) + 1) * sizeof *a->seqs);
        yyjson_arr_foreach(pending, i, max, call)
        {
            a->seqs[a->n++] = (uint32_t)yyjson_get_uint(cm_json_get(call, "seq"));
            (void)yyjson_mut_arr_append(list, yyjson_val_mut_copy(a->chosen_doc, call));
        }
    }
    a->chosen = yyjson_mut_doc_imut_copy(a->chosen_doc, NULL);
    return CM_CLI_OK;
}

static int read_pending(cm_ctx *ctx, struct asked *a)
{
    struct cm_err err;
    char *json = NULL;
    cm_status st = cm_pending(ctx, a->id, &json, &err);

    if (st == CM_OK) {
        st = cm_json_parse(cm_str_of(json), CM_JSON_BIGNUM, &a->doc, &err);
        cm_text_free(json);
    }
    return st == CM_OK ? CM_CLI_OK : cm_cli_fail(&err);
}

/** ---- asking back ---- */

static void show_edited(yyjson_doc *args)
{
    cm_autobuf text = CM_BUF_INIT(256u << 20);

    cm_json_write_pretty(&text, yyjson_doc_get_root(args));
    fputs("with these arguments in place of the program's:\n", stderr);
    cm_cli_put_json(stderr, cm_buf_str(&text));
    putc('\n', stderr);
}

/** On a terminal: what will run, whole, and whether it may. */
static bool is_confirmed(const struct cm_cli *cli, const struct asked *a)
{
    char answer[16] = "";

    if (cm_cli_value(cli, "--yes") || cli->json || a->n == 0 || !isatty(STDIN_FILENO) ||
        !isatty(STDERR_FILENO))
        return true;
    cm_cli_show_calls(stderr, yyjson_doc_get_root(a->chosen));
    if (a->args)
        show_edited(a->args);
    fprintf(stderr, "\nRun %s? [y/N] ", a->n == 1 ? "this call" : "these calls");
    if (fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y'))
        return true;
    fputs("Nothing was approved.\n", stderr);
    return false;
}

/** Without an id, on a terminal: the one execution that waits. */
static int find_only(struct cm_cli *cli, cm_ctx *ctx, char **id)
{
    struct asked all = {0};
    yyjson_val *list, *call;
    size_t i, max;
    const char *only = NULL;
    bool more = false;
    int status = read_pending(ctx, &all);

    list = cm_json_get(yyjson_doc_get_root(all.doc), "pending");
    yyjson_arr_foreach(list, i, max, call)
    {
        const char *one = cm_json_get_z(call, "executionId");
        more = more || (only && one && !cm_z_eq(only, one));
        only = one;
    }
    if (status == CM_CLI_OK && more) {
        cm_cli_list_calls(list);
        status = cm_cli_usage(cli, "several executions wait: name one");
    } else if (status == CM_CLI_OK && !only) {
        cm_cli_complain("nothing is pending");
        status = CM_CLI_FAILED;
    } else if (status == CM_CLI_OK) {
        *id = cm_strdup(only);
    }
    asked_done(&all);
    return status;
}

/** ---- the commands ---- */

static int finish(struct cm_cli *cli, cm_status st, cm_outcome *outcome, const struct cm_err *err)
{
    return st == CM_OK ? cm_cli_print_outcome(cli, outcome) : cm_cli_print_failure(cli, err);
}

static int approve(struct cm_cli *cli, cm_ctx *ctx, struct asked *a)
{
    cm_autofree char *by = cm_cli_who();
    struct cm_answer d = {.id = a->id,
                          .args_json = cm_cli_value(cli, "--args"),
                          .hash = cm_cli_value(cli, "--hash"),
                          .by = by,
                          .reason = cm_cli_value(cli, "--reason")};
    cm_outcome *outcome = NULL;
    struct cm_err err = {0};
    int status = read_pending(ctx, a);

    if (status == CM_CLI_OK)
        status = choose(ctx, a);
    if (status != CM_CLI_OK)
        return status;
    if (d.args_json && a->n != 1)
        return cm_cli_usage(cli, "--args are those of one call, and %zu are pending: name it", a->n);
    if (!is_confirmed(cli, a))
        return CM_CLI_FAILED;
    d.seqs = a->seqs;
    d.n_seqs = a->n;
    cm_cli_cancel_on_signals(ctx);
    cm_status st = cm_approve(ctx, &d, &outcome, &err);
    return finish(cli, st, outcome, &err);
}

static int reject(struct cm_cli *cli, cm_ctx *ctx, struct asked *a)
{
    cm_autofree char *by = cm_cli_who();
    struct cm_answer d = {
        .id = a->id, .seqs = a->seqs, .n_seqs = a->n, .by = by, .reason = cm_cli_value(cli, "--reason")};
    cm_outcome *outcome = NULL;
    struct cm_err err = {0};

    cm_cli_cancel_on_signals(ctx);
    cm_status st = cm_reject(ctx, &d, &outcome, &err);
    bool as_asked = st == CM_OK && cm_z_eq(cm_outcome_status(outcome), "rejected");
    int status = finish(cli, st, outcome, &err);
    return as_asked ? CM_CLI_OK : status;
}

static int decide(struct cm_cli *cli, bool may_be_found, int (*fn)(struct cm_cli *, cm_ctx *, struct asked *))
{
    cm_autofree char *found = NULL;
    struct asked a = {0};
    int status = CM_CLI_OK;
    bool terminal = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);

    if (!cli->n_args && !(may_be_found && terminal))
        return cm_cli_usage(cli, "which execution? expected its id; 'codemode pending' lists what waits");
    if (!parse_seqs(cli, &a) || !parse_args(cli, &a)) {
        asked_done(&a);
        return CM_CLI_USAGE;
    }
    cli->options.one_shot = cli->options.on_demand = true;
    cm_auto(cm_ctx) ctx = cm_cli_open(cli, &status);
    if (ctx && !cli->n_args)
        status = find_only(cli, ctx, &found);
    a.id = found ? found : cli->n_args ? cli->args[0] : NULL;
    if (ctx && status == CM_CLI_OK)
        status = fn(cli, ctx, &a);
    asked_done(&a);
    return status;
}

int cm_cli_approve(struct cm_cli *cli)
{
    return decide(cli, true, approve);
}

int cm_cli_reject(struct cm_cli *cli)
{
    return decide(cli, false, reject);
}
