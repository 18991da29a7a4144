#include "base/secrets.h"

#include "base/mem.h"

#include <stdint.h>

struct secret {
    char *value; /* one spelling of it */
    size_t len;
    char *label;
};

struct cm_secrets {
    struct secret *items;
    size_t n;
};

cm_secrets *cm_secrets_new(void)
{
    return cm_new(cm_secrets);
}

void cm_secrets_free(cm_secrets *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++) {
        explicit_bzero(s->items[i].value, s->items[i].len);
        free(s->items[i].value);
        free(s->items[i].label);
    }
    free(s->items);
    free(s);
}

static void add_spelling(cm_secrets *s, struct cm_str value, const char *label)
{
    for (size_t i = 0; i < s->n; i++)
        if (cm_str_eq(value, cm_str_mk(s->items[i].value, s->items[i].len)))
            return;
    s->items = cm_realloc(s->items, (s->n + 1) * sizeof *s->items);
    /* Longest first, so that a secret which contains another is replaced whole. */
    size_t at = s->n;
    while (at > 0 && s->items[at - 1].len < value.len) {
        s->items[at] = s->items[at - 1];
        at--;
    }
    s->items[at] = (struct secret){cm_memdup_z(value.ptr, value.len), value.len, cm_strdup(label)};
    s->n++;
}

static void spell_json(struct cm_buf *b, struct cm_str v)
{
    for (size_t i = 0; i < v.len; i++) {
        unsigned char c = (unsigned char)v.ptr[i];
        if (c == '"' || c == '\\')
            cm_buf_addf(b, "\\%c", c);
        else if (c < 0x20)
            cm_buf_addf(b, "\\u%04x", c);
        else
            cm_buf_add_char(b, (char)c);
    }
}

static void spell_percent(struct cm_buf *b, struct cm_str v)
{
    for (size_t i = 0; i < v.len; i++) {
        unsigned char c = (unsigned char)v.ptr[i];
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
            (c && strchr("-._~", c)))
            cm_buf_add_char(b, (char)c);
        else
            cm_buf_addf(b, "%%%02X", c);
    }
}

static void spell_base64(struct cm_buf *b, struct cm_str v)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i + 2 < v.len; i += 3) {
        uint32_t w = (uint32_t)(unsigned char)v.ptr[i] << 16 | (uint32_t)(unsigned char)v.ptr[i + 1] << 8 |
                     (unsigned char)v.ptr[i + 2];
        char out[4] = {digits[w >> 18], digits[w >> 12 & 63], digits[w >> 6 & 63], digits[w & 63]};
        cm_buf_add(b, out, 4);
    }
}

void cm_secrets_add(cm_secrets *s, struct cm_str value, const char *label)
{
    static void (*const spell[])(struct cm_buf *, struct cm_str) = {spell_json, spell_percent, spell_base64};

    if (value.len < CM_SECRET_MIN_BYTES)
        return;
    cm_autofree char *clean = cm_strdup(label);
    for (char *p = clean; *p; p++)
        if (*p < 0x20 || *p == '"' || *p == '\\' || *p == 0x7f)
            *p = '_';
    add_spelling(s, value, clean);
    for (size_t i = 0; i < CM_ARRAY_LEN(spell); i++) {
        cm_autobuf b = CM_BUF_INIT(value.len * 6 + 8);
        spell[i](&b, value);
        if (b.len >= CM_SECRET_MIN_BYTES)
            add_spelling(s, cm_buf_str(&b), clean);
    }
}

static const struct secret *find_first(const cm_secrets *s, const char *p, size_t len, const char **where)
{
    const struct secret *best = NULL;

    for (size_t i = 0; i < s->n; i++) {
        const char *hit = memmem(p, len, s->items[i].value, s->items[i].len);
        if (hit && (!best || hit < *where)) {
            best = &s->items[i];
            *where = hit;
        }
    }
    return best;
}

bool cm_secrets_occur(const cm_secrets *s, struct cm_str text)
{
    const char *where = NULL;

    return s && text.len && find_first(s, text.ptr, text.len, &where);
}

char *cm_secrets_redact(const cm_secrets *s, struct cm_str text, size_t *len)
{
    const char *where = NULL;
    const char *p = text.ptr;
    const char *end = text.ptr + text.len;

    if (!cm_secrets_occur(s, text))
        return NULL;
    struct cm_buf b = CM_BUF_INIT(text.len * 16 + 256);
    while (p < end) {
        const struct secret *hit = find_first(s, p, (size_t)(end - p), &where);
        cm_buf_add(&b, p, (size_t)((hit ? where : end) - p));
        if (!hit)
            break;
        cm_buf_addf(&b, "[secret %s]", hit->label);
        p = where + hit->len;
    }
    return cm_buf_take(&b, len);
}
