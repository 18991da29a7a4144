/* Marks: a flat object from JSON Pointer to kind, kept beside the data. */
#include "json/internal.h"

#include <ctype.h>
#include <math.h>

#define DATE_MAX_MS 8.64e15 /* ECMA-262, 21.4.1.1 */

struct kind_row {
    const char *name;
    enum cm_json__standin standin;
    unsigned element_bytes;
};

static const struct kind_row kinds[CM_MARK_COUNT_] = {
#define KIND_ROW(id, name, standin, bytes) [CM_MARK_##id] = {name, standin, bytes},
    CM_MARK_MAP(KIND_ROW)
#undef KIND_ROW
};

const char *cm_marks__name(enum cm_mark_kind kind)
{
    return kinds[kind].name ? kinds[kind].name : "";
}

static enum cm_mark_kind find_kind(struct cm_str name)
{
    for (int i = 1; i < CM_MARK_COUNT_; i++)
        if (cm_str_eq_z(name, kinds[i].name))
            return (enum cm_mark_kind)i;
    return CM_MARK_NONE;
}

/* The next unit of a pointer: a byte of a token, or TOKEN_END at '/', or POINTER_END. Ends sort first, so
 * that a node stands before its children and a token before longer ones. */
enum { POINTER_END = -2, TOKEN_END = -1 };

static int next_unit(struct cm_str s, size_t *i)
{
    if (*i >= s.len)
        return POINTER_END;
    unsigned char c = (unsigned char)s.ptr[(*i)++];
    if (c == '/')
        return TOKEN_END;
    if (c == '~')
        return s.ptr[(*i)++] == '1' ? '/' : '~';
    return c;
}

static int compare_marks(const void *pa, const void *pb)
{
    const struct cm_mark *a = pa, *b = pb;
    size_t i = 0, j = 0;

    for (;;) {
        int x = next_unit(a->pointer, &i), y = next_unit(b->pointer, &j);
        if (x != y)
            return x < y ? -1 : 1;
        if (x == POINTER_END)
            return 0;
    }
}

/* The token of a mark that begins behind `from`, against a plain key. */
static int compare_token(const struct cm_mark *m, size_t from, struct cm_str key)
{
    for (size_t i = from, k = 0;; k++) {
        int x = next_unit(m->pointer, &i);
        if (k == key.len)
            return x < 0 ? 0 : 1;
        int y = (unsigned char)key.ptr[k];
        if (x != y)
            return x < y ? -1 : 1;
    }
}

static bool is_pointer(struct cm_str s)
{
    if (s.len > 0 && s.ptr[0] != '/')
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] == '~' && (i + 1 == s.len || (s.ptr[i + 1] != '0' && s.ptr[i + 1] != '1')))
            return false;
    return true;
}

static cm_status fill(struct cm_marks *m, yyjson_val *root, struct cm_err *err)
{
    yyjson_val *key, *val;
    size_t i, max;

    yyjson_obj_foreach(root, i, max, key, val)
    {
        struct cm_str pointer = cm_json_str(key), name = cm_json_str(val);
        enum cm_mark_kind kind = find_kind(name);
        if (!is_pointer(pointer))
            return cm_err_set(err, CM_E_INVALID, "marks: \"%.*s\" is no JSON pointer", CM_STR_ARG(pointer));
        if (kind == CM_MARK_NONE)
            return cm_err_set(err, CM_E_INVALID, "marks: \"%.*s\" has the unknown kind \"%.*s\"",
                              CM_STR_ARG(pointer), CM_STR_ARG(name));
        m->v[m->n++] = (struct cm_mark){.pointer = pointer, .kind = kind};
    }
    if (m->n > 1)
        qsort(m->v, m->n, sizeof *m->v, compare_marks);
    for (i = 1; i < m->n; i++)
        if (cm_str_eq(m->v[i - 1].pointer, m->v[i].pointer))
            return cm_err_set(err, CM_E_INVALID, "marks: \"%.*s\" is given twice",
                              CM_STR_ARG(m->v[i].pointer));
    return CM_OK;
}

cm_status cm_marks__load(struct cm_marks *m, struct cm_str text, struct cm_err *err)
{
    cm_status st;

    *m = (struct cm_marks){0};
    if (text.len == 0 || cm_str_eq(text, CM_STR("{}")))
        return CM_OK;
    st = cm_json_parse(text, CM_JSON_STRICT, &m->doc, err);
    if (st != CM_OK)
        return cm_err_prefix(err, "marks");
    yyjson_val *root = yyjson_doc_get_root(m->doc);
    if (!yyjson_is_obj(root)) {
        st = cm_err_set(err, CM_E_INVALID, "marks: expected an object, found %s", cm_json_kind(root));
        goto undo;
    }
    m->v = cm_try_malloc((yyjson_obj_size(root) + 1) * sizeof *m->v);
    if (!m->v) {
        st = cm_err_set(err, CM_E_NOMEM, "no memory for %zu marks", yyjson_obj_size(root));
        goto undo;
    }
    st = fill(m, root, err);
    if (st == CM_OK)
        return CM_OK;
undo:
    cm_marks__done(m);
    return st;
}

