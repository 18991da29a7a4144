/*
 * YAML events are written down as JSON text, which is then parsed like any other. An anchor is a range of
 * that text and an alias a copy of it, so the maximum of one buffer bounds what aliases of aliases can do.
 *
 * A merge key (`<<`, from YAML 1.1 but common in descriptions) is written under a key that no document can
 * hold, and resolved afterwards in the documents that have one.
 */
#include "connector/yaml.h"

#include "base/limits.h"
#include "base/utf8.h"

#include <libfyaml.h>
#include <stdint.h>

/* No YAML text holds these characters: the reader refuses U+0001. */
#define MERGE_KEY   "\001<<"
#define ANCHORS_MAX 4096 /* each alias looks through them */

struct anchor {
    char *name;
    size_t start;
    size_t end; /* 0: still open */
};

struct frame {
    bool is_map;
    bool wants_key;
    bool any;
    size_t anchor; /* index + 1 into anchors, or 0 */
};

struct conv {
    struct fy_parser *parser;
    struct fy_diag *diag;
    struct cm_buf out;
    struct anchor *anchors;
    size_t n_anchors;
    struct frame stack[CM_VALUE_MAX_DEPTH];
    size_t depth;
    bool merges;
    struct cm_err *err;
};

static cm_status refuse(struct conv *c, struct fy_token *at, cm_status st, const char *what)
{
    const struct fy_mark *mark = at ? fy_token_start_mark(at) : NULL;

    if (!mark)
        return cm_err_set(c->err, st, "%s", what);
    return cm_err_set(c->err, st, "line %d, column %d: %s", mark->line + 1, mark->column + 1, what);
}

/* ---- scalars ---- */

static bool is_one_of(struct cm_str s, const char *const *words)
{
    for (; *words; words++)
        if (cm_str_eq_z(s, *words))
            return true;
    return false;
}

static size_t digits(struct cm_str s, size_t i, const char *set)
{
    while (i < s.len && s.ptr[i] && strchr(set, s.ptr[i]))
        i++;
    return i;
}

#define DECIMAL "0123456789"

