/**
 * Variables, and which values are secrets.
 *
 *   ${VAR}             the variable; unset is an error, empty is empty
 *   ${VAR:-default}    the default where it is unset or empty, as in a shell; the default is taken as it
 * stands
 *   ${env:VAR}         as ${VAR} (VS Code's spelling)
 *
 * A "$" without a brace, and a "${" without its "}", are ordinary text. What was put in is not looked through
 * again.
 *
 * Secret are: every value of `auth`, every header but a few whose values are ordinary words, every variable
 * in one of those, variables and `env` entries with names like API_KEY, the value behind a flag of such a
 * name, a URL's password and such parameters.
 */
#include "config/internal.h"

#include <ctype.h>

static bool is_var_name(struct cm_str s)
{
    if (s.len == 0 || isdigit((unsigned char)s.ptr[0]))
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (!isalnum((unsigned char)s.ptr[i]) && s.ptr[i] != '_')
            return false;
    return true;
}

/** What stands between the braces. */
static cm_status expand_one(cm_config *c, struct cm_str inner, enum cm_config__text kind, struct cm_buf *out,
                            struct cm_err *err)
{
    struct cm_str name = inner;
    struct cm_str fallback = {NULL, 0};
    const char *sep = memmem(inner.ptr, inner.len, ":-", 2);

    if (sep) {
        name.len = (size_t)(sep - inner.ptr);
        fallback = cm_str_mk(sep + 2, inner.len - name.len - 2);
    }
    if (cm_str_has_prefix(name, CM_STR("env:")))
        name = cm_str_mk(name.ptr + 4, name.len - 4);
    if (!is_var_name(name))
        return cm_err_set(
            err, CM_E_CONFIG,
            "'${%.*s}' is no variable; known are ${NAME}, ${NAME:-default} and ${env:NAME} of the "
            "environment",
            CM_STR_ARG(inner));
    const char *value = cm_config__getenv(c->environ, name);
    if (fallback.ptr && (!value || !*value)) {
        cm_buf_add_str(out, fallback);
        return CM_OK;
    }
    if (!value)
        return cm_err_set(err, CM_E_CONFIG,
                          "the environment variable %.*s is not set; set it, or write ${%.*s:-default}",
                          CM_STR_ARG(name), CM_STR_ARG(name));
    if (kind == CM_TEXT_SECRET || cm_config__is_secret_name(name)) {
        cm_autofree char *label = cm_memdup_z(name.ptr, name.len);
        cm_secrets_add(c->secrets, cm_str_of(value), label);
    }
    cm_buf_add_z(out, value);
    return CM_OK;
}

cm_status cm_config__expand(cm_config *c, struct cm_str text, enum cm_config__text kind, const char **out,
                            struct cm_err *err)
{
    cm_autobuf b = CM_BUF_INIT(CM_CONFIG_MAX_BYTES);
    size_t at = 0;

    while (at < text.len) {
        const char *open = memmem(text.ptr + at, text.len - at, "${", 2);
        const char *close = open ? memchr(open, '}', text.len - (size_t)(open - text.ptr)) : NULL;
        if (!close)
            break;
        cm_buf_add(&b, text.ptr + at, (size_t)(open - text.ptr) - at);
        cm_status st = expand_one(c, cm_str_mk(open + 2, (size_t)(close - open) - 2), kind, &b, err);
        if (st != CM_OK)
            return st;
        at = (size_t)(close - text.ptr) + 1;
    }
    cm_buf_add(&b, text.ptr + at, text.len - at);
    cm_status st = cm_buf_check(&b, "an expanded string", err);
    if (st != CM_OK)
        return st;
    *out = cm_config__keep(c, cm_buf_take(&b, NULL));
    return CM_OK;
}

/* ---- names that hold secrets */

static const char *const secret_words[] = {
    "key",        "apikey",        "token",   "secret",     "password", "passwd",
    "passphrase", "pass",          "pwd",     "credential", "auth",     "credentials",
    "bearer",     "authorization", "private", "cookie",     "pat",      "signature",
    "accesskey",  "dsn",           "sig",     NULL,
};