void cm_marks__done(struct cm_marks *m)
{
    free(m->v);
    yyjson_doc_free(m->doc);
    *m = (struct cm_marks){0};
}

enum cm_mark_kind cm_marks__here(struct cm_marks *m, struct cm_mark_span *span)
{
    if (span->lo == span->hi || m->v[span->lo].pointer.len != span->skip)
        return CM_MARK_NONE;
    m->v[span->lo].hit = true;
    return m->v[span->lo++].kind;
}

struct cm_mark_span cm_marks__key(const struct cm_marks *m, struct cm_mark_span span, struct cm_str key)
{
    size_t lo = span.lo, hi = span.hi;

    if (lo == hi)
        return span;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (compare_token(&m->v[mid], span.skip + 1, key) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    size_t first = lo;
    for (hi = span.hi; lo < hi;) {
        size_t mid = lo + (hi - lo) / 2;
        if (compare_token(&m->v[mid], span.skip + 1, key) <= 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (first == lo)
        return (struct cm_mark_span){first, first, 0};
    size_t skip = span.skip + 1;
    while (skip < m->v[first].pointer.len && m->v[first].pointer.ptr[skip] != '/')
        skip++;
    return (struct cm_mark_span){first, lo, skip};
}

struct cm_mark_span cm_marks__index(const struct cm_marks *m, struct cm_mark_span span, size_t i)
{
    char digits[24];
    char *p = digits + sizeof digits;

    if (span.lo == span.hi)
        return span;
    do
        *--p = (char)('0' + i % 10);
    while (i /= 10);
    return cm_marks__key(m, span, cm_str_mk(p, (size_t)(digits + sizeof digits - p)));
}

static bool is_bigint(struct cm_str s)
{
    size_t i = s.len > 1 && s.ptr[0] == '-';

    if (i == s.len || (s.ptr[i] == '0' && s.len > 1))
        return false;
    for (; i < s.len; i++)
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
    return true;
}

static int base64_digit(unsigned char c)
{
    return isupper(c)   ? c - 'A'
           : islower(c) ? c - 'a' + 26
           : isdigit(c) ? c - '0' + 52
           : c == '+'   ? 62
           : c == '/'   ? 63
                        : -1;
}

/* RFC 4648, section 4, padded, and with zero bits behind the last byte, so that equal bytes have equal text.
 */
static bool is_base64(struct cm_str s, unsigned element_bytes)
{
    size_t pad = s.len && s.ptr[s.len - 1] == '=' ? 1 + (s.len > 1 && s.ptr[s.len - 2] == '=') : 0;
    size_t bytes = s.len / 4 * 3 - pad;

    if (s.len % 4 != 0)
        return false;
    for (size_t i = 0; i < s.len - pad; i++)
        if (base64_digit((unsigned char)s.ptr[i]) < 0)
            return false;
    if (pad && (base64_digit((unsigned char)s.ptr[s.len - pad - 1]) & (pad == 1 ? 3 : 15)) != 0)
        return false;
    return bytes % element_bytes == 0;
}

static bool is_pairs(yyjson_val *v)
{
    yyjson_val *item;
    size_t i, max;

    yyjson_arr_foreach(v, i, max, item)
    {
        if (yyjson_arr_size(item) != 2)
            return false;
    }
    return yyjson_is_arr(v);
}

static bool is_date(yyjson_val *v)
{
    double ms = yyjson_get_num(v);

    return yyjson_is_null(v) || (yyjson_is_num(v) && ms == trunc(ms) && fabs(ms) <= DATE_MAX_MS);
}

bool cm_marks__fits(enum cm_mark_kind kind, yyjson_val *v, const char **why)
{
    switch (kinds[kind].standin) {
    case STANDIN_NULL:
        *why = "null";
        return yyjson_is_null(v);
    case STANDIN_ZERO:
        *why = "0";
        return yyjson_is_num(v) && yyjson_get_num(v) == 0;
    case STANDIN_BIGINT:
        *why = "a decimal integer as text";
        return yyjson_is_str(v) && is_bigint(cm_json_str(v));
    case STANDIN_DATE:
        *why = "whole milliseconds within 8.64e15, or null";
        return is_date(v);
    case STANDIN_PAIRS:
        *why = "an array of [key, value] pairs";
        return is_pairs(v);
    case STANDIN_ARRAY:
        *why = "an array";
        return yyjson_is_arr(v);
    case STANDIN_OBJECT:
        *why = "an object";
        return yyjson_is_obj(v);
    case STANDIN_BASE64:
        *why = "padded base64 of whole elements";
        return yyjson_is_str(v) && is_base64(cm_json_str(v), kinds[kind].element_bytes);
    }
    return false;
}

static cm_status verify(struct cm_marks *m, yyjson_val *v, struct cm_mark_span span, struct cm_err *err)
{
    struct cm_str pointer = span.lo < span.hi ? m->v[span.lo].pointer : CM_STR("");
    enum cm_mark_kind kind = cm_marks__here(m, &span);
    const char *why = "";
    yyjson_val *key, *val;
    size_t i, max;

    if (kind != CM_MARK_NONE && !cm_marks__fits(kind, v, &why))
        return cm_err_set(err, CM_E_INVALID, "marks: \"%.*s\" is marked %s and must stand for %s, but is %s",
                          CM_STR_ARG(pointer), cm_marks__name(kind), why, cm_json_kind(v));
    if (span.lo == span.hi)
        return CM_OK;
    if (yyjson_is_obj(v)) {
        yyjson_obj_foreach(v, i, max, key, val)
        {
            struct cm_mark_span below = cm_marks__key(m, span, cm_json_str(key));
            cm_status st = below.lo < below.hi ? verify(m, val, below, err) : CM_OK;
            if (st != CM_OK)
                return st;
        }
        return CM_OK;
    }
    yyjson_arr_foreach(v, i, max, val)
    {
        struct cm_mark_span below = cm_marks__index(m, span, i);
        if (below.lo == below.hi)
            continue;
        if (kind == CM_MARK_MAP && m->v[below.lo].pointer.len == below.skip)
            return cm_err_set(err, CM_E_INVALID,
                              "marks: \"%.*s\" is the pair of a map and cannot be marked itself",
                              CM_STR_ARG(m->v[below.lo].pointer));
        cm_status st = verify(m, val, below, err);
        if (st != CM_OK)
            return st;
    }
    return CM_OK;
}

cm_status cm_marks__verify(struct cm_marks *m, yyjson_val *root, struct cm_err *err)
{
    cm_status st = m->n ? verify(m, root, cm_marks__all(m), err) : CM_OK;

    if (st != CM_OK)
        return st;
    for (size_t i = 0; i < m->n; i++)
        if (!m->v[i].hit)
            return cm_err_set(err, CM_E_INVALID, "marks: \"%.*s\" points at nothing in the value",
                              CM_STR_ARG(m->v[i].pointer));
    return CM_OK;
}

void cm_marks_out__add(struct cm_marks_out *m, const struct cm_json__frame *at, enum cm_mark_kind kind)
{
    size_t from = m->text.len;

    if (m->text.failed)
        return;
    if (m->n == m->cap) {
        size_t cap = m->cap ? m->cap * 2 : 16;
        struct cm_mark_entry *grown = cm_try_realloc(m->v, cap * sizeof *grown);
        if (!grown) {
            m->text.failed = true;
            return;
        }
        m->v = grown;
        m->cap = cap;
    }
    cm_json__write_pointer(&m->text, at);
    m->v[m->n++] = (struct cm_mark_entry){.at = from, .len = m->text.len - from, .kind = kind};
}

static int compare_entries(const void *pa, const void *pb, void *text)
{
    const struct cm_mark_entry *a = pa, *b = pb;
    const char *base = text;

    return cm_json__compare_keys(cm_str_mk(base + a->at, a->len), cm_str_mk(base + b->at, b->len));
}

cm_status cm_marks_out__write(struct cm_marks_out *m, struct cm_buf *out, struct cm_err *err)
{
    cm_status st = cm_buf_check(&m->text, "the marks of a value", err);

    if (st != CM_OK || m->n == 0)
        return st;
    if (m->n > 1)
        qsort_r(m->v, m->n, sizeof *m->v, compare_entries, m->text.ptr);
    for (size_t i = 0; i < m->n; i++) {
        cm_buf_add_char(out, i ? ',' : '{');
        cm_json__write_valid_string(out,
                                    cm_str_mk((m->text.ptr ? m->text.ptr : "") + m->v[i].at, m->v[i].len));
        cm_buf_add_char(out, ':');
        cm_json__write_valid_string(out, cm_str_of(cm_marks__name(m->v[i].kind)));
    }
    cm_buf_add_char(out, '}');
    return cm_buf_check(out, "the marks of a value", err);
}

void cm_marks_out__done(struct cm_marks_out *m)
{
    cm_buf_done(&m->text);
    free(m->v);
    *m = (struct cm_marks_out){0};
}
