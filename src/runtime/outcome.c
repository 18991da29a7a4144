/*
 * The outcome of an execution as JSON (design, section 8), built from what is recorded.
 *
 *   status, executionId, truncated, result, logs, warnings, calls, pending, error
 *
 * result, logs, warnings, pending, error and truncated are absent when there is nothing to say. `calls` has
 * the connector calls, the steps and the snippets (connector "codemode", method "step:NAME", "run:NAME"); searches, descriptions and
 * timers are recorded but not shown. A failed call has `error` {name, message, …} in place of `result`. Where
 * a result is larger than the outcome may show, it is cut where it stays JSON (cut.h), and `truncated`, which
 * stands before it, says so: {code: "result_limit", message, bytes, shown, at, items?, shownItems?}. Console
 * output that was dropped is truncated.logs: {code: "log_limit", message, bytes, shown}. The arguments and
 * results of calls share the size of a result, and one that does not fit is left out with a `truncated`
 * {code, bytes, shown} of its own. `pending` always shows arguments whole: a human decides about them.
 *
 * The record may have been damaged by something else. What cannot be read is left out and named in
 * `warnings`. The record of an execution adds to a call: decision, rule, line, column, and, once a human has decided, decidedAt,
 * decidedBy, reason and, where other arguments were sent, those that the program gave as `asked`.
 */
#include "base/utf8.h"
#include "runtime/cut.h"
#include "runtime/internal.h"

#include <inttypes.h>
#include <stdio.h>

#define PART_MAX_BYTES (1u << 30)

struct builder {
    const char *id;
    const struct rt_outcome_opts *o;
    uint64_t budget; /* what calls may still show */
    struct cm_buf result, logs, warnings, calls, pending, error;
    size_t n_warnings, n_calls, n_pending;
    struct cm_buf truncated; /* members of it */
};

static void warn(struct builder *b, struct cm_str text)
{
    cm_buf_add_char(&b->warnings, b->n_warnings++ ? ',' : '[');
    cm_json_write_string(&b->warnings, text);
}

