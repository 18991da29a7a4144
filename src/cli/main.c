/** codemode: the program. */
#include "cli/cli.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** `codemode help [COMMAND]` is `codemode [COMMAND] --help`. */
static int help(const struct cm_cli *cli, const char *name)
{
    if (!name) {
        cm_cli_help_all();
        return CM_CLI_OK;
    }
    for (size_t i = 0; i < cm_cli_n_commands; i++)
        if (strcmp(cm_cli_commands[i].name, name) == 0) {
            cm_cli_help(&cm_cli_commands[i]);
            return CM_CLI_OK;
        }
    return cm_cli_usage(cli, "no command is called '%s'", name);
}

static int dispatch(struct cm_cli *cli)
{
    if (cli->version) {
        printf("codemode %s\n", cm_version());
        return CM_CLI_OK;
    }
    if (cli->help || (!cli->command && cli->n_args && strcmp(cli->args[0], "help") == 0))
        return help(cli, cli->command ? cli->command->name : cli->n_args > 1 ? cli->args[1] : NULL);
    if (!cli->command && cli->n_args && strcmp(cli->args[0], "__commands") == 0) {
        cm_cli_dump();
        return CM_CLI_OK;
    }
    if (!cli->command)
        return cm_cli_usage(cli, "a command is missing");
    return cli->command->fn(cli);
}

/**
 * A standard descriptor that was closed (`>&-`) would be given to the next file that is opened: the store, say, and a result be
 * written into it. What stands in for it can do the opposite, so that using it fails as if it were closed.
 */
static bool hold_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            return false; /* the lowest free one is taken, and those below it are not free */
    return true;
}

int main(int argc, char **argv)
{
    struct cm_cli cli = {0};
    int status;

    if (!hold_standard_descriptors())
        return CM_CLI_FAILED; /* with nowhere to say so */

    /* A reader that goes away is an error of write, told in words, and not the end of the process. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* so is the limit on the size of a file */
    cli.args = calloc((size_t)argc + 1, sizeof *cli.args);
    if (!cli.args)
        abort();
    status = cm_cli_parse(&cli, argc, argv) ? dispatch(&cli) : CM_CLI_USAGE;
    free(cli.args);
    if (fflush(stdout) != 0 && status == CM_CLI_OK) {
        cm_cli_complain("standard output: cannot be written");
        status = CM_CLI_FAILED;
    }
    return status;
}
