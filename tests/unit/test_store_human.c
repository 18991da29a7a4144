/** What people do to a store: decisions, claims, expiry, snippets, copies; and a store of an older version. */
#include "store/store.h"

#include "base/fd.h"
#include "store/schema.sql.h"

#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store_world.h"

static void begin(cm_store *s, const char *id, int64_t at)
{
    struct cm_err err = {0};
    const struct cm_exec_row row = {.id = id,
                                    .runtime = "default",
                                    .code = CM_STR("return 1"),
                                    .connectors_json = "[\"github\"]",
                                    .limits_json = CM_STR("{\"cpuMs\":50}"),
                                    .created_at = at,
                                    .passes = 1};

    ok(cm_store_begin(s, &row, &err), &err);
}

static void call(cm_store *s, const char *id, uint32_t seq, enum cm_call_state state)
{
    struct cm_err err = {0};
    const struct cm_call_row row = {.seq = seq,
                                    .parent_seq = -1,
                                    .connector = "github",
                                    .method = "create_issue",
                                    .args = {CM_STR("{\"title\":\"x\"}"), CM_STR("{}")},
                                    .args_hash = "sha256:00",
                                    .decision = "pause",
                                    .rule = "default",
                                    .state = state,
                                    .started_at = 1000};

    ok(cm_store_call_intent(s, id, &row, false, &err), &err);
}

static cm_status move(cm_store *s, const char *id, enum cm_exec_state to, struct cm_err *err)
{
    const struct cm_exec_row row = {.state = to, .updated_at = 5000, .passes = 1};

    return cm_store_finish(s, id, 1u << CM_EXEC_RUNNING | 1u << CM_EXEC_PAUSED, &row, err);
}

/** One execution that waits for a decision on call 0. */
static cm_store *open_paused(const char *id)
{
    cm_store *s = open_store();
    struct cm_err err = {0};

    begin(s, id, 1);
    call(s, id, 0, CM_CALL_PENDING);
    ok(move(s, id, CM_EXEC_PAUSED, &err), &err);
    return s;
}

static cm_status decide(cm_store *s, const char *id, uint32_t seq, bool approve, struct cm_err *err)
{
    const struct cm_decision_row d = {
        .approve = approve,
        .at = 7000,
        .by = "ann",
        .reason = "looks right",
        .outcome = {CM_STR("{\"message\":\"no\"}"), CM_STR("{\"\":\"error\"}")}};
    cm_status st = cm_store_call_decide(s, id, seq, &d, err);

    return st == CM_OK ? cm_store_commit(s, true, err) : st;
}

struct seen {
    struct cm_call_row row; /* its texts are gone: only what is copied below may be looked at */
    char args[64], asked[64], by[16], reason[32], rule[64], hash[32], outcome[64], error[64];
    size_t n;
};

static void copy(char *out, size_t cap, struct cm_str s)
{
    (void)snprintf(out, cap, "%.*s", (int)s.len, s.len ? s.ptr : "");
}

static bool see(void *user, const struct cm_call_row *row)
{
    struct seen *seen = user;

    seen->row = *row;
    copy(seen->args, sizeof seen->args, row->args.json);
    copy(seen->asked, sizeof seen->asked, row->asked.json);
    copy(seen->outcome, sizeof seen->outcome, row->outcome.json);
    copy(seen->by, sizeof seen->by, cm_str_of(row->decided_by));
    copy(seen->reason, sizeof seen->reason, cm_str_of(row->reason));
    copy(seen->rule, sizeof seen->rule, cm_str_of(row->rule));
    copy(seen->hash, sizeof seen->hash, cm_str_of(row->asked_hash));
    copy(seen->error, sizeof seen->error, cm_str_of(row->revert_error));
    seen->n++;
    return true;
}

static struct seen look(cm_store *s, const char *id)
{
    struct seen seen = {0};
    struct cm_err err = {0};

    ok(cm_store_calls(s, id, see, &seen, &err), &err);
    return seen;
}

