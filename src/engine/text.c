/* Text between C and the engine: UTF-8 with lengths here, UTF-16 or Latin-1 there. NUL is a character like
 * any other. */
#include "engine/internal.h"

#include "base/utf8.h"

static bool is_plain_ascii(struct cm_str s)
{
    unsigned char bad = 0;

    for (size_t i = 0; i < s.len; i++)
        bad |= (unsigned char)((s.ptr[i] & 0x80) | (s.ptr[i] == 0));
    return bad == 0;
}

/* One character of valid UTF-8 at *p, which moves behind it. */
static uint32_t next_char(const unsigned char **p)
{
    const unsigned char *q = *p;

    if (q[0] < 0x80) {
        *p = q + 1;
        return q[0];
    }
    if (q[0] < 0xe0) {
        *p = q + 2;
        return (uint32_t)(q[0] & 0x1f) << 6 | (q[1] & 0x3f);
    }
    if (q[0] < 0xf0) {
        *p = q + 3;
        return (uint32_t)(q[0] & 0x0f) << 12 | (uint32_t)(q[1] & 0x3f) << 6 | (q[2] & 0x3f);
    }
    *p = q + 4;
    return (uint32_t)(q[0] & 0x07) << 18 | (uint32_t)(q[1] & 0x3f) << 12 | (uint32_t)(q[2] & 0x3f) << 6 |
           (q[3] & 0x3f);
}

static JSStringRef wide_string(struct cm_str s)
{
    /* UTF-16 never has more units than UTF-8 has bytes. */
    cm_autofree JSChar *units = cm_try_malloc((s.len + 1) * sizeof(JSChar));
    const unsigned char *p = (const unsigned char *)s.ptr, *end = p + s.len;
    size_t n = 0;

    if (!units)
        return JSStringCreateWithUTF8CString("");
    while (p < end) {
        uint32_t c = next_char(&p);

        if (c >= 0x10000) {
            units[n++] = (JSChar)(0xd800 + ((c - 0x10000) >> 10));
            units[n++] = (JSChar)(0xdc00 + ((c - 0x10000) & 0x3ff));
        } else {
            units[n++] = (JSChar)c;
        }
    }
    return JSStringCreateWithCharacters(units, n);
}

JSStringRef cm_js__string(struct cm_str s)
{
    cm_autofree char *copy = NULL;

    if (s.len == 0)
        return JSStringCreateWithUTF8CString("");
    if (is_plain_ascii(s)) {
        /* This way it becomes an 8-bit string, half the memory and faster to parse. */
        copy = cm_try_malloc(s.len + 1);
        if (!copy)
            return JSStringCreateWithUTF8CString("");
        memcpy(copy, s.ptr, s.len);
        copy[s.len] = '\0';
        return JSStringCreateWithUTF8CString(copy);
    }
    if (cm_utf8_valid_prefix(s) < s.len) {
        copy = cm_utf8_repair(s, &s.len);
        s.ptr = copy;
    }
    return wide_string(s);
}

char *cm_js__text_of(JSStringRef s, size_t *len)
{
    size_t max = JSStringGetMaximumUTF8CStringSize(s), n;
    char *text = cm_try_malloc(max);

    if (!text)
        return NULL;
    n = JSStringGetUTF8CString(s, text, max);
    if (n == 0) { /* a lone surrogate: what crosses is well-formed, so this is a worker out of order */
        free(text);
        return NULL;
    }
    *len = n - 1;
    return text;
}

char *cm_js__text(JSContextRef ctx, JSValueRef v, size_t *len)
{
    cm_autojs s = JSValueToStringCopy(ctx, v, NULL);

    return s ? cm_js__text_of(s, len) : NULL;
}

JSValueRef cm_js__value(JSContextRef ctx, struct cm_str s)
{
    cm_autojs str = cm_js__string(s);

    return JSValueMakeString(ctx, str);
}

cm_status cm_js__fail(JSContextRef ctx, JSValueRef exception, const char *what, struct cm_err *err)
{
    size_t len = 0;
    cm_autofree char *text = exception ? cm_js__text(ctx, exception, &len) : NULL;

    return cm_err_set(err, CM_E_INTERNAL, "%s: %s", what, text ? text : "no reason given");
}
