/** Help from the table: plain text in 80 columns. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

static void print_options(const char *heading, const struct cm_cli_option *list, size_t n)
{
    if (n)
        printf("\n%s\n", heading);
    for (size_t i = 0; i < n; i++) {
        char left[64];
        snprintf(left, sizeof left, "%s%s%s%s%s", list[i].also ? list[i].also : "", list[i].also ? ", " : "",
                 list[i].name, list[i].metavar ? " " : "", list[i].metavar ? list[i].metavar : "");
        printf("  %-18s  %s\n", left, list[i].summary);
    }
}

static void print_indented(const char *text, const char *indent)
{
    while (*text) {
        size_t len = strcspn(text, "\n");
        printf("%s%.*s\n", indent, (int)len, text);
        text += len + (text[len] == '\n');
    }
}

static void print_usage(const struct cm_cli_command *c)
{
    const char *line = c->usage;
    const char *lead = "usage:";

    do {
        size_t len = strcspn(line, "\n");
        printf("%s codemode %s%s%.*s\n", lead, c->name, len ? " " : "", (int)len, line);
        line = line[len] ? line + len + 1 : NULL;
        lead = "      ";
    } while (line);
}

void cm_cli_help(const struct cm_cli_command *c)
{
    print_usage(c);
    printf("\n%s\n", c->text);
    print_options("options:", c->options, c->n_options);
    print_options("options of every command:", cm_cli_globals, cm_cli_n_globals);
    printf("\nexamples:\n");
    print_indented(c->examples, "  ");
}

void cm_cli_help_all(void)
{
    printf("codemode runs a model's JavaScript against typed connectors, in a sandbox.\n"
           "\nusage: codemode COMMAND [ARGUMENT…]\n\ncommands:\n");
    for (size_t i = 0; i < cm_cli_n_commands; i++)
        printf("  %-12s  %s\n", cm_cli_commands[i].name, cm_cli_commands[i].summary);
    print_options("options of every command:", cm_cli_globals, cm_cli_n_globals);
    printf("\nThe configuration is --config, else $CODEMODE_CONFIG, ./codemode.json,\n"
           "./.mcp.json or $XDG_CONFIG_HOME/codemode/config.json; none is fine.\n"
           "\nexit status: 0 completed, 1 anything else, 2 usage or configuration, 3 paused,\n"
           "130 interrupted\n"
           "\nexamples:\n"
           "  $ codemode run -e 'return 6 * 7'\n"
           "  $ codemode run --help\n");
}

static void dump_options(const char *command, const struct cm_cli_option *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        printf("option\t%s\t%s\t%s\n", command, list[i].name, list[i].metavar ? list[i].metavar : "");
        if (list[i].also)
            printf("option\t%s\t%s\t%s\n", command, list[i].also, list[i].metavar ? list[i].metavar : "");
    }
}

void cm_cli_dump(void)
{
    dump_options("", cm_cli_globals, cm_cli_n_globals);
    for (size_t i = 0; i < cm_cli_n_commands; i++) {
        const struct cm_cli_command *c = &cm_cli_commands[i];
        printf("command\t%s\t%s\n", c->name, c->words ? c->words : "");
        dump_options(c->name, c->options, c->n_options);
    }
}
