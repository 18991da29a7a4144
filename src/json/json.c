/* Looking at documents and writing them. */
#include "json/internal.h"

#include "base/utf8.h"

#include <math.h>
#include <stdio.h>

yyjson_val *cm_json_get(yyjson_val *v, const char *key)
{
    return yyjson_obj_get(v, key);
}

struct cm_str cm_json_str(yyjson_val *v)
{
    if (!yyjson_is_str(v))
        return (struct cm_str){NULL, 0};
    return cm_str_mk(yyjson_get_str(v), yyjson_get_len(v));
}

const char *cm_json_get_z(yyjson_val *v, const char *key)
{
    struct cm_str s = cm_json_str(cm_json_get(v, key));

    /* A string with a NUL in it would be read as a shorter one. */
    return s.ptr && !memchr(s.ptr, '\0', s.len) ? s.ptr : NULL;
}

const char *cm_json_kind(yyjson_val *v)
{
    if (!v)
        return "missing";
    switch (yyjson_get_type(v)) {
    case YYJSON_TYPE_NULL:
        return "null";
    case YYJSON_TYPE_BOOL:
        return "a boolean";
    case YYJSON_TYPE_RAW:
    case YYJSON_TYPE_NUM:
        return "a number";
    case YYJSON_TYPE_STR:
        return "a string";
    case YYJSON_TYPE_ARR:
        return "an array";
    case YYJSON_TYPE_OBJ:
        return "an object";
    default:
        return "nothing";
    }
}

static void write_by_yyjson(struct cm_buf *out, yyjson_val *v, yyjson_write_flag flags)
{
    size_t len = 0;
    yyjson_write_err why = {0};
    cm_autofree char *text =
        yyjson_val_write_opts(v, flags | YYJSON_WRITE_INF_AND_NAN_AS_NULL, &cm_json__memory, &len, &why);

    if (text) {
        cm_buf_add(out, text, len);
    } else {
        out->failed = true;
        out->no_memory = why.code == YYJSON_WRITE_ERROR_MEMORY_ALLOCATION;
    }
}

void cm_json_write(struct cm_buf *out, yyjson_val *v)
{
    write_by_yyjson(out, v, YYJSON_WRITE_NOFLAG);
}

void cm_json_write_pretty(struct cm_buf *out, yyjson_val *v)
{
    write_by_yyjson(out, v, YYJSON_WRITE_PRETTY_TWO_SPACES);
}

/* Escapes of RFC 8785, section 3.2.2.2: the short ones where JSON has them, \u00xx in lower case for the
 * other controls. */
static void write_escape(struct cm_buf *out, unsigned char c)
{
    static const char shorts[32] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};

    if (c == '"' || c == '\\' || shorts[c]) {
        char pair[2] = {'\\', c == '"' || c == '\\' ? (char)c : shorts[c]};
        cm_buf_add(out, pair, 2);
    } else {
        cm_buf_addf(out, "\\u%04x", c);
    }
}

static bool needs_escape(unsigned char c)
{
    return c < 0x20 || c == '"' || c == '\\';
}

#define EACH_BYTE(c) (0x0101010101010101u * (c))

/** Whether one of eight bytes is such. A borrow from the byte below errs only where that one is such. */
static bool any_needs_escape(uint64_t eight)
{
    uint64_t quote = eight ^ EACH_BYTE('"'), backslash = eight ^ EACH_BYTE('\\');

    return ((((eight - EACH_BYTE(0x20)) & ~eight) | ((quote - EACH_BYTE(1)) & ~quote) |
             ((backslash - EACH_BYTE(1)) & ~backslash)) &
            EACH_BYTE(0x80)) != 0;
}

void cm_json__write_valid_string(struct cm_buf *out, struct cm_str s)
{
    size_t done = 0;
    uint64_t eight;
    char *at = cm_buf_reserve(out, s.len + 2);

    if (!at)
        return;
    *at++ = '"';
    for (; s.len - done >= sizeof eight; done += sizeof eight, at += sizeof eight) {
        memcpy(&eight, s.ptr + done, sizeof eight);
        if (any_needs_escape(eight))
            break;
        memcpy(at, &eight, sizeof eight);
    }
    while (done < s.len && !needs_escape((unsigned char)s.ptr[done])) {
        *at++ = s.ptr[done];
        done++;
    }
    if (done == s.len) {
        *at++ = '"';
        *at = '\0';
        out->len += s.len + 2;
        return;
    }
    out->len += done + 1;
    for (size_t i = done; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (!needs_escape(c))
            continue;
        cm_buf_add(out, s.ptr + done, i - done);
        write_escape(out, c);
        done = i + 1;
    }
    cm_buf_add(out, s.ptr + done, s.len - done);
    cm_buf_add_char(out, '"');
}

void cm_json_write_string(struct cm_buf *out, struct cm_str text)
{
    cm_autofree char *repaired = NULL;

    if (cm_utf8_valid_prefix(text) < text.len) {
        size_t len = 0;
        repaired = cm_utf8_repair(text, &len);
        text = cm_str_mk(repaired, len);
    }
    cm_json__write_valid_string(out, text);
}

void cm_json__write_int(struct cm_buf *out, int64_t n)
{
    char digits[24];
    char *p = digits + sizeof digits;
    uint64_t u = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;

    do
        *--p = (char)('0' + u % 10);
    while (u /= 10);
    if (n < 0)
        *--p = '-';
    cm_buf_add(out, p, (size_t)(digits + sizeof digits - p));
}

/* yyjson prints the shortest digits that read back as the same double and switches to exponents where
 * ECMAScript does; it differs in ".0" behind integers and in the missing '+' of a positive exponent. */
void cm_json_write_number(struct cm_buf *out, double d)
{
    char pool[1024];
    yyjson_alc alc;
    yyjson_val v = {0};
    size_t len = 0;

    if (!isfinite(d)) {
        cm_buf_add_z(out, "null");
        return;
    }
    if (d == trunc(d) && fabs(d) < 9007199254740992.0) {
        cm_json__write_int(out, (int64_t)d);
        return;
    }
    yyjson_set_real(&v, d);
    char *text =
        yyjson_alc_pool_init(&alc, pool, sizeof pool) ? yyjson_val_write_opts(&v, 0, &alc, &len, NULL) : NULL;
    if (!text) {
        out->failed = true;
        return;
    }
    if (len > 2 && text[len - 2] == '.' && text[len - 1] == '0')
        len -= 2;
    char *e = memchr(text, 'e', len);
    if (e && e[1] != '-' && e[1] != '+') {
        cm_buf_add(out, text, (size_t)(e - text) + 1);
        cm_buf_add_char(out, '+');
        cm_buf_add(out, e + 1, len - (size_t)(e - text) - 1);
    } else {
        cm_buf_add(out, text, len);
    }
}

void cm_json_write_pointer_token(struct cm_buf *out, struct cm_str key)
{
    cm_buf_add_char(out, '/');
    for (size_t i = 0; i < key.len; i++) {
        if (key.ptr[i] == '~')
            cm_buf_add_z(out, "~0");
        else if (key.ptr[i] == '/')
            cm_buf_add_z(out, "~1");
        else
            cm_buf_add_char(out, key.ptr[i]);
    }
}

void cm_json__write_pointer(struct cm_buf *out, const struct cm_json__frame *at)
{
    if (!at)
        return;
    cm_json__write_pointer(out, at->up);
    if (at->key)
        cm_json_write_pointer_token(out, cm_json_str(at->key));
    else
        cm_buf_addf(out, "/%zu", at->index);
}
