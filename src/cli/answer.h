/** Answers of the library that people and programs read: the JSON as it is, or printed. */
#ifndef CM_CLI_ANSWER_H
#define CM_CLI_ANSWER_H

#include "cli/cli.h"
#include "json/json.h"

/** Print an answer for people; gives the exit status. */
typedef int (*cm_cli_print_fn)(yyjson_val *root);

/** With --json the text itself, otherwise what `print` makes of it. Gives the exit status. */
int cm_cli_answer(const struct cm_cli *cli, char *take_json, cm_cli_print_fn print);

/** A list that --watch goes on printing: what is new of it at each look. */
struct cm_cli_watched {
    /** Give {LIST:[…]} (of `id`, where one is given). */
    cm_status (*read)(cm_ctx *ctx, const char *id, char **json, struct cm_err *err);
    const char *list;
    /** What makes an item a new one when it differs. Owned by the caller. */
    char *(*key)(yyjson_val *item);
    /** One item, for people. */
    void (*print)(yyjson_val *item);
    bool newest_first; /* as it is read; it is printed the other way round */
};

/** Print until interrupted, or nobody reads; with --json one document a line. Gives the exit status. */
int cm_cli_watch(const struct cm_cli *cli, cm_ctx *ctx, const char *id, const struct cm_cli_watched *w);

#endif
