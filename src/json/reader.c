/*
 * Values for those who are not programs: tools with a JSON schema (JSON.stringify's view), and readers of
 * output (forms that begin with '$', which no document can imitate because its own keys that begin with '$'
 * are shown with '$$').
 */
#include "json/internal.h"

#include "base/limits.h"

#include <math.h>
#include <stdio.h>

enum view { VIEW_TOOL, VIEW_READER };

struct walk {
    struct cm_marks marks;
    struct cm_buf *out;
    enum view view;
    unsigned depth; /* of what is written: a Map in a Map is deeper in the reader's form than in the value */
    struct cm_err *err;
};

static cm_status write_node(struct walk *w, yyjson_val *v, struct cm_mark_span span);

/* Days since 1970-01-01 to a date of the proleptic Gregorian calendar; eras of 400 years begin on 1 March. */
static void civil_from_days(int64_t days, int64_t *year, unsigned *month, unsigned *day)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    unsigned doe = (unsigned)(days - era * 146097);
    unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    unsigned mp = (5 * doy + 2) / 153;

    *day = doy - (153 * mp + 2) / 5 + 1;
    *month = mp < 10 ? mp + 3 : mp - 9;
    *year = (int64_t)yoe + era * 400 + (*month <= 2);
}

/* Date.prototype.toISOString, ECMA-262, 21.4.1.32. */
static void write_date(struct cm_buf *out, yyjson_val *v)
{
    int64_t ms = (int64_t)yyjson_get_num(v), year = 0;
    int64_t days = ms / 86400000 - (ms % 86400000 < 0);
    int64_t rest = ms - days * 86400000;
    unsigned month = 0, day = 0;

    if (yyjson_is_null(v)) {
        cm_buf_add_z(out, "null");
        return;
    }
    civil_from_days(days, &year, &month, &day);
    if (year >= 0 && year <= 9999)
        cm_buf_addf(out, "\"%04lld", (long long)year);
    else
        cm_buf_addf(out, "\"%c%06lld", year < 0 ? '-' : '+', (long long)llabs(year));
    cm_buf_addf(out, "-%02u-%02uT%02lld:%02lld:%02lld.%03lldZ\"", month, day, (long long)(rest / 3600000),
                (long long)(rest / 60000 % 60), (long long)(rest / 1000 % 60), (long long)(rest % 1000));
}

static enum cm_mark_kind peek(struct walk *w, struct cm_mark_span span)
{
    return cm_marks__here(&w->marks, &span);
}

static void write_key(struct walk *w, struct cm_str key)
{
    if (w->view == VIEW_TOOL || key.len == 0 || key.ptr[0] != '$') {
        cm_json__write_valid_string(w->out, key);
    } else {
        cm_autobuf doubled = CM_BUF_INIT(key.len + 1);
        cm_buf_add_char(&doubled, '$');
        cm_buf_add_str(&doubled, key);
        cm_json__write_valid_string(w->out, cm_buf_str(&doubled));
    }
    cm_buf_add_char(w->out, ':');
}

static cm_status write_object(struct walk *w, yyjson_val *v, struct cm_mark_span span)
{
    yyjson_val *key, *val;
    size_t i, max;
    bool first = true;

    cm_buf_add_char(w->out, '{');
    yyjson_obj_foreach(v, i, max, key, val)
    {
        struct cm_mark_span below = cm_marks__key(&w->marks, span, cm_json_str(key));
        if (peek(w, below) == CM_MARK_UNDEFINED)
            continue;
        if (!first)
            cm_buf_add_char(w->out, ',');
        first = false;
        write_key(w, cm_json_str(key));
        cm_status st = write_node(w, val, below);
        if (st != CM_OK)
            return st;
    }
    cm_buf_add_char(w->out, '}');
    return CM_OK;
}

static cm_status write_array(struct walk *w, yyjson_val *v, struct cm_mark_span span)
{
    yyjson_val *val;
    size_t i, max;

    cm_buf_add_char(w->out, '[');
    yyjson_arr_foreach(v, i, max, val)
    {
        if (i)
            cm_buf_add_char(w->out, ',');
        cm_status st = write_node(w, val, cm_marks__index(&w->marks, span, i));
        if (st != CM_OK)
            return st;
    }
    cm_buf_add_char(w->out, ']');
    return CM_OK;
}

static cm_status write_plain(struct walk *w, yyjson_val *v, struct cm_mark_span span)
{
    cm_status st;

    if (!yyjson_is_ctn(v)) {
        cm_json_write_canonical(w->out, v);
        return CM_OK;
    }
    if (w->depth >= CM_VALUE_MAX_DEPTH)
        return cm_err_set(w->err, CM_E_LIMIT, "nested deeper than %d levels when written as JSON",
                          CM_VALUE_MAX_DEPTH);
    w->depth++;
    st = yyjson_is_obj(v) ? write_object(w, v, span) : write_array(w, v, span);
    w->depth--;
    return st;
}

/* {"$name": content} */
static cm_status write_wrapped(struct walk *w, const char *name, yyjson_val *v, struct cm_mark_span span)
{
    cm_buf_addf(w->out, "{\"$%s\":", name);
    w->depth++;
    cm_status st = write_plain(w, v, span);
    w->depth--;
    cm_buf_add_char(w->out, '}');
    return st;
}

