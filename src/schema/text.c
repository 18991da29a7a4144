/* Text that comes from outside, in places where it must not become syntax: comments, string literals,
 * property names. */
#include "schema/internal.h"

#include "base/utf8.h"

#include <ctype.h>

void cm_schema__indent(struct cm_buf *out, unsigned indent)
{
    while (indent--)
        cm_buf_add_z(out, "    ");
}

/* The code point of U+2028 and U+2029 ends a line in old readers of JavaScript; in UTF-8 both are E2 80
 * A8/A9. */
static bool is_line_separator(struct cm_str s, size_t i)
{
    return i + 2 < s.len && memcmp(s.ptr + i, "\xe2\x80", 2) == 0 &&
           ((unsigned char)s.ptr[i + 2] == 0xa8 || (unsigned char)s.ptr[i + 2] == 0xa9);
}

void cm_schema__write_quoted(struct cm_buf *out, struct cm_str s)
{
    cm_buf_add_char(out, '"');
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (is_line_separator(s, i)) {
            cm_buf_addf(out, "\\u%04x", (unsigned char)s.ptr[i + 2] == 0xa8 ? 0x2028 : 0x2029);
            i += 2;
        } else if (c == '"' || c == '\\') {
            cm_buf_addf(out, "\\%c", c);
        } else if (c == '\n' || c == '\r' || c == '\t') {
            cm_buf_add_z(out, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
        } else if (c < 0x20 || c == 0x7f) {
            cm_buf_addf(out, "\\u%04x", c);
        } else {
            cm_buf_add_char(out, (char)c);
        }
    }
    cm_buf_add_char(out, '"');
}

void cm_schema__write_key(struct cm_buf *out, struct cm_str key)
{
    bool bare = key.len > 0 && !isdigit((unsigned char)key.ptr[0]);

    for (size_t i = 0; i < key.len; i++)
        bare = bare && (isalnum((unsigned char)key.ptr[i]) || key.ptr[i] == '_' || key.ptr[i] == '$');
    if (bare)
        cm_buf_add_str(out, key);
    else
        cm_schema__write_quoted(out, key);
}

static bool is_repeated_later(yyjson_val *obj, yyjson_val *key)
{
    yyjson_val *other, *val;
    size_t i, max;
    bool later = false;

    yyjson_obj_foreach(obj, i, max, other, val)
    {
        (void)val;
        if (later && cm_str_eq(cm_json_str(other), cm_json_str(key)))
            return true;
        later = later || other == key;
    }
    return false;
}

static void write_literal_object(struct cm_buf *out, yyjson_val *v, unsigned depth)
{
    yyjson_val *key, *val;
    size_t i, max;
    bool first = true;

    cm_buf_add_char(out, '{');
    yyjson_obj_foreach(v, i, max, key, val)
    {
        if (is_repeated_later(v, key))
            continue;
        cm_buf_add_z(out, first ? " " : "; ");
        first = false;
        cm_schema__write_key(out, cm_json_str(key));
        cm_buf_add_z(out, ": ");
        cm_schema__write_literal(out, val, depth + 1);
    }
    cm_buf_add_z(out, first ? "}" : " }");
}

void cm_schema__write_literal(struct cm_buf *out, yyjson_val *v, unsigned depth)
{
    yyjson_val *item;
    size_t i, max;

    if (depth > 8 || yyjson_get_len(v) > 20000 || (yyjson_is_ctn(v) && yyjson_get_len(v) > 200)) {
        cm_buf_add_z(out, yyjson_is_str(v) ? "string" : "unknown");
    } else if (yyjson_is_str(v)) {
        cm_schema__write_quoted(out, cm_json_str(v));
    } else if (yyjson_is_num(v)) {
        cm_json_write_number(out, yyjson_get_num(v));
    } else if (yyjson_is_raw(v)) {
        cm_buf_add_z(out, "number");
    } else if (yyjson_is_obj(v)) {
        write_literal_object(out, v, depth);
    } else if (yyjson_is_arr(v)) {
        cm_buf_add_char(out, '[');
        yyjson_arr_foreach(v, i, max, item)
        {
            cm_buf_add_z(out, i ? ", " : "");
            cm_schema__write_literal(out, item, depth + 1);
        }
        cm_buf_add_char(out, ']');
    } else {
        cm_buf_add_z(out, yyjson_is_null(v) ? "null" : yyjson_get_bool(v) ? "true" : "false");
    }
}

