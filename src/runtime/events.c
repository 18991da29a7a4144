/*
 * What happens, as it happens: one callback for each runtime, and the connectors' own hooks (docs/events.md).
 *
 * Happy path: something is in the record -> one JSON object, secrets taken out, queued -> at the end of the loop's turn -> the callback.
 *
 * A consumer can neither stall nor break a run. It is called from the loop, never from inside what it hears about, so it may start and
 * cancel runs; it gets at most PER_TURN events before the loop goes on with its other work; and where it does not keep up with what
 * happens, what it has not heard is dropped, with an event that says how much. The record has it all: events are for who watches.
 */
#include "base/clock.h"
#include "base/utf8.h"
#include "runtime/internal.h"

#include <inttypes.h>

#define PER_TURN        256
#define QUEUE_MAX       10000
#define QUEUE_MAX_BYTES (16u << 20)
#define EVENT_MAX_BYTES (64u << 10)
#define TEXT_MAX_BYTES  8192 /* of a console line or a message; the record has it whole */

struct event {
    struct event *next;
    uint64_t sync; /* it is told after that one (disk.c); 0: at once */
    size_t len;
    char text[];
};

struct rt_events {
    cm_runtime *rt;
    cm_event_fn fn;
    void *user;
    cm_soon *soon;
    struct event *first, **last;
    size_t n, bytes;
    uint64_t number; /* of the newest event, from 1; one that was dropped has had its number */
    uint64_t lost;
    bool *gone; /* set by rt_events_close for a delivery that it was called from */
};

/* ---- the queue ---- */

static void push(struct rt_events *v, struct cm_str text, uint64_t sync)
{
    struct event *ev = cm_malloc(sizeof *ev + text.len + 1);

    ev->next = NULL;
    ev->sync = sync;
    ev->len = text.len;
    memcpy(ev->text, text.ptr, text.len);
    ev->text[text.len] = '\0';
    *v->last = ev;
    v->last = &ev->next;
    v->n++;
    v->bytes += ev->len;
    cm_soon_post(v->soon);
}

static bool is_full(const struct rt_events *v)
{
    return v->n >= QUEUE_MAX || v->bytes >= QUEUE_MAX_BYTES;
}

/** The oldest event goes to the callback. False: the callback has closed the runtime. */
static bool deliver_one(struct rt_events *v)
{
    struct event *ev = v->first;
    bool gone = false, *outer = v->gone;

    v->first = ev->next;
    if (!v->first)
        v->last = &v->first;
    v->n--;
    v->bytes -= ev->len;
    v->gone = &gone;
    v->fn(v->user, cm_str_mk(ev->text, ev->len));
    free(ev);
    if (gone) {
        if (outer)
            *outer = true;
        return false;
    }
    v->gone = outer;
    return true;
}

static void say_lost(struct rt_events *v)
{
    cm_autobuf b = CM_BUF_INIT(256);

    cm_buf_addf(&b, "{\"event\":\"lost\",\"number\":%" PRIu64 ",\"at\":%" PRId64 ",\"count\":%" PRIu64 "}",
                ++v->number, cm_now_ms(), v->lost);
    v->lost = 0;
    push(v, cm_buf_str(&b), 0);
}

static bool may_deliver(const struct rt_events *v)
{
    return v->first && v->fn && rt_disk_has(v->rt, v->first->sync);
}

static void deliver(void *user)
{
    struct rt_events *v = user;

    for (size_t left = PER_TURN; left > 0 && may_deliver(v); left--)
        if (!deliver_one(v))
            return;
    if (v->lost && !v->first)
        say_lost(v);
    if (may_deliver(v) || (v->first && !v->fn))
        cm_soon_post(v->soon);
}

void rt_events_on_disk(cm_runtime *rt)
{
    if (rt->events && rt->events->first)
        cm_soon_post(rt->events->soon);
}

void rt_events_set(cm_runtime *rt, cm_event_fn fn, void *user)
{
    if (!rt->events) {
        rt->events = cm_new(struct rt_events);
        rt->events->rt = rt;
        rt->events->last = &rt->events->first;
        rt->events->soon = cm_soon_new(rt->o.loop, deliver, rt->events);
    }
    rt->events->fn = fn;
    rt->events->user = user;
}

void cm_runtime_on_event(cm_runtime *rt, cm_event_fn fn, void *user)
{
    rt_events_set(rt, fn, user);
}

