/*
 * Cutting is taking a prefix of the text and closing what is open there. The walk follows the text as far as it
 * fits; at each open array or object it remembers where the last whole item ended.
 */
#include "runtime/cut.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "json/json.h"

#include <inttypes.h>

/* The reader's form has one level more than the value has: bytes are an object there. */
#define LEVELS_MAX     (CM_VALUE_MAX_DEPTH + 2)
#define PATH_MAX_BYTES 300
#define NAMES_MAX      8

struct level {
    bool object;
    size_t good;  /* behind the last whole item that fits, or behind the bracket */
    size_t items; /* whole ones */
    struct cm_str key;
};

struct walk {
    struct cm_str s;
    size_t max;
    struct level levels[LEVELS_MAX];
    size_t depth;
    size_t at;
    size_t text_end; /* a text did not fit: where it may be cut; 0: it was none */
};

void rt_cut_done(struct rt_cut *c)
{
    cm_buf_done(&c->at);
    cm_buf_done(&c->left_out);
}

/** Behind the closing quote of the string at i. */
static size_t skip_string(struct cm_str s, size_t i)
{
    for (i++; i < s.len && s.ptr[i] != '"'; i++)
        i += s.ptr[i] == '\\';
    return i < s.len ? i + 1 : s.len;
}

static size_t skip_scalar(struct cm_str s, size_t i)
{
    while (i < s.len && !strchr(",]}", s.ptr[i]))
        i++;
    return i;
}

/** Behind the value at i. */
static size_t skip_value(struct cm_str s, size_t i)
{
    size_t depth = 0;

    do {
        char c = i < s.len ? s.ptr[i] : '\0';

        if (c == '\0')
            return s.len;
        if (c == '"') {
            i = skip_string(s, i);
        } else if (c == '{' || c == '[') {
            depth++;
            i++;
        } else if (c == '}' || c == ']') {
            depth--;
            i++;
        } else {
            i = c == ',' || c == ':' ? i + 1 : skip_scalar(s, i);
        }
    } while (depth > 0);
    return i;
}

static struct cm_str unquoted(struct cm_str s, size_t from, size_t end)
{
    return cm_str_mk(s.ptr + from + 1, end - from - 2);
}

/** The last place before `limit` at which the string that begins at `from` can end. */
static size_t text_boundary(struct cm_str s, size_t from, size_t limit)
{
    size_t i = from + 1, last = i;

    while (i < limit && s.ptr[i] != '"') {
        if (s.ptr[i] != '\\')
            i++;
        else
            i += i + 1 < s.len && s.ptr[i + 1] == 'u' ? 6 : 2;
        while (i < s.len && ((unsigned char)s.ptr[i] & 0xc0) == 0x80)
            i++;
        if (i <= limit)
            last = i;
    }
    return last;
}

static bool is_bytes(const struct level *top)
{
    return top->object && cm_str_eq_z(top->key, "$bytes");
}

/** The value at w->at. False: it does not fit. */
static bool take_value(struct walk *w)
{
    struct level *top = &w->levels[w->depth - 1];
    char c = w->s.ptr[w->at];
    size_t end;

    if (c == '{' || c == '[') {
        if (w->depth == LEVELS_MAX || w->at + 1 + w->depth + 1 > w->max)
            return false;
        w->levels[w->depth++] = (struct level){.object = c == '{', .good = ++w->at};
        return true;
    }
    end = c == '"' ? skip_string(w->s, w->at) : skip_scalar(w->s, w->at);
    if (end + w->depth <= w->max) {
        w->at = top->good = end;
        top->items++;
        return true;
    }
    if (c == '"' && w->at + 2 + w->depth < w->max) {
        w->text_end = text_boundary(w->s, w->at, w->max - w->depth - 1);
        if (is_bytes(top)) /* whole groups of four, so that it is base64 still */
            w->text_end -= (w->text_end - w->at - 1) % 4;
    }
    return false;
}

/** Follow the text to the first value that does not fit. */
static void walk(struct walk *w)
{
    w->levels[w->depth++] = (struct level){.object = w->s.ptr[0] == '{', .good = ++w->at};
    while (w->at < w->s.len && w->depth > 0) {
        struct level *top = &w->levels[w->depth - 1];
        char c = w->s.ptr[w->at];

        if (c == '}' || c == ']') {
            /* It fits because what is in it and its closing bracket did. */
            w->at++;
            if (--w->depth > 0) {
                top[-1].good = w->at;
                top[-1].items++;
            }
            continue;
        }
        w->at += c == ',';
        if (top->object) {
            size_t end = skip_string(w->s, w->at);

            top->key = unquoted(w->s, w->at, end);
            w->at = end + 1;
        }
        if (!take_value(w))
            return;
    }
}