static bool is_secret_word(const char *p, size_t len)
{
    for (const char *const *w = secret_words; *w; w++)
        if (strlen(*w) == len && strncasecmp(*w, p, len) == 0)
            return true;
    /* GITHUBTOKEN, dbpassword, MYAPIKEY: run together, but clear. */
    static const char *const tails[] = {"token", "secret", "password", "apikey"};
    for (size_t i = 0; i < CM_ARRAY_LEN(tails); i++) {
        size_t n = strlen(tails[i]);
        if (len > n && strncasecmp(p + len - n, tails[i], n) == 0)
            return true;
    }
    return false;
}

bool cm_config__is_secret_name(struct cm_str name)
{
    size_t start = 0;

    /* PWD and OLDPWD are directories, whatever else `pwd` may be. */
    if (cm_str_eq(name, CM_STR("PWD")) || cm_str_eq(name, CM_STR("OLDPWD")))
        return false;
    for (size_t i = 0; i <= name.len; i++) {
        bool ends = i == name.len || !isalnum((unsigned char)name.ptr[i]);
        bool hump = i > start && i < name.len && isupper((unsigned char)name.ptr[i]) &&
                    islower((unsigned char)name.ptr[i - 1]);
        if (!ends && !hump)
            continue;
        if (i > start && is_secret_word(name.ptr + start, i - start))
            return true;
        start = hump ? i : i + 1;
    }
    return false;
}

void cm_config__secrets_of_argv(cm_config *c, const char *const *argv, const char *at)
{
    for (size_t i = 0; argv && argv[i]; i++) {
        const char *eq = strchr(argv[i], '=');
        size_t len = eq ? (size_t)(eq - argv[i]) : strlen(argv[i]);
        const char *value = NULL;

        if (argv[i][0] != '-' || !cm_config__is_secret_name(cm_str_mk(argv[i], len)))
            continue;
        if (eq)
            value = eq + 1;
        else if (argv[i + 1] && argv[i + 1][0] != '-')
            value = argv[i + 1];
        if (value)
            cm_secrets_add(c->secrets, cm_str_of(value), at);
    }
}

static void secrets_of_query(cm_config *c, const char *query, const char *at)
{
    while (query && *query) {
        size_t len = strcspn(query, "&#");
        const char *eq = memchr(query, '=', len);
        if (eq && cm_config__is_secret_name(cm_str_mk(query, (size_t)(eq - query))))
            cm_secrets_add(c->secrets, cm_str_mk(eq + 1, len - (size_t)(eq - query) - 1), at);
        query = query[len] == '&' ? query + len + 1 : NULL;
    }
}

void cm_config__secrets_of_url(cm_config *c, const char *url, const char *at)
{
    const char *host = url ? strstr(url, "://") : NULL;

    if (!host)
        return;
    host += 3;
    size_t len = strcspn(host, "/?#");
    const char *user_end = memrchr(host, '@', len);
    const char *colon = user_end ? memchr(host, ':', (size_t)(user_end - host)) : NULL;
    if (user_end) {
        cm_secrets_add(c->secrets, cm_str_mk(host, (size_t)(user_end - host)), at);
        if (colon)
            cm_secrets_add(c->secrets, cm_str_mk(colon + 1, (size_t)(user_end - colon) - 1), at);
    }
    const char *query = strchr(host, '?');
    if (query)
        secrets_of_query(c, query + 1, at);
}

/* Cutting "application/json" out of every result would protect nothing and break much. */
static bool is_plain_header(const char *name)
{
    static const char *const plain[] = {
        "Accept",
        "Accept-Language",
        "Accept-Encoding",
        "Content-Type",
        "User-Agent",
        "Cache-Control",
        "Pragma",
        "Connection",
        "Origin",
        "Referer",
        "MCP-Protocol-Version",
        "X-GitHub-Api-Version",
        "Host",
        "From",
        "Notion-Version",
        "X-Client",
        "Anthropic-Version",
        "X-Requested-With",
    };
    for (size_t i = 0; i < CM_ARRAY_LEN(plain); i++)
        if (strcasecmp(name, plain[i]) == 0)
            return true;
    return false;
}

void cm_config__secret_header(cm_config *c, const char *name, struct cm_str raw, const char *value,
                              const char *at)
{
    if (is_plain_header(name) && !memmem(raw.ptr, raw.len, "${", 2))
        return;
    cm_secrets_add(c->secrets, cm_str_of(value), at);
    /* "Bearer abc": a server that echoes the credential alone must not get through either. */
    const char *space = strchr(value, ' ');
    while (space && *space == ' ')
        space++;
    if (space)
        cm_secrets_add(c->secrets, cm_str_of(space), at);
}
