/**
 * cli: the commands. One file and one table row for each; help, the manual page's check and the completions
 * read the same rows.
 *
 * This header knows nothing of the project but <codemode.h>, so that `run` is what any embedder could write.
 * Stdout carries the result and nothing else; everything for people goes to stderr. Start with main.c;
 * commands.c has the table.
 */
#ifndef CM_CLI_CLI_H
#define CM_CLI_CLI_H

#include <codemode.h>

/** Exit statuses (design, section 8). */
enum cm_cli_exit {
    CM_CLI_OK = 0,
    CM_CLI_FAILED = 1,
    CM_CLI_USAGE = 2,
    CM_CLI_PAUSED = 3,
    CM_CLI_INTERRUPTED = 130
};

#define CM_CLI_MAX_OPTIONS 12
#define CM_CLI_WIDTH       80

/** One option. `metavar` NULL: a switch. */
struct cm_cli_option {
    const char *name; /* "--input" */
    const char *also; /* "-e", or NULL */
    const char *metavar;
    const char *summary; /* one line, fits behind the name in 80 columns */
};

struct cm_cli;

struct cm_cli_command {
    const char *name;
    const char *summary;  /* one line, for the list */
    const char *usage;    /* what follows "codemode NAME", one alternative a line */
    const char *words;    /* words that can stand first ("search describe"), for completion; may be NULL */
    const char *text;     /* paragraphs of its help, lines of at most 80 columns */
    const char *examples; /* lines "$ …" */
    const struct cm_cli_option *options;
    size_t n_options;
    int (*fn)(struct cm_cli *cli);
};

/** A parsed command line. Everything is borrowed from argv. */
struct cm_cli {
    const struct cm_cli_command *command;
    struct cm_options options; /* --config, --store, --runtime */
    bool json;
    bool help;
    bool version;
    const char *values[CM_CLI_MAX_OPTIONS]; /* one for each option of the command; a switch has its name */
    const char **args;                      /* what is no option */
    int n_args;
};

extern const struct cm_cli_command cm_cli_commands[];
extern const size_t cm_cli_n_commands;
extern const struct cm_cli_option cm_cli_globals[];
extern const size_t cm_cli_n_globals;

/* ---- options.c */

/** Fill cli. False: said on stderr what is wrong, and what is near to it. */
bool cm_cli_parse(struct cm_cli *cli, int argc, char *const *argv);
/** The option's value, or NULL. */
const char *cm_cli_value(const struct cm_cli *cli, const char *name);
/** "codemode NAME: …" and how to get help, on stderr; gives CM_CLI_USAGE. */
int cm_cli_usage(const struct cm_cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- help.c */

void cm_cli_help(const struct cm_cli_command *command);
void cm_cli_help_all(void);
/** One line for each command and option, tab-separated, for checks and completions. */
void cm_cli_dump(void);

/* ---- text.c */

/** Open; warnings of the configuration and an error go to stderr. The exit status in *status when it fails.
 */
cm_ctx *cm_cli_open(const struct cm_cli *cli, int *status);
/** "codemode: TEXT" on stderr, control characters made visible. */
void cm_cli_complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/** Report err and give the exit status for it. */
int cm_cli_fail(const struct cm_err *err);
/** Text on a stream with control characters other than line feed and tab, and the marks that turn a line's
 * direction, made visible: no server writes to a terminal's controls. */
void cm_cli_put_safe(void *stream, const char *text, size_t len);
/** Write text to stdout, and a line feed when it does not end in one. False: stdout is closed or full, which
 * was reported. */
bool cm_cli_put_result(const char *text, size_t len);
/** Give text back and print it as the result: gives the exit status. */
int cm_cli_print_text(char *take_text);
/** Program text: of -e, of a file, of "-" (standard input). NULL: reported; *status is the exit status. Freed
 * by the caller. */
char *cm_cli_program(const struct cm_cli *cli, const char *file, const char *code, size_t *len, int *status);

/* ---- outcome.c */

/** What people and scripts see of an outcome of the program `code` (NULL: of a call). Gives the exit status.
 * Frees it. */
int cm_cli_print_outcome(const struct cm_cli *cli, cm_outcome *take_outcome);
/** "codemode WORDS" with the global options of this command line, quoted for a shell. Owned by the caller. */
char *cm_cli_command_line(const struct cm_cli *cli, const char *words);
/** What a paused program waits for and the commands that decide it, on stderr. */
void cm_cli_say_paused(const struct cm_cli *cli, const cm_outcome *o);
/** As JSON where --json asks for it, a failure without an outcome is one too. */
int cm_cli_print_failure(const struct cm_cli *cli, const struct cm_err *err);
/** Ctrl-C and SIGTERM cancel what runs in ctx; a second one ends the program. */
void cm_cli_cancel_on_signals(cm_ctx *ctx);

/* ---- decide.c */

/** Who is told to have decided: the name of the user, as the system knows it. Owned by the caller. */
char *cm_cli_who(void);

/* ---- the commands */

int cm_cli_run(struct cm_cli *cli);
int cm_cli_serve(struct cm_cli *cli);
int cm_cli_tools(struct cm_cli *cli);
int cm_cli_call(struct cm_cli *cli);
int cm_cli_executions(struct cm_cli *cli);
int cm_cli_pending(struct cm_cli *cli);
int cm_cli_approve(struct cm_cli *cli);
int cm_cli_reject(struct cm_cli *cli);
int cm_cli_cancel(struct cm_cli *cli);
int cm_cli_rollback(struct cm_cli *cli);
int cm_cli_prune(struct cm_cli *cli);
int cm_cli_store(struct cm_cli *cli);
int cm_cli_snippets(struct cm_cli *cli);
int cm_cli_check(struct cm_cli *cli);
int cm_cli_types(struct cm_cli *cli);
int cm_cli_normalize(struct cm_cli *cli);

#endif
