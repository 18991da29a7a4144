/** The store: what survives which crash, who wins a race, what a damaged or newer file does. */
#include "store/store.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/random.h"
#include "json/json.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STORE_NAME "sub/codemode.db"
#include "store_world.h"

#define RUNNING (1u << CM_EXEC_RUNNING)

/** In place of the C library's, for the database too: how often it waits for the disk. */
static int n_syncs;
__attribute__((visibility("default"))) int fdatasync(int fd)
{
    n_syncs++;
    return (int)syscall(SYS_fdatasync, fd);
}

static void begin(cm_store *s, const char *id, int64_t at)
{
    struct cm_err err = {0};
    struct cm_exec_row row = {
        .id = id,
        .runtime = "default",
        .code = {"return\0 1", 9},
        .connectors_json = "[\"github\"]",
        .input = {CM_STR("[\"1\"]"), CM_STR("{\"/0\":\"bigint\"}")},
        .created_at = at,
        .passes = 1,
        .seed = {1, 2, 3, 250},
    };

    ok(cm_store_begin(s, &row, &err), &err);
}

static void intent_of(cm_store *s, const char *id, uint32_t seq, enum cm_call_state state, bool sync,
                      unsigned flags)
{
    struct cm_err err = {0};
    struct cm_call_row row = {
        .seq = seq,
        .parent_seq = -1,
        .connector = "github",
        .method = "create_issue",
        .args = {CM_STR("{\"title\":\"x\"}"), CM_STR("{}")},
        .args_hash = "sha256:00",
        .decision = "execute",
        .rule = "default",
        .method_flags = flags,
        .state = state,
        .started_at = 1000 + seq,
        .line = 3,
        .column = 7,
    };

    ok(cm_store_call_intent(s, id, &row, sync, &err), &err);
}

static void intent(cm_store *s, const char *id, uint32_t seq, enum cm_call_state state, bool sync)
{
    intent_of(s, id, seq, state, sync, 2);
}

static cm_status outcome(cm_store *s, const char *id, uint32_t seq, struct cm_err *err)
{
    struct cm_call_row row = {
        .seq = seq,
        .state = CM_CALL_APPLIED,
        .has_outcome = true,
        .outcome = {CM_STR("{\"n\":1}"), CM_STR("{}")},
        .delivery = seq + 1,
        .delivered_at = 2000,
        .ended_at = 2000,
    };

    return cm_store_call_outcome(s, id, &row, err);
}

static cm_status finish(cm_store *s, const char *id, enum cm_exec_state to, struct cm_err *err)
{
    struct cm_exec_row row = {
        .state = to,
        .has_result = true,
        .result = {CM_STR("null"), CM_STR("{\"\":\"undefined\"}")},
        .logs_json = CM_STR("[]"),
        .updated_at = 3000,
        .ended_at = 3000,
        .passes = 1,
    };

    return cm_store_finish(s, id, RUNNING, &row, err);
}

struct seen {
    size_t n;
    enum cm_exec_state exec;
    enum cm_call_state calls[8];
    char error[512];
    char first[64];
};

static bool see_exec(void *user, const struct cm_exec_row *row)
{
    struct seen *s = user;

    if (s->n++ == 0)
        (void)snprintf(s->first, sizeof s->first, "%s", row->id);
    s->exec = row->state;
    (void)snprintf(s->error, sizeof s->error, "%.*s", CM_STR_ARG(row->error_json));
    return true;
}

static bool see_call(void *user, const struct cm_call_row *row)
{
    struct seen *s = user;

    assert_int_equal(row->seq, s->n);
    s->calls[s->n++ & 7] = row->state;
    return true;
}

static struct seen look(cm_store *s, const char *id)
{
    struct seen seen = {0}, calls = {0};
    struct cm_err err = {0};

    ok(cm_store_execution(s, id, see_exec, &seen, &err), &err);
    ok(cm_store_calls(s, id, see_call, &calls, &err), &err);
    memcpy(seen.calls, calls.calls, sizeof seen.calls);
    seen.n = calls.n;
    return seen;
}