bool cm_schema__write_comment_text(struct cm_buf *out, struct cm_str text, size_t max_bytes)
{
    size_t cut = cm_utf8_cut(text, max_bytes), start = out->len;
    bool space = false;

    for (size_t i = 0; i < cut; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        bool separator = is_line_separator(text, i);
        /* Controls become spaces and never nothing: what is dropped could join a '*' and a '/'. */
        if (c <= 0x20 || c == 0x7f || separator) {
            space = out->len > start;
            i += separator ? 2 : 0;
            continue;
        }
        if (space)
            cm_buf_add_char(out, ' ');
        space = false;
        cm_buf_add_char(out, (char)c);
        if (c == '*' && i + 1 < cut && text.ptr[i + 1] == '/')
            cm_buf_add_char(out, '\\');
    }
    if (cut < text.len)
        cm_buf_add_z(out, " …");
    return out->len > start;
}

void cm_schema__doc_add(struct cm_schema__doc *d, const char *before, struct cm_str text, size_t max_bytes)
{
    size_t start = d->lines.len;

    cm_buf_add_z(&d->lines, before);
    bool something = cm_schema__write_comment_text(&d->lines, text, max_bytes);
    if (!something && before[0] == '\0')
        return;
    while (d->lines.len > start && d->lines.ptr[d->lines.len - 1] == ' ')
        d->lines.len--;
    /* A '*' at the end would make one with the "/" of a comment written on one line; a space follows it
     * there. */
    cm_buf_add_char(&d->lines, '\n');
    d->n++;
}

void cm_schema__doc_write(struct cm_schema__doc *d, struct cm_buf *out, unsigned indent)
{
    struct cm_str rest = cm_buf_str(&d->lines);

    if (d->n == 1) {
        cm_schema__indent(out, indent);
        cm_buf_addf(out, "/** ");
        cm_buf_add(out, rest.ptr, rest.len - 1);
        cm_buf_add_z(out, " */\n");
    } else if (d->n > 1) {
        cm_schema__indent(out, indent);
        cm_buf_add_z(out, "/**\n");
        while (rest.len > 0) {
            const char *end = memchr(rest.ptr, '\n', rest.len);
            size_t len = end ? (size_t)(end - rest.ptr) + 1 : rest.len;
            cm_schema__indent(out, indent);
            cm_buf_add_z(out, len > 1 ? " * " : " *");
            cm_buf_add(out, rest.ptr, len);
            rest = cm_str_mk(rest.ptr + len, rest.len - len);
        }
        cm_schema__indent(out, indent);
        cm_buf_add_z(out, " */\n");
    }
    cm_buf_done(&d->lines);
    d->n = 0;
}

void cm_schema__doc_add_schema(struct cm_schema__doc *d, yyjson_val *node)
{
    struct cm_str description = cm_json_str(cm_json_get(node, "description"));
    struct cm_str format = cm_json_str(cm_json_get(node, "format"));
    yyjson_val *value = cm_json_get(node, "default");

    if (description.len)
        cm_schema__doc_add(d, "", description, CM_SCHEMA_COMMENT_MAX);
    if (format.len)
        cm_schema__doc_add(d, "@format ", format, 100);
    if (value && !yyjson_is_ctn(value)) {
        cm_autobuf text = CM_BUF_INIT(1u << 20);
        cm_json_write(&text, value);
        cm_schema__doc_add(d, "@default ", cm_buf_str(&text), 100);
    } else if (value && yyjson_get_len(value) == 0) {
        cm_schema__doc_add(d, "@default ", yyjson_is_arr(value) ? CM_STR("[]") : CM_STR("{}"), 2);
    }
    if (yyjson_is_true(cm_json_get(node, "deprecated")))
        cm_schema__doc_add(d, "@deprecated", CM_STR(""), 0);
}
