/** The command line, read by the table. Options may stand anywhere; "--" ends them; "-" is a file name. */
#include "base/names.h"
#include "cli/cli.h"

#include <stdarg.h>
#include <stdio.h>

static const struct cm_cli_command *find_command(const char *name)
{
    for (size_t i = 0; i < cm_cli_n_commands; i++)
        if (strcmp(cm_cli_commands[i].name, name) == 0)
            return &cm_cli_commands[i];
    return NULL;
}

static const struct cm_cli_option *find_option(const struct cm_cli_option *list, size_t n, struct cm_str name)
{
    for (size_t i = 0; i < n; i++)
        if (cm_str_eq_z(name, list[i].name) || (list[i].also && cm_str_eq_z(name, list[i].also)))
            return &list[i];
    return NULL;
}

static void consider(const char **best, unsigned *distance, struct cm_str name, const char *candidate)
{
    unsigned d = cm_name_distance(name, cm_str_of(candidate));

    if (d < *distance) {
        *distance = d;
        *best = candidate;
    }
}

static const char *nearest_option(const struct cm_cli *cli, struct cm_str name)
{
    const char *best = NULL;
    unsigned distance = 4;

    for (size_t i = 0; i < cm_cli_n_globals; i++)
        consider(&best, &distance, name, cm_cli_globals[i].name);
    for (size_t i = 0; cli->command && i < cli->command->n_options; i++)
        consider(&best, &distance, name, cli->command->options[i].name);
    return best;
}

static bool unknown_command(const struct cm_cli *cli, const char *name)
{
    const char *best = NULL;
    unsigned distance = 4;

    for (size_t i = 0; i < cm_cli_n_commands; i++)
        consider(&best, &distance, cm_str_of(name), cm_cli_commands[i].name);
    if (best)
        cm_cli_usage(cli, "no command is called '%s'; did you mean '%s'?", name, best);
    else
        cm_cli_usage(cli, "no command is called '%s'", name);
    return false;
}

static bool set_global(struct cm_cli *cli, const struct cm_cli_option *o, const char *value)
{
    const struct {
        const char *name;
        const char **text;
        bool *flag;
    } targets[] = {
        {"--config", &cli->options.config_path, NULL},
        {"--store", &cli->options.store, NULL},
        {"--runtime", &cli->options.runtime, NULL},
        {"--json", NULL, &cli->json},
        {"--help", NULL, &cli->help},
        {"--version", NULL, &cli->version},
    };
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        if (strcmp(targets[i].name, o->name) == 0) {
            if (targets[i].text)
                *targets[i].text = value;
            else
                *targets[i].flag = true;
        }
    return true;
}

static bool set_option(struct cm_cli *cli, const char *arg, char *const *rest, int *used)
{
    size_t len = strncmp(arg, "--", 2) == 0 ? strcspn(arg, "=") : strlen(arg);
    struct cm_str name = cm_str_mk(arg, len);
    const struct cm_cli_option *global = find_option(cm_cli_globals, cm_cli_n_globals, name);
    const struct cm_cli_option *own =
        cli->command ? find_option(cli->command->options, cli->command->n_options, name) : NULL;
    const struct cm_cli_option *o = own ? own : global;
    const char *value = arg[len] == '=' ? arg + len + 1 : NULL;

    *used = 1;
    if (!o) {
        const char *near = nearest_option(cli, name);
        cm_cli_usage(cli, "unknown option '%.*s'%s%s%s", CM_STR_ARG(name), near ? "; did you mean '" : "",
                     near ? near : "", near ? "'?" : "");
        return false;
    }
    if (!o->metavar && value) {
        cm_cli_usage(cli, "option '%s' takes no value", o->name);
        return false;
    }
    if (o->metavar && !value) {
        value = rest[0];
        *used = 2;
    }
    if (o->metavar && !value) {
        cm_cli_usage(cli, "option '%.*s' needs a value: %s", CM_STR_ARG(name), o->metavar);
        return false;
    }
    if (!own)
        return set_global(cli, o, value);
    cli->values[o - cli->command->options] = o->metavar ? value : o->name;
    return true;
}

/** Which command it is decides which options there are, and it may stand behind global ones: find it first.
 */
static const struct cm_cli_command *look_for_command(int argc, char *const *argv, int *at)
{
    for (int i = 1; i < argc; i++) {
        const struct cm_cli_option *o = find_option(cm_cli_globals, cm_cli_n_globals, cm_str_of(argv[i]));
        if (o && o->metavar)
            i++;
        else if (argv[i][0] != '-') {
            *at = i;
            return find_command(argv[i]);
        }
    }
    return NULL;
}

bool cm_cli_parse(struct cm_cli *cli, int argc, char *const *argv)
{
    int at = 0;
    bool options = true;

    cli->command = look_for_command(argc, argv, &at);
    for (int i = 1, used = 1; i < argc; i += used) {
        used = 1;
        if (i == at && cli->command)
            continue;
        if (options && strcmp(argv[i], "--") == 0)
            options = false;
        else if (!options || argv[i][0] != '-' || !argv[i][1])
            cli->args[cli->n_args++] = argv[i];
        else if (!set_option(cli, argv[i], argv + i + 1, &used))
            return false;
    }
    if (!cli->command && cli->n_args && strcmp(cli->args[0], "help") != 0 &&
        strcmp(cli->args[0], "__commands") != 0)
        return unknown_command(cli, cli->args[0]);
    return true;
}

const char *cm_cli_value(const struct cm_cli *cli, const char *name)
{
    for (size_t i = 0; i < cli->command->n_options; i++)
        if (strcmp(cli->command->options[i].name, name) == 0)
            return cli->values[i];
    return NULL;
}

int cm_cli_usage(const struct cm_cli *cli, const char *fmt, ...)
{
    const char *name = cli->command ? cli->command->name : "";
    char text[1024];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    cm_cli_complain("%s%s%s", name, *name ? ": " : "", text);
    fprintf(stderr, "'codemode %s%s--help' says what there is.\n", name, *name ? " " : "");
    return CM_CLI_USAGE;
}