void rt_events_close(cm_runtime *rt)
{
    struct rt_events *v = cm_steal(&rt->events);

    if (!v)
        return;
    while (v->fn && v->first && deliver_one(v)) {
    }
    while (v->first) {
        struct event *next = v->first->next;

        free(v->first);
        v->first = next;
    }
    if (v->gone)
        *v->gone = true;
    cm_soon_free(v->soon);
    free(v);
}

/* ---- making one ---- */

/** Whether anybody listens; then `b` has the beginning of the object. */
static bool begin(cm_runtime *rt, const char *event, const char *id, struct cm_buf *b)
{
    struct rt_events *v = rt->events;

    if (!v || !v->fn)
        return false;
    if (v->lost && !is_full(v))
        say_lost(v);
    cm_buf_addf(b, "{\"event\":\"%s\",\"number\":%" PRIu64 ",\"at\":%" PRId64 ",\"executionId\":\"%s\"",
                event, ++v->number, cm_now_ms(), id);
    return true;
}

/** Secrets are taken out before the text is cut: half of one says too much. */
static void write_text(const cm_runtime *rt, struct cm_buf *b, struct cm_str text)
{
    size_t len = text.len;
    cm_autofree char *clean = cm_secrets_redact(rt->o.secrets, text, &len);
    struct cm_str shown = clean ? cm_str_mk(clean, len) : text;

    cm_json_write_string(b, cm_str_mk(shown.ptr, cm_utf8_cut(shown, TEXT_MAX_BYTES)));
}

static void add_text(const cm_runtime *rt, struct cm_buf *b, const char *key, struct cm_str text)
{
    cm_buf_addf(b, ",\"%s\":", key);
    write_text(rt, b, text);
}

static void end_after(cm_runtime *rt, struct cm_buf *b, uint64_t sync)
{
    struct rt_events *v = rt->events;

    cm_buf_add_char(b, '}');
    if (b->failed || is_full(v)) {
        v->lost++;
        cm_soon_post(v->soon);
        return;
    }

    size_t len = b->len;
    cm_autofree char *clean = cm_secrets_redact(rt->o.secrets, cm_buf_str(b), &len);

    push(v, clean ? cm_str_mk(clean, len) : cm_buf_str(b), sync);
}

static void end(cm_runtime *rt, struct cm_buf *b)
{
    end_after(rt, b, 0);
}

/** What somebody may act on, or has done: it is told when the record of it is on the disk, and so is what follows it. */
static void end_on_disk(cm_runtime *rt, struct cm_buf *b)
{
    end_after(rt, b, rt_disk_next(rt));
    rt_disk_ask(rt);
}

static void add_call(const cm_runtime *rt, struct cm_buf *b, uint32_t seq, enum cm_call_kind kind,
                     const char *connector, const char *method)
{
    static const char *const kinds[CM_CALL_KIND_COUNT_] = {
        [CM_CALL_TOOL] = "tool",         [CM_CALL_STEP] = "step",   [CM_CALL_SEARCH] = "search",
        [CM_CALL_DESCRIBE] = "describe", [CM_CALL_TIMER] = "timer", [CM_CALL_RUN] = "run"};

    cm_buf_addf(b, ",\"seq\":%" PRIu32 ",\"kind\":\"%s\"", seq, kinds[kind]);
    add_text(rt, b, "connector", cm_str_of(connector));
    add_text(rt, b, "method", cm_str_of(method));
}

/** {name, message, code} of an error, out of its JSON. */
static void add_error(const cm_runtime *rt, struct cm_buf *b, struct cm_str json)
{
    static const char *const members[] = {"name", "message", "code"};
    cm_auto(yyjson_doc) doc = NULL;
    bool first = true;

    if (!json.len || cm_json_parse(json, CM_JSON_BIGNUM, &doc, NULL) != CM_OK)
        return;
    cm_buf_add_z(b, ",\"error\":{");
    for (size_t i = 0; i < CM_ARRAY_LEN(members); i++) {
        struct cm_str text = cm_json_str(cm_json_get(yyjson_doc_get_root(doc), members[i]));

        if (!text.ptr)
            continue;
        cm_buf_addf(b, "%s\"%s\":", first ? "" : ",", members[i]);
        write_text(rt, b, text);
        first = false;
    }
    cm_buf_add_char(b, '}');
}

/* ---- the events ---- */

void rt_event_started(cm_runtime *rt, const char *id, uint32_t pass)
{
    cm_autobuf b = CM_BUF_INIT(EVENT_MAX_BYTES);

    if (!begin(rt, "started", id, &b))
        return;
    add_text(rt, &b, "runtime", cm_str_of(rt->name));
    cm_buf_addf(&b, ",\"pass\":%" PRIu32, pass);
    end(rt, &b);
}

