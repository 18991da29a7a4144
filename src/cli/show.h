/** What a human decides about, shown so that nothing of it is hidden. */
#ifndef CM_CLI_SHOW_H
#define CM_CLI_SHOW_H

#include "base/base.h"
#include "cli/cli.h"
#include "json/json.h"

/**
 * JSON text on a stream, whole. Characters that a reader cannot see, or could take for others (controls, marks of direction, joiners,
 * blanks that are no space, tags), are written as JSON escapes; what is printed is the same JSON.
 */
void cm_cli_put_json(void *stream, struct cm_str json);
/** One pending call: its name, rule, hash and arguments, indented, nothing cut. */
void cm_cli_show_call(void *stream, yyjson_val *call);
/** Each call of a list of pending ones. */
void cm_cli_show_calls(void *stream, yyjson_val *pending);
/** The pending calls of several executions as tables: arguments on one line, cut. */
void cm_cli_list_calls(yyjson_val *pending);

#endif