/* Hexadecimal and octal integers of at most 64 bits, as decimal. */
static bool write_radix(struct cm_buf *out, struct cm_str s)
{
    bool hex = s.len > 2 && s.ptr[0] == '0' && s.ptr[1] == 'x';
    bool octal = s.len > 2 && s.ptr[0] == '0' && s.ptr[1] == 'o';
    uint64_t v = 0;

    if ((!hex && !octal) || digits(s, 2, hex ? DECIMAL "abcdefABCDEF" : "01234567") != s.len)
        return false;
    for (size_t i = 2; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (v >> (hex ? 60 : 61))
            return false;
        v = v << (hex ? 4 : 3) | (uint64_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    cm_buf_addf(out, "%llu", (unsigned long long)v);
    return true;
}

/* [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?, written as JSON spells it. */
static bool write_number(struct cm_buf *out, struct cm_str s)
{
    size_t sign = s.len && (s.ptr[0] == '-' || s.ptr[0] == '+');
    size_t whole = digits(s, sign, DECIMAL);
    bool dot = whole < s.len && s.ptr[whole] == '.';
    size_t fraction = dot ? digits(s, whole + 1, DECIMAL) : whole;
    size_t end = fraction;

    if (whole == sign && fraction <= whole + 1)
        return false;
    if (end < s.len && (s.ptr[end] | 0x20) == 'e') {
        size_t exp = end + 1 + (end + 1 < s.len && (s.ptr[end + 1] == '-' || s.ptr[end + 1] == '+'));
        end = digits(s, exp, DECIMAL);
        if (end == exp)
            return false;
    }
    if (end != s.len)
        return false;
    size_t first = sign;
    while (first + 1 < whole && s.ptr[first] == '0')
        first++;
    if (sign && s.ptr[0] == '-')
        cm_buf_add_char(out, '-');
    if (whole == sign)
        cm_buf_add_char(out, '0');
    cm_buf_add(out, s.ptr + first, whole - first);
    if (dot && fraction > whole + 1)
        cm_buf_add(out, s.ptr + whole, fraction - whole);
    cm_buf_add(out, s.ptr + fraction, s.len - fraction);
    return true;
}

static void write_plain(struct cm_buf *out, struct cm_str s)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const trues[] = {"true", "True", "TRUE", NULL};
    static const char *const falses[] = {"false", "False", "FALSE", NULL};

    if (is_one_of(s, nulls))
        cm_buf_add_z(out, "null");
    else if (is_one_of(s, trues))
        cm_buf_add_z(out, "true");
    else if (is_one_of(s, falses))
        cm_buf_add_z(out, "false");
    else if (!write_radix(out, s) && !write_number(out, s))
        cm_json_write_string(out, s);
}

static bool is_plain(const struct fy_event *e)
{
    size_t len = 0;
    const char *tag = e->scalar.tag ? fy_token_get_text(e->scalar.tag, &len) : NULL;

    if (tag && len && !(len >= 4 && (memcmp(tag + len - 4, ":int", 4) == 0)) &&
        !(len >= 5 && (memcmp(tag + len - 5, ":bool", 5) == 0 || memcmp(tag + len - 5, ":null", 5) == 0)) &&
        !(len >= 6 && memcmp(tag + len - 6, ":float", 6) == 0))
        return false; /* !!str, "!", or a tag of someone's own: text */
    return fy_token_scalar_style(e->scalar.value) == FYSS_PLAIN;
}

/* ---- structure ---- */

static struct frame *top(struct conv *c)
{
    return c->depth ? &c->stack[c->depth - 1] : NULL;
}

/* What stands before the next value. */
static void separate(struct conv *c)
{
    struct frame *f = top(c);

    if (!f)
        return;
    if (f->is_map && !f->wants_key) {
        cm_buf_add_char(&c->out, ':');
        f->wants_key = true;
        return;
    }
    if (f->any)
        cm_buf_add_char(&c->out, ',');
    f->any = true;
    if (f->is_map)
        f->wants_key = false;
}

static bool at_key(struct conv *c)
{
    return top(c) && top(c)->is_map && top(c)->wants_key;
}

/* Index + 1 of a new anchor whose value starts here, or 0. */
static size_t open_anchor(struct conv *c, struct fy_token *token)
{
    size_t len = 0;
    const char *name = token ? fy_token_get_text(token, &len) : NULL;

    if (!name)
        return 0;
    c->anchors = cm_realloc(c->anchors, (c->n_anchors + 1) * sizeof *c->anchors);
    c->anchors[c->n_anchors++] = (struct anchor){.name = cm_memdup_z(name, len), .start = c->out.len};
    return c->n_anchors;
}

static cm_status open_container(struct conv *c, bool is_map, struct fy_token *anchor, struct fy_token *start)
{
    if (at_key(c))
        return refuse(c, start, CM_E_INVALID, "a key is a mapping or a sequence; a scalar is expected");
    if (c->n_anchors > ANCHORS_MAX)
        return refuse(c, start, CM_E_LIMIT, "there are too many anchors");
    if (c->depth == CM_VALUE_MAX_DEPTH)
        return refuse(c, start, CM_E_LIMIT, "nested too deeply");
    separate(c);
    struct frame f = {.is_map = is_map, .wants_key = is_map, .anchor = open_anchor(c, anchor)};
    c->stack[c->depth++] = f;
    cm_buf_add_char(&c->out, is_map ? '{' : '[');
    return CM_OK;
}

static void close_container(struct conv *c)
{
    struct frame *f = top(c);

    cm_buf_add_char(&c->out, f->is_map ? '}' : ']');
    if (f->anchor)
        c->anchors[f->anchor - 1].end = c->out.len;
    c->depth--;
}

static cm_status add_scalar(struct conv *c, struct fy_event *e)
{
    bool key = at_key(c);
    size_t len = 0;
    const char *p = fy_token_get_text(e->scalar.value, &len);
    struct cm_str s = {p ? p : "", p ? len : 0};

    separate(c);
    size_t anchor = open_anchor(c, e->scalar.anchor);
    if (key && is_plain(e) && cm_str_eq_z(s, "<<")) {
        c->merges = true;
        cm_json_write_string(&c->out, CM_STR(MERGE_KEY));
    } else if (key || !is_plain(e)) {
        cm_json_write_string(&c->out, s);
    } else {
        write_plain(&c->out, s);
    }
    if (anchor)
        c->anchors[anchor - 1].end = c->out.len;
    return CM_OK;
}

static cm_status add_alias(struct conv *c, struct fy_event *e)
{
    size_t len = 0;
    const char *name = fy_token_get_text(e->alias.anchor, &len);
    const struct anchor *a = NULL;

    for (size_t i = c->n_anchors; i-- > 0 && !a;)
        if (name && cm_str_eq_z(cm_str_mk(name, len), c->anchors[i].name))
            a = &c->anchors[i];
    if (!a)
        return refuse(c, e->alias.anchor, CM_E_INVALID, "an alias has no anchor before it");
    if (!a->end)
        return refuse(c, e->alias.anchor, CM_E_INVALID, "an alias refers to what it stands in");
    size_t start = a->start, n = a->end - a->start;
    bool key = at_key(c);
    if (key && c->out.ptr[start] != '"')
        return refuse(c, e->alias.anchor, CM_E_INVALID, "a key is an alias of what is no text");
    separate(c);
    /* Reserve first: the copy reads from the buffer it grows. */
    char *to = cm_buf_reserve(&c->out, n);
    if (to) {
        memcpy(to, c->out.ptr + start, n);
        c->out.len += n;
    }
    return CM_OK;
}

static cm_status add_event(struct conv *c, struct fy_event *e)
{
    switch (e->type) {
    case FYET_MAPPING_START:
        return open_container(c, true, e->mapping_start.anchor, e->mapping_start.mapping_start);
    case FYET_SEQUENCE_START:
        return open_container(c, false, e->sequence_start.anchor, e->sequence_start.sequence_start);
    case FYET_MAPPING_END:
    case FYET_SEQUENCE_END:
        close_container(c);
        return CM_OK;
    case FYET_SCALAR:
        return add_scalar(c, e);
    case FYET_ALIAS:
        return add_alias(c, e);
    case FYET_NONE:
    case FYET_STREAM_START:
    case FYET_STREAM_END:
    case FYET_DOCUMENT_START:
    case FYET_DOCUMENT_END:
        return CM_OK;
    }
    return CM_OK;
}

static cm_status syntax_error(struct conv *c)
{
    void *prev = NULL;
    const struct fy_diag_error *e = fy_diag_errors_iterate(c->diag, &prev);

    if (!e)
        return cm_err_set(c->err, CM_E_INVALID, "is not well-formed YAML");
    return cm_err_set(c->err, CM_E_INVALID, "line %d, column %d: %s", e->line, e->column,
                      e->msg ? e->msg : "error");
}

static cm_status convert(struct conv *c)
{
    cm_status st = CM_OK;
    bool done = false;

    while (st == CM_OK && !done) {
        struct fy_event *e = fy_parser_parse(c->parser);
        if (!e)
            break;
        done = e->type == FYET_DOCUMENT_END;
        st = add_event(c, e);
        fy_parser_event_free(c->parser, e);
        if (c->out.failed)
            st = cm_err_set(c->err, CM_E_LIMIT, "grows beyond %u bytes when its aliases are followed",
                            CM_SPEC_MAX_BYTES);
    }
    if (st == CM_OK && !done)
        st = fy_parser_get_stream_error(c->parser) || c->out.len
                 ? syntax_error(c)
                 : cm_err_set(c->err, CM_E_INVALID, "is empty");
    return st;
}

/* ---- merge keys ---- */

static void merge_from(yyjson_mut_doc *doc, yyjson_mut_val *into, yyjson_mut_val *from)
{
    size_t i, max;
    yyjson_mut_val *key, *val;

    if (!yyjson_mut_is_obj(from))
        return;
    yyjson_mut_obj_foreach(from, i, max, key, val)
    {
        if (!yyjson_mut_obj_getn(into, yyjson_mut_get_str(key), yyjson_mut_get_len(key)))
            (void)yyjson_mut_obj_add(into, yyjson_mut_val_mut_copy(doc, key),
                                     yyjson_mut_val_mut_copy(doc, val));
    }
}

static void resolve_merges(yyjson_mut_doc *doc, yyjson_mut_val *v);

static void resolve_members(yyjson_mut_doc *doc, yyjson_mut_val *obj)
{
    size_t i, max;
    yyjson_mut_val *key, *val;

    yyjson_mut_obj_foreach(obj, i, max, key, val)
    {
        (void)key;
        resolve_merges(doc, val);
    }
    yyjson_mut_val *from = yyjson_mut_obj_remove_key(obj, MERGE_KEY);
    if (yyjson_mut_is_arr(from)) {
        yyjson_mut_arr_foreach(from, i, max, val)
        {
            merge_from(doc, obj, val);
        }
    } else if (from) {
        merge_from(doc, obj, from);
    }
}

/* Depth is bounded by CM_VALUE_MAX_DEPTH, since the document was parsed. */
static void resolve_merges(yyjson_mut_doc *doc, yyjson_mut_val *v)
{
    size_t i, max;
    yyjson_mut_val *val;

    if (yyjson_mut_is_obj(v))
        resolve_members(doc, v);
    if (yyjson_mut_is_arr(v)) {
        yyjson_mut_arr_foreach(v, i, max, val)
        {
            resolve_merges(doc, val);
        }
    }
}

static cm_status merged(yyjson_doc *plain, yyjson_doc **out, struct cm_err *err)
{
    cm_auto(yyjson_mut_doc) doc = yyjson_doc_mut_copy(plain, NULL);

    if (!doc)
        return cm_err_set(err, CM_E_NOMEM, "out of memory");
    resolve_merges(doc, yyjson_mut_doc_get_root(doc));
    *out = yyjson_mut_doc_imut_copy(doc, NULL);
    return *out ? CM_OK : cm_err_set(err, CM_E_NOMEM, "out of memory");
}

static void conv_done(struct conv *c)
{
    fy_parser_destroy(c->parser);
    fy_diag_destroy(c->diag);
    for (size_t i = 0; i < c->n_anchors; i++)
        free(c->anchors[i].name);
    free(c->anchors);
    cm_buf_done(&c->out);
}

/* Some messages of the library are not errors it collects; a library of ours prints nothing. */
static void print_nothing(struct fy_diag *diag, void *user, const char *text, size_t len)
{
    (void)diag;
    (void)user;
    (void)text;
    (void)len;
}

cm_status cm_yaml_parse(struct cm_str text, yyjson_doc **out, struct cm_err *err)
{
    struct conv c = {.out = CM_BUF_INIT(CM_SPEC_MAX_BYTES), .err = err};
    cm_auto(yyjson_doc) doc = NULL;
    struct fy_diag_cfg diag_cfg;

    if (cm_utf8_valid_prefix(text) < text.len)
        return cm_err_set(err, CM_E_INVALID, "byte %zu is not UTF-8", cm_utf8_valid_prefix(text));
    fy_diag_cfg_default(&diag_cfg);
    diag_cfg.fp = NULL;
    diag_cfg.output_fn = print_nothing;
    c.diag = fy_diag_create(&diag_cfg);
    if (c.diag)
        fy_diag_set_collect_errors(c.diag, true);
    struct fy_parse_cfg cfg = {.search_path = "", .flags = FYPCF_QUIET | FYPCF_JSON_NONE, .diag = c.diag};
    c.parser = c.diag ? fy_parser_create(&cfg) : NULL;
    cm_status st = CM_OK;
    if (!c.parser || fy_parser_set_string(c.parser, text.ptr, text.len) != 0)
        st = cm_err_set(err, CM_E_NOMEM, "out of memory for YAML of %zu bytes", text.len);
    if (st == CM_OK)
        st = convert(&c);
    if (st == CM_OK)
        st = cm_json_parse(cm_buf_str(&c.out), CM_JSON_STRICT, &doc, err);
    bool merges = c.merges;
    conv_done(&c);
    if (st != CM_OK)
        return st;
    if (merges)
        return merged(doc, out, err);
    *out = cm_steal(&doc);
    return CM_OK;
}
