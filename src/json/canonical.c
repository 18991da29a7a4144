/*
 * Canonical JSON, RFC 8785: no white space; keys sorted by UTF-16 code units (unless `keep_order`); numbers as ECMAScript prints
 * them; strings with the fewest escapes. With `marks` the writer also takes out of outside JSON what a double
 * cannot hold:
 *
 *   integer beyond 2^53 (text without point and exponent)   "decimal text"  marked bigint
 *   real beyond the range of a double                        null            marked inf or -inf
 *   negative zero                                            0               marked -0
 */
#include "json/internal.h"

#include <math.h>

#define SAFE_INTEGER   9007199254740992LL
#define PAIRS_ON_STACK 16

struct pair {
    yyjson_val *key, *val;
};

/** cm_buf_add_char where there is room, which is nearly always: most of what is written is between values. */
static inline void put(struct cm_buf *out, char c)
{
    if (out->failed || out->len + 1 >= out->cap) {
        cm_buf_add_char(out, c);
        return;
    }
    out->ptr[out->len++] = c;
    out->ptr[out->len] = '\0';
}

/* Lead bytes F0-F4 start characters that are surrogate pairs (D800-DFFF) in UTF-16, and sort there before EE
 * and EF. In valid UTF-8 two strings first differ either in two lead bytes or in two continuation bytes, so
 * mapping single bytes is enough. */
static unsigned utf16_rank(unsigned char c)
{
    return c < 0xee ? c : c >= 0xf0 ? c - 2u : c + 0x10u;
}

int cm_json__compare_keys(struct cm_str a, struct cm_str b)
{
    size_t n = a.len < b.len ? a.len : b.len;

    for (size_t i = 0; i < n; i++) {
        if (a.ptr[i] != b.ptr[i]) {
            unsigned x = utf16_rank((unsigned char)a.ptr[i]), y = utf16_rank((unsigned char)b.ptr[i]);
            return x < y ? -1 : 1;
        }
    }
    return a.len < b.len ? -1 : a.len > b.len;
}

/* Equal keys keep the order of the document, so that the last is the one that counts. */
static int compare_pairs(const void *pa, const void *pb)
{
    const struct pair *a = pa, *b = pb;
    int c = cm_json__compare_keys(cm_json_str(a->key), cm_json_str(b->key));

    return c ? c : a->key < b->key ? -1 : 1;
}

static void sort_pairs(struct pair *p, size_t n)
{
    size_t i = 1;

    while (i < n && compare_pairs(&p[i - 1], &p[i]) < 0)
        i++;
    if (i < n)
        qsort(p, n, sizeof *p, compare_pairs);
}

static void mark(struct cm_json__canon *w, const struct cm_json__frame *at, enum cm_mark_kind kind)
{
    cm_marks_out__add(w->marks, at, kind);
}

/* Raw text is an integer beyond 64 bits, or a real beyond a double. */
static void write_raw(struct cm_json__canon *w, yyjson_val *v, const struct cm_json__frame *at)
{
    struct cm_str s = cm_str_mk(yyjson_get_raw(v), yyjson_get_len(v));
    bool integer = !memchr(s.ptr, '.', s.len) && !memchr(s.ptr, 'e', s.len) && !memchr(s.ptr, 'E', s.len);

    if (!w->marks) {
        cm_json_write_number(w->out, strtod(s.ptr, NULL));
    } else if (integer) {
        cm_json_write_string(w->out, s);
        mark(w, at, CM_MARK_BIGINT);
    } else {
        cm_buf_add_z(w->out, "null");
        mark(w, at, s.ptr[0] == '-' ? CM_MARK_NEG_INF : CM_MARK_INF);
    }
}

static void write_number(struct cm_json__canon *w, yyjson_val *v, const struct cm_json__frame *at)
{
    if (yyjson_is_real(v)) {
        double d = yyjson_get_real(v);
        if (w->marks && d == 0 && signbit(d))
            mark(w, at, CM_MARK_NEG_ZERO);
        cm_json_write_number(w->out, d);
        return;
    }
    bool negative = yyjson_is_sint(v);
    bool safe = negative ? yyjson_get_sint(v) >= -SAFE_INTEGER : yyjson_get_uint(v) <= SAFE_INTEGER;
    if (safe || !w->marks) {
        /* yyjson keeps the text "-0" as a signed zero, and every other zero as an unsigned one. */
        if (w->marks && negative && yyjson_get_sint(v) == 0)
            mark(w, at, CM_MARK_NEG_ZERO);
        if (safe)
            cm_json__write_int(w->out, negative ? yyjson_get_sint(v) : (int64_t)yyjson_get_uint(v));
        else
            cm_json_write_number(w->out, yyjson_get_num(v));
        return;
    }
    if (negative)
        cm_buf_addf(w->out, "\"%lld\"", (long long)yyjson_get_sint(v));
    else
        cm_buf_addf(w->out, "\"%llu\"", (unsigned long long)yyjson_get_uint(v));
    mark(w, at, CM_MARK_BIGINT);
}

static cm_status write_value(struct cm_json__canon *w, yyjson_val *v, const struct cm_json__frame *at);