static void of_two_who_decide_one_wins_and_the_other_is_told(void **state)
{
    struct cm_err err = {0};
    cm_auto(cm_store) a = open_paused("exec_1");
    cm_auto(cm_store) b = open_store();

    (void)state;
    ok(decide(a, "exec_1", 0, true, &err), &err);
    assert_int_equal(decide(b, "exec_1", 0, false, &err), CM_E_CONFLICT);
    assert_non_null(strstr(err.message, "github.create_issue is pending and approved already"));
    struct seen seen = look(b, "exec_1");
    assert_int_equal(seen.row.state, CM_CALL_PENDING);
    assert_int_equal(seen.row.decided_at, 7000);
    assert_string_equal(seen.by, "ann");
    assert_string_equal(seen.reason, "looks right");
    assert_string_equal(seen.asked, "");
    assert_int_equal(decide(b, "exec_1", 9, true, &err), CM_E_NOT_FOUND);
    assert_int_equal(decide(b, "exec_9", 0, true, &err), CM_E_NOT_FOUND);
}

static void an_edited_call_keeps_what_the_program_asked_for(void **state)
{
    struct cm_err err = {0};
    cm_auto(cm_store) s = open_paused("exec_1");
    const struct cm_decision_row d = {.approve = true,
                                      .at = 7000,
                                      .args = {CM_STR("{\"title\":\"y\"}"), CM_STR("{}")},
                                      .args_hash = "sha256:11"};

    (void)state;
    ok(cm_store_call_decide(s, "exec_1", 0, &d, &err), &err);
    struct seen seen = look(s, "exec_1");
    assert_string_equal(seen.args, "{\"title\":\"y\"}");
    assert_string_equal(seen.asked, "{\"title\":\"x\"}");
    assert_string_equal(seen.hash, "sha256:00");
}

static void only_an_approved_call_of_a_running_execution_is_sent(void **state)
{
    struct cm_err err = {0};
    cm_auto(cm_store) s = open_paused("exec_1");

    (void)state;
    assert_int_equal(cm_store_call_start(s, "exec_1", 0, 8000, true, &err), CM_E_CONFLICT);
    ok(cm_store_claim(s, "exec_1", 7500, &err), &err);
    assert_int_equal(cm_store_call_start(s, "exec_1", 0, 8000, true, &err), CM_E_CONFLICT);
    ok(decide(s, "exec_1", 0, true, &err), &err);
    ok(cm_store_call_start(s, "exec_1", 0, 8000, true, &err), &err);
    assert_int_equal(look(s, "exec_1").row.state, CM_CALL_EXECUTING);
    assert_int_equal(cm_store_call_start(s, "exec_1", 0, 8001, true, &err), CM_E_CONFLICT);
    assert_int_equal(decide(s, "exec_1", 0, false, &err), CM_E_CONFLICT);
}

static void a_rejected_call_has_its_error_and_is_delivered_once(void **state)
{
    struct cm_err err = {0};
    cm_auto(cm_store) s = open_paused("exec_1");

    (void)state;
    ok(decide(s, "exec_1", 0, false, &err), &err);
    struct seen seen = look(s, "exec_1");
    assert_int_equal(seen.row.state, CM_CALL_REJECTED);
    assert_true(seen.row.failed && seen.row.has_outcome && seen.row.delivery == 0);
    assert_string_equal(seen.outcome, "{\"message\":\"no\"}");
    assert_int_equal(decide(s, "exec_1", 0, true, &err), CM_E_CONFLICT);
    ok(cm_store_claim(s, "exec_1", 7500, &err), &err);
    ok(cm_store_call_deliver(s, "exec_1", 0, 3, 8000, &err), &err);
    assert_int_equal(look(s, "exec_1").row.delivery, 3);
    assert_int_equal(cm_store_call_deliver(s, "exec_1", 0, 4, 8000, &err), CM_E_CONFLICT);
}

static void nobody_decides_for_an_execution_that_has_ended(void **state)
{
    struct cm_err err = {0};
    cm_auto(cm_store) s = open_paused("exec_1");

    (void)state;
    ok(move(s, "exec_1", CM_EXEC_CANCELLED, &err), &err);
    assert_int_equal(decide(s, "exec_1", 0, true, &err), CM_E_CONFLICT);
    assert_non_null(strstr(err.message, "is cancelled"));
    assert_int_equal(cm_store_claim(s, "exec_1", 8000, &err), CM_E_CONFLICT);
    assert_int_equal(cm_store_claim(s, "exec_2", 8000, &err), CM_E_NOT_FOUND);
}