void rt_event_log(cm_runtime *rt, const char *id, const char *level, struct cm_str text)
{
    cm_autobuf b = CM_BUF_INIT(EVENT_MAX_BYTES);

    if (!begin(rt, "log", id, &b))
        return;
    add_text(rt, &b, "level", cm_str_of(level));
    add_text(rt, &b, "text", text);
    if (text.len > TEXT_MAX_BYTES)
        cm_buf_addf(&b, ",\"bytes\":%zu", text.len);
    end(rt, &b);
}

void rt_event_decided(const struct rt_call *c, const char *decision, const char *rule)
{
    cm_runtime *rt = c->e->rt;
    cm_autobuf b = CM_BUF_INIT(EVENT_MAX_BYTES);
    bool pending = cm_z_eq(decision, "pause");

    if (!begin(rt, "decided", c->e->id, &b))
        return;
    add_call(rt, &b, c->seq, c->kind, c->connector, c->method);
    if (c->parent_seq >= 0)
        cm_buf_addf(&b, ",\"parent\":%" PRId64, c->parent_seq);
    add_text(rt, &b, "decision", cm_str_of(decision));
    add_text(rt, &b, "rule", cm_str_of(rule));
    end(rt, &b);
    cm_buf_clear(&b);
    if (!pending || !begin(rt, "pending", c->e->id, &b))
        return;
    add_call(rt, &b, c->seq, c->kind, c->connector, c->method);
    add_text(rt, &b, "argsHash", cm_str_of(c->hash));
    end_on_disk(rt, &b);
}

void rt_event_outcome(const struct rt_call *c, enum cm_call_state state, bool failed, struct cm_value value)
{
    cm_runtime *rt = c->e->rt;
    cm_autobuf b = CM_BUF_INIT(EVENT_MAX_BYTES);

    if (!begin(rt, "outcome", c->e->id, &b))
        return;
    add_call(rt, &b, c->seq, c->kind, c->connector, c->method);
    add_text(rt, &b, "state", cm_str_of(cm_call_state_text(state)));
    if (failed)
        add_error(rt, &b, value.json);
    cm_buf_addf(&b, ",\"startedAt\":%" PRId64, c->started_at);
    end(rt, &b);
}

void rt_event_human(cm_runtime *rt, const char *id, uint32_t seq, bool approved, const char *by,
                    const char *reason)
{
    cm_autobuf b = CM_BUF_INIT(EVENT_MAX_BYTES);

    if (!begin(rt, approved ? "approved" : "rejected", id, &b))
        return;
    cm_buf_addf(&b, ",\"seq\":%" PRIu32, seq);
    if (by && *by)
        add_text(rt, &b, "by", cm_str_of(by));
    if (reason && *reason)
        add_text(rt, &b, "reason", cm_str_of(reason));
    end_on_disk(rt, &b);
}

void rt_event_reverted(cm_runtime *rt, const char *id, uint32_t seq, const char *connector,
                       const char *method, const char *error)
{
    cm_autobuf b = CM_BUF_INIT(EVENT_MAX_BYTES);

    if (!begin(rt, "reverted", id, &b))
        return;
    add_call(rt, &b, seq, CM_CALL_TOOL, connector, method);
    if (error)
        add_text(rt, &b, "failed", cm_str_of(error));
    end(rt, &b);
}

/* ---- where an execution stands ---- */

/** Every connector hears of the end of the pass before one hears that the execution needs nothing any more. */
static void call_hooks(const cm_runtime *rt, const char *id, enum cm_exec_state state, bool pass)
{
    const char *status = cm_exec_state_text(state);

    for (size_t i = 0; pass && i < rt->o.n_connectors; i++)
        cm_connector_pass_end(rt->o.connectors[i], id, status);
    for (size_t i = 0; state != CM_EXEC_PAUSED && i < rt->o.n_connectors; i++)
        cm_connector_dispose(rt->o.connectors[i], id, status);
}

void rt_announce(cm_runtime *rt, const char *id, enum cm_exec_state state, bool pass,
                 struct cm_str error_json)
{
    cm_autobuf b = CM_BUF_INIT(EVENT_MAX_BYTES);

    if (begin(rt, state == CM_EXEC_PAUSED ? "paused" : "ended", id, &b)) {
        add_text(rt, &b, "status", cm_str_of(cm_exec_state_text(state)));
        add_error(rt, &b, error_json);
        end(rt, &b);
    }
    call_hooks(rt, id, state, pass);
}