static cm_status write_array(struct cm_json__canon *w, yyjson_val *v, const struct cm_json__frame *at)
{
    struct cm_json__frame here = {.up = at};
    yyjson_val *item;
    size_t i, max;
    cm_status st;

    put(w->out, '[');
    yyjson_arr_foreach(v, i, max, item)
    {
        if (i)
            put(w->out, ',');
        here.index = i;
        st = write_value(w, item, &here);
        if (st != CM_OK)
            return st;
    }
    put(w->out, ']');
    return CM_OK;
}

static cm_status duplicate(struct cm_json__canon *w, yyjson_val *key, const struct cm_json__frame *at)
{
    cm_autobuf where = CM_BUF_INIT(512);
    struct cm_json__frame here = {.up = at, .key = key};

    cm_json__write_pointer(&where, &here);
    return cm_err_set(w->err, CM_E_INVALID, "\"%.*s\" is given twice in one object",
                      CM_STR_ARG(cm_buf_str(&where)));
}

/* In a document keys lie in memory in their order. */
static int compare_places(const void *pa, const void *pb)
{
    const struct pair *a = pa, *b = pb;

    return a->key < b->key ? -1 : a->key > b->key;
}

/* Few names are compared with one another: to sort them, and to sort them back, takes longer. */
static bool all_differ(const struct pair *p, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        size_t len = yyjson_get_len(p[i].key);

        for (size_t k = 0; k < i; k++) {
            if (yyjson_get_len(p[k].key) == len &&
                memcmp(yyjson_get_str(p[k].key), yyjson_get_str(p[i].key), len) == 0)
                return false;
        }
    }
    return true;
}

/* Sort, and let of equal keys the first give the place and the last the value, as JSON.parse does. Sets *n. */
static cm_status order_pairs(struct cm_json__canon *w, struct pair *p, size_t *n,
                             const struct cm_json__frame *at)
{
    size_t kept = 0;

    if (w->keep_order && *n <= PAIRS_ON_STACK && all_differ(p, *n))
        return CM_OK;
    sort_pairs(p, *n);
    for (size_t i = 0; i < *n; i++) {
        if (kept == 0 || !cm_str_eq(cm_json_str(p[kept - 1].key), cm_json_str(p[i].key)))
            p[kept++] = p[i];
        else if (w->refuse_duplicates)
            return duplicate(w, p[i].key, at);
        else
            p[kept - 1].val = p[i].val;
    }
    *n = kept;
    if (w->keep_order)
        qsort(p, kept, sizeof *p, compare_places);
    return CM_OK;
}

static cm_status write_pairs(struct cm_json__canon *w, struct pair *p, size_t n,
                             const struct cm_json__frame *at)
{
    struct cm_json__frame here = {.up = at};
    cm_status st = order_pairs(w, p, &n, at);

    if (st != CM_OK)
        return st;
    put(w->out, '{');
    for (size_t i = 0; i < n; i++) {
        if (i)
            put(w->out, ',');
        cm_json__write_valid_string(w->out, cm_json_str(p[i].key));
        put(w->out, ':');
        here.key = p[i].key;
        st = write_value(w, p[i].val, &here);
        if (st != CM_OK)
            return st;
    }
    put(w->out, '}');
    return CM_OK;
}

static cm_status write_object(struct cm_json__canon *w, yyjson_val *v, const struct cm_json__frame *at)
{
    struct pair few[PAIRS_ON_STACK];
    cm_autofree struct pair *many = NULL;
    struct pair *p = few;
    size_t n = yyjson_obj_size(v);
    yyjson_val *key, *val;
    size_t i, max;

    if (n > PAIRS_ON_STACK) {
        many = cm_try_malloc(n * sizeof *many);
        if (!many)
            return cm_err_set(w->err, CM_E_NOMEM, "no memory to sort an object of %zu members", n);
        p = many;
    }
    yyjson_obj_foreach(v, i, max, key, val)
    {
        p[i] = (struct pair){key, val};
    }
    return write_pairs(w, p, n, at);
}

static cm_status write_value(struct cm_json__canon *w, yyjson_val *v, const struct cm_json__frame *at)
{
    /* A full buffer takes nothing more; stop instead of walking a large document to its end. */
    if (w->out->failed || (w->marks && w->marks->text.failed))
        return CM_OK;
    switch (yyjson_get_type(v)) {
    case YYJSON_TYPE_OBJ:
        return write_object(w, v, at);
    case YYJSON_TYPE_ARR:
        return write_array(w, v, at);
    case YYJSON_TYPE_STR:
        cm_json__write_valid_string(w->out, cm_json_str(v));
        return CM_OK;
    case YYJSON_TYPE_RAW:
        write_raw(w, v, at);
        return CM_OK;
    case YYJSON_TYPE_NUM:
        write_number(w, v, at);
        return CM_OK;
    case YYJSON_TYPE_BOOL:
        cm_buf_add_z(w->out, yyjson_get_bool(v) ? "true" : "false");
        return CM_OK;
    default:
        cm_buf_add_z(w->out, "null");
        return CM_OK;
    }
}

cm_status cm_json__write_canon(struct cm_json__canon *w, yyjson_val *v)
{
    return write_value(w, v, NULL);
}

void cm_json_write_canonical(struct cm_buf *out, yyjson_val *v)
{
    struct cm_json__canon w = {.out = out};

    if (cm_json__write_canon(&w, v) != CM_OK)
        out->failed = true;
}