static void a_call_of_unknown_outcome_can_be_asked_about(void **state)
{
    struct cm_err err = {0};
    cm_auto(cm_store) s = open_store();

    (void)state;
    begin(s, "exec_1", 1);
    call(s, "exec_1", 0, CM_CALL_EXECUTING);
    ok(cm_store_call_ask(s, "exec_1", 0, "unknown outcome", &err), &err);
    struct seen seen = look(s, "exec_1");
    assert_int_equal(seen.row.state, CM_CALL_PENDING);
    assert_string_equal(seen.rule, "unknown outcome");
    assert_int_equal(cm_store_call_ask(s, "exec_1", 0, "again", &err), CM_E_CONFLICT);
}

static void what_waits_is_withdrawn_and_stays_unknown_where_it_had_been_sent(void **state)
{
    struct cm_err err = {0};
    cm_auto(cm_store) s = open_store();

    (void)state;
    begin(s, "exec_1", 1);
    call(s, "exec_1", 0, CM_CALL_EXECUTING);
    ok(cm_store_call_ask(s, "exec_1", 0, "unknown outcome", &err), &err);
    ok(cm_store_calls_withdraw(s, "exec_1", 5000, &err), &err);
    assert_int_equal(look(s, "exec_1").row.state, CM_CALL_UNKNOWN);
    begin(s, "exec_2", 2);
    call(s, "exec_2", 0, CM_CALL_PENDING);
    ok(cm_store_calls_withdraw(s, "exec_2", 5000, &err), &err);
    assert_int_equal(look(s, "exec_2").row.state, CM_CALL_CANCELLED);
}

static void a_call_is_reverted_once_and_a_failure_is_kept(void **state)
{
    struct cm_err err = {0};
    cm_auto(cm_store) s = open_store();

    (void)state;
    begin(s, "exec_1", 1);
    call(s, "exec_1", 0, CM_CALL_APPLIED);
    assert_int_equal(cm_store_call_revert(s, "exec_1", 0, 9000, NULL, &err), CM_E_CONFLICT);
    ok(move(s, "exec_1", CM_EXEC_COMPLETED, &err), &err);
    ok(cm_store_call_revert(s, "exec_1", 0, 9000, "it is locked", &err), &err);
    struct seen seen = look(s, "exec_1");
    assert_string_equal(seen.error, "it is locked");
    assert_true(seen.row.state == CM_CALL_APPLIED && seen.row.reverted_at == 0);
    ok(cm_store_call_revert(s, "exec_1", 0, 9001, NULL, &err), &err);
    seen = look(s, "exec_1");
    assert_string_equal(seen.error, "");
    assert_true(seen.row.state == CM_CALL_REVERTED && seen.row.reverted_at == 9001);
    assert_int_equal(cm_store_call_revert(s, "exec_1", 0, 9002, NULL, &err), CM_E_CONFLICT);
}

