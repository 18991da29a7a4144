/* Reading: yyjson with our limits, and messages that say where. */
#include "json/internal.h"

#include "base/limits.h"
#include "base/utf8.h"

#include <stdio.h>

/* Walk the values in the order in which yyjson stores them (a container directly before its content), so that
 * depth is known without recursion: ends[] holds where each open container ends. */
static bool too_deep(yyjson_doc *doc)
{
    yyjson_val *ends[CM_VALUE_MAX_DEPTH];
    size_t depth = 0;
    yyjson_val *v = yyjson_doc_get_root(doc);
    yyjson_val *end = v + yyjson_doc_get_val_count(doc);

    for (; v < end; v++) {
        while (depth > 0 && v >= ends[depth - 1])
            depth--;
        if (!yyjson_is_ctn(v))
            continue;
        if (depth == CM_VALUE_MAX_DEPTH)
            return true;
        ends[depth++] = unsafe_yyjson_get_next(v);
    }
    return false;
}

struct open_ctn {
    bool is_object, wants_key;
    size_t index;
    struct cm_str key;
};

/* The end of the string whose opening quote is at i, or `pos` when it is not over before. */
static size_t string_end(struct cm_str text, size_t i, size_t pos)
{
    for (i++; i < pos && text.ptr[i] != '"'; i++)
        if (text.ptr[i] == '\\')
            i++;
    return i < pos ? i : pos;
}

/* A broken text has no tree: follow its brackets and keys as far as the error. */
void cm_json__write_pointer_at(struct cm_buf *out, struct cm_str text, size_t pos)
{
    struct open_ctn stack[CM_VALUE_MAX_DEPTH];
    size_t depth = 0;

    for (size_t i = 0; i < pos && i < text.len; i++) {
        struct open_ctn *top = depth ? &stack[depth - 1] : NULL;
        char c = text.ptr[i];
        if (c == '"') {
            size_t end = string_end(text, i, pos);
            if (end < pos && top && top->is_object && top->wants_key)
                top->key = cm_str_mk(text.ptr + i + 1, end - i - 1);
            i = end;
        } else if (c == '{' || c == '[') {
            if (depth == CM_VALUE_MAX_DEPTH)
                return;
            stack[depth++] = (struct open_ctn){.is_object = c == '{', .wants_key = c == '{'};
        } else if ((c == '}' || c == ']') && depth > 0) {
            depth--;
        } else if (c == ',' && top) {
            top->index++;
            top->wants_key = top->is_object;
        } else if (c == ':' && top) {
            top->wants_key = false;
        }
    }
    for (size_t i = 0; i < depth; i++) {
        if (!stack[i].is_object)
            cm_buf_addf(out, "/%zu", stack[i].index);
        else if (!stack[i].wants_key)
            cm_json_write_pointer_token(out, stack[i].key);
    }
}

static int hex4(const char *p)
{
    int v = 0;

    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int d = c >= '0' && c <= '9'                 ? c - '0'
                : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                     : -1;
        if (d < 0)
            return -1;
        v = v * 16 + d;
    }
    return v;
}

/* The code unit of a \uXXXX at p, or -1. */
static int escape_unit(const char *p, const char *end)
{
    return end - p >= 6 && p[0] == '\\' && p[1] == 'u' ? hex4(p + 2) : -1;
}

/* A backslash outside a string is an error either way. */
char *cm_json_repair(struct cm_str text, size_t *len)
{
    char *copy = cm_utf8_repair(text, len);
    char *end = copy + *len;

    for (char *p = copy; p < end;) {
        if (*p != '\\') {
            p++;
            continue;
        }
        int unit = escape_unit(p, end);
        if (unit < 0xd800 || unit > 0xdfff) {
            p += 2;
            continue;
        }
        int low = unit < 0xdc00 ? escape_unit(p + 6, end) : -1;
        if (low >= 0xdc00 && low <= 0xdfff) {
            p += 12;
            continue;
        }
        memcpy(p + 2, "fffd", 4);
        p += 6;
    }
    return copy;
}

