/**
 * DONE: the end that a worker itself reports. What it says of a failure is looked at for one thing: whether
 * a limit was behind it.
 */
#include "sandbox/internal.h"

#include "json/json.h"

#define FULL_KB 1024 /* a small allocation takes 132 KB from the kernel */

/**
 * The limit that makes the engine throw a RangeError of this text; CM_END_COUNT_: none. A program that
 * throws the same words itself is told of a limit that it did not meet, and nobody else is.
 */
static enum cm_end_code limit_of(const char *message)
{
    /* A BigInt or a text beyond the engine's own maximum is told in nearly the same words, at any memory. */
    if (strncmp(message, "Out of memory", strlen("Out of memory")) == 0 && !strstr(message, "too big"))
        return CM_END_MEMORY;
    if (strncmp(message, "Maximum call stack size exceeded", strlen("Maximum call stack size exceeded")) == 0)
        return CM_END_STACK;
    return CM_END_COUNT_;
}

/** Whether DONE's meta is what the format says: an object, with an error object where one is announced. */
static bool is_meta(struct cm_str meta, bool failed, enum cm_end_code *limit)
{
    cm_auto(yyjson_doc) doc = NULL;

    *limit = CM_END_COUNT_;
    if (meta.len == 0)
        return !failed;
    if (cm_json_parse(meta, CM_JSON_STRICT, &doc, NULL) != CM_OK || !yyjson_is_obj(yyjson_doc_get_root(doc)))
        return false;
    if (!failed)
        return true;
    yyjson_val *error = cm_json_get(yyjson_doc_get_root(doc), "error");
    const char *name = cm_json_get_z(error, "name");
    const char *message = cm_json_get_z(error, "message");
    if (name && message && cm_z_eq(name, "RangeError"))
        *limit = limit_of(message);
    return yyjson_is_obj(error);
}

/**
 * Whether a program failed where there was nothing left for it. Some of the engine's libraries do not say
 * that memory is what they lack: a date that cannot be formatted is a TypeError then.
 */
static bool is_full(const struct cm_worker *w)
{
    return w->data_kb && cm_worker__memory(w).data_kb + FULL_KB > w->data_kb;
}

void cm_pass__done(cm_pass *p, const struct cm_frame *f)
{
    bool failed = (f->flags & CM_FRAME_ERROR) != 0;
    enum cm_end_code limit = CM_END_COUNT_;
    struct cm_worker *w = p->worker;
    cm_sandbox *sb = p->sb;

    if (!is_meta(f->parts[2], failed, &limit)) {
        cm_pass__end(p, CM_END_PROTOCOL, "a result without a readable description");
        return;
    }
    uint64_t cpu = cm_worker__cpu_us(w);
    struct cm_verdict met = {0};
    if (failed && limit == CM_END_COUNT_ && is_full(w))
        limit = CM_END_MEMORY;
    if (limit != CM_END_COUNT_) {
        /*
         * The program's own error, caught by nobody; but it is the limit's doing, and the heap may be full.
         */
        cm_verdict__make(&met, limit, &p->limits, NULL);
        w->retire = true;
    }
    const struct cm_pass_end end = {
        .kind = failed ? CM_PASS_THREW : CM_PASS_COMPLETED,
        .code = met.code ? met.code : "",
        .message = met.message ? met.message : "",
        .value = {f->parts[0], f->parts[1]},
        .meta_json = f->parts[2],
        .cpu_us = cpu > p->cpu_start_us ? cpu - p->cpu_start_us : 0,
        .log_bytes = p->log_bytes,
    };
    p->ended = true;
    p->clock = CM_CLOCK_OFF;
    cm_timer_stop(p->timer);
    p->worker = NULL;
    cm_worker__tidy(w);
    p->ev->on_end(p->user, p, &end);
    cm_pass__free(p);
    cm_verdict__done(&met);
    cm_worker__kill_unfit(w);
    cm_sandbox__wake(sb);
}
