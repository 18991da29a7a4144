/**
 * Cases as data: programs with what they must come to, and an in-process host that answers their calls.
 *
 * A case file holds many cases:
 *
 *   === a sentence that names the case
 *   the program, to the first line that begins with "--- "
 *   --- key value
 *
 * Keys: bind, input, jumble (reverse the order of outcomes), crlf (lines end so), bom (a byte order mark before all), node (of
 * positions: tests/e2e/positions.test.mjs); and expectations: result, marks, failed (part of
 * the message), name, code, line, column, module, source, caret, stack (part), shown (the normalised text, line breaks as
 * ⏎), waiting, and, in order of appearance, log ("level text"), call ("connector.method args marks @line"),
 * warning (part). In values ⏎ stands for a line break.
 *
 * The host of every case: connector `demo` with echo (the arguments), list, fail, hang (never answered);
 * `any` without a list.
 */
#ifndef CM_TESTS_ENGINE_CASES_H
#define CM_TESTS_ENGINE_CASES_H

#include "base/base.h"
#include "engine/engine.h"

#define CASE_KEYS_MAX 32

struct test_case {
    char *name;
    char *program;
    size_t n_keys;
    struct case_key {
        char *key, *value;
    } keys[CASE_KEYS_MAX];
};

struct cases {
    char *text; /* what the cases borrow */
    struct test_case *list;
    size_t n;
};

/** Read every .txt of a folder below tests/cases. Aborts with a message when it cannot. */
void cases_load(const char *folder, struct cases *out);
void cases_done(struct cases *c);
/** The first value of a key, or NULL. */
const char *case_get(const struct test_case *t, const char *key);

/** BIND's JSON for a case. */
const char *case_bind(const struct test_case *t);

/** What a run of a case left; texts are owned. */
struct outcome {
    bool waiting, failed;
    char *json, *marks, *meta;
    struct cm_buf logs, calls; /* one line each, line breaks as ⏎ */
};

/** Run a program to its end, or until only calls are left that this host never answers. */
void case_run(cm_engine *e, const struct test_case *t, struct outcome *out);
void outcome_done(struct outcome *o);

#endif
