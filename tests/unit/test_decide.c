/** The decision for a call, over every fact that it looks at. */
#include "runtime/decide.h"

#include "unit.h"

static const struct cm_policy_rule allow = {"c.*", CM_POLICY_ALLOW},
                                   approve = {"*.delete_*", CM_POLICY_APPROVE}, deny = {"*", CM_POLICY_DENY};

/** A call that nothing speaks against. */
static struct cm_call_facts fine(void)
{
    return (struct cm_call_facts){
        .n_subrequests = 1,
        .max_subrequests = 1,
        .args_canonical = true,
        .args_fit = true,
        .connector_known = true,
        .connector = CM_CONN_READY,
        .method_known = true,
    };
}

static void nothing_speaks_against_it_so_it_runs(void **state)
{
    (void)state;
    struct cm_call_facts f = fine();
    struct cm_call_decision d = cm_decide_call(&f);

    assert_int_equal(d.action, CM_DECIDE_EXECUTE);
    assert_string_equal(d.rule, "default");
    assert_true(d.sync);
    f.method_flags = CM_METHOD_READ_ONLY;
    assert_false(cm_decide_call(&f).sync);
    f.method_flags = CM_METHOD_IDEMPOTENT | CM_METHOD_DESTRUCTIVE;
    assert_false(cm_decide_call(&f).sync);
}

static void the_first_reason_in_order_decides(void **state)
{
    (void)state;
    struct cm_call_facts f = fine();

    /* From the last in the order to the first: each outweighs those before it. */
    f.method_flags = CM_METHOD_REQUIRES_APPROVAL;
    assert_int_equal(cm_decide_call(&f).action, CM_DECIDE_PAUSE);
    assert_string_equal(cm_decide_call(&f).rule, "tool: requiresApproval");
    f.rule = &allow;
    assert_int_equal(cm_decide_call(&f).action, CM_DECIDE_EXECUTE);
    f.rule = &approve;
    f.rule_index = 2;
    f.method_flags = 0;
    assert_int_equal(cm_decide_call(&f).action, CM_DECIDE_PAUSE);
    assert_string_equal(cm_decide_call(&f).rule, "policy[2] *.delete_*");
    f.args_fit = false;
    assert_int_equal(cm_decide_call(&f).action, CM_DECIDE_REFUSE);
    assert_int_equal(cm_decide_call(&f).refusal, CM_REFUSAL_INVALID_ARGUMENTS);
    f.method_known = false;
    assert_int_equal(cm_decide_call(&f).refusal, CM_REFUSAL_UNKNOWN_METHOD);
    f.connector = CM_CONN_FAILED;
    assert_int_equal(cm_decide_call(&f).refusal, CM_REFUSAL_UNAVAILABLE);
    f.connector = CM_CONN_IDLE;
    assert_int_equal(cm_decide_call(&f).action, CM_DECIDE_START);
    f.connector = CM_CONN_STARTING;
    assert_int_equal(cm_decide_call(&f).action, CM_DECIDE_START);
    f.rule = &deny;
    assert_int_equal(cm_decide_call(&f).action, CM_DECIDE_REFUSE);
    assert_int_equal(cm_decide_call(&f).refusal, CM_REFUSAL_DENIED);
    assert_string_equal(cm_decide_call(&f).rule, "policy[2] *");
    f.connector_known = false;
    assert_int_equal(cm_decide_call(&f).refusal, CM_REFUSAL_UNKNOWN_CONNECTOR);
    f.args_canonical = false;
    assert_int_equal(cm_decide_call(&f).refusal, CM_REFUSAL_INVALID_ARGUMENTS);
    f.n_subrequests = 2;
    assert_int_equal(cm_decide_call(&f).action, CM_DECIDE_END);
}

static void nothing_that_needs_approval_ever_executes(void **state)
{
    (void)state;
    static const struct cm_policy_rule *const rules[] = {NULL, &approve, &deny};

    /* Every combination of the facts without a rule that allows. */
    for (unsigned bits = 0; bits < 1u << 13; bits++) {
        struct cm_call_facts f = {
            .n_subrequests = bits & 1 ? 2 : 1,
            .max_subrequests = 1,
            .args_canonical = bits & 2,
            .args_fit = bits & 4,
            .connector_known = bits & 8,
            .connector = (bits >> 4) & 3,
            .method_known = bits & 64,
            .method_flags = CM_METHOD_REQUIRES_APPROVAL | ((bits >> 7) & 15) << 1,
            .rule = rules[(bits >> 11) % 3],
        };

        assert_int_not_equal(cm_decide_call(&f).action, CM_DECIDE_EXECUTE);
    }
}

static void what_may_not_run_twice_is_unknown_when_abandoned(void **state)
{
    (void)state;
    assert_int_equal(cm_decide_abandoned(0), CM_CALL_UNKNOWN);
    assert_int_equal(cm_decide_abandoned(CM_METHOD_DESTRUCTIVE), CM_CALL_UNKNOWN);
    assert_int_equal(cm_decide_abandoned(CM_METHOD_READ_ONLY), CM_CALL_CANCELLED);
    assert_int_equal(cm_decide_abandoned(CM_METHOD_IDEMPOTENT), CM_CALL_CANCELLED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_speaks_against_it_so_it_runs),
        cmocka_unit_test(the_first_reason_in_order_decides),
        cmocka_unit_test(nothing_that_needs_approval_ever_executes),
        cmocka_unit_test(what_may_not_run_twice_is_unknown_when_abandoned),
    };

    return cmocka_run_group_tests_name("decide", tests, NULL, NULL);
}