static void add_key(struct cm_buf *out, struct cm_str key)
{
    bool plain = key.len > 0;

    for (size_t i = 0; i < key.len; i++) {
        unsigned char c = (unsigned char)key.ptr[i];

        plain = plain && (c == '_' || c == '$' || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
                          (i > 0 && c >= '0' && c <= '9'));
    }
    if (plain)
        cm_buf_addf(out, ".%.*s", CM_STR_ARG(key));
    else
        cm_buf_addf(out, "[\"%.*s\"]", CM_STR_ARG(key));
}

/** The path of what is in the first n levels' items; from the right where it is too long. */
static void write_path(const struct walk *w, size_t n, const char *root, struct cm_buf *out)
{
    cm_autobuf whole = CM_BUF_INIT((size_t)1 << 20);

    cm_buf_add_z(&whole, root);
    for (size_t i = 0; i < n; i++) {
        if (w->levels[i].object)
            add_key(&whole, w->levels[i].key);
        else
            cm_buf_addf(&whole, "[%zu]", w->levels[i].items);
    }
    if (whole.len <= PATH_MAX_BYTES && !whole.failed)
        cm_buf_add_str(out, cm_buf_str(&whole));
    else
        cm_buf_addf(out, "%s, %zu levels deep", root, n);
}

/**
 * What stands behind i in an array or object, up to its end, which is returned: counted, and names of members
 * noted.
 */
static size_t pass_rest(struct cm_str s, size_t i, bool object, struct rt_cut *cut)
{
    while (i < s.len && s.ptr[i] != ']' && s.ptr[i] != '}') {
        i += s.ptr[i] == ',';
        if (object) {
            size_t end = skip_string(s, i);
            struct cm_str key = unquoted(s, i, end);

            cut->n_left_out++;
            if (cut->n_left_out <= NAMES_MAX && key.len <= 40)
                cm_buf_addf(&cut->left_out, "%s%.*s", cut->left_out.len ? ", " : "", CM_STR_ARG(key));
            i = end + 1;
        }
        i = skip_value(s, i);
        cut->items++;
    }
    return i < s.len ? i + 1 : i;
}

/** The same for the n levels around what ends at i. */
static void pass_outer(const struct walk *w, size_t i, size_t n, struct rt_cut *cut)
{
    uint64_t items = cut->items;

    while (n-- > 0)
        i = pass_rest(w->s, i, w->levels[n].object, cut);
    cut->items = items;
    if (cut->n_left_out > NAMES_MAX)
        cm_buf_addf(&cut->left_out, ", … (%" PRIu64 " members)", cut->n_left_out);
}

/** End the text at `end`, with n levels open. */
static void close_at(const struct walk *w, size_t end, bool in_text, size_t n, struct cm_buf *out)
{
    cm_buf_add(out, w->s.ptr, end);
    if (in_text)
        cm_buf_add_char(out, '"');
    while (n-- > 0)
        cm_buf_add_char(out, w->levels[n].object ? '}' : ']');
}

void rt_cut_json(struct cm_str json, size_t max_bytes, const char *root, struct cm_buf *out,
                 struct rt_cut *cut)
{
    struct walk *w = cm_new(struct walk);
    size_t n = 0;

    *w = (struct walk){.s = json, .max = max_bytes};
    cut->at = CM_BUF_INIT(PATH_MAX_BYTES + 64);
    cut->left_out = CM_BUF_INIT(1024);
    walk(w);
    while (n < w->depth && (!w->levels[n].items || w->levels[n].good + n + 1 < max_bytes / 2))
        n++;
    if (n == w->depth && w->text_end) {
        size_t end = skip_string(json, w->at);

        cut->unit = is_bytes(&w->levels[n - 1]) ? RT_CUT_BYTES : RT_CUT_TEXT;
        cut->items = end - w->at - 2;
        cut->shown = w->text_end - w->at - 1;
        write_path(w, n, root, &cut->at);
        pass_outer(w, end, n, cut);
        close_at(w, w->text_end, true, n, out);
    } else if (w->depth > 0) {
        const struct level *l = &w->levels[n == w->depth ? --n : n];

        cut->unit = l->object ? RT_CUT_MEMBERS : RT_CUT_ELEMENTS;
        cut->items = cut->shown = l->items;
        write_path(w, n, root, &cut->at);
        pass_outer(w, pass_rest(json, l->good, l->object, cut), n, cut);
        close_at(w, l->good, false, n + 1, out);
    }
    free(w);
}
