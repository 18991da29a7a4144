/** W1 to W6 and W10: programs that run to their end, one after the other or several at once. */
#include "driver.h"

#include <stdio.h>

/** Run it as often as is asked, and take the times. */
static void repeat(const struct settings *s, struct answer *a, const char *code, const char *expected)
{
    const struct world_kind kind = world_kind_of(s);
    struct world *w = world_get(&kind);
    /* A run that takes a worker from the pool leaves a place in it, which is filled by the time that the next one comes. */
    uint32_t pause = s->pause_ms ? s->pause_ms : s->first || strcmp(kind.isolation, "process") == 0 ? 100 : 0;

    bench_cpu_from(a);
    for (uint32_t i = 0; i < s->runs; i++) {
        if (pause)
            world_idle(w, pause);
        bench_sample(a, world_run(w, s->code ? s->code : code, s->code ? NULL : expected));
    }
    bench_cpu_of(a, s->runs);
}

void w1_smallest(const struct settings *s, struct answer *a)
{
    repeat(s, a, "1 + 1", "2");
}

void w2_one_call(const struct settings *s, struct answer *a)
{
    cm_autofree char *code = cm_asprintf("return (await bench.%s({ n: 1 })).n", s->effects ? "put" : "echo");

    repeat(s, a, code, "1");
}

void w3_calls_in_turn(const struct settings *s, struct answer *a)
{
    cm_autofree char *code = cm_asprintf(
        "let sum = 0; for (let i = 0; i < 100; i++) sum += (await bench.%s({ n: i })).n; return sum",
        s->effects ? "put" : "echo");

    repeat(s, a, code, "4950");
}

void w4_calls_at_once(const struct settings *s, struct answer *a)
{
    cm_autofree char *code = cm_asprintf(
        "const all = await Promise.all(Array.from({ length: 100 }, (_, i) => bench.%s({ n: i })));"
        "return all.reduce((sum, r) => sum + r.n, 0)",
        s->effects ? "put" : "echo");

    repeat(s, a, code, "4950");
}

void w5_large_result(const struct settings *s, struct answer *a)
{
    repeat(s, a,
           "const rows = await bench.rows({}); return rows.filter((r) => r.id % 1000 === 7).map((r) => r.id)",
           "[7,1007,2007,3007,4007,5007,6007,7007,8007,9007]");
}

void w6_compute(const struct settings *s, struct answer *a)
{
    static const struct {
        const char *part, *code, *expected;
    } parts[] = {
        {"fib", "function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); } return fib(27)", "196418"},
        {"sort",
         "const list = Array.from({ length: 100000 }, (_, i) => ({ id: (i * 7919) % 100003, name: 'item ' + "
         "i }));"
         "list.sort((a, b) => a.id - b.id); return JSON.parse(JSON.stringify(list)).length",
         "100000"},
        {"loop", "let sum = 0; for (let i = 0; i < 10000000; i++) sum += i; return sum", "49999995000000"},
    };

    for (size_t i = 0; i < CM_ARRAY_LEN(parts); i++) {
        if (strcmp(s->part ? s->part : "fib", parts[i].part) != 0)
            continue;
        repeat(s, a, parts[i].code, parts[i].expected);
        return;
    }
    bench_fail("part", "W6 has fib, sort and loop");
}

/* ---- W10 */

struct throughput {
    struct world *w;
    struct cm_run_options run;
    uint64_t ended;
    uint32_t under_way;
    bool over;
};

static void start_one(struct throughput *t);

static void on_done(void *user, cm_outcome *take_outcome, const struct cm_err *err)
{
    struct throughput *t = user;

    if (!take_outcome)
        bench_fail("run", err->message);
    if (strcmp(cm_outcome_status(take_outcome), "completed") != 0)
        bench_fail("run", cm_outcome_json(take_outcome, NULL));
    cm_outcome_free(take_outcome);
    t->under_way--;
    t->ended++;
    if (!t->over)
        start_one(t);
}

static void start_one(struct throughput *t)
{
    struct cm_err err = {0};

    t->under_way++;
    if (cm_run_start(t->w->ctx, &t->run, on_done, t, NULL, &err) != CM_OK)
        bench_fail("cm_run_start", err.message);
}

/** As many programs at once as is asked, each replaced when it ends; the first fifth of the time is for the workers to be there. */
void w10_throughput(const struct settings *s, struct answer *a)
{
    const struct world_kind kind = world_kind_of(s);
    struct throughput t = {.w = world_get(&kind), .run.code = s->code ? s->code : "1 + 1"};
    double ms = s->ms ? s->ms : 2000, from = bench_now_ms(), counted = 0;
    uint64_t before = 0;

    for (uint32_t i = 0; i < (s->in_flight ? s->in_flight : 1); i++)
        start_one(&t);
    while (bench_now_ms() < from + ms * 1.2) {
        (void)cm_wait(t.w->ctx);
        if (counted == 0 && bench_now_ms() >= from + ms * 0.2) {
            counted = bench_now_ms();
            before = t.ended;
            bench_cpu_from(a);
        }
    }
    a->per_second = (double)(t.ended - before) * 1000 / (bench_now_ms() - counted);
    bench_cpu_of(a, t.ended - before);
    t.over = true;
    while (t.under_way)
        (void)cm_wait(t.w->ctx);
}
