/** A tool of a test that answers with its arguments after {"ms": N}. To be included by one test file. */
#ifndef CM_TESTS_LATER_H
#define CM_TESTS_LATER_H

#include "connector/kinds.h"
#include "loop/loop.h"

#include <stdlib.h>

#include "unit.h"

struct later {
    cm_call *k;
    char *args;
    cm_timer *timer;
};

static void on_later(void *user)
{
    struct later *l = user;

    cm_native_reply_json(l->k, cm_str_of(l->args));
    cm_timer_free(l->timer);
    free(l->args);
    free(l);
}

static void reply_later(cm_loop *loop, cm_call *k, struct cm_str args)
{
    struct later *l = cm_new(struct later);
    cm_auto(yyjson_doc) doc = NULL;

    assert_int_equal(cm_json_parse(args, CM_JSON_STRICT, &doc, NULL), CM_OK);
    l->k = k;
    l->args = cm_memdup_z(args.ptr, args.len);
    l->timer = cm_timer_new(loop, on_later, l);
    cm_timer_start(l->timer, yyjson_get_uint(cm_json_get(yyjson_doc_get_root(doc), "ms")));
}

#endif