static void of_two_who_roll_back_one_sends_the_revert(void **state)
{
    struct cm_err err = {0};
    cm_auto(cm_store) a = open_store();
    cm_auto(cm_store) b = open_store();

    (void)state;
    begin(a, "exec_1", 1);
    call(a, "exec_1", 0, CM_CALL_APPLIED);
    assert_int_equal(cm_store_call_revert_start(a, "exec_1", 0, 9000, 0, "ann", &err), CM_E_CONFLICT);
    assert_int_equal(cm_store_rolled_back(a, "exec_1", 9000, &err), CM_E_CONFLICT);
    ok(move(a, "exec_1", CM_EXEC_COMPLETED, &err), &err);
    ok(cm_store_call_revert_start(a, "exec_1", 0, 9000, 0, "ann", &err), &err);
    assert_int_equal(cm_store_call_revert_start(b, "exec_1", 0, 9001, 0, "bob", &err), CM_E_CONFLICT);
    assert_int_equal(look(b, "exec_1").row.revert_started_at, 9000);
    ok(cm_store_call_revert_unsure(a, "exec_1", 0, "no answer", &err), &err);
    assert_int_equal(look(a, "exec_1").row.revert_started_at, 9000); /* it may have taken effect */
    ok(cm_store_call_revert(a, "exec_1", 0, 9002, "it is locked", &err), &err);
    assert_int_equal(look(a, "exec_1").row.revert_started_at, 0); /* it has not */
    ok(cm_store_commit(a, false, &err), &err);
    ok(cm_store_call_revert_start(b, "exec_1", 0, 9003, 0, "bob", &err), &err);
    ok(cm_store_call_revert(b, "exec_1", 0, 9004, NULL, &err), &err);
    ok(cm_store_rolled_back(b, "exec_1", 9004, &err), &err);
    assert_int_equal(look(a, "exec_1").row.state, CM_CALL_REVERTED);
    assert_int_equal(cm_store_call_revert_start(a, "exec_1", 0, 9005, 9003, "ann", &err), CM_E_CONFLICT);
}

static bool keep_parts(void *user, const struct cm_call_row *row)
{
    struct cm_call_row *to = user;

    *to = *row;
    to->has_outcome = row->args.json.len > 0; /* borrowed: only whether they are there */
    return true;
}

static void what_is_dropped_leaves_the_record_and_its_hash_stays(void **state)
{
    struct cm_err err = {0};
    struct cm_call_row row = {0};
    cm_auto(cm_store) s = open_store();

    (void)state;
    begin(s, "exec_1", 1);
    call(s, "exec_1", 0, CM_CALL_APPLIED);
    ok(cm_store_call(s, "exec_1", 0, keep_parts, &row, &err), &err);
    assert_true(row.has_outcome && row.dropped == 0);
    ok(cm_store_call_drop(s, "exec_1", 0, CM_CALL_ARGS, &err), &err);
    ok(cm_store_call(s, "exec_1", 0, keep_parts, &row, &err), &err);
    assert_true(!row.has_outcome && row.dropped == CM_CALL_ARGS);
    assert_int_equal(cm_store_call(s, "exec_1", 7, keep_parts, &row, &err), CM_E_NOT_FOUND);
}

static void of_two_who_resume_one_wins(void **state)
{
    struct cm_err err = {0};
    cm_auto(cm_store) a = open_paused("exec_1");
    cm_auto(cm_store) b = open_store();

    (void)state;
    ok(cm_store_claim(a, "exec_1", 8000, &err), &err);
    assert_int_equal(cm_store_claim(b, "exec_1", 8000, &err), CM_E_CONFLICT);
    assert_non_null(strstr(err.message, "is running in another process"));
    assert_int_equal(cm_store_claim(a, "exec_1", 8000, &err), CM_E_CONFLICT);
}

/** The process that claims is gone before the other looks; what it wrote stays. */
static void what_a_dead_process_had_claimed_can_be_claimed_again(void **state)
{
    struct cm_err err = {0};
    pid_t pid = fork();

    (void)state;
    if (pid == 0) {
        cm_store *s = open_paused("exec_1");

        _exit(cm_store_claim(s, "exec_1", 8000, NULL) == CM_OK ? 0 : 1);
    }
    int status = 1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    cm_auto(cm_store) s = open_store();
    cm_status st = cm_store_claim(s, "exec_1", 9000, &err);
    /* Opening has settled what a dead process left, in one way or another; nobody else has it. */
    assert_true(st == CM_OK || st == CM_E_CONFLICT);
    if (st == CM_E_CONFLICT)
        assert_null(strstr(err.message, "another process"));
}

static size_t n_expired;

static void on_expired(void *user, const char *id)
{
    assert_string_equal(id, user);
    n_expired++;
}

