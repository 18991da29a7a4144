/** Contexts of the driver: opened once for each kind, with the tools that the workloads call. */
#include "driver.h"

#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- tools */

static void echo(void *user, cm_tool_call *call, const char *args, size_t len)
{
    (void)user;
    cm_tool_return(call, args, len);
}

static void hold(void *user, cm_tool_call *call, const char *args, size_t len)
{
    struct world *w = user;

    (void)args, (void)len;
    if (w->n_held == CM_ARRAY_LEN(w->held))
        bench_fail("bench.hold", "too many calls are held");
    w->held[w->n_held++] = call;
}

/** 10,000 rows, one megabyte. */
static const struct cm_buf *rows_json(void)
{
    static struct cm_buf rows;

    if (rows.len)
        return &rows;
    rows = CM_BUF_INIT(4u << 20);
    for (unsigned i = 0; i < 10000; i++)
        cm_buf_addf(&rows,
                    "%c{\"id\":%u,\"name\":\"customer "
                    "%05u\",\"mail\":\"customer.%05u@example.com\",\"city\":\"Town %03u\","
                    "\"total\":%u.5}",
                    i ? ',' : '[', i, i, i, i % 997, i * 3);
    cm_buf_add_char(&rows, ']');
    return &rows;
}

static void rows(void *user, cm_tool_call *call, const char *args, size_t len)
{
    const struct cm_buf *b = rows_json();

    (void)user, (void)args, (void)len;
    cm_tool_return(call, b->ptr, b->len);
}

static void add_tools(struct world *w)
{
    const struct cm_tool tools[] = {
        {.connector = "bench", .name = "echo", .fn = echo, .flags = CM_TOOL_READ_ONLY},
        {.connector = "bench", .name = "put", .fn = echo},
        {.connector = "bench", .name = "rows", .fn = rows, .flags = CM_TOOL_READ_ONLY},
        {.connector = "bench", .name = "hold", .fn = hold, .flags = CM_TOOL_READ_ONLY},
        {.connector = "bench", .name = "ask", .fn = echo, .flags = CM_TOOL_REQUIRES_APPROVAL},
    };
    struct cm_err err = {0};

    for (size_t i = 0; i < CM_ARRAY_LEN(tools); i++) {
        struct cm_tool t = tools[i];

        t.user = w;
        if (cm_add_tool(w->ctx, &t, &err) != CM_OK)
            bench_fail("cm_add_tool", err.message);
    }
}

/* ---- opening */

static struct world *worlds;
static char folder[PATH_MAX];

const char *world_folder(void)
{
    const char *tmp = getenv("TMPDIR");

    if (!folder[0]) {
        (void)snprintf(folder, sizeof folder, "%s/cm-driver-XXXXXX", tmp && *tmp ? tmp : "/tmp");
        if (!mkdtemp(folder))
            bench_fail(folder, "make a folder");
    }
    return folder;
}

struct world_kind world_kind_of(const struct settings *s)
{
    return (struct world_kind){
        .log = !s->log || strcmp(s->log, "off") != 0,
        .isolation = s->isolation ? s->isolation : "realm",
        .grace_ms = 30000,
        .runs_per_worker = s->first             ? 1
                           : s->runs_per_worker ? s->runs_per_worker
                                                : 1000,
        .max_workers = 64,
    };
}

static struct world *open_world(const struct world_kind *k, char *take_key)
{
    static unsigned serial;
    struct world *w = cm_new(struct world);
    cm_autofree char *store =
        k->log ? cm_asprintf("sqlite:%s/%u.db", world_folder(), serial++) : cm_strdup("memory:");
    cm_autofree char *config = cm_asprintf(
        "{\"codemode\":{\"isolation\":\"%s\",\"graceMs\":%u,\"runsPerWorker\":%u,\"maxWorkers\":%u,"
        "\"limits\":{\"subrequests\":20000,\"memoryMb\":128}}}",
        k->isolation, k->grace_ms, k->runs_per_worker, k->max_workers);
    const struct cm_options options = {.config_json = config, .store = store};
    struct cm_err err = {0};

    w->key = take_key;
    if (cm_open(&options, &w->ctx, &err) != CM_OK)
        bench_fail("cm_open", err.message);
    add_tools(w);
    /* The zygote warms up for some hundred milliseconds after its first worker: what is measured is the time after that. */
    (void)world_run(w, "1 + 1", "2");
    world_idle(w, 1200);
    for (unsigned i = 0; i < 20; i++)
        (void)world_run(w, "return (await bench.echo({ n: 1 })).n", "1");
    w->next = worlds;
    worlds = w;
    return w;
}

struct world *world_get(const struct world_kind *k)
{
    cm_autofree char *key =
        cm_asprintf("%d %s %u %u %u", k->log, k->isolation, k->grace_ms, k->runs_per_worker, k->max_workers);

    for (struct world *w = worlds; w; w = w->next)
        if (strcmp(w->key, key) == 0)
            return w;
    return open_world(k, cm_steal(&key));
}

static int remove_entry(const char *path, const struct stat *sb, int kind, struct FTW *at)
{
    (void)sb, (void)kind, (void)at;
    return remove(path);
}

void world_close_all(void)
{
    while (worlds) {
        struct world *w = worlds;

        worlds = w->next;
        cm_close(w->ctx);
        free(w->key);
        free(w);
    }
    if (folder[0] && nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS) != 0)
        bench_fail(folder, "remove it");
    folder[0] = '\0';
}

/* ---- using */

void world_idle(struct world *w, uint32_t ms)
{
    double end = bench_now_ms() + ms;

    for (;;) {
        double left = end - bench_now_ms();
        int until = cm_poll_timeout_ms(w->ctx);
        struct pollfd p = {.fd = cm_poll_fd(w->ctx), .events = POLLIN};

        if (left <= 0)
            return;
        (void)poll(&p, 1, until >= 0 && until < left ? until : (int)left + 1);
        cm_dispatch(w->ctx);
    }
}

void world_release(struct world *w)
{
    while (w->n_held)
        cm_tool_return(w->held[--w->n_held], "1", 1);
}

double world_run(struct world *w, const char *code, const char *expected)
{
    const struct cm_run_options run = {.code = code};
    cm_outcome *outcome = NULL;
    struct cm_err err = {0};
    double from = bench_now_ms();

    if (cm_run(w->ctx, &run, &outcome, &err) != CM_OK)
        bench_fail("cm_run", err.message);
    const char *result = cm_outcome_result_json(outcome, NULL);
    if (strcmp(cm_outcome_status(outcome), "completed") != 0 ||
        (expected && (!result || strcmp(result, expected) != 0)))
        bench_fail(code, cm_outcome_json(outcome, NULL));
    cm_outcome_free(outcome);
    return bench_now_ms() - from;
}