static bool check_exec(void *user, const struct cm_exec_row *row)
{
    *(bool *)user = true;
    assert_string_equal(row->id, "exec_1");
    assert_string_equal(row->runtime, "default");
    assert_int_equal(row->code.len, 9);
    assert_memory_equal(row->code.ptr, "return\0 1", 9);
    assert_int_equal(row->seed[3], 250);
    assert_string_equal(row->connectors_json, "[\"github\"]");
    assert_true(cm_str_eq_z(row->input.marks, "{\"/0\":\"bigint\"}"));
    assert_true(row->has_result);
    assert_true(cm_str_eq_z(row->result.json, "null"));
    assert_true(cm_str_eq_z(row->result.marks, "{\"\":\"undefined\"}"));
    assert_int_equal(row->created_at, 1);
    assert_int_equal(row->ended_at, 3000);
    return true;
}

static bool check_call(void *user, const struct cm_call_row *row)
{
    *(bool *)user = true;
    assert_int_equal(row->parent_seq, -1);
    assert_true(cm_str_eq_z(row->args.json, "{\"title\":\"x\"}"));
    assert_string_equal(row->args_hash, "sha256:00");
    assert_string_equal(row->decision, "execute");
    assert_string_equal(row->rule, "default");
    assert_int_equal(row->method_flags, 2);
    assert_int_equal(row->state, CM_CALL_APPLIED);
    assert_true(row->has_outcome && !row->failed);
    assert_true(cm_str_eq_z(row->outcome.json, "{\"n\":1}"));
    assert_int_equal(row->delivery, 1);
    assert_int_equal(row->delivered_at, 2000);
    assert_int_equal(row->started_at, 1000);
    assert_int_equal(row->line, 3);
    assert_int_equal(row->column, 7);
    return true;
}

static void what_was_written_is_read_back_after_reopening(void **state)
{
    (void)state;
    struct cm_err err = {0};
    bool seen = false;

    {
        cm_auto(cm_store) s = open_store();

        begin(s, "exec_1", 1);
        intent(s, "exec_1", 0, CM_CALL_EXECUTING, true);
        ok(outcome(s, "exec_1", 0, &err), &err);
        ok(finish(s, "exec_1", CM_EXEC_COMPLETED, &err), &err);
    }
    cm_auto(cm_store) s = open_store();
    ok(cm_store_execution(s, "exec_1", check_exec, &seen, &err), &err);
    assert_true(seen);
    seen = false;
    ok(cm_store_calls(s, "exec_1", check_call, &seen, &err), &err);
    assert_true(seen);
    assert_int_equal(cm_store_execution(s, "exec_2", check_exec, &seen, &err), CM_E_NOT_FOUND);
}

static void the_file_is_private_and_so_is_the_folder_made_for_it(void **state)
{
    (void)state;
    cm_auto(cm_store) s = open_store();
    cm_autofree char *sub = cm_asprintf("%s/sub", dir);
    cm_autofree char *wal = cm_asprintf("%s-wal", path);
    struct stat sb;

    begin(s, "exec_1", 1);
    ok(cm_store_commit(s, true, NULL), NULL);
    assert_int_equal(stat(path, &sb), 0);
    assert_int_equal(sb.st_mode & 0777, 0600);
    assert_int_equal(stat(wal, &sb), 0);
    assert_int_equal(sb.st_mode & 0777, 0600);
    assert_int_equal(stat(sub, &sb), 0);
    assert_int_equal(sb.st_mode & 0777, 0700);
}

/** The paused executions that wait for nobody. */
static const char *interrupted(cm_store *s)
{
    static char text[256];
    struct cm_err err = {0};
    struct cm_interrupted_row *rows = NULL;
    size_t n = 0;

    ok(cm_store_interrupted(s, "default", 0, UINT32_MAX, &rows, &n, &err), &err);
    text[0] = 0;
    for (size_t i = 0; i < n; i++) {
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s ", rows[i].id);
        free(rows[i].id);
    }
    free(rows);
    return text;
}

static void say_yes(cm_store *s, const char *id, uint32_t seq)
{
    struct cm_err err = {0};

    ok(cm_store_call_decide(s, id, seq, &(struct cm_decision_row){.approve = true, .at = 1}, &err), &err);
    ok(cm_store_commit(s, false, &err), &err);
}

static void crash_after_intent(cm_store *s)
{
    begin(s, "exec_1", 1);
    intent(s, "exec_1", 0, CM_CALL_EXECUTING, true);
    ok(outcome(s, "exec_1", 0, NULL), NULL);
    intent(s, "exec_1", 1, CM_CALL_EXECUTING, true);
    intent_of(s, "exec_1", 2, CM_CALL_EXECUTING, true, 1);
    intent_of(s, "exec_1", 3, CM_CALL_PENDING, true, 0);
}

