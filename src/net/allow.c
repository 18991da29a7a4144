/* Front page: allow.h. Patterns are read by the reader of URLs, so that both sides of a comparison have one form. */
#include "net/allow.h"

static cm_status wrong(const char *pattern, const char *why, struct cm_err *err)
{
    return cm_err_set(err, CM_E_CONFIG,
                      "'%.200s' %s; expected a host such as \"api.example.com\", \"*.example.org:8443\" or "
                      "\"http://localhost:8080\"",
                      pattern, why);
}

/* "*.com" would be nearly everyone; below these no one's names are. */
static bool may_stand_for_all(const char *suffix)
{
    static const char *const own[] = {"localhost", "local", "internal", "test"};

    for (size_t i = 0; i < CM_ARRAY_LEN(own); i++)
        if (cm_z_eq(suffix, own[i]))
            return true;
    return strchr(suffix, '.') != NULL;
}

cm_status cm_allow_parse(const char *pattern, struct cm_allow *out, struct cm_err *err)
{
    const char *host = strstr(pattern, "://");
    const char *scheme = "https";
    struct cm_allow a = {0};
    struct cm_err why = {0};

    if (host) {
        scheme = strncasecmp(pattern, "http:", 5) == 0 ? "http" : "https";
        if (host - pattern != (long)strlen(scheme) || strncasecmp(pattern, scheme, strlen(scheme)) != 0)
            return wrong(pattern, "has a scheme other than https and http", err);
    }
    host = host ? host + 3 : pattern;
    if (cm_z_eq(host, "*") || strncmp(host, "*:", 2) == 0)
        /* A program with the run of the network can carry away whatever it was given to read. */
        return wrong(pattern, "would allow every host there is; list those that programs need", err);
    if (strncmp(host, "*.", 2) == 0) {
        a.below = true;
        host += 2;
    }
    if (!*host)
        return wrong(pattern, "names no host", err);
    if (host[strcspn(host, "/?#@*% ")])
        return wrong(pattern, "has more than a scheme, a host and a port", err);
    cm_autofree char *url = cm_asprintf("%s://%s/", scheme, host);
    if (cm_url_parse(cm_str_of(url), NULL, &a.at, &why) != CM_OK) {
        const char *reason = strstr(why.message, "' ");
        return wrong(pattern, reason ? reason + 2 : why.message, err);
    }
    const char *fault = a.below && a.at.is_address
                            ? "has a star before an address, which has no names below it"
                        : a.below && !may_stand_for_all(a.at.host)
                            ? "would allow everything below a top-level domain; name one more label"
                            : NULL;
    if (fault) {
        cm_allow_done(&a);
        return wrong(pattern, fault, err);
    }
    *out = a;
    return CM_OK;
}

void cm_allow_done(struct cm_allow *a)
{
    cm_url_done(&a->at);
    free(a->ranges);
    *a = (struct cm_allow){0};
}

cm_status cm_allow_add_range(struct cm_allow *a, const char *text, struct cm_err *err)
{
    struct cm_range r;
    cm_status st = cm_range_parse(text, &r, err);

    if (st != CM_OK)
        return st;
    a->ranges = cm_realloc(a->ranges, (a->n_ranges + 1) * sizeof *a->ranges);
    a->ranges[a->n_ranges++] = r;
    return CM_OK;
}

/* By whole labels: "evilexample.org" does not end in ".example.org". */
static bool is_below(const char *name, const char *host)
{
    size_t n = strlen(name), h = strlen(host);

    return n > h + 1 && name[n - h - 1] == '.' && cm_z_eq(name + n - h, host);
}

bool cm_allow_matches(const struct cm_allow *a, const struct cm_url *url)
{
    if (a->at.tls != url->tls || a->at.port != url->port)
        return false;
    return a->below ? !url->is_address && is_below(url->host, a->at.host) : cm_z_eq(a->at.host, url->host);
}

bool cm_allow_address(const struct cm_allow *a, const struct cm_address *address)
{
    enum cm_address_kind kind = cm_address_kind(address);
    bool itself = a->at.is_address && memcmp(&a->at.address, address, sizeof *address) == 0;

    if (kind == CM_ADDRESS_PUBLIC || itself)
        return true;
    if (kind == CM_ADDRESS_LOOPBACK &&
        (cm_z_eq(a->at.host, "localhost") || is_below(a->at.host, "localhost")))
        return true; /* RFC 6761, section 6.3: such a name never means anything else */
    if (a->allow_private && (kind == CM_ADDRESS_PRIVATE || kind == CM_ADDRESS_LOOPBACK))
        return true;
    for (size_t i = 0; i < a->n_ranges; i++)
        if (cm_range_has(&a->ranges[i], address) && (kind != CM_ADDRESS_METADATA || a->ranges[i].bits == 128))
            return true;
    return false;
}

char *cm_allow_text(const struct cm_allow *a)
{
    cm_autofree char *origin = cm_url_origin(&a->at);
    const char *host = strstr(origin, "://") + 3;

    return cm_asprintf("%.*s%s%s", (int)(host - origin), origin, a->below ? "*." : "", host);
}
