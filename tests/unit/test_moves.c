/** Which moves there are: the table against the design, and every operation of the store in every state against the table. */
#include "store/moves.h"

#include <stdio.h>

#include "unit.h"

#define EVERY 0xffffffffu

/* By hand, from the section on states of the design: what each can become. */
static const char *const exec_design[CM_EXEC_STATE_COUNT_] = {
    [CM_EXEC_RUNNING] = "running paused completed error rejected cancelled ",
    [CM_EXEC_PAUSED] = "running rejected cancelled expired ",
    [CM_EXEC_COMPLETED] = "rolled_back ",
    [CM_EXEC_ERROR] = "rolled_back ",
    [CM_EXEC_REJECTED] = "rolled_back ",
    [CM_EXEC_ROLLED_BACK] = "rolled_back ",
    [CM_EXEC_CANCELLED] = "rolled_back ",
    [CM_EXEC_EXPIRED] = "rolled_back ",
};

static cm_store *begun(enum cm_exec_state state)
{
    const struct cm_exec_row row = {
        .id = "e", .runtime = "default", .state = state, .code = CM_STR("1"), .created_at = 1, .passes = 1};
    cm_store *s = NULL;

    assert_int_equal(cm_store_open("memory:", &s, NULL), CM_OK);
    assert_int_equal(cm_store_begin(s, &row, NULL), CM_OK);
    assert_int_equal(cm_store_commit(s, false, NULL), CM_OK);
    return s;
}

static bool take_exec(void *user, const struct cm_exec_row *row)
{
    *(enum cm_exec_state *)user = row->state;
    return false;
}

static enum cm_exec_state exec_state(cm_store *s)
{
    enum cm_exec_state state = CM_EXEC_STATE_COUNT_;

    assert_int_equal(cm_store_execution(s, "e", take_exec, &state, NULL), CM_OK);
    return state;
}

static void every_move_of_an_execution_is_one_of_the_design(void **state)
{
    (void)state;
    for (unsigned from = 0; from < CM_EXEC_STATE_COUNT_; from++) {
        char can[200] = "";

        for (unsigned to = 0; to < CM_EXEC_STATE_COUNT_; to++) {
            cm_auto(cm_store) s = begun(from);
            const struct cm_exec_row row = {.state = to, .updated_at = 2, .passes = 1};
            bool may = cm_exec_may_move(from, to);
            cm_status st = cm_store_finish(s, "e", EVERY, &row, NULL);

            if (may)
                (void)snprintf(can + strlen(can), sizeof can - strlen(can), "%s ", cm_exec_state_text(to));
            assert_int_equal(st, may ? CM_OK : CM_E_CONFLICT);
            assert_int_equal(exec_state(s), may ? to : from);
            assert_int_equal((cm_exec_moves_to(to) >> from) & 1, may);
            if (may && from != to) { /* and it is the caller's wish, too */
                cm_auto(cm_store) other = begun(from);

                assert_int_equal(cm_store_finish(other, "e", EVERY & ~(1u << from), &row, NULL),
                                 CM_E_CONFLICT);
            }
        }
        assert_string_equal(can, exec_design[from]);
    }
}

static cm_status claim(cm_store *s)
{
    return cm_store_claim(s, "e", 5, NULL);
}

static cm_status expire(cm_store *s)
{
    return cm_store_expire(s, NULL, 100, 100, NULL, NULL, NULL, NULL);
}

static cm_status roll_back(cm_store *s)
{
    return cm_store_rolled_back(s, "e", 5, NULL);
}

static void every_operation_on_an_execution_makes_a_move_or_none(void **state)
{
    static cm_status (*const ops[])(cm_store *) = {claim, expire, roll_back};
    unsigned n_moves = 0;

    (void)state;
    for (unsigned from = 0; from < CM_EXEC_STATE_COUNT_; from++)
        for (size_t i = 0; i < CM_ARRAY_LEN(ops); i++) {
            cm_auto(cm_store) s = begun(from);
            enum cm_exec_state to;

            (void)ops[i](s);
            (void)cm_store_commit(s, false, NULL);
            to = exec_state(s);
            if (to == from)
                continue;
            n_moves++;
            if (!cm_exec_may_move(from, to))
                fail_msg("operation %zu makes %s of %s", i, cm_exec_state_text(to), cm_exec_state_text(from));
        }
    assert_int_equal(n_moves, 1 + 1 + 5); /* claim and expire: paused; undo: what has ended, five ways */
}

/* ---- calls ---- */

static cm_status outcome(cm_store *s, enum cm_call_state to)
{
    const struct cm_call_row row = {.state = to,
                                    .has_outcome = to != CM_CALL_CANCELLED && to != CM_CALL_UNKNOWN,
                                    .outcome = {CM_STR("1"), CM_STR("")}};

    return cm_store_call_outcome(s, "e", &row, NULL);
}