/** Flag 2 is a method that only reads: it is sent again without a question. */
static void a_call_whose_host_died_after_the_intent_is_asked_about_unless_it_is_safe(void **state)
{
    (void)state;
    in_a_process_that_is_killed(crash_after_intent);
    cm_auto(cm_store) s = open_store();
    struct seen seen = look(s, "exec_1");

    assert_int_equal(seen.exec, CM_EXEC_PAUSED);
    assert_string_equal(seen.error, "");
    assert_int_equal(seen.n, 4);
    assert_int_equal(seen.calls[0], CM_CALL_APPLIED);
    assert_int_equal(seen.calls[1], CM_CALL_EXECUTING);
    assert_int_equal(seen.calls[2], CM_CALL_PENDING);
    assert_int_equal(seen.calls[3], CM_CALL_PENDING);
    assert_string_equal(interrupted(s), ""); /* it waits for somebody */
    say_yes(s, "exec_1", 2);
    assert_string_equal(interrupted(s), "");
    say_yes(s, "exec_1", 3);
    assert_string_equal(interrupted(s), "exec_1 ");
    ok(cm_store_claim(s, "exec_1", 5, NULL), NULL);
    assert_string_equal(interrupted(s), "");
}

static void crash_in_group(cm_store *s)
{
    begin(s, "exec_1", 1);
    ok(cm_store_commit(s, false, NULL), NULL);
    intent(s, "exec_1", 0, CM_CALL_EXECUTING, false);
}

static void an_uncommitted_group_of_a_dead_host_is_lost_as_a_whole(void **state)
{
    (void)state;
    in_a_process_that_is_killed(crash_in_group);
    cm_auto(cm_store) s = open_store();
    struct seen seen = look(s, "exec_1");

    assert_int_equal(seen.exec, CM_EXEC_PAUSED);
    assert_int_equal(seen.n, 0);
    assert_string_equal(interrupted(s), "exec_1 ");
}

static void crash_after_commit(cm_store *s)
{
    begin(s, "exec_1", 1);
    intent(s, "exec_1", 0, CM_CALL_EXECUTING, false);
    ok(outcome(s, "exec_1", 0, NULL), NULL);
    ok(cm_store_commit(s, false, NULL), NULL);
}

static void a_committed_group_survives_its_process_without_a_sync(void **state)
{
    (void)state;
    in_a_process_that_is_killed(crash_after_commit);
    cm_auto(cm_store) s = open_store();

    assert_int_equal(look(s, "exec_1").calls[0], CM_CALL_APPLIED);
}

static void crash_after_finish(cm_store *s)
{
    begin(s, "exec_1", 1);
    ok(finish(s, "exec_1", CM_EXEC_COMPLETED, NULL), NULL);
}

static void a_finished_execution_survives_its_process(void **state)
{
    (void)state;
    in_a_process_that_is_killed(crash_after_finish);
    cm_auto(cm_store) s = open_store();

    assert_int_equal(look(s, "exec_1").exec, CM_EXEC_COMPLETED);
}

static void the_running_execution_of_a_living_owner_is_left_alone(void **state)
{
    (void)state;
    cm_auto(cm_store) a = open_store();
    size_t n = 9;

    begin(a, "exec_1", 1);
    ok(cm_store_commit(a, false, NULL), NULL);
    cm_auto(cm_store) b = open_store();
    ok(cm_store_recover(b, &n, NULL), NULL);
    assert_int_equal(n, 0);
    assert_int_equal(look(b, "exec_1").exec, CM_EXEC_RUNNING);
}

static void of_two_handles_that_finish_one_wins(void **state)
{
    (void)state;
    struct cm_err err = {0};
    cm_auto(cm_store) a = open_store();
    cm_auto(cm_store) b = open_store();

    begin(a, "exec_1", 1);
    ok(cm_store_commit(a, false, NULL), NULL);
    ok(finish(b, "exec_1", CM_EXEC_CANCELLED, &err), &err);
    assert_int_equal(finish(a, "exec_1", CM_EXEC_COMPLETED, &err), CM_E_CONFLICT);
    assert_non_null(strstr(err.message, "cancelled"));
    assert_int_equal(look(a, "exec_1").exec, CM_EXEC_CANCELLED);
    assert_int_equal(finish(a, "exec_9", CM_EXEC_COMPLETED, &err), CM_E_NOT_FOUND);
}

