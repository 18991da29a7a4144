/** Outcomes for people: the result on stdout, the rest on stderr. Nothing but <codemode.h> of the project. */
#include "cli/cli.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static cm_ctx *interruptible;

static void on_signal(int sig)
{
    (void)sig;
    cm_interrupt(interruptible);
}

void cm_cli_cancel_on_signals(cm_ctx *ctx)
{
    struct sigaction act = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

    interruptible = ctx;
    sigemptyset(&act.sa_mask);
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
}

static const struct {
    const char *status;
    int exit;
} exits[] = {{"completed", CM_CLI_OK}, {"paused", CM_CLI_PAUSED}, {"cancelled", CM_CLI_INTERRUPTED}};

static int exit_of(const cm_outcome *o)
{
    for (size_t i = 0; i < sizeof exits / sizeof exits[0]; i++)
        if (strcmp(cm_outcome_status(o), exits[i].status) == 0)
            return exits[i].exit;
    return CM_CLI_FAILED;
}

static void put_line(const char *lead, const char *text)
{
    fputs(lead, stderr);
    cm_cli_put_safe(stderr, text, strlen(text));
    putc('\n', stderr);
}

/** Line `line` of the program, borrowed; its length in *len. NULL: there is none. */
static const char *line_of(const char *code, uint32_t line, size_t *len)
{
    while (code && --line > 0) {
        code = strchr(code, '\n');
        code = code ? code + 1 : NULL;
    }
    if (code)
        *len = strcspn(code, "\r\n");
    return code;
}

/**
 * The program's own line with a mark under the column. An outcome has the line without its indentation, which
 * the column counts: only with the program at hand is it known where the mark goes.
 */
static void print_source(const char *code, const char *source, uint32_t line, uint32_t column)
{
    char number[16];
    size_t len = strlen(source), whole_len = 0, from, at = column ? column - 1 : 0;
    const char *whole = line_of(code, line, &whole_len);
    size_t indent = whole ? strspn(whole, " \t") : 0;
    bool known =
        whole && whole_len >= indent + len && strncmp(whole + indent, source, len) == 0 && at >= indent;

    at -= known ? indent : 0;
    from = known && at > 50 && len > 64 ? at - 32 : 0;
    while (from < len && ((unsigned char)source[from] & 0xC0) == 0x80)
        from++;
    if (len - from > 64)
        for (len = from + 64; len > from && ((unsigned char)source[len] & 0xC0) == 0x80; len--)
            continue;
    snprintf(number, sizeof number, "%u", line);
    fprintf(stderr, "    %s | ", number);
    cm_cli_put_safe(stderr, source + from, len - from);
    if (known && column && at >= from && at <= len) {
        fprintf(stderr, "\n    %*s | ", (int)strlen(number), "");
        for (size_t i = from; i < at; i++)
            if (((unsigned char)source[i] & 0xC0) != 0x80)
                putc(source[i] == '\t' ? '\t' : ' ', stderr);
        putc('^', stderr);
    }
    putc('\n', stderr);
}

static void print_error(const cm_outcome *o, const char *code)
{
    const char *name = cm_outcome_error(o, "name");
    const char *message = cm_outcome_error(o, "message");
    const char *source = cm_outcome_error(o, "source");
    uint32_t line = cm_outcome_error_line(o), column = cm_outcome_error_column(o);

    if (!message && !name)
        return;
    if (name && message && *message)
        cm_cli_complain("%s: %s", name, message);
    else
        cm_cli_complain("%s", message && *message ? message : name ? name : "Error");
    if (line && column)
        fprintf(stderr, "  at line %u, column %u\n", line, column);
    else if (line)
        fprintf(stderr, "  at line %u\n", line);
    if (line && source && *source)
        print_source(code, source, line, column);
}

static void print_for_people(const cm_outcome *o, const char *code)
{
    const char *text;

    for (size_t i = 0; (text = cm_outcome_log(o, i)) != NULL; i++)
        put_line("", text);
    for (size_t i = 0; (text = cm_outcome_warning(o, i)) != NULL; i++)
        put_line("codemode: warning: ", text);
    for (size_t i = 0; (text = cm_outcome_truncated(o, i)) != NULL; i++)
        put_line("codemode: ", text);
    print_error(o, code);
    if (strcmp(cm_outcome_status(o), "paused") == 0)
        cm_cli_complain("paused: %s waits for a human's approval; 'codemode executions %s' shows what for",
                        cm_outcome_execution_id(o), cm_outcome_execution_id(o));
    else if (strcmp(cm_outcome_status(o), "cancelled") == 0 && !cm_outcome_error(o, "message"))
        cm_cli_complain("cancelled");
}

int cm_cli_print_outcome(const struct cm_cli *cli, cm_outcome *take_outcome, const char *code)
{
    cm_outcome *o = take_outcome;
    int status = exit_of(o);
    size_t len = 0;
    const char *text;

    if (cli->json) {
        text = cm_outcome_json(o, &len);
    } else {
        print_for_people(o, code);
        text = cm_outcome_result_text(o, &len);
        if (!text)
            text = cm_outcome_result_json(o, &len);
    }
    if (text && !cm_cli_put_result(text, len) && status == CM_CLI_OK)
        status = CM_CLI_FAILED;
    cm_outcome_free(o);
    return status;
}

static void put_json_string(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            printf("\\u%04x", (unsigned char)*text);
        else
            putchar(*text);
    }
    putchar('"');
}

int cm_cli_print_failure(const struct cm_cli *cli, const struct cm_err *err)
{
    if (cli->json) {
        fputs("{\"status\":\"error\",\"executionId\":\"\",\"error\":{\"name\":\"Error\",\"message\":",
              stdout);
        put_json_string(err->message);
        printf(",\"code\":\"%s\"}}\n", cm_err_code(err));
    }
    return cm_cli_fail(err);
}
