/** A connector in a loop of its own, and calls that are waited for. */
#ifndef CM_TESTS_CONNECTOR_WORLD_H
#define CM_TESTS_CONNECTOR_WORLD_H

#include "connector/kinds.h"

#include "waiting.h"

struct world {
    cm_loop *loop;
    cm_connector *c;
    struct seen seen;
    int ready;
};

MAYBE_UNUSED static const struct cm_value no_args = {{"{}", 2}, {NULL, 0}};

MAYBE_UNUSED static void on_ready(void *user, cm_connector *c)
{
    struct world *w = user;

    (void)c;
    w->ready++;
}

MAYBE_UNUSED static void start(struct world *w)
{
    cm_connector_ensure(w->c, on_ready, w);
    assert_int_equal(w->ready, 0);
    WAIT_WHILE(w, !w->ready);
}

MAYBE_UNUSED static void call(struct world *w, const char *method, const char *args)
{
    long i = cm_connector_find(w->c, cm_str_of(method));
    int before = w->seen.n;
    cm_call *k = NULL;

    assert_true(i >= 0);
    cm_connector_call(w->c, (size_t)i, (struct cm_value){cm_str_of(args), {NULL, 0}}, take, &w->seen, &k);
    assert_int_equal(w->seen.n, before);
    WAIT_WHILE(w, w->seen.n == before);
    assert_int_equal(w->seen.n, before + 1);
}

MAYBE_UNUSED static int set_up(void **state)
{
    struct world *w = cm_new(struct world);

    assert_int_equal(cm_loop_new(&w->loop, NULL), CM_OK);
    *state = w;
    return 0;
}

MAYBE_UNUSED static int tear_down(void **state)
{
    struct world *w = *state;

    cm_connector_free(w->c);
    cm_loop_free(w->loop);
    free(w->seen.json);
    free(w->seen.marks);
    free(w);
    return 0;
}

#endif