static void an_execution_that_ended_takes_no_more_calls(void **state)
{
    (void)state;
    struct cm_err err = {0};
    cm_auto(cm_store) s = open_store();
    struct cm_call_row row = {.connector = "c", .method = "m", .decision = "execute", .rule = "default"};

    begin(s, "exec_1", 1);
    intent(s, "exec_1", 0, CM_CALL_EXECUTING, false);
    ok(finish(s, "exec_1", CM_EXEC_COMPLETED, &err), &err);
    row.seq = 1;
    assert_int_equal(cm_store_call_intent(s, "exec_1", &row, true, &err), CM_E_CONFLICT);
    assert_int_equal(outcome(s, "exec_1", 0, &err), CM_E_CONFLICT);
    row.seq = 0;
    assert_int_equal(cm_store_call_intent(s, "exec_2", &row, true, &err), CM_E_NOT_FOUND);
}

static void an_outcome_is_recorded_once(void **state)
{
    (void)state;
    struct cm_err err = {0};
    cm_auto(cm_store) s = open_store();

    begin(s, "exec_1", 1);
    intent(s, "exec_1", 0, CM_CALL_EXECUTING, false);
    ok(outcome(s, "exec_1", 0, &err), &err);
    assert_int_equal(outcome(s, "exec_1", 0, &err), CM_E_CONFLICT);
    assert_int_equal(outcome(s, "exec_1", 7, &err), CM_E_CONFLICT);
}

static void raw_sql(const char *sql)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void a_newer_schema_is_refused_and_left_as_it_is(void **state)
{
    (void)state;
    struct cm_err err = {0};
    cm_store *s = open_store();

    cm_store_close(s);
    raw_sql("PRAGMA user_version = 9");
    assert_int_equal(cm_store_open(where, &s, &err), CM_E_CONFLICT);
    assert_non_null(strstr(err.message, "newer"));
    raw_sql("PRAGMA user_version = 3");
    cm_store_close(open_store());
}

static void the_database_of_another_program_is_refused(void **state)
{
    (void)state;
    struct cm_err err = {0};
    cm_store *s = NULL;

    (void)snprintf(where, sizeof where, "sqlite:%s/other.db", dir);
    raw_sql("CREATE TABLE t(a)");
    assert_int_equal(cm_store_open(where, &s, &err), CM_E_CONFLICT);
    assert_non_null(strstr(err.message, "another program"));
    (void)snprintf(where, sizeof where, "sqlite:%s/text", dir);
    FILE *f = fopen(path, "w");
    (void)fputs("hello, this is no database at all, but long enough to look at", f);
    (void)fclose(f);
    assert_int_equal(cm_store_open(where, &s, &err), CM_E_CONFLICT);
    assert_int_equal(cm_store_open("postgres:x", &s, &err), CM_E_INVALID);
    assert_int_equal(cm_store_open("sqlite:", &s, &err), CM_E_INVALID);
}

static void poisoned_rows_do_not_break_a_listing(void **state)
{
    (void)state;
    struct seen seen = {0};
    cm_auto(cm_store) s = open_store();

    for (int i = 0; i < 3; i++) {
        char id[16];

        (void)snprintf(id, sizeof id, "exec_%d", i);
        begin(s, id, i);
        intent(s, id, 0, CM_CALL_EXECUTING, false);
        ok(finish(s, id, CM_EXEC_COMPLETED, NULL), NULL);
    }
    raw_sql("UPDATE executions SET state = x'ff00', seed = 'x', error = '{', logs = x'ff', passes = 'many' "
            "WHERE id = 'exec_1';"
            "UPDATE calls SET state = 'nonsense', args_json = x'fffe', args_marks = NULL, seq = 0, kind = "
            "'tool'");
    ok(cm_store_executions(s, "default", 50, true, see_exec, &seen, NULL), NULL);
    assert_int_equal(seen.n, 3);
    assert_string_equal(seen.first, "exec_2");
    assert_int_equal(look(s, "exec_1").exec, CM_EXEC_ERROR);
    assert_int_equal(look(s, "exec_1").calls[0], CM_CALL_UNKNOWN);
}

static void listings_are_newest_first_and_of_one_runtime(void **state)
{
    (void)state;
    struct seen seen = {0};
    cm_auto(cm_store) s = open_store();
    struct cm_exec_row other = {.id = "exec_o", .runtime = "other", .created_at = 100};

    begin(s, "exec_a", 5);
    begin(s, "exec_b", 7);
    begin(s, "exec_c", 6);
    ok(cm_store_begin(s, &other, NULL), NULL);
    ok(cm_store_executions(s, "default", 2, false, see_exec, &seen, NULL), NULL);
    assert_int_equal(seen.n, 2);
    assert_string_equal(seen.first, "exec_b");
    seen = (struct seen){0};
    ok(cm_store_executions(s, NULL, 50, false, see_exec, &seen, NULL), NULL);
    assert_int_equal(seen.n, 4);
    assert_string_equal(seen.first, "exec_o");
}