static bool is_surrogate_error(const yyjson_read_err *e)
{
    return e->code == YYJSON_READ_ERROR_INVALID_STRING && strstr(e->msg, "surrogate");
}

static cm_status explain(struct cm_str text, const yyjson_read_err *e, struct cm_err *err)
{
    size_t line = 1, column = 1, character = 0;

    if (e->code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
        return cm_err_set(err, CM_E_NOMEM, "no memory for a JSON text of %zu bytes", text.len);
    if (e->code == YYJSON_READ_ERROR_EMPTY_CONTENT || text.len == 0)
        return cm_err_set(err, CM_E_INVALID, "the text is empty, expected a JSON value");
    (void)yyjson_locate_pos(text.ptr, text.len, e->pos, &line, &column, &character);
    if (is_surrogate_error(e)) {
        cm_autobuf at = CM_BUF_INIT(512);
        cm_json__write_pointer_at(&at, text, e->pos);
        return cm_err_set(
            err, CM_E_INVALID,
            "line %zu, column %zu: the string at \"%.*s\" has a lone surrogate, which is no Unicode text; "
            "use toWellFormed() or a whole \\uD8xx\\uDCxx pair",
            line, column, CM_STR_ARG(cm_buf_str(&at)));
    }
    unsigned char c = e->pos < text.len ? (unsigned char)text.ptr[e->pos] : 0;
    if (c > 0x20 && c < 0x7f && e->code != YYJSON_READ_ERROR_UNEXPECTED_END)
        return cm_err_set(err, CM_E_INVALID, "line %zu, column %zu: %s, found '%c'", line, column, e->msg, c);
    return cm_err_set(err, CM_E_INVALID, "line %zu, column %zu: %s", line, column, e->msg);
}

static void *get_memory(void *ctx, size_t n)
{
    (void)ctx;
    return cm_any_malloc(n);
}

static void *get_more_memory(void *ctx, void *p, size_t old, size_t n)
{
    (void)ctx, (void)old;
    return cm_any_realloc(p, n);
}

static void give_memory_back(void *ctx, void *p)
{
    (void)ctx;
    free(p);
}

const yyjson_alc cm_json__memory = {get_memory, get_more_memory, give_memory_back, NULL};

cm_status cm_json_parse(struct cm_str text, unsigned flags, yyjson_doc **out, struct cm_err *err)
{
    yyjson_read_flag how = YYJSON_READ_NOFLAG;
    yyjson_read_err why = {0};
    cm_autofree char *repaired = NULL;
    cm_auto(yyjson_doc) doc = NULL;

    if (flags & CM_JSON_RELAXED)
        how |= YYJSON_READ_ALLOW_COMMENTS | YYJSON_READ_ALLOW_TRAILING_COMMAS;
    if (flags & CM_JSON_BIGNUM)
        how |= YYJSON_READ_BIGNUM_AS_RAW;
    if ((flags & (CM_JSON_RELAXED | CM_JSON_REPAIR)) && cm_str_has_prefix(text, CM_STR("\xef\xbb\xbf")))
        text = cm_str_mk(text.ptr + 3, text.len - 3);
    /* yyjson reads but never writes the text without YYJSON_READ_INSITU. */
    doc = yyjson_read_opts((char *)(uintptr_t)text.ptr, text.len, how, &cm_json__memory, &why);
    if (!doc && (flags & CM_JSON_REPAIR) && why.code == YYJSON_READ_ERROR_INVALID_STRING) {
        size_t len = 0;
        repaired = cm_json_repair(text, &len);
        doc = yyjson_read_opts(repaired, len, how, &cm_json__memory, &why);
        text = cm_str_mk(repaired, len);
    }
    if (!doc)
        return explain(text, &why, err);
    if (too_deep(doc))
        return cm_err_set(err, CM_E_LIMIT, "nested deeper than %d levels", CM_VALUE_MAX_DEPTH);
    *out = cm_steal(&doc);
    return CM_OK;
}
