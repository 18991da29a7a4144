/** What a paused program waits for, and the commands that decide it. */
#include "api/api.h"
#include "cli/cli.h"

#include <stdio.h>

char *cm_cli_command_line(const struct cm_cli *cli, const char *words)
{
    const struct {
        const char *name, *value;
    } options[] = {{"--config", cli->options.config_path},
                   {"--store", cli->options.store},
                   {"--runtime", cli->options.runtime}};
    cm_autobuf b = CM_BUF_INIT(65536);

    cm_buf_addf(&b, "codemode %s", words);
    for (size_t i = 0; i < CM_ARRAY_LEN(options); i++)
        if (options[i].value) {
            cm_buf_addf(&b, " %s", options[i].name);
            cm_api_add_word(&b, options[i].value);
        }
    return cm_buf_take(&b, NULL);
}

static void say_command(const struct cm_cli *cli, const char *lead, const char *command, const char *id)
{
    cm_autofree char *words = cm_asprintf("%s %s", command, id);
    cm_autofree char *line = cm_cli_command_line(cli, words);

    fputs(lead, stderr);
    cm_cli_put_safe(stderr, line, strlen(line));
    putc('\n', stderr);
}

void cm_cli_say_paused(const struct cm_cli *cli, const cm_outcome *o)
{
    const char *id = cm_outcome_execution_id(o), *text;
    size_t n = 0;

    while (cm_outcome_pending(o, n))
        n++;
    if (n == 0)
        cm_cli_complain("paused: it was interrupted and can go on");
    else
        cm_cli_complain("paused: %zu call%s for a human's approval, and %s not run", n,
                        n == 1 ? " waits" : "s wait", n == 1 ? "has" : "have");
    for (size_t i = 0; (text = cm_outcome_pending(o, i)) != NULL; i++) {
        fputs("  ", stderr);
        cm_cli_put_safe(stderr, text, strlen(text));
        putc('\n', stderr);
    }
    say_command(cli, "to look:    ", "pending", id);
    say_command(cli, "to run it:  ", "approve", id);
    say_command(cli, "to refuse:  ", "reject", id);
}