static void pruning_keeps_the_newest_and_what_is_alive(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct cm_err err = {0};
    size_t n = 0;
    cm_auto(cm_store) s = open_store();

    for (int i = 0; i < 6; i++) {
        char id[16];

        (void)snprintf(id, sizeof id, "exec_%d", i);
        begin(s, id, i);
        intent(s, id, 0, CM_CALL_PENDING, false);
        if (i >= 2)
            ok(finish(s, id, CM_EXEC_COMPLETED, NULL), NULL);
    }
    ok(finish(s, "exec_1", CM_EXEC_PAUSED, NULL), NULL);
    ok(cm_store_prune(s, "default", 1, &n, NULL), NULL);
    assert_int_equal(n, 3);
    ok(cm_store_executions(s, NULL, 50, false, see_exec, &seen, NULL), NULL);
    assert_int_equal(seen.n, 3);
    assert_int_equal(cm_store_delete(s, "exec_0", &err), CM_E_CONFLICT);
    assert_int_equal(cm_store_delete(s, "exec_1", &err), CM_E_CONFLICT);
    ok(cm_store_delete(s, "exec_5", &err), &err);
    assert_int_equal(cm_store_delete(s, "exec_5", &err), CM_E_NOT_FOUND);
    seen = (struct seen){0};
    ok(cm_store_calls(s, "exec_5", see_call, &seen, NULL), NULL);
    assert_int_equal(seen.n, 0);
}

static void a_full_disk_loses_the_group_and_says_so(void **state)
{
    (void)state;
    struct cm_err err = {0};
    cm_auto(cm_store) s = open_store();
    struct cm_call_row row = {
        .parent_seq = -1, .connector = "c", .method = "m", .decision = "execute", .rule = "default"};
    const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY}, little = {256 << 10, RLIM_INFINITY};
    size_t len = 8 << 20;
    cm_autofree char *big = cm_calloc(1, len);
    cm_status st;

    memset(big, 'x', len);
    begin(s, "exec_1", 1);
    intent(s, "exec_1", 0, CM_CALL_EXECUTING, true);
    ok(outcome(s, "exec_1", 0, NULL), NULL);
    row.seq = 1;
    row.args = (struct cm_value){{big, len}, CM_STR("{}")};
    /* A limit on the size of a file stands in for the full disk. */
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    st = cm_store_call_intent(s, "exec_1", &row, true, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
    assert_int_equal(st, CM_E_IO);
    assert_int_equal(cm_store_losses(s), 1);
    assert_int_equal(look(s, "exec_1").n, 1);
    assert_int_equal(look(s, "exec_1").calls[0], CM_CALL_EXECUTING);
    ok(finish(s, "exec_1", CM_EXEC_ERROR, &err), &err);
}

static void ten_thousand_calls_take_seconds_at_most(void **state)
{
    (void)state;
    enum { N = 10000 };
    cm_auto(cm_store) s = open_store();
    int64_t t0 = cm_mono_us(), t1, t2, t3;

    begin(s, "exec_1", 1);
    for (uint32_t i = 0; i < N; i++) { /* one loop turn each: intent, later outcome */
        intent(s, "exec_1", i, CM_CALL_EXECUTING, false);
        ok(cm_store_commit(s, false, NULL), NULL);
        ok(outcome(s, "exec_1", i, NULL), NULL);
        ok(cm_store_commit(s, false, NULL), NULL);
    }
    t1 = cm_mono_us();
    ok(finish(s, "exec_1", CM_EXEC_COMPLETED, NULL), NULL);
    begin(s, "exec_2", 2);
    for (uint32_t i = 0; i < N; i++) { /* all in one turn */
        intent(s, "exec_2", i, CM_CALL_EXECUTING, false);
        ok(outcome(s, "exec_2", i, NULL), NULL);
    }
    ok(finish(s, "exec_2", CM_EXEC_COMPLETED, NULL), NULL);
    t2 = cm_mono_us();
    begin(s, "exec_3", 3);
    for (uint32_t i = 0; i < 200; i++)
        intent(s, "exec_3", i, CM_CALL_EXECUTING, true);
    t3 = cm_mono_us();
    print_message("# per call: %.1f us a turn each, %.1f us grouped; synced intent %.1f us\n",
                  (double)(t1 - t0) / N, (double)(t2 - t1) / N, (double)(t3 - t2) / 200);
    assert_true(t2 - t0 < 20000000);
}