static cm_status apply(cm_store *s)
{
    return outcome(s, CM_CALL_APPLIED);
}

static cm_status fail_it(cm_store *s)
{
    return outcome(s, CM_CALL_FAILED);
}

static cm_status cancel(cm_store *s)
{
    return outcome(s, CM_CALL_CANCELLED);
}

static cm_status lose(cm_store *s)
{
    return outcome(s, CM_CALL_UNKNOWN);
}

static cm_status approve(cm_store *s)
{
    return cm_store_call_decide(s, "e", 0, &(struct cm_decision_row){.approve = true, .at = 1}, NULL);
}

static cm_status reject(cm_store *s)
{
    return cm_store_call_decide(
        s, "e", 0, &(struct cm_decision_row){.at = 1, .outcome = {CM_STR("1"), CM_STR("")}}, NULL);
}

static cm_status start(cm_store *s)
{
    (void)approve(s);
    return cm_store_call_start(s, "e", 0, 5, false, NULL);
}

static cm_status deliver(cm_store *s)
{
    return cm_store_call_deliver(s, "e", 0, 7, 5, NULL);
}

static cm_status ask(cm_store *s)
{
    return cm_store_call_ask(s, "e", 0, "interrupted", NULL);
}

static cm_status withdraw(cm_store *s)
{
    return cm_store_calls_withdraw(s, "e", 5, NULL);
}

static cm_status ask_and_withdraw(cm_store *s)
{
    (void)ask(s);
    return withdraw(s);
}

static cm_status abandon(cm_store *s)
{
    return cm_store_calls_abandon(s, "e", NULL);
}

static cm_status revert(cm_store *s)
{
    return cm_store_call_revert(s, "e", 0, 5, NULL, NULL);
}

static bool take_call(void *user, const struct cm_call_row *row)
{
    *(enum cm_call_state *)user = row->state;
    return false;
}

static void every_operation_on_a_call_makes_a_move_or_none(void **state)
{
    static cm_status (*const ops[])(cm_store *) = {
        apply,   lose, fail_it,  cancel,           approve, reject, start,
        deliver, ask,  withdraw, ask_and_withdraw, abandon, revert};
    static const enum cm_exec_state of[] = {CM_EXEC_RUNNING, CM_EXEC_PAUSED, CM_EXEC_COMPLETED};
    bool made[CM_CALL_STATE_COUNT_][CM_CALL_STATE_COUNT_] = {{false}};

    (void)state;
    for (size_t k = 0; k < CM_ARRAY_LEN(of); k++)
        for (unsigned from = 0; from < CM_CALL_STATE_COUNT_; from++)
            for (size_t i = 0; i < CM_ARRAY_LEN(ops); i++) {
                cm_auto(cm_store) s = begun(CM_EXEC_RUNNING);
                const struct cm_exec_row moved = {.state = of[k], .updated_at = 2, .passes = 1};
                const struct cm_call_row row = {
                    .parent_seq = -1,
                    .connector = "c",
                    .method = "m",
                    /* What was rejected can be undone where it had been sent before. */
                    .decision = ops[i] == revert ? "ask" : "execute",
                    .rule = "default",
                    .state = from};
                enum cm_call_state to = CM_CALL_STATE_COUNT_;

                assert_int_equal(cm_store_call_intent(s, "e", &row, false, NULL), CM_OK);
                if (of[k] != CM_EXEC_RUNNING)
                    assert_int_equal(cm_store_finish(s, "e", EVERY, &moved, NULL), CM_OK);
                (void)ops[i](s);
                (void)cm_store_commit(s, false, NULL);
                assert_int_equal(cm_store_calls(s, "e", take_call, &to, NULL), CM_OK);
                made[from][to] = true;
                if (to != from && !cm_call_may_move(from, to))
                    fail_msg("operation %zu makes %s of %s", i, cm_call_state_text(to),
                             cm_call_state_text(from));
            }
    /* And the table has no move that nothing makes. */
    for (unsigned from = 0; from < CM_CALL_STATE_COUNT_; from++)
        for (unsigned to = 0; to < CM_CALL_STATE_COUNT_; to++)
            if (cm_call_may_move(from, to) && !made[from][to])
                fail_msg("nothing makes %s of %s", cm_call_state_text(to), cm_call_state_text(from));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_move_of_an_execution_is_one_of_the_design),
        cmocka_unit_test(every_operation_on_an_execution_makes_a_move_or_none),
        cmocka_unit_test(every_operation_on_a_call_makes_a_move_or_none),
    };
    return cmocka_run_group_tests_name("moves", tests, NULL, NULL);
}