static void warnf(struct builder *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void warnf(struct builder *b, const char *fmt, ...)
{
    char text[RT_WARNING_BYTES];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    warn(b, cm_str_of(text));
}

static void warn_interrupted(struct builder *b, const struct cm_exec_row *row)
{
    char text[RT_WARNING_BYTES];

    rt_interrupted_say(row->id, row->interruptions, text, sizeof text);
    warn(b, cm_str_of(text));
}

/** A value as readers see it, into out. False: nothing there (or damaged: then a warning says so). */
static bool add_value(struct builder *b, struct cm_value v, const char *what, uint32_t seq,
                      struct cm_buf *out)
{
    struct cm_err err = {0};
    bool appended = false;

    if (cm_value_to_reader_json(v, out, &appended, &err) == CM_OK && !out->failed)
        return appended;
    warnf(b, "The recorded %s%.0u cannot be read: %s", what, seq, err.message);
    return false;
}

/* ---- calls ---- */

/** A failed call's value is an error; readers get the object itself, since the key already says what it is.
 */
static struct cm_str unwrap_error(struct cm_str json)
{
    static const char front[] = "{\"$error\":";

    if (json.len > sizeof front && memcmp(json.ptr, front, sizeof front - 1) == 0)
        return cm_str_mk(json.ptr + sizeof front - 1, json.len - sizeof front);
    return json;
}

static void add_call_value(struct builder *b, const char *key, const struct cm_call_row *row,
                           struct cm_value v, uint64_t *bytes, uint64_t *shown)
{
    cm_autobuf json = CM_BUF_INIT(PART_MAX_BYTES);
    struct cm_str text;

    if (!add_value(b, v, key, row->seq, &json))
        return;
    text = cm_buf_str(&json);
    if (cm_z_eq(key, "error"))
        text = unwrap_error(text);
    *bytes += text.len;
    if (text.len > b->budget)
        return;
    b->budget -= text.len;
    *shown += text.len;
    cm_buf_addf(&b->calls, ",\"%s\":", key);
    cm_buf_add_str(&b->calls, text);
}

static void add_name(struct cm_buf *out, const struct cm_call_row *row)
{
    cm_autofree char *step = row->kind == CM_CALL_STEP  ? cm_asprintf("step:%s", row->method)
                             : row->kind == CM_CALL_RUN ? cm_asprintf("run:%s", row->method)
                                                        : NULL;

    cm_buf_addf(out, "\"seq\":%u,\"connector\":", row->seq);
    cm_json_write_string(out, cm_str_of(row->connector));
    cm_buf_add_z(out, ",\"method\":");
    cm_json_write_string(out, cm_str_of(step ? step : row->method));
}

/** What became of it afterwards: dropped from the record, undone. */
static void add_undone(struct builder *b, const struct cm_call_row *row)
{
    if (row->dropped)
        cm_buf_addf(&b->calls, ",\"dropped\":[%s%s%s]", row->dropped & CM_CALL_ARGS ? "\"args\"" : "",
                    row->dropped == (CM_CALL_ARGS | CM_CALL_OUTCOME) ? "," : "",
                    row->dropped & CM_CALL_OUTCOME ? "\"result\"" : "");
    if (!b->o->record)
        return;
    if (row->reverted_at)
        cm_buf_addf(&b->calls, ",\"revertedAt\":%" PRId64, row->reverted_at);
    else if (row->revert_started_at)
        cm_buf_addf(&b->calls, ",\"revertSentAt\":%" PRId64, row->revert_started_at);
    if (*row->revert_by && (row->reverted_at || row->revert_started_at)) {
        cm_buf_add_z(&b->calls, ",\"revertedBy\":");
        cm_json_write_string(&b->calls, cm_str_of(row->revert_by));
    }
    if (*row->revert_error) {
        cm_buf_add_z(&b->calls, ",\"revertError\":");
        cm_json_write_string(&b->calls, cm_str_of(row->revert_error));
    }
}

static void add_text(struct cm_buf *out, const char *key, const char *text)
{
    if (!text || !*text)
        return;
    cm_buf_addf(out, ",\"%s\":", key);
    cm_json_write_string(out, cm_str_of(text));
}

/** Who decided and why; and where other arguments were sent, those that the program gave. */
static void add_decision(struct builder *b, const struct cm_call_row *row)
{
    cm_autobuf asked = CM_BUF_INIT(PART_MAX_BYTES);

    if (!row->decided_at)
        return;
    cm_buf_addf(&b->calls, ",\"decidedAt\":%" PRId64, row->decided_at);
    add_text(&b->calls, "decidedBy", row->decided_by);
    add_text(&b->calls, "reason", row->reason);
    if (!row->asked_hash || !*row->asked_hash || !add_value(b, row->asked, "args", row->seq, &asked))
        return;
    cm_buf_add_z(&b->calls, ",\"asked\":");
    cm_buf_add_str(&b->calls, cm_buf_str(&asked));
}

static void add_call(struct builder *b, const struct cm_call_row *row)
{
    uint64_t bytes = 0, shown = 0;

    cm_buf_add_z(&b->calls, b->n_calls++ ? ",{" : "[{");
    add_name(&b->calls, row);
    if (row->kind != CM_CALL_STEP)
        add_call_value(b, "args", row, row->args, &bytes, &shown);
    cm_buf_addf(&b->calls, ",\"state\":\"%s\"", cm_call_state_text(row->state));
    if (row->has_outcome)
        add_call_value(b, row->failed ? "error" : "result", row, row->outcome, &bytes, &shown);
    cm_buf_addf(&b->calls, ",\"startedAt\":%" PRId64, row->started_at);
    if (row->ended_at)
        cm_buf_addf(&b->calls, ",\"endedAt\":%" PRId64, row->ended_at);
    add_undone(b, row);
    if (shown != bytes)
        cm_buf_addf(&b->calls,
                    ",\"truncated\":{\"code\":\"result_limit\",\"bytes\":%" PRIu64 ",\"shown\":%" PRIu64 "}",
                    bytes, shown);
    if (b->o->record) {
        cm_buf_addf(&b->calls, ",\"decision\":");
        cm_json_write_string(&b->calls, cm_str_of(row->decision));
        cm_buf_addf(&b->calls, ",\"rule\":");
        cm_json_write_string(&b->calls, cm_str_of(row->rule));
        if (row->line)
            cm_buf_addf(&b->calls, ",\"line\":%u,\"column\":%u", row->line, row->column);
        add_decision(b, row);
    }
    cm_buf_add_char(&b->calls, '}');
}

static void add_pending(struct builder *b, const struct cm_call_row *row)
{
    cm_buf_add_char(&b->pending, b->n_pending++ ? ',' : '[');
    if (!rt_pending_write(&b->pending, b->id, row, NULL))
        warnf(b, "The arguments of call %u cannot be shown, so it cannot be approved.", row->seq);
}

static bool on_call_row(void *user, const struct cm_call_row *row)
{
    struct builder *b = user;

    if (row->kind != CM_CALL_TOOL && row->kind != CM_CALL_STEP && row->kind != CM_CALL_RUN)
        return true;
    add_call(b, row);
    if (row->state == CM_CALL_PENDING && !row->decided_at)
        add_pending(b, row);
    return true;
}

/* ---- the rest ---- */

/** The sentence of `truncated`: how much there is, what is shown of it, which limit, what to do. */
static void add_cut_message(struct builder *b, const struct rt_cut *cut, uint64_t bytes)
{
    static const char *const units[] = {[RT_CUT_ELEMENTS] = "elements",
                                        [RT_CUT_MEMBERS] = "members",
                                        [RT_CUT_TEXT] = "bytes of text",
                                        [RT_CUT_BYTES] = "characters of base64"};
    cm_autobuf text = CM_BUF_INIT(8192);

    cm_buf_addf(&text,
                "The result has %" PRIu64 " bytes and is cut (limits.resultBytes is %" PRIu64 "): of %.*s ",
                bytes, b->o->result_bytes, CM_STR_ARG(cm_buf_str(&cut->at)));
    cm_buf_addf(&text, "the first %" PRIu64 " of %" PRIu64 " %s are shown", cut->shown, cut->items,
                units[cut->unit]);
    if (cut->left_out.len)
        cm_buf_addf(&text, "; left out behind it: %.*s", CM_STR_ARG(cm_buf_str(&cut->left_out)));
    cm_buf_addf(
        &text,
        ". Return less, for example only the fields or rows that are needed, or a page of them; the record "
        "has it whole: codemode executions %s",
        b->id);
    cm_buf_add_z(&b->truncated, "\"code\":\"result_limit\",\"message\":");
    cm_json_write_string(&b->truncated, cm_buf_str(&text));
}

static void add_cut(struct builder *b, const struct rt_cut *cut, uint64_t bytes, uint64_t shown)
{
    add_cut_message(b, cut, bytes);
    cm_buf_addf(&b->truncated, ",\"bytes\":%" PRIu64 ",\"shown\":%" PRIu64 ",\"at\":", bytes, shown);
    cm_json_write_string(&b->truncated, cm_buf_str(&cut->at));
    if (cut->unit == RT_CUT_ELEMENTS || cut->unit == RT_CUT_MEMBERS)
        cm_buf_addf(&b->truncated, ",\"items\":%" PRIu64 ",\"shownItems\":%" PRIu64, cut->items, cut->shown);
}

/** A text alone is measured and cut as what it says, without quotes and escapes. */
static void cut_text(struct builder *b, struct cm_str text)
{
    size_t shown = cm_utf8_cut(text, b->o->result_bytes);
    struct rt_cut cut = {.at = CM_BUF_INIT(16), .unit = RT_CUT_TEXT, .items = text.len, .shown = shown};

    cm_json_write_string(&b->result, cm_str_mk(text.ptr, shown));
    cm_buf_add_z(&cut.at, "result");
    if (shown < text.len) /* otherwise it fits, only its quotes and escapes do not: nothing is missing */
        add_cut(b, &cut, text.len, shown);
    rt_cut_done(&cut);
}

static void cut_result(struct builder *b, struct cm_str json)
{
    cm_auto(yyjson_doc) doc = NULL;
    struct rt_cut cut = {0};

    if (json.ptr[0] == '"' && cm_json_parse(json, CM_JSON_STRICT, &doc, NULL) == CM_OK) {
        cut_text(b, cm_json_str(yyjson_doc_get_root(doc)));
    } else if (json.ptr[0] == '{' || json.ptr[0] == '[') {
        rt_cut_json(json, b->o->result_bytes, "result", &b->result, &cut);
        add_cut(b, &cut, json.len, b->result.len);
    } else { /* a number: no limit is as small */
        cm_buf_add_str(&b->result, json);
    }
    rt_cut_done(&cut);
}

static void add_result(struct builder *b, const struct cm_exec_row *row)
{
    cm_autobuf json = CM_BUF_INIT(PART_MAX_BYTES);

    if (b->o->told.len)
        cm_buf_add_str(&json, b->o->told);
    else if (!row->has_result || !add_value(b, row->result, "result", 0, &json))
        return;
    if (b->o->result_bytes && json.len > b->o->result_bytes)
        cut_result(b, cm_buf_str(&json));
    else
        cm_buf_add_str(&b->result, cm_buf_str(&json));
}

/** An array of the record, or NULL. */
static yyjson_val *parse_array(struct builder *b, struct cm_str json, const char *what, yyjson_doc **doc)
{
    if (json.len == 0)
        return NULL;
    if (cm_json_parse(json, CM_JSON_STRICT, doc, NULL) != CM_OK ||
        !yyjson_is_arr(yyjson_doc_get_root(*doc))) {
        warnf(b, "The recorded %s cannot be read.", what);
        return NULL;
    }
    return yyjson_doc_get_root(*doc);
}

/** The entry that says how much was dropped (finish.c). */
static void add_log_limit(struct builder *b, yyjson_val *entry)
{
    uint64_t bytes = yyjson_get_uint(cm_json_get(entry, "bytes"));
    uint64_t shown = yyjson_get_uint(cm_json_get(entry, "shown"));
    char text[400];

    if (shown == bytes) /* what was dropped had no text to count */
        (void)snprintf(text, sizeof text,
                       "There were more console lines than are kept; the last of them were dropped "
                       "(limits.logBytes). Log less, for example a count or a summary.");
    else
        (void)snprintf(
            text, sizeof text,
            "The console output has %" PRIu64 " bytes; its first %" PRIu64
            " are kept, the rest was dropped (limits.logBytes). Log less, for example a count or a "
            "summary, or return what is needed.",
            bytes, shown);
    cm_buf_addf(&b->truncated,
                "%s\"logs\":{\"code\":\"log_limit\",\"message\":", b->truncated.len ? "," : "");
    cm_json_write_string(&b->truncated, cm_str_of(text));
    cm_buf_addf(&b->truncated, ",\"bytes\":%" PRIu64 ",\"shown\":%" PRIu64 "}", bytes, shown);
}

static void add_log(struct builder *b, yyjson_val *entry, bool first)
{
    const char *level = cm_json_get_z(entry, "level");
    struct cm_str text = cm_json_str(cm_json_get(entry, "text"));
    cm_autobuf line = CM_BUF_INIT(text.len + 64);

    if (level && (cm_z_eq(level, "warn") || cm_z_eq(level, "error")))
        cm_buf_addf(&line, "[%s] ", level);
    cm_buf_add_str(&line, text);
    cm_buf_add_char(&b->logs, first ? '[' : ',');
    cm_json_write_string(&b->logs, cm_buf_str(&line));
}

static void add_logs(struct builder *b, struct cm_str json)
{
    cm_auto(yyjson_doc) doc = NULL;
    yyjson_val *list = parse_array(b, json, "console output", &doc), *v;
    yyjson_arr_iter it;
    bool first = true;

    if (!list)
        return;
    yyjson_arr_iter_init(list, &it);
    while ((v = yyjson_arr_iter_next(&it))) {
        if (yyjson_is_uint(cm_json_get(v, "bytes"))) {
            add_log_limit(b, v);
            continue;
        }
        add_log(b, v, first);
        first = false;
    }
    if (!first)
        cm_buf_add_char(&b->logs, ']');
}

static void add_warnings(struct builder *b, struct cm_str json)
{
    cm_auto(yyjson_doc) doc = NULL;
    yyjson_val *list = parse_array(b, json, "warnings", &doc), *v;
    yyjson_arr_iter it;

    if (!list)
        return;
    yyjson_arr_iter_init(list, &it);
    while ((v = yyjson_arr_iter_next(&it)))
        if (yyjson_is_str(v))
            warn(b, cm_json_str(v));
}

static void add_error(struct builder *b, struct cm_str json)
{
    cm_auto(yyjson_doc) doc = NULL;

    if (json.len == 0)
        return;
    if (cm_json_parse(json, CM_JSON_STRICT, &doc, NULL) == CM_OK && yyjson_is_obj(yyjson_doc_get_root(doc)))
        cm_json_write(&b->error, yyjson_doc_get_root(doc));
    else
        cm_buf_add_z(&b->error, "{\"name\":\"Error\",\"message\":\"The recorded error cannot be read.\"}");
}

static void add_part(struct cm_buf *out, const char *key, const struct cm_buf *part)
{
    if (part->len == 0)
        return;
    cm_buf_addf(out, ",\"%s\":", key);
    cm_buf_add_str(out, cm_buf_str(part));
}

static void add_record(struct cm_buf *out, const struct cm_exec_row *row)
{
    bool appended = false;
    cm_autobuf input = CM_BUF_INIT(PART_MAX_BYTES);

    cm_buf_add_z(out, ",\"runtime\":");
    cm_json_write_string(out, cm_str_of(row->runtime));
    cm_buf_add_z(out, ",\"code\":");
    cm_json_write_string(out, row->code);
    if (cm_value_to_reader_json(row->input, &input, &appended, NULL) == CM_OK && appended)
        add_part(out, "input", &input);
    cm_buf_addf(out, ",\"createdAt\":%" PRId64 ",\"updatedAt\":%" PRId64, row->created_at, row->updated_at);
    if (row->ended_at)
        cm_buf_addf(out, ",\"endedAt\":%" PRId64, row->ended_at);
}

static void assemble(const struct builder *b, const struct cm_exec_row *row, struct cm_buf *out)
{
    cm_buf_addf(out, "{\"status\":\"%s\",\"executionId\":", cm_exec_state_text(row->state));
    cm_json_write_string(out, cm_str_of(row->id));
    if (b->truncated.len) {
        cm_buf_add_z(out, ",\"truncated\":{");
        cm_buf_add_str(out, cm_buf_str(&b->truncated));
        cm_buf_add_char(out, '}');
    }
    add_part(out, "result", &b->result);
    add_part(out, "logs", &b->logs);
    add_part(out, "warnings", &b->warnings);
    add_part(out, "calls", &b->calls);
    add_part(out, "pending", &b->pending);
    add_part(out, "error", &b->error);
    if (b->o->record)
        add_record(out, row);
    cm_buf_add_char(out, '}');
}

cm_status rt_outcome_write(cm_store *store, const struct cm_exec_row *row, const struct rt_outcome_opts *o,
                           struct cm_buf *out, struct cm_err *err)
{
    struct builder b = {.id = row->id, .o = o, .budget = o->result_bytes ? o->result_bytes : UINT64_MAX};
    struct cm_buf *const parts[] = {&b.result,  &b.logs,  &b.warnings, &b.calls,
                                    &b.pending, &b.error, &b.truncated};
    cm_status st;

    for (size_t i = 0; i < CM_ARRAY_LEN(parts); i++)
        *parts[i] = CM_BUF_INIT(PART_MAX_BYTES);
    add_warnings(&b, row->warnings_json);
    if (o->warning[0])
        warn(&b, cm_str_of(o->warning));
    if (row->state == CM_EXEC_PAUSED && row->interruptions > RT_RESUMES_MAX)
        warn_interrupted(&b, row);
    add_result(&b, row);
    add_logs(&b, row->logs_json);
    add_error(&b, row->error_json);
    st = cm_store_calls(store, row->id, on_call_row, &b, err);
    cm_buf_add_z(&b.calls, b.n_calls ? "]" : "[]");
    if (b.n_pending)
        cm_buf_add_char(&b.pending, ']');
    if (b.n_warnings)
        cm_buf_add_char(&b.warnings, ']');
    if (st == CM_OK)
        assemble(&b, row, out);
    for (size_t i = 0; i < CM_ARRAY_LEN(parts); i++) {
        if (st == CM_OK)
            st = cm_buf_check(parts[i], "the outcome", err);
        cm_buf_done(parts[i]);
    }
    return st == CM_OK ? cm_buf_check(out, "the outcome", err) : st;
}
