/** What is decided while a pass is held, or was, or its connector is not there yet: nothing is lost. */
#include "human_world.h"

#include <signal.h>

/* ---- a held pass that is lost ---- */

static void nothing_is_lost_when_the_time_of_a_held_pass_is_over(void **state)
{
    (void)state;
    struct world w = {0};
    struct waiter k;
    struct cm_err err;

    open_world(&w, RELEASED, NULL);
    close_process(&w);
    w.grace_ms = 1;
    open_process(&w);
    start(&w, &k, one_wipe);
    await_told(&k);
    free(cm_steal(&k.outcome));
    while (w.rt->held)
        assert_true(cm_loop_once(w.loop));
    assert_int_equal(approve(&w, &k, NULL, &err), CM_OK);
    ended(&k, CM_EXEC_COMPLETED, "\"result\":1");
    effects(&w, "wipe {\"n\":1}");
    close_world(&w);
}

static void nothing_is_lost_when_the_worker_of_a_held_pass_dies(void **state)
{
    (void)state;
    struct world w;
    struct waiter k;
    struct cm_err err;

    pause_one(&w, &k, HELD, one_wipe);
    assert_non_null(w.rt->held);
    assert_int_equal(kill((pid_t)cm_pass_pid(w.rt->held->pass->pass), SIGKILL), 0);
    while (w.rt->held)
        assert_true(cm_loop_once(w.loop));
    assert_int_equal(approve(&w, &k, NULL, &err), CM_OK);
    ended(&k, CM_EXEC_COMPLETED, "\"result\":1");
    effects(&w, "wipe {\"n\":1}");
    close_world(&w);
}

static void a_held_pass_that_another_process_has_overtaken_is_not_used(void **state)
{
    (void)state;
    struct world w, other;
    struct waiter k;
    struct cm_err err;
    static const struct cm_str twice =
        CM_STR("const a = await t.wipe({n: 1}); const b = await t.wipe({n: 2}); return [a.n, b.n]");

    pause_one(&w, &k, HELD, twice);
    open_world(&other, RELEASED, w.dir);
    memcpy(other.id, w.id, sizeof other.id);
    assert_int_equal(approve(&other, &k, first, &err),
                     CM_OK); /* as a process would that has not heard of the first */
    ended(&k, CM_EXEC_PAUSED, "\"seq\":1");
    effects(&other, "wipe {\"n\":1}");
    close_world(&other);
    assert_non_null(w.rt->held); /* still before the first call */
    assert_int_equal(approve(&w, &k, second, &err), CM_OK);
    assert_null(w.rt->held);
    ended(&k, CM_EXEC_COMPLETED, "\"result\":[1,2]");
    effects(&w, "wipe {\"n\":2}");
    close_world(&w);
}

/* ---- a connector that has to start first ---- */

struct late {
    bool at_once;
    cm_connector *conn; /* while it starts */
    yyjson_doc *schema;
};

static void late_start(void *self, cm_connector *c)
{
    struct late *l = self;

    l->conn = c;
    if (l->at_once)
        cm_connector__ready(c);
}

static size_t late_methods(void *self, const struct cm_method **out)
{
    static const struct cm_method one = {
        .name = "wipe", .origin = "wipe", .description = "", .flags = CM_METHOD_REQUIRES_APPROVAL};

    (void)self;
    *out = &one;
    return 1;
}

static void late_schemas(void *self, size_t i, struct cm_schema_ref *input, struct cm_schema_ref *output)
{
    struct late *l = self;

    (void)i, (void)output;
    input->root = input->node = yyjson_doc_get_root(l->schema);
}

static void late_call(void *self, size_t i, struct cm_value args, cm_call *call)
{
    (void)self, (void)i;
    cm_call__finish(call, args);
}

static void late_free(void *self)
{
    struct late *l = self;

    yyjson_doc_free(l->schema);
    free(l);
}

static struct late *add_late(struct world *w, bool at_once)
{
    static const struct cm_connector_ops ops = {.kind = "late",
                                                .start = late_start,
                                                .methods = late_methods,
                                                .schemas = late_schemas,
                                                .call = late_call,
                                                .free = late_free};
    struct late *l = cm_new(struct late);

    l->at_once = at_once;
    assert_int_equal(
        cm_json_parse(CM_STR("{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}"),
                      CM_JSON_STRICT, &l->schema, NULL),
        CM_OK);
    w->conns[1] = cm_connector_new(w->loop, &ops, l, "late", "a test", 0, 0, NULL);
    return l;
}

/** A new process whose connector is not ready, and a human who gives other arguments. */
static struct late *edit_late(struct world *w, struct waiter *k, const char *args)
{
    const struct cm_decide d = {.id = w->id, .seqs = first, .n_seqs = 1, .args_json = cm_str_of(args)};
    struct cm_err err = {0};
    struct late *l;

    close_process(w);
    cm_connector_free(w->conns[1]);
    l = add_late(w, false);
    open_process(w);
    *k = (struct waiter){.w = w};
    assert_int_equal(cm_runtime_approve(w->rt, &d, on_told, k, &k->exec, &err), CM_OK);
    assert_null(k->exec);
    assert_false(k->told);
    assert_non_null(l->conn);
    return l;
}

static void other_arguments_wait_for_the_connector_that_has_their_schema(void **state)
{
    (void)state;
    struct world w;
    struct waiter k;

    open_world(&w, RELEASED, NULL);
    close_process(&w);
    (void)add_late(&w, true);
    open_process(&w);
    start(&w, &k, CM_STR("return (await late.wipe({n: 1})).n"));
    await_told(&k);
    assert_int_equal(k.state, CM_EXEC_PAUSED);
    free(k.outcome);

    cm_connector__ready(edit_late(&w, &k, "{\"n\":\"many\"}")->conn);
    await_told(&k); /* refused, and nothing is decided */
    assert_int_equal(k.err.status, CM_E_INVALID);
    says(&k.err, "late.wipe");

    (void)edit_late(&w, &k, "{\"n\":3}");
    cm_runtime_close(cm_steal(&w.rt)); /* told, not lost */
    assert_int_equal(k.err.status, CM_E_CANCELLED);

    cm_connector__ready(edit_late(&w, &k, "{\"n\":7}")->conn);
    ended(&k, CM_EXEC_COMPLETED, "\"result\":7");
    cm_connector *late = w.conns[1];
    close_world(&w);
    cm_connector_free(late);
}

static int tear_down(void **state)
{
    (void)state;
    close_sandbox();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_when_the_time_of_a_held_pass_is_over),
        cmocka_unit_test(nothing_is_lost_when_the_worker_of_a_held_pass_dies),
        cmocka_unit_test(a_held_pass_that_another_process_has_overtaken_is_not_used),
        cmocka_unit_test(other_arguments_wait_for_the_connector_that_has_their_schema),
    };

    return cmocka_run_group_tests(tests, NULL, tear_down);
}