static off_t log_bytes(void)
{
    cm_autofree char *wal = cm_asprintf("%s-wal", path);
    struct stat sb;

    return stat(wal, &sb) == 0 ? sb.st_size : -1;
}

static void a_short_run_does_not_wait_for_the_disk_at_its_close(void **state)
{
    struct cm_err err = {0};

    (void)state;
    cm_store *s = open_store();
    begin(s, "exec_0", 1);
    ok(finish(s, "exec_0", CM_EXEC_COMPLETED, &err), &err);
    cm_store_close(s);
    n_syncs = 0;
    s = open_store();
    begin(s, "exec_1", 1);
    intent(s, "exec_1", 0, CM_CALL_EXECUTING, false);
    ok(outcome(s, "exec_1", 0, &err), &err);
    ok(finish(s, "exec_1", CM_EXEC_COMPLETED, &err), &err);
    cm_store_close(s);
    assert_int_equal(n_syncs, 2); /* the log, and its folder, which SQLite syncs with the first */
    assert_true(log_bytes() > 0);
    cm_auto(cm_store) again = open_store();
    assert_int_equal(finish(again, "exec_1", CM_EXEC_COMPLETED, &err), CM_E_CONFLICT); /* it is there */
}

static void a_long_log_is_not_left_for_the_next_opening(void **state)
{
    const size_t len = 2u << 20;
    cm_autofree char *code = cm_calloc(len, 1);
    struct cm_exec_row row = {.id = "exec_1", .runtime = "default", .code = {code, len}, .created_at = 1};
    cm_store *s = open_store();

    (void)state;
    ok(cm_store_begin(s, &row, NULL), NULL);
    cm_store_close(s);
    assert_int_equal(log_bytes(), -1);
}

static void what_was_deleted_does_not_live_on_in_the_log(void **state)
{
    struct cm_err err = {0};
    cm_auto(cm_store) s = open_store();

    (void)state;
    begin(s, "exec_1", 1);
    ok(finish(s, "exec_1", CM_EXEC_COMPLETED, &err), &err);
    assert_true(log_bytes() > 0);
    ok(cm_store_delete(s, "exec_1", &err), &err);
    assert_int_equal(log_bytes(), 0);
}

static void a_deletion_that_fails_leaves_the_store_writable(void **state)
{
    struct cm_err err = {0};
    cm_auto(cm_store) s = open_store();
    cm_auto(cm_store) other = open_store();

    (void)state;
    begin(s, "exec_1", 1);
    ok(cm_store_commit(s, false, &err), &err);
    assert_int_equal(cm_store_delete(s, "exec_none", &err), CM_E_NOT_FOUND);
    begin(other, "exec_2", 2);
    ok(cm_store_commit(other, false, &err), &err);
    assert_int_equal(cm_store_delete(s, "exec_1", &err), CM_E_CONFLICT);
    begin(other, "exec_3", 3);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(what_was_written_is_read_back_after_reopening),
        T(the_file_is_private_and_so_is_the_folder_made_for_it),
        T(a_call_whose_host_died_after_the_intent_is_asked_about_unless_it_is_safe),
        T(an_uncommitted_group_of_a_dead_host_is_lost_as_a_whole),
        T(a_committed_group_survives_its_process_without_a_sync),
        T(a_finished_execution_survives_its_process),
        T(the_running_execution_of_a_living_owner_is_left_alone),
        T(of_two_handles_that_finish_one_wins),
        T(an_execution_that_ended_takes_no_more_calls),
        T(an_outcome_is_recorded_once),
        T(a_newer_schema_is_refused_and_left_as_it_is),
        T(the_database_of_another_program_is_refused),
        T(poisoned_rows_do_not_break_a_listing),
        T(listings_are_newest_first_and_of_one_runtime),
        T(pruning_keeps_the_newest_and_what_is_alive),
        T(a_short_run_does_not_wait_for_the_disk_at_its_close),
        T(a_long_log_is_not_left_for_the_next_opening),
        T(what_was_deleted_does_not_live_on_in_the_log),
        T(a_deletion_that_fails_leaves_the_store_writable),
        T(a_full_disk_loses_the_group_and_says_so),
        T(ten_thousand_calls_take_seconds_at_most),
    };

    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
