#include "base/utf8.h"

#include "base/buf.h"

/* Length of the character at p, or 0 where it is not valid. RFC 3629, section 4. */
static size_t char_bytes(const unsigned char *p, size_t left)
{
    if (p[0] < 0x80)
        return 1;
    size_t n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
        (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return n;
}

size_t cm_utf8_valid_prefix(struct cm_str s)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    size_t i = 0;

    while (i < s.len) {
        size_t n = char_bytes(p + i, s.len - i);
        if (n == 0)
            break;
        i += n;
    }
    return i;
}

char *cm_utf8_repair(struct cm_str s, size_t *len)
{
    struct cm_buf b = CM_BUF_INIT(s.len * 3 + 1);
    size_t i = 0;

    while (i < s.len) {
        size_t ok = cm_utf8_valid_prefix(cm_str_mk(s.ptr + i, s.len - i));
        cm_buf_add(&b, s.ptr + i, ok);
        i += ok;
        if (i < s.len) {
            cm_buf_add_z(&b, "\xef\xbf\xbd");
            i++;
        }
    }
    return cm_buf_take(&b, len);
}

size_t cm_utf8_cut(struct cm_str s, size_t max_bytes)
{
    if (s.len <= max_bytes)
        return s.len;
    size_t n = max_bytes;
    while (n > 0 && ((unsigned char)s.ptr[n] & 0xc0) == 0x80)
        n--;
    return n;
}
