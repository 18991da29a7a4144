/** Outcomes for people: the result on stdout, the rest on stderr. Nothing but <codemode.h> of the project. */
#include "cli/cli.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/** Of what an error has besides its message: enough to see what kind of failure it is. */
#define FIELDS_BYTES 2000

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

/** The callers of the place that a frame shows: the stack without its first line. */
static void print_callers(const char *stack)
{
    const char *line = stack ? strchr(stack, '\n') : NULL;

    while (line) {
        const char *end = strchr(++line, '\n');

        fputs("    ", stderr);
        cm_cli_put_safe(stderr, line, end ? (size_t)(end - line) : strlen(line));
        putc('\n', stderr);
        line = end;
    }
}

/** What an error has besides, as JSON on one line; the start of it where it is long. */
static void print_fields(const char *json)
{
    size_t len = json ? strlen(json) : 0, shown = len;

    if (!json)
        return;
    if (len > FIELDS_BYTES)
        for (shown = FIELDS_BYTES; ((unsigned char)json[shown] & 0xC0) == 0x80; shown--)
            continue;
    fputs("  with ", stderr);
    cm_cli_put_safe(stderr, json, shown);
    fputs(shown < len ? "… (--json has all of it)\n" : "\n", stderr);
}

static void print_error(const cm_outcome *o)
{
    const char *name = cm_outcome_error(o, "name");
    const char *message = cm_outcome_error(o, "message");
    const char *frame = cm_outcome_error_frame(o);
    uint32_t line = cm_outcome_error_line(o), column = cm_outcome_error_column(o);

    if (!message && !name)
        return;
    if (name && message && *message)
        cm_cli_complain("%s: %s", name, message);
    else
        cm_cli_complain("%s", message && *message ? message : name ? name : "Error");
    if (frame)
        put_line("", frame);
    else if (line && column)
        fprintf(stderr, "  at line %u, column %u\n", line, column);
    else if (line)
        fprintf(stderr, "  at line %u\n", line);
    print_callers(cm_outcome_error(o, "stack"));
    print_fields(cm_outcome_error_fields(o));
}

static void print_for_people(const struct cm_cli *cli, const cm_outcome *o)
{
    const char *text;

    for (size_t i = 0; (text = cm_outcome_log(o, i)) != NULL; i++)
        put_line("", text);
    for (size_t i = 0; (text = cm_outcome_warning(o, i)) != NULL; i++)
        put_line("codemode: warning: ", text);
    for (size_t i = 0; (text = cm_outcome_truncated(o, i)) != NULL; i++)
        put_line("codemode: ", text);
    print_error(o);
    if (strcmp(cm_outcome_status(o), "paused") == 0)
        cm_cli_say_paused(cli, o);
    else if (strcmp(cm_outcome_status(o), "cancelled") == 0 && !cm_outcome_error(o, "message"))
        cm_cli_complain("cancelled");
}

int cm_cli_print_outcome(const struct cm_cli *cli, cm_outcome *take_outcome)
{
    cm_outcome *o = take_outcome;
    int status = exit_of(o);
    size_t len = 0;
    const char *text;

    if (cli->json) {
        text = cm_outcome_json(o, &len);
    } else {
        print_for_people(cli, o);
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
