/** What programs of the load call. */
#include "load.h"

#include <inttypes.h>

#define NEVER_MS 2000 /* how long a call waits for the tool that does not answer */

static int64_t number_of(struct cm_str args, const char *key)
{
    cm_auto(yyjson_doc) doc = NULL;

    if (cm_json_parse(args, CM_JSON_STRICT, &doc, NULL) != CM_OK)
        return -1;
    yyjson_val *v = cm_json_get(yyjson_doc_get_root(doc), key);
    return yyjson_is_int(v) ? yyjson_get_sint(v) : -1;
}

/** The program of that number, whose call it must be. */
static struct job *find_job(struct party *p, struct cm_str args, const cm_call *call)
{
    struct crowd *c = p->crowd;
    int64_t n = number_of(args, "n");
    struct job *j = n < 0 ? NULL : &c->jobs[(uint64_t)n % c->n_jobs];

    if (!j || !j->program || j->n != (uint64_t)n || j->party != p ||
        !cm_z_eq(cm_exec_id(j->exec), cm_call__execution(call))) {
        load_wrong(c, "%s: a call of a program that is not there: %.*s", p->name, CM_STR_ARG(args));
        return NULL;
    }
    return j;
}

static void begin(void *user, cm_call *call, struct cm_str args)
{
    struct party *p = user;
    struct job *j = find_job(p, args, call);

    if (j && j->begun)
        load_wrong(p->crowd, "%s: %s began twice", p->name, j->program->name);
    if (j && !j->begun) {
        j->begun = true;
        p->crowd->turn++;
        if (j->program->result) {
            if (p->n_waits % 1024 == 0) {
                p->waits_ms = cm_realloc(p->waits_ms, (p->n_waits + 1024) * sizeof *p->waits_ms);
                p->waits_turns = cm_realloc(p->waits_turns, (p->n_waits + 1024) * sizeof *p->waits_turns);
            }
            p->waits_ms[p->n_waits] = load_now_ms() - j->from_ms;
            p->waits_turns[p->n_waits++] = (double)(p->crowd->turn - 1 - j->from_turn);
        }
    }
    cm_native_reply_json(call, CM_STR("true"));
}

static void echo(void *user, cm_call *call, struct cm_str args)
{
    (void)user;
    cm_native_reply_json(call, args);
}

static void fail(void *user, cm_call *call, struct cm_str args)
{
    cm_autofree char *why = cm_asprintf("no coffee for %" PRId64, number_of(args, "n"));

    (void)user;
    cm_native_reply_error(call, "teapot", CM_STR("{\"status\":418}"), why);
}

/** A call that is answered when its timer fires; one that was cancelled meanwhile wants its answer all the same. */
struct late {
    cm_timer *timer;
    cm_call *call;
    char *args;
    size_t len;
};

static void on_late(void *user)
{
    struct late *l = user;

    cm_native_reply_json(l->call, cm_str_mk(l->args, l->len));
    cm_timer_free(l->timer);
    free(l->args);
    free(l);
}

static void answer_after(struct party *p, cm_call *call, struct cm_str args, uint64_t ms)
{
    struct late *l = cm_new(struct late);

    *l = (struct late){.call = call, .args = cm_memdup_z(args.ptr, args.len), .len = args.len};
    l->timer = cm_timer_new(p->crowd->loop, on_late, l);
    cm_timer_start(l->timer, ms);
}

static void later(void *user, cm_call *call, struct cm_str args)
{
    int64_t ms = number_of(args, "ms");

    answer_after(user, call, args, ms > 0 && ms < 1000 ? (uint64_t)ms : 1);
}

static void never(void *user, cm_call *call, struct cm_str args)
{
    answer_after(user, call, args, NEVER_MS + 1000ul);
}

cm_connector *tools_make(struct party *p)
{
    const struct cm_connector_base base = {.name = "svc", .origin = "the load"};
    const struct cm_native_tool tools[] = {
        {.name = "begin", .fn = begin, .flags = CM_METHOD_READ_ONLY},
        {.name = "echo", .fn = echo, .flags = CM_METHOD_READ_ONLY},
        {.name = "later", .fn = later, .flags = CM_METHOD_READ_ONLY},
        {.name = "fail", .fn = fail, .flags = CM_METHOD_READ_ONLY},
        {.name = "never", .fn = never, .flags = CM_METHOD_READ_ONLY, .timeout_ms = NEVER_MS},
        {.name = "put", .fn = echo},
        {.name = "ask", .fn = echo, .flags = CM_METHOD_REQUIRES_APPROVAL},
    };
    cm_connector *svc = cm_connector_native(p->crowd->loop, &base, NULL);
    struct cm_err err = {0};

    for (size_t i = 0; i < CM_ARRAY_LEN(tools); i++) {
        struct cm_native_tool t = tools[i];

        t.user = p;
        if (cm_connector_native_add(svc, &t, &err) != CM_OK)
            load_fail(t.name, err.message);
    }
    return svc;
}
