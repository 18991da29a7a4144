/**
 * What a large store costs: `store_scale FILE [EXECUTIONS [CALLS]]` makes one (10,000 executions with 100 calls each, every tenth of them
 * paused before its last call) and measures what commands and a server ask of it, as JSON: {"bytes", "rows": [{"what", "samples"}]}, in
 * milliseconds. The file is left for who wants to run the commands on it.
 *
 * The rows are made by SQL, since making them one by one takes longer than everything that is measured; the schema is the store's own.
 */
#include "base/parse.h"
#include "store/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

static const char *path;
static unsigned n_executions = 10000, n_calls = 100;
static char where[4096], newest_paused[64];

static _Noreturn void fail(const char *what, const char *why)
{
    (void)fprintf(stderr, "store_scale: %s: %s\n", what, why);
    exit(1);
}

static void ok(cm_status st, const char *what, const struct cm_err *err)
{
    if (st != CM_OK)
        fail(what, err->message);
}

static double now_ms(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static cm_store *open_store(void)
{
    cm_store *s = NULL;
    struct cm_err err = {0};

    ok(cm_store_open(where, &s, &err), "open", &err);
    return s;
}

static void sql(sqlite3 *db, const char *text)
{
    char *error = NULL;

    if (sqlite3_exec(db, text, NULL, NULL, &error) != SQLITE_OK)
        fail(text, error);
}

/* ---- the store ---- */

static void fill(void)
{
    sqlite3 *db = NULL;
    cm_autofree char *executions =
        cm_asprintf("WITH RECURSIVE i(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM i WHERE n < %u)"
                    "INSERT INTO executions(id, runtime, state, code, seed, connectors, result_json, "
                    "result_marks, logs, created_at,"
                    " updated_at, ended_at, passes)"
                    " SELECT printf('exec_%%016d_00000000-0000-4000-8000-%%012d', n, n), 'default',"
                    " CASE WHEN n %% 10 = 9 THEN 'paused' ELSE 'completed' END,"
                    " 'for (let page = 0; page < 99; page++) await crm.find({ page }); return await "
                    "crm.remove({ id: 7 });', zeroblob(16), '[\"crm\"]',"
                    " CASE WHEN n %% 10 = 9 THEN NULL ELSE '{\"done\":true}' END, CASE WHEN n %% 10 = 9 THEN "
                    "NULL ELSE '{}' END, '[]',"
                    " 1700000000000 + n, 1700000000000 + n, CASE WHEN n %% 10 = 9 THEN 0 ELSE 1700000000000 "
                    "+ n END, 1 FROM i",
                    n_executions - 1);
    cm_autofree char *calls = cm_asprintf(
        "WITH RECURSIVE i(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM i WHERE n < %u)"
        "INSERT INTO calls(execution, seq, kind, parent_seq, connector, method, args_json, args_marks, "
        "args_hash, decision, rule,"
        " method_flags, state, failed, outcome_json, outcome_marks, delivery, delivered_at, started_at, "
        "ended_at, line, col, ordinal)"
        " SELECT serial, n, 0, -1, 'crm', CASE WHEN w THEN 'remove' ELSE 'find' END, '{\"page\":' || n || "
        "'}', '{}',"
        " 'sha256:' || printf('%%064x', n), CASE WHEN w THEN 'pause' ELSE 'execute' END, 'default', 0,"
        " CASE WHEN w THEN 'pending' ELSE 'applied' END, 0,"
        " CASE WHEN w THEN NULL ELSE '[{\"id\":1,\"name\":\"Ada Lovelace\",\"mail\":\"ada@example.com\"}]' "
        "END,"
        " CASE WHEN w THEN NULL ELSE '{}' END, CASE WHEN w THEN 0 ELSE n + 1 END, created_at, created_at, "
        "created_at, 1, 60, n + 1"
        " FROM (SELECT serial, created_at, n, state = 'paused' AND n = %u AS w FROM executions, i)",
        n_calls - 1, n_calls - 1);

    cm_store_close(open_store());
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        fail(path, "open it");
    /* No log of a store that is not used yet, and no waiting for the disk. */
    sql(db, "PRAGMA journal_mode = OFF");
    sql(db, "PRAGMA synchronous = OFF");
    sql(db, "PRAGMA cache_size = -100000");
    sql(db, "BEGIN");
    sql(db, executions);
    sql(db, calls);
    sql(db, "COMMIT");
    if (sqlite3_close(db) != SQLITE_OK)
        fail(path, "close it");
}

/* ---- what is asked of it ---- */

static size_t n_rows;

static bool count_exec(void *user, const struct cm_exec_row *row)
{
    (void)user;
    (void)row;
    n_rows++;
    return true;
}

static bool count_call(void *user, const struct cm_call_row *row)
{
    (void)user;
    (void)row;
    n_rows++;
    return true;
}

static bool count_pending(void *user, const char *id, const struct cm_call_row *row)
{
    (void)user;
    (void)row;
    if (n_rows++ == 0)
        (void)snprintf(newest_paused, sizeof newest_paused, "%s", id);
    return true;
}

static void opening(cm_store *unused, struct cm_err *err)
{
    (void)unused;
    (void)err;
    cm_store_close(open_store());
}

static void listing(cm_store *s, struct cm_err *err)
{
    ok(cm_store_executions(s, "default", 50, false, count_exec, NULL, err), "list", err);
}

static void listing_all(cm_store *s, struct cm_err *err)
{
    ok(cm_store_executions(s, "default", n_executions, false, count_exec, NULL, err), "list", err);
}

static void one_execution(cm_store *s, struct cm_err *err)
{
    ok(cm_store_execution(s, newest_paused, count_exec, NULL, err), "show", err);
    ok(cm_store_calls(s, newest_paused, count_call, NULL, err), "show its calls", err);
}

static void pending_all(cm_store *s, struct cm_err *err)
{
    ok(cm_store_pending(s, "default", NULL, count_pending, NULL, err), "pending", err);
}

static void pending_one(cm_store *s, struct cm_err *err)
{
    ok(cm_store_pending(s, "default", newest_paused, count_pending, NULL, err), "pending", err);
}

/** What `approve` writes before the run goes on: the decision, and the claim; both wait for the disk. */
static void approving(cm_store *s, struct cm_err *err)
{
    const struct cm_decision_row d = {.approve = true, .at = 1700000000000, .by = "ada"};
    cm_autofree char *id = NULL;

    n_rows = 0;
    pending_all(s, err);
    id = cm_strdup(newest_paused);
    {
        double from = now_ms();

        ok(cm_store_call_decide(s, id, n_calls - 1, &d, err), "approve", err);
        ok(cm_store_commit(s, true, err), "approve", err);
        ok(cm_store_claim(s, id, 1700000000000, err), "claim", err);
        ok(cm_store_call_start(s, id, n_calls - 1, 1700000000000, true, err), "start", err);
        printf("%.4f", now_ms() - from);
    }
}

static void expiring(cm_store *s, struct cm_err *err)
{
    size_t n = 0;

    ok(cm_store_expire(s, "default", 1700000000000, 1700000000000, NULL, NULL, &n, err), "expire", err);
    if (n != 0)
        fail("expire", "nothing is that old");
}

/** One run of one call, from begin to end, and what every end prunes. */
static void running(cm_store *s, struct cm_err *err)
{
    static unsigned serial;
    char id[64];
    size_t n = 0;
    struct cm_call_row call = {.parent_seq = -1,
                               .connector = "crm",
                               .method = "find",
                               .args = {CM_STR("{}"), CM_STR("{}")},
                               .args_hash = "sha256:0",
                               .decision = "execute",
                               .rule = "default",
                               .state = CM_CALL_EXECUTING,
                               .started_at = 1,
                               .ordinal = 1};
    struct cm_exec_row row = {.id = id,
                              .runtime = "default",
                              .code = CM_STR("return 1"),
                              .created_at = 1800000000000 + serial,
                              .passes = 1};

    (void)snprintf(id, sizeof id, "exec_%016d_run", (int)serial++);
    ok(cm_store_begin(s, &row, err), "begin", err);
    ok(cm_store_call_intent(s, id, &call, false, err), "intent", err);
    call.state = CM_CALL_APPLIED;
    call.has_outcome = true;
    call.outcome = (struct cm_value){CM_STR("1"), CM_STR("{}")};
    call.delivery = 1;
    ok(cm_store_call_outcome(s, id, &call, err), "outcome", err);
    ok(cm_store_prune(s, "default", n_executions, &n, err), "prune", err);
    row.state = CM_EXEC_COMPLETED;
    ok(cm_store_finish(s, id, 1u << CM_EXEC_RUNNING, &row, err), "finish", err);
}

static void measure(cm_store *s, const char *what, unsigned times, size_t expected,
                    void (*fn)(cm_store *s, struct cm_err *err))
{
    struct cm_err err = {0};

    printf("{\"what\":\"%s\",\"samples\":[", what);
    for (unsigned i = 0; i < times; i++) {
        double from = now_ms();

        n_rows = 0;
        fn(s, &err);
        if (expected && n_rows != expected)
            fail(what, "another number of rows");
        printf("%.4f%s", now_ms() - from, i + 1 < times ? "," : "");
    }
    printf("]},\n");
}

/** Approving prints its own time, which leaves out looking for what to approve. */
static void measure_approving(cm_store *s, unsigned times)
{
    struct cm_err err = {0};

    printf("{\"what\":\"approve one: decision, claim, intent\",\"samples\":[");
    for (unsigned i = 0; i < times; i++) {
        approving(s, &err);
        printf("%s", i + 1 < times ? "," : "");
    }
    printf("]},\n");
}

static void measure_pruning(cm_store *s, size_t wanted)
{
    struct cm_err err = {0};
    size_t done = 0, n = 0, keep = n_executions - n_executions / 10 - wanted;
    double all = now_ms();

    printf("{\"what\":\"prune, one batch\",\"samples\":[");
    do {
        double from = now_ms();

        ok(cm_store_prune(s, "default", keep, &n, &err), "prune", &err);
        ok(cm_store_commit(s, false, &err), "prune", &err);
        printf("%s%.4f", done ? "," : "", now_ms() - from);
        done += n;
    } while (n > 0);
    printf("]},\n{\"what\":\"prune, %zu executions in batches\",\"samples\":[%.4f]}\n", done, now_ms() - all);
}

/** A wrong one is 0, which is out of range. */
static unsigned number(const char *text)
{
    uint32_t n = 0;

    return cm_parse_u32(cm_str_of(text), &n, NULL) == CM_OK ? n : 0;
}

int main(int argc, char **argv)
{
    struct stat sb;

    if (argc < 2 || argc > 4)
        fail("usage", "store_scale FILE [EXECUTIONS [CALLS]]");
    path = argv[1];
    if (argc > 2)
        n_executions = number(argv[2]);
    if (argc > 3)
        n_calls = number(argv[3]);
    if (n_executions < 100 || n_executions > 1000000 || n_calls < 1 || n_calls > 10000)
        fail("usage", "from 100 to 1000000 executions, with 1 to 10000 calls each");
    (void)snprintf(where, sizeof where, "sqlite:%s", path);
    fill();
    if (stat(path, &sb) != 0)
        fail(path, "it is not there");

    cm_auto(cm_store) s = open_store();
    size_t n_paused = n_executions / 10;

    printf("{\"bytes\":%lld,\"executions\":%u,\"calls\":%u,\"rows\":[\n", (long long)sb.st_size, n_executions,
           n_executions * n_calls);
    measure(NULL, "open and close", 20, 0, opening);
    measure(s, "list the newest 50", 20, 50, listing);
    measure(s, "list all", 5, n_executions, listing_all);
    measure(s, "pending, all of them", 20, n_paused, pending_all);
    measure(s, "pending, of one execution", 20, 1, pending_one);
    measure(s, "one execution with its calls", 20, 1 + n_calls, one_execution);
    measure(s, "expire, with nothing to expire", 20, 0, expiring);
    measure_approving(s, 20);
    measure(s, "record a run of one call", 50, 0, running);
    measure_pruning(s, n_executions / 10);
    printf("]}\n");
    return 0;
}
