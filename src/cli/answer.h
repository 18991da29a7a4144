/** Answers of the library that people and programs read: the JSON as it is, or printed. */
#ifndef CM_CLI_ANSWER_H
#define CM_CLI_ANSWER_H

#include "cli/cli.h"
#include "json/json.h"

/** Print an answer for people; gives the exit status. */
typedef int (*cm_cli_print_fn)(yyjson_val *root);

/** With --json the text itself, otherwise what `print` makes of it. Gives the exit status. */
int cm_cli_answer(const struct cm_cli *cli, char *take_json, cm_cli_print_fn print);

#endif