static void what_waits_too_long_expires_and_its_calls_with_it(void **state)
{
    struct cm_err err = {0};
    cm_auto(cm_store) s = open_paused("exec_1"); /* touched at 5000 */
    size_t n = 9;
    char id[] = "exec_1";

    (void)state;
    n_expired = 0;
    ok(cm_store_expire(s, "default", 5000, 9000, on_expired, id, &n, &err), &err);
    assert_int_equal(n, 0);
    ok(cm_store_expire(s, "other", 5001, 9000, on_expired, id, &n, &err), &err);
    assert_int_equal(n, 0);
    ok(cm_store_expire(s, NULL, 5001, 9000, on_expired, id, &n, &err), &err);
    assert_int_equal(n, 1);
    assert_int_equal(n_expired, 1);
    assert_int_equal(look(s, "exec_1").row.state, CM_CALL_CANCELLED);
    assert_int_equal(decide(s, "exec_1", 0, true, &err), CM_E_CONFLICT);
}

static bool see_pending(void *user, const char *id, const struct cm_call_row *row)
{
    struct cm_buf *out = user;

    cm_buf_addf(out, "%s/%u %s ", id, row->seq, row->method);
    return true;
}

static void pending_calls_are_listed_newest_execution_first_until_they_are_decided(void **state)
{
    struct cm_err err = {0};
    cm_auto(cm_store) s = open_paused("exec_1");
    cm_autobuf out = CM_BUF_INIT(4096);

    (void)state;
    begin(s, "exec_2", 2);
    call(s, "exec_2", 0, CM_CALL_APPLIED);
    call(s, "exec_2", 1, CM_CALL_PENDING);
    call(s, "exec_2", 2, CM_CALL_PENDING);
    ok(cm_store_pending(s, NULL, NULL, see_pending, &out, &err), &err);
    assert_string_equal(out.ptr, "exec_2/1 create_issue exec_2/2 create_issue exec_1/0 create_issue ");
    ok(decide(s, "exec_2", 2, true, &err), &err);
    cm_buf_clear(&out);
    ok(cm_store_pending(s, "default", "exec_2", see_pending, &out, &err), &err);
    assert_string_equal(out.ptr, "exec_2/1 create_issue ");
    cm_buf_clear(&out);
    ok(cm_store_pending(s, "other", NULL, see_pending, &out, &err), &err);
    assert_int_equal(out.len, 0);
}

static bool see_snippet(void *user, const struct cm_snippet_row *row)
{
    struct cm_buf *out = user;

    cm_buf_addf(out, "%s:%s:%.*s:%.*s ", row->name, row->description, CM_STR_ARG(row->code),
                CM_STR_ARG(row->input_schema));
    return true;
}

static void snippets_are_kept_by_name_in_their_runtime(void **state)
{
    struct cm_err err = {0};
    cm_auto(cm_store) s = open_store();
    cm_autobuf out = CM_BUF_INIT(4096);
    struct cm_snippet_row row = {.runtime = "default", .name = "b", .code = CM_STR("1"), .saved_at = 1};

    (void)state;
    ok(cm_store_snippet_save(s, &row, &err), &err);
    row = (struct cm_snippet_row){.runtime = "default",
                                  .name = "a",
                                  .description = "first",
                                  .code = CM_STR("2"),
                                  .input_schema = CM_STR("{}"),
                                  .saved_at = 2};
    ok(cm_store_snippet_save(s, &row, &err), &err);
    row.code = CM_STR("3");
    ok(cm_store_snippet_save(s, &row, &err), &err);
    ok(cm_store_snippets(s, "default", NULL, see_snippet, &out, &err), &err);
    assert_string_equal(out.ptr, "a:first:3:{} b::1: ");
    assert_int_equal(cm_store_snippets(s, "default", "c", see_snippet, &out, &err), CM_E_NOT_FOUND);
    assert_int_equal(cm_store_snippets(s, "other", "a", see_snippet, &out, &err), CM_E_NOT_FOUND);
    ok(cm_store_snippet_delete(s, "default", "a", &err), &err);
    assert_int_equal(cm_store_snippet_delete(s, "default", "a", &err), CM_E_NOT_FOUND);
}