static void write_view(struct walk *w, enum cm_mark_kind kind, yyjson_val *v)
{
    if (w->view == VIEW_TOOL) {
        cm_json__write_valid_string(w->out, cm_json_str(v));
        return;
    }
    cm_buf_add_z(w->out, "{\"$bytes\":");
    cm_json__write_valid_string(w->out, cm_json_str(v));
    if (kind != CM_MARK_BYTES && kind != CM_MARK_ARRAYBUFFER)
        cm_buf_addf(w->out, ",\"$type\":\"%s\"", cm_marks__name(kind));
    cm_buf_add_char(w->out, '}');
}

static cm_status write_marked(struct walk *w, enum cm_mark_kind kind, yyjson_val *v, struct cm_mark_span span)
{
    bool tool = w->view == VIEW_TOOL;

    switch (kind) {
    case CM_MARK_NONE:
        return write_plain(w, v, span);
    case CM_MARK_UNDEFINED:
        cm_buf_add_z(w->out, "null");
        return CM_OK;
    case CM_MARK_NAN:
        cm_buf_add_z(w->out, tool ? "null" : "\"NaN\"");
        return CM_OK;
    case CM_MARK_INF:
        cm_buf_add_z(w->out, tool ? "null" : "\"Infinity\"");
        return CM_OK;
    case CM_MARK_NEG_INF:
        cm_buf_add_z(w->out, tool ? "null" : "\"-Infinity\"");
        return CM_OK;
    case CM_MARK_NEG_ZERO:
        cm_buf_add_z(w->out, "0");
        return CM_OK;
    case CM_MARK_BIGINT:
        if (tool)
            cm_buf_add_str(w->out, cm_json_str(v));
        else
            cm_json__write_valid_string(w->out, cm_json_str(v));
        return CM_OK;
    case CM_MARK_DATE:
        write_date(w->out, v);
        return CM_OK;
    case CM_MARK_MAP:
    case CM_MARK_SET:
        if (!tool)
            return write_wrapped(w, cm_marks__name(kind), v, span);
        cm_buf_add_z(w->out, "{}");
        return CM_OK;
    case CM_MARK_ERROR:
        return tool ? write_plain(w, v, span) : write_wrapped(w, "error", v, span);
    case CM_MARK_BYTES:
    case CM_MARK_ARRAYBUFFER:
    case CM_MARK_INT8:
    case CM_MARK_UINT8C:
    case CM_MARK_INT16:
    case CM_MARK_UINT16:
    case CM_MARK_INT32:
    case CM_MARK_UINT32:
    case CM_MARK_FLOAT32:
    case CM_MARK_FLOAT64:
    case CM_MARK_BIGINT64:
    case CM_MARK_BIGUINT64:
    case CM_MARK_DATAVIEW:
        write_view(w, kind, v);
        return CM_OK;
    case CM_MARK_COUNT_:
        break;
    }
    return cm_err_set(w->err, CM_E_INTERNAL, "mark %d", (int)kind);
}

static cm_status write_node(struct walk *w, yyjson_val *v, struct cm_mark_span span)
{
    const char *why = "";

    if (w->out->failed)
        return CM_OK;
    enum cm_mark_kind kind = cm_marks__here(&w->marks, &span);
    if (kind != CM_MARK_NONE && !cm_marks__fits(kind, v, &why))
        return cm_err_set(w->err, CM_E_INVALID, "a value marked %s must stand for %s, but is %s",
                          cm_marks__name(kind), why, cm_json_kind(v));
    return write_marked(w, kind, v, span);
}

static cm_status write_value(enum view view, struct cm_value v, struct cm_buf *out, bool *undefined,
                             struct cm_err *err)
{
    cm_auto(yyjson_doc) doc = NULL;
    struct walk w = {.out = out, .view = view, .err = err};
    cm_status st = cm_json_parse(v.json, CM_JSON_STRICT, &doc, err);

    if (st != CM_OK)
        return st;
    st = cm_marks__load(&w.marks, v.marks, err);
    if (st != CM_OK)
        return st;
    *undefined = peek(&w, cm_marks__all(&w.marks)) == CM_MARK_UNDEFINED;
    if (!*undefined)
        st = write_node(&w, yyjson_doc_get_root(doc), cm_marks__all(&w.marks));
    cm_marks__done(&w.marks);
    return st;
}

static bool has_marks(struct cm_value v)
{
    return v.marks.len > 0 && !cm_str_eq(v.marks, CM_STR("{}"));
}

cm_status cm_value_to_tool_json(struct cm_value v, struct cm_buf *out, struct cm_err *err)
{
    bool undefined = v.json.len == 0;
    cm_status st = CM_OK;

    if (!undefined && !has_marks(v))
        cm_buf_add_str(out, v.json);
    else if (!undefined)
        st = write_value(VIEW_TOOL, v, out, &undefined, err);
    if (st != CM_OK)
        return st;
    if (undefined)
        cm_buf_add_z(out, "{}");
    return cm_buf_check(out, "the value", err);
}

cm_status cm_value_to_reader_json(struct cm_value v, struct cm_buf *out, bool *appended, struct cm_err *err)
{
    bool undefined = v.json.len == 0;
    cm_status st = CM_OK;

    /* Without marks and without a '$' behind a quote (plain or escaped) the text is what a reader sees. */
    if (!undefined && !has_marks(v) && !memmem(v.json.ptr, v.json.len, "\"$", 2) &&
        !memmem(v.json.ptr, v.json.len, "\"\\u0024", 7))
        cm_buf_add_str(out, v.json);
    else if (!undefined)
        st = write_value(VIEW_READER, v, out, &undefined, err);
    if (st == CM_OK)
        st = cm_buf_check(out, "the value", err);
    if (st == CM_OK)
        *appended = !undefined;
    return st;
}
