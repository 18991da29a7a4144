/*
 * A program with tools of its own: a model's JavaScript calls C, and C decides what that means.
 *
 *     cc embed.c -o embed $(pkg-config --cflags --libs codemode)
 *     ./embed
 */
#include <codemode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stock {
    int pieces;
};

/* Arguments are one JSON object that fits the tool's schema; take what is needed with the JSON library of your choice. */
static void take(void *user, cm_tool_call *call, const char *args_json, size_t args_len)
{
    struct stock *stock = user;
    const char *n = strstr(args_json, "\"pieces\":");
    int wanted = n ? atoi(n + strlen("\"pieces\":")) : 0; /* allowed: the schema made it an integer */
    char answer[64];

    (void)args_len;
    if (wanted > stock->pieces) {
        cm_tool_fail(call, "there is not that much left"); /* the program can catch it */
        return;
    }
    stock->pieces -= wanted;
    snprintf(answer, sizeof answer, "{\"left\":%d}", stock->pieces);
    cm_tool_return(call, answer, strlen(answer));
}

static const char program[] = "const first = await store.take({ pieces: 30 });\n"
                              "try {\n"
                              "  await store.take({ pieces: 30 });\n"
                              "} catch (e) {\n"
                              "  return `${first.left} left: ${e.message}`;\n"
                              "}\n";

int main(void)
{
    struct cm_options options = {.store = "memory:", .no_config = true};
    struct cm_run_options run = {.code = program};
    struct stock stock = {.pieces = 50};
    struct cm_tool tool = {
        .connector = "store",
        .name = "take",
        .description = "Take pieces out of the store.",
        .input_schema = "{\"type\":\"object\",\"properties\":{\"pieces\":{\"type\":\"integer\"}},"
                        "\"required\":[\"pieces\"]}",
        .fn = take,
        .user = &stock,
    };
    cm_ctx *ctx = NULL;
    cm_outcome *outcome = NULL;
    struct cm_err err;

    if (cm_open(&options, &ctx, &err) != CM_OK || cm_add_tool(ctx, &tool, &err) != CM_OK ||
        cm_run(ctx, &run, &outcome, &err) != CM_OK) {
        fprintf(stderr, "%s\n", err.message);
        cm_close(ctx);
        return cm_status_exit(err.status);
    }
    const char *text = cm_outcome_result_text(outcome, NULL);
    printf("%s: %s\n", cm_outcome_status(outcome), text ? text : cm_outcome_json(outcome, NULL));
    cm_outcome_free(outcome);
    cm_close(ctx);
    return 0;
}