static void a_backup_is_whole_private_and_made_while_others_write(void **state)
{
    struct cm_err err = {0};
    cm_auto(cm_store) s = open_paused("exec_1");
    cm_auto(cm_store) other = open_store();
    cm_auto(cm_store) copied = NULL;
    cm_autofree char *to = cm_asprintf("%s/copy.db", dir);
    cm_autofree char *there = cm_asprintf("sqlite:%s", to);
    struct stat sb;

    (void)state;
    begin(other, "exec_2", 2); /* in an open group: not in the copy */
    ok(cm_store_backup(s, to, &err), &err);
    assert_int_equal(cm_store_backup(s, to, &err), CM_E_CONFLICT);
    assert_int_equal(stat(to, &sb), 0);
    assert_int_equal(sb.st_mode & 0777, 0600);
    ok(cm_store_open(there, &copied, &err), &err);
    assert_int_equal(look(copied, "exec_1").n, 1);
    ok(decide(copied, "exec_1", 0, true, &err), &err);
}

/** A store as version 1 made it: its executions are there afterwards. */
static void a_store_of_the_first_version_is_brought_up_to_date(void **state)
{
    sqlite3 *db = NULL;
    struct cm_err err = {0};
    static const char rows[] = "PRAGMA application_id = 1668116324; PRAGMA user_version = 1;"
                               "INSERT INTO executions VALUES(1, 'exec_1', 'default', 'paused', 'return 1', "
                               "x'00', '[]', NULL, NULL, NULL,"
                               " NULL, NULL, NULL, NULL, 1, 2, 0, 1, NULL, NULL);"
                               "INSERT INTO calls VALUES(1, 0, 0, -1, 'github', 'create_issue', '{}', '{}', "
                               "'sha256:0', 'pause', 'default', 0,"
                               " 'pending', 0, NULL, NULL, 0, 0, 1, 0, 1, 1);";

    (void)state;
    assert_int_equal(CM_STORE_APPLICATION_ID, 1668116324);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, cm_store_migrations[0], NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, rows, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    cm_auto(cm_store) s = open_store();
    ok(decide(s, "exec_1", 0, true, &err), &err);
    assert_string_equal(look(s, "exec_1").by, "ann");
}

static void the_log_can_be_waited_for_on_its_own_descriptor(void **state)
{
    struct cm_err err = {0};
    cm_auto(cm_store) s = open_paused("exec_1");
    cm_auto(cm_store) memory = NULL;

    (void)state;
    int fd = cm_store_log_fd(s, &err);
    assert_true(fd >= 0 && fd == cm_store_log_fd(s, &err));
    assert_int_equal(fdatasync(fd), 0);
    ok(cm_store_open("memory:", &memory, &err), &err);
    assert_int_equal(cm_store_log_fd(memory, &err), -1);
    cm_store_sync_failed(s, 5, &err);
    assert_int_equal(err.status, CM_E_IO);
    assert_int_equal(cm_store_losses(s), 1);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(of_two_who_decide_one_wins_and_the_other_is_told),
        T(an_edited_call_keeps_what_the_program_asked_for),
        T(only_an_approved_call_of_a_running_execution_is_sent),
        T(a_rejected_call_has_its_error_and_is_delivered_once),
        T(nobody_decides_for_an_execution_that_has_ended),
        T(a_call_of_unknown_outcome_can_be_asked_about),
        T(what_waits_is_withdrawn_and_stays_unknown_where_it_had_been_sent),
        T(a_call_is_reverted_once_and_a_failure_is_kept),
        T(of_two_who_roll_back_one_sends_the_revert),
        T(what_is_dropped_leaves_the_record_and_its_hash_stays),
        T(of_two_who_resume_one_wins),
        T(what_a_dead_process_had_claimed_can_be_claimed_again),
        T(what_waits_too_long_expires_and_its_calls_with_it),
        T(pending_calls_are_listed_newest_execution_first_until_they_are_decided),
        T(snippets_are_kept_by_name_in_their_runtime),
        T(a_backup_is_whole_private_and_made_while_others_write),
        T(a_store_of_the_first_version_is_brought_up_to_date),
        T(the_log_can_be_waited_for_on_its_own_descriptor),
    };

    return cmocka_run_group_tests_name("store_human", tests, NULL, NULL);
}
