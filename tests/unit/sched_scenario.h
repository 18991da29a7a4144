/** Scenarios of test_schedules: a program, what people do, and what must have happened in the end. To be included by that file. */
#ifndef CM_TESTS_SCHED_SCENARIO_H
#define CM_TESTS_SCHED_SCENARIO_H

#include "base/base.h"
#include "base/fd.h"

#include "scripted.h"

#include <dirent.h>

#include "unit.h"

#define CASES_MAX     128
#define RULES_MAX     16
#define RULE_TEXT_MAX 160

enum verdict { APPROVE, REJECT, EDIT, LEAVE };

/** What people say to a pending call of this method (and these arguments). */
struct rule {
    enum verdict verdict;
    char method[16], args[RULE_TEXT_MAX], with[RULE_TEXT_MAX]; /* with: the reason, or other arguments */
};

struct scenario {
    char name[64];
    char *text;
    struct rule rules[RULES_MAX];
    size_t n_rules;
    bool one_at_a_time, cancel, cancel_in_flight, expire, reject_run, roll_back;
};

static struct scenario scenarios[CASES_MAX];
static size_t n_scenarios;
static const char *only; /* the name of one, or NULL */

/** The lines of a section: fn gets each without its indentation. */
static void each_line(const char *text, const char *name, void (*fn)(void *user, const char *line),
                      void *user)
{
    bool in = false;

    for (const char *p = text; *p;) {
        const char *end = line_end(p);

        if (*p == ' ' && in) {
            char line[512];

            (void)snprintf(line, sizeof line, "%.*s", (int)(end - p), p);
            fn(user, line + strspn(line, " "));
        } else if (*p != ' ' && p != end) {
            in = (size_t)(end - p) == strlen(name) && strncmp(p, name, strlen(name)) == 0;
        }
        p = *end ? end + 1 : end;
    }
}

static void take_flag(struct scenario *sc, const char *line)
{
    const struct {
        const char *words;
        bool *flag;
    } flags[] = {{"one at a time", &sc->one_at_a_time},       {"cancel", &sc->cancel},
                 {"cancel in flight", &sc->cancel_in_flight}, {"let it expire", &sc->expire},
                 {"reject the run", &sc->reject_run},         {"roll back", &sc->roll_back}};

    for (size_t i = 0; i < CM_ARRAY_LEN(flags); i++)
        if (cm_z_eq(flags[i].words, line)) {
            *flags[i].flag = true;
            return;
        }
    fail_msg("%s: people cannot '%s'", sc->name, line);
}

/** "approve METHOD [ARGS]", "reject METHOD [ARGS] [because REASON]", "edit METHOD ARGS to ARGS", "leave METHOD", or a flag. */
static void take_people(void *user, const char *line)
{
    static const char *const verbs[] = {
        [APPROVE] = "approve ", [REJECT] = "reject ", [EDIT] = "edit ", [LEAVE] = "leave "};
    struct scenario *sc = user;
    struct rule *r = &sc->rules[sc->n_rules];
    const char *with;
    size_t v = 0, word;

    while (v < CM_ARRAY_LEN(verbs) && strncmp(line, verbs[v], strlen(verbs[v])) != 0)
        v++;
    if (v == CM_ARRAY_LEN(verbs) || cm_z_eq(line, "reject the run")) {
        take_flag(sc, line);
        return;
    }
    assert_true(sc->n_rules < RULES_MAX);
    sc->n_rules++;
    *r = (struct rule){.verdict = (enum verdict)v};
    line += strlen(verbs[v]);
    word = strcspn(line, " ");
    (void)snprintf(r->method, sizeof r->method, "%.*s", (int)word, line);
    line += word + (line[word] == ' ');
    with = strstr(line, v == EDIT ? " to " : "because ");
    (void)snprintf(r->args, sizeof r->args, "%.*s", with ? (int)(with - line) : (int)strlen(line), line);
    r->args[strcspn(r->args, " ")] = '\0';
    if (with)
        (void)snprintf(r->with, sizeof r->with, "%s", with + (v == EDIT ? 4 : 8));
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct scenario *)a)->name, ((const struct scenario *)b)->name);
}

static void load_scenarios(void)
{
    const char *root = getenv("CM_SOURCE_ROOT");
    cm_autofree char *dir = cm_asprintf("%s/tests/cases/schedules", root ? root : ".");
    DIR *d = opendir(dir);
    struct cm_err err = {0};

    assert_non_null(d);
    for (const struct dirent *it; (it = readdir(d));) {
        struct scenario *sc = &scenarios[n_scenarios];
        cm_autofree char *path = cm_asprintf("%s/%s", dir, it->d_name);
        const char *dot = strstr(it->d_name, ".txt");
        size_t len = 0;

        if (!dot ||
            (only && (strncmp(it->d_name, only, strlen(only)) != 0 || it->d_name + strlen(only) != dot)))
            continue;
        assert_true(n_scenarios < CASES_MAX);
        n_scenarios++;
        (void)snprintf(sc->name, sizeof sc->name, "%.*s", (int)(dot - it->d_name), it->d_name);
        if (cm_read_file(path, 1u << 16, &sc->text, &len, &err) != CM_OK)
            fail_msg("%s", err.message);
        each_line(sc->text, "people", take_people, sc);
    }
    (void)closedir(d);
    qsort(scenarios, n_scenarios, sizeof scenarios[0], by_name);
}

#endif
