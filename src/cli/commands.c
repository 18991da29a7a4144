/** The table: every command with its words, options, text and examples. */
#include "cli/cli.h"

#define COUNT(a)   (sizeof(a) / sizeof((a)[0]))
#define OPTIONS(a) .options = (a), .n_options = COUNT(a)

const struct cm_cli_option cm_cli_globals[] = {
    {"--config", NULL, "FILE", "configuration file, in place of the one that is looked up"},
    {"--store", NULL, "WHERE", "sqlite:PATH or memory:, in place of the configured one"},
    {"--runtime", NULL, "NAME", "runtime whose log this belongs to (default: default)"},
    {"--json", NULL, NULL, "print JSON in place of text for people"},
    {"--help", "-h", NULL, "print help and exit"},
    {"--version", NULL, NULL, "print the version and exit"},
};
const size_t cm_cli_n_globals = COUNT(cm_cli_globals);

static const struct cm_cli_option run_options[] = {
    {"--eval", "-e", "CODE", "the program, in place of a file"},
    {"--snippet", NULL, "NAME", "a saved program, in place of a file"},
    {"--input", NULL, "JSON", "argument of a program that is a function"},
    {"--limits", NULL, "JSON", "lower limits for this run, e.g. {\"cpuMs\": 100}"},
};

static const struct cm_cli_option tools_options[] = {
    {"--limit", NULL, "N", "at most N results (search: 50)"},
};

static const struct cm_cli_option executions_options[] = {
    {"--limit", NULL, "N", "at most N executions in the list (50)"},
    {"--watch", NULL, NULL, "go on, and print each change of state"},
};

static const struct cm_cli_option pending_options[] = {
    {"--watch", NULL, NULL, "go on, and print what comes to wait"},
};

static const struct cm_cli_option approve_options[] = {
    {"--args", NULL, "JSON", "of one call: these arguments in place of its own"},
    {"--hash", NULL, "HASH", "of one call: only if its arguments have this hash"},
    {"--reason", NULL, "TEXT", "why, for the record"},
    {"--yes", "-y", NULL, "do not ask"},
};

static const struct cm_cli_option reject_options[] = {
    {"--reason", NULL, "TEXT", "why, for the program and the record"},
};

static const struct cm_cli_option rollback_options[] = {
    {"--again", NULL, NULL, "send reverts again whose outcome is not known"},
    {"--done", NULL, NULL, "record such reverts as done"},
};

static const struct cm_cli_option prune_options[] = {
    {"--keep", NULL, "N", "keep the newest N that have ended"},
    {"--expire", NULL, "MS", "first let expire what has waited longer than that"},
};

static const struct cm_cli_option snippets_options[] = {
    {"--description", NULL, "TEXT", "of a program that is saved: what it does"},
    {"--schema", NULL, "FILE", "of a program that is saved: JSON Schema of its input"},
};

static const struct cm_cli_option check_options[] = {
    {"--trust", NULL, NULL, "trust the configuration in the working directory"},
};

static const struct cm_cli_option types_options[] = {
    {"--schema", NULL, "FILE", "declare a bare JSON Schema"},
    {"--openapi", NULL, "FILE", "declare a bare OpenAPI description"},
    {"--name", NULL, "NAME", "name of the type or connector declared"},
};

static const struct cm_cli_option normalize_options[] = {
    {"--eval", "-e", "CODE", "the program, in place of a file"},
};

