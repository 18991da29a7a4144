/** The parts of the MCP connector that need no child: the method table made of a tool list, and what a result
 * means. */
#ifndef CM_CONNECTOR_MCP_H
#define CM_CONNECTOR_MCP_H

#include "connector/connector.h"

/** Zero-initialise. Origins, descriptions and schemas are borrowed from the tool list, which must live as
 * long. */
struct cm_mcp_tools {
    struct cm_method *methods;
    struct cm_mcp_tool_schemas {
        yyjson_val *input, *output; /* NULL: none known */
        bool as_task;               /* runs only as a task */
    } * schemas;
    size_t n;
};

/**
 * Make the table of a server's tools (a JSON array). What cannot become a method is left out and named by
 * cm_connector__warn: no name, a name or an identifier that an earlier tool has, a schema that is no object,
 * a tool that runs only as a task on a server that runs none.
 */
void cm_mcp_tools_build(struct cm_mcp_tools *t, yyjson_val *tools, bool runs_tasks, cm_connector *c);
void cm_mcp_tools_done(struct cm_mcp_tools *t);

/** What a CallToolResult means for the program. Zero-initialise. */
struct cm_mcp_outcome {
    bool failed;
    char *message;             /* failed: the tool's own words */
    struct cm_buf fields;      /* failed: an object of further members for the error, or empty */
    struct cm_own_value value; /* otherwise */
};
void cm_mcp_outcome_done(struct cm_mcp_outcome *o);

/**
 * Unwrap a CallToolResult (an object). First match wins:
 *
 *   1. toolResult            that value (servers of the first revision, 2024-10-07)
 *   2. isError: true         a failure: the text blocks joined by newlines; structuredContent, or the JSON in the text, is its
 *                            field `data`; with blocks of other kinds, `content` is a field, too
 *   3. structuredContent     that value, which the output schema describes; content beside it is left out
 *   4. one text block        the JSON in it, see below; otherwise the text
 *   5. several text blocks   their texts joined by newlines
 *   6. content               the array of blocks; data of images and audio, blob of resources are bytes
 *   7. anything else         the result as it is
 *
 * The text of one block is JSON where it is an object or an array, or a string, number, boolean or null
 * written exactly as JSON would write it back: "5" is 5, but "1.10", "007" and "1e5" stay text.
 * Integers beyond 2^53 are bigints, never rounded. R4.3 makes data of any JSON text
 * and rounds.
 *
 * Errors: CM_E_LIMIT the value is too large or too deep.
 */
cm_status cm_mcp_unwrap(yyjson_val *result, struct cm_mcp_outcome *out, struct cm_err *err);

#endif
