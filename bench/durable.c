/** W11: what the record costs, and what a human's decision does. */
#include "driver.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/** A run until it pauses; its id. */
static void run_to_pause(struct world *w, const char *code, char id[128])
{
    const struct cm_run_options run = {.code = code};
    cm_outcome *o = NULL;
    struct cm_err err = {0};

    if (cm_run(w->ctx, &run, &o, &err) != CM_OK)
        bench_fail("cm_run", err.message);
    if (strcmp(cm_outcome_status(o), "paused") != 0)
        bench_fail(code, cm_outcome_json(o, NULL));
    (void)snprintf(id, 128, "%s", cm_outcome_execution_id(o));
    cm_outcome_free(o);
}

static void approve(struct world *w, const char *id, const char *expected)
{
    const struct cm_answer d = {.id = id};
    cm_outcome *o = NULL;
    struct cm_err err = {0};

    if (cm_approve(w->ctx, &d, &o, &err) != CM_OK)
        bench_fail("cm_approve", err.message);
    const char *result = cm_outcome_result_json(o, NULL);
    if (!result || strcmp(result, expected) != 0)
        bench_fail("cm_approve", cm_outcome_json(o, NULL));
    cm_outcome_free(o);
}

/** `calls` entries in the record, of which the last waits for a human. */
static void paused(const struct settings *s, struct answer *a, uint32_t calls, uint32_t grace_ms,
                   bool to_pause)
{
    struct world_kind kind = world_kind_of(s);
    cm_autofree char *code =
        cm_asprintf("let sum = 0; for (let i = 0; i < %u; i++) sum += (await bench.echo({ n: 1 })).n;"
                    "return sum + (await bench.ask({ n: 1 })).n",
                    calls - 1);
    cm_autofree char *expected = cm_asprintf("%u", calls);

    kind.grace_ms = grace_ms;
    struct world *w = world_get(&kind);
    for (uint32_t i = 0; i < s->runs; i++) {
        char id[128];
        double from = bench_now_ms(), then;

        run_to_pause(w, code, id);
        then = bench_now_ms();
        if (to_pause)
            bench_sample(a, then - from);
        approve(w, id, expected);
        if (!to_pause)
            bench_sample(a, bench_now_ms() - then);
    }
}

/* ---- the parts */

static void reads(const struct settings *s, struct answer *a)
{
    struct settings with = *s;

    with.effects = 0;
    w3_calls_in_turn(&with, a);
}

static void effects(const struct settings *s, struct answer *a)
{
    struct settings with = *s;

    with.effects = 1;
    w3_calls_in_turn(&with, a);
}

/** What one sync of the disk takes that stores are on: a page behind the others, as the store's log grows. */
static void one_sync(const struct settings *s, struct answer *a)
{
    static const char page[4096] = {1};
    cm_autofree char *path = cm_asprintf("%s/sync", world_folder());
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    for (uint32_t i = 0; i < s->runs; i++) {
        double from = bench_now_ms();

        if (fd < 0 || write(fd, page, sizeof page) != (ssize_t)sizeof page || fdatasync(fd) != 0)
            bench_fail(path, "write and sync it");
        bench_sample(a, bench_now_ms() - from);
    }
    (void)close(fd);
}

static void to_pause(const struct settings *s, struct answer *a)
{
    paused(s, a, 11, 30000, true);
}

static void approve_in_place(const struct settings *s, struct answer *a)
{
    paused(s, a, 11, 30000, false);
}

static void approve_by_replay(const struct settings *s, struct answer *a)
{
    paused(s, a, 11, 0, false);
}

static void replay(const struct settings *s, struct answer *a)
{
    paused(s, a, s->calls ? s->calls : 100, 0, false);
}

static const struct {
    const char *name;
    void (*fn)(const struct settings *s, struct answer *a);
} parts[] = {
    {"reads", reads},                     /* 100 calls that are recorded without waiting */
    {"effects", effects},                 /* 100 calls whose intents are on the disk before they are sent */
    {"sync", one_sync},                   /* what a sync of this disk takes */
    {"pause", to_pause},                  /* 10 calls and one that needs approval, until the pause is told */
    {"approve", approve_in_place},        /* approve to result, with the worker that was kept */
    {"approveReplay", approve_by_replay}, /* approve to result, from the record */
    {"replay", replay},                   /* the same against `calls` entries */
};

void w11_durable(const struct settings *s, struct answer *a)
{
    cm_autobuf known = CM_BUF_INIT(1024);

    for (size_t i = 0; i < CM_ARRAY_LEN(parts); i++) {
        if (strcmp(s->part ? s->part : "reads", parts[i].name) == 0) {
            parts[i].fn(s, a);
            return;
        }
        cm_buf_addf(&known, "%s%s", i ? ", " : "W11 has ", parts[i].name);
    }
    bench_fail("part", cm_buf_str(&known).ptr);
}