const struct cm_cli_command cm_cli_commands[] = {
    {
        .name = "run",
        .summary = "run a program",
        .usage = "[FILE | - | -e CODE | --snippet NAME]",
        .text = "Runs a JavaScript program in the sandbox and prints what it returns: a string\n"
                "as it is, anything else as JSON, undefined as nothing. Without FILE it is read\n"
                "from standard input. Console output and errors go to standard error. Ctrl-C\n"
                "cancels.",
        .examples = "$ codemode run -e 'return 6 * 7'\n"
                    "$ codemode run report.js --input '{\"days\": 7}'\n"
                    "$ codemode run --snippet weekly_report --input '{\"days\": 7}'\n"
                    "$ codemode run -e 'while (true);' --limits '{\"cpuMs\": 100}'",
        OPTIONS(run_options),
        .fn = cm_cli_run,
    },
    {
        .name = "serve",
        .summary = "be an MCP server on standard input and output",
        .usage = "",
        .text = "Offers one tool, codemode, to the MCP client that started it: a program in, its\n"
                "outcome out. Connectors start in the background. Ends when standard input does.",
        .examples = "{\"mcpServers\": {\"codemode\": {\"command\": \"codemode\", \"args\": [\"serve\"]}}}",
        .fn = cm_cli_serve,
    },
    {
        .name = "tools",
        .summary = "list, search and describe what a program can call",
        .usage = "\nsearch QUERY\ndescribe PATH",
        .words = "search describe",
        .text = "Starts every connector, lists its methods, and says which connectors do not\n"
                "work. PATH is a connector or connector.method.",
        .examples = "$ codemode tools\n"
                    "$ codemode tools search 'create issue'\n"
                    "$ codemode tools describe github.create_issue",
        OPTIONS(tools_options),
        .fn = cm_cli_tools,
    },
    {
        .name = "call",
        .summary = "call one method",
        .usage = "PATH [JSON | -]",
        .text = "Calls connector.method with a JSON object of arguments (\"-\": from standard\n"
                "input), with policy, limits and log as if a program did. Prints the result as\n"
                "run does.",
        .examples = "$ codemode call local.word_count '{\"text\": \"one two\"}'",
        .fn = cm_cli_call,
    },
    {
        .name = "executions",
        .summary = "show what was run, or delete it",
        .usage = "[ID]\n--watch\ndelete ID",
        .words = "delete",
        .text = "Lists executions, the newest first, or shows one: its program, result and every\n"
                "call it made. A program that is running cannot be deleted.",
        .examples = "$ codemode executions\n"
                    "$ codemode executions exec_0001796046763123_…\n"
                    "$ codemode executions --json --limit 1",
        OPTIONS(executions_options),
        .fn = cm_cli_executions,
    },
    {
        .name = "pending",
        .summary = "show what waits for a human",
        .usage = "[ID] [--watch]",
        .text = "Lists the calls that wait for approval, the newest execution first; of one\n"
                "execution with their arguments whole, the rule that asks, and their hash.\n"
                "Characters that cannot be seen are shown as JSON escapes.",
        .examples = "$ codemode pending\n"
                    "$ codemode pending exec_0001796046763123_…\n"
                    "$ codemode pending --watch --json",
        OPTIONS(pending_options),
        .fn = cm_cli_pending,
    },
    {
        .name = "approve",
        .summary = "let calls run that wait, and the program go on",
        .usage = "ID [SEQ…]\nID SEQ --args JSON",
        .text = "Approves what is pending of an execution, or the calls named, and prints what\n"
                "the program then ends with, as run does. What runs is byte for byte what\n"
                "'codemode pending ID' shows. On a terminal it is shown and asked about first;\n"
                "there, ID may be left out when one execution waits. With nothing pending, an\n"
                "execution that was interrupted goes on. It goes on in the process that has it\n"
                "(codemode serve) while that lives, otherwise here.",
        .examples = "$ codemode approve exec_0001796046763123_…\n"
                    "$ codemode approve exec_0001796046763123_… 2 --args '{\"id\": 8}'",
        OPTIONS(approve_options),
        .fn = cm_cli_approve,
    },
    {
        .name = "reject",
        .summary = "refuse calls that wait, or a whole execution",
        .usage = "ID [SEQ…] [--reason TEXT]",
        .text = "Without SEQ the execution ends as rejected, and nothing of it runs any more.\n"
                "With SEQ the program sees these calls fail, with the reason, and goes on; what\n"
                "it ends with is printed as run does.",
        .examples = "$ codemode reject exec_0001796046763123_… --reason 'not on a Friday'\n"
                    "$ codemode reject exec_0001796046763123_… 2",
        OPTIONS(reject_options),
        .fn = cm_cli_reject,
    },
    {
        .name = "cancel",
        .summary = "end an execution that runs or waits",
        .usage = "ID",
        .text = "Ends it as cancelled, whichever process runs it. Calls in flight are cancelled\n"
                "upstream; those that may have taken effect are recorded as unknown.",
        .examples = "$ codemode cancel exec_0001796046763123_…",
        .fn = cm_cli_cancel,
    },
    {
        .name = "rollback",
        .summary = "undo what an execution did",
        .usage = "ID [SEQ…] [--again | --done]",
        .text = "Undoes, the newest first, each call that took effect, or may have, and has a\n"
                "revert: its tool's own, or the call that 'reverts' of the configuration names.\n"
                "With SEQ, these calls only. What waits for a human is cancelled first. What\n"
                "could not be undone is told, and tried again the next time; nothing is undone\n"
                "twice.",
        .examples = "$ codemode rollback exec_0001796046763123_…\n"
                    "$ codemode rollback exec_0001796046763123_… 4 --done",
        OPTIONS(rollback_options),
        .fn = cm_cli_rollback,
    },
    {
        .name = "prune",
        .summary = "delete executions that have ended, but the newest",
        .usage = "[--keep N] [--expire MS]",
        .text = "Deletes executions of this runtime with their logs. What runs or waits for a\n"
                "human is kept, and does not count. With --expire, what has waited for a human\n"
                "longer than that first ends as expired; without --keep nothing is deleted then.",
        .examples = "$ codemode prune --keep 10\n"
                    "$ codemode prune --expire 3600000",
        OPTIONS(prune_options),
        .fn = cm_cli_prune,
    },
    {
        .name = "store",
        .summary = "copy the store while it is used",
        .usage = "backup FILE",
        .words = "backup",
        .text = "Copies the store, as it is at one moment, into a new file that is readable for\n"
                "its owner alone. Programs may run meanwhile.",
        .examples = "$ codemode store backup codemode-monday.db\n"
                    "$ codemode executions --store sqlite:codemode-monday.db",
        .fn = cm_cli_store,
    },
    {
        .name = "snippets",
        .summary = "list saved programs; save, show and delete them",
        .usage = "\nsave NAME ID\nshow NAME\ndelete NAME",
        .words = "save show delete",
        .text = "Saves the program of an execution under a name. Programs run it with\n"
                "codemode.run(NAME, input), people with 'codemode run --snippet NAME'; search\n"
                "finds it. Its input must fit the schema, if it has one; FILE may be the JSON\n"
                "itself. A program that takes its input as a function's argument, (input) =>\n"
                "..., is the most useful.",
        .examples = "$ codemode snippets save weekly_report exec_0001796046763123_…\n"
                    "$ codemode snippets\n"
                    "$ codemode snippets show weekly_report",
        OPTIONS(snippets_options),
        .fn = cm_cli_snippets,
    },
    {
        .name = "check",
        .summary = "reach everything that is configured and say what works",
        .usage = "",
        .text = "Reads the configuration, opens the store, runs the sandbox, starts every\n"
                "connector. Exit status 1 when something does not work. With --trust, the\n"
                "configuration in the working directory is trusted as it is now, and then\n"
                "checked.",
        .examples = "$ codemode check\n"
                    "$ codemode check --trust",
        OPTIONS(check_options),
        .fn = cm_cli_check,
    },
    {
        .name = "types",
        .summary = "print TypeScript declarations",
        .usage = "[PATH]\n--schema FILE [--name NAME]\n--openapi FILE [--name NAME]",
        .text = "Declares one connector or method, or all of them; or, without any\n"
                "configuration, what a JSON Schema or an OpenAPI description (JSON or YAML)\n"
                "describes.",
        .examples = "$ codemode types petstore\n"
                    "$ codemode types --schema pet.json --name Pet\n"
                    "$ codemode types --openapi petstore.yaml --json",
        OPTIONS(types_options),
        .fn = cm_cli_types,
    },
    {
        .name = "normalize",
        .summary = "print a program as it would run",
        .usage = "[FILE | - | -e CODE]",
        .text = "Takes fences, prose and export off, checks the syntax, and prints the program.\n"
                "It does not run it.",
        .examples = "$ codemode normalize answer.md",
        OPTIONS(normalize_options),
        .fn = cm_cli_normalize,
    },
};
const size_t cm_cli_n_commands = COUNT(cm_cli_commands);
