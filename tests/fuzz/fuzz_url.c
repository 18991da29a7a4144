/*
 * First line: a pattern of allowed hosts. Second line: a URL. Third: a place to go on to from there.
 *
 * A URL that was read has one form: read again, by us and against the pattern, it is the same place. Its host is
 * plain: what could be read otherwise by whoever connects is not in it.
 */
#include "fuzz.h"
#include "net/allow.h"

static struct cm_str next_line(struct cm_str *rest)
{
    const char *end = rest->len ? memchr(rest->ptr, '\n', rest->len) : NULL;
    struct cm_str line = {rest->ptr, end ? (size_t)(end - rest->ptr) : rest->len};

    *rest = end ? cm_str_mk(end + 1, rest->len - line.len - 1) : cm_str_mk(rest->ptr, 0);
    return line;
}

static void must_be_plain(const struct cm_url *u)
{
    size_t len = strlen(u->host);

    CM_MUST(len > 0 && strspn(u->host, "abcdefghijklmnopqrstuvwxyz0123456789-_.:") == len);
    CM_MUST(u->is_address || (!strchr(u->host, ':') && u->host[len - 1] != '.'));
    CM_MUST(u->port != 0);
    for (const char *p = u->text; *p; p++)
        CM_MUST((unsigned char)*p > 0x20 && *p != 0x7f && *p != '\\' && *p != '#');
    CM_MUST(
        !memchr(u->text, '@',
                strcspn(strstr(u->text, "//") + 2, "/?") + (size_t)(strstr(u->text, "//") + 2 - u->text)));
}

static void must_stay(const struct cm_url *u)
{
    cm_autourl again = {0};
    cm_autofree char *origin = cm_url_origin(u);
    struct cm_allow a = {0};

    must_be_plain(u);
    CM_MUST(cm_url_parse(cm_str_of(u->text), NULL, &again, NULL) == CM_OK);
    CM_MUST(cm_z_eq(u->text, again.text) && cm_url_same_origin(u, &again) &&
            u->is_address == again.is_address);
    CM_MUST(strncmp(u->text, origin, strlen(origin)) == 0);
    /* The place itself is a pattern that allows it. */
    if (cm_allow_parse(origin, &a, NULL) == CM_OK)
        CM_MUST(cm_allow_matches(&a, u));
    cm_allow_done(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cm_str rest = cm_str_mk(data, size);
    struct cm_str pattern = next_line(&rest), text = next_line(&rest), location = next_line(&rest);
    cm_autofree char *z = cm_memdup_z(pattern.len ? pattern.ptr : "", pattern.len);
    cm_autourl url = {0}, next = {0};
    struct cm_allow a = {0};
    struct cm_err err;

    if (cm_url_parse(text, NULL, &url, &err) == CM_OK) {
        must_stay(&url);
        if (cm_url_parse(location, &url, &next, &err) == CM_OK)
            must_stay(&next);
    }
    if (cm_allow_parse(z, &a, &err) == CM_OK) {
        cm_autofree char *form = cm_allow_text(&a);
        struct cm_allow same = {0};
        CM_MUST(cm_allow_parse(form, &same, NULL) == CM_OK);
        CM_MUST(same.below == a.below && cm_url_same_origin(&same.at, &a.at));
        if (url.text && cm_allow_matches(&a, &url))
            CM_MUST(cm_allow_matches(&same, &url) && strstr(url.host, a.at.host));
        cm_allow_done(&same);
    }
    cm_allow_done(&a);
    return 0;
}
