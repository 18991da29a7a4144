/* Front page: url.h. */
#include "net/url.h"

#include "base/parse.h"
#include "net/curl.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define SHOWN_BYTES 200

static cm_status refuse(struct cm_str text, const char *why, struct cm_err *err)
{
    const char *at = memchr(text.ptr, '@', text.len), *scheme = memmem(text.ptr, text.len, "://", 3);
    size_t max = text.len < SHOWN_BYTES ? text.len : SHOWN_BYTES, len = 0;

    /* No query, and nothing that may be a password: either may hold what must not be repeated. */
    if (at && (!scheme || scheme < at))
        max = scheme ? (size_t)(scheme + 3 - text.ptr) : 0;
    while (len < max && !strchr("?#\\", text.ptr[len]) && (unsigned char)text.ptr[len] > 0x20)
        len++;
    return cm_err_set(err, CM_E_INVALID, "'%.*s%s' %s", (int)len, text.ptr, len < text.len ? "…" : "", why);
}

void cm_url_done(struct cm_url *u)
{
    free(u->text);
    free(u->host);
    *u = (struct cm_url){0};
}

static const char *part(CURLU *u, CURLUPart what, unsigned flags, char **keep)
{
    cm_curl.free(*keep);
    *keep = NULL;
    return cm_curl.url_get(u, what, keep, flags) == CURLUE_OK ? *keep : NULL;
}

/* "1.2.3", "0x", "1.2.3.0x5", "256.1.1.1": resolvers have ideas of their own about these. */
static bool ends_in_number(const char *host)
{
    const char *last = strrchr(host, '.');

    last = last ? last + 1 : host;
    if (last[0] == '0' && last[1] == 'x')
        return last[2 + strspn(last + 2, "0123456789abcdef")] == '\0';
    return last[strspn(last, "0123456789")] == '\0';
}

static const char *fault_of_name(const char *host)
{
    size_t len = strlen(host), label = 0;

    if (len == 0 || len > 253)
        return "has no host name of 1 to 253 characters";
    for (size_t i = 0; i <= len; i++) {
        if (host[i] == '.' || host[i] == '\0') {
            if (label == 0 || label > 63)
                return "has a host name with an empty or over-long label";
            label = 0;
        } else if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789-_", host[i])) {
            return "has a host name with a character other than letters, digits, '-', '_' and '.'; write an "
                   "international "
                   "name in its ASCII form (xn--…), as new URL(text).href does";
        } else {
            label++;
        }
    }
    return ends_in_number(host)
               ? "has a host that looks like an IPv4 address and is none; write four numbers from 0 to 255"
               : NULL;
}

/* The host as it will stand, and what kind it is. *host is curl's text, in brackets where it is IPv6. */
static const char *take_host(const char *host, struct cm_url *out)
{
    size_t len = strlen(host);
    uint8_t bytes[16];

    if (host[0] == '[') {
        char text[INET6_ADDRSTRLEN];
        cm_autofree char *inside = cm_memdup_z(host + 1, len - 2);
        if (inet_pton(AF_INET6, inside, bytes) != 1 || !inet_ntop(AF_INET6, bytes, text, sizeof text))
            return "has an IPv6 address that cannot be read";
        out->host = cm_strdup(text);
    } else {
        if (len > 0 && host[len - 1] == '.')
            len--; /* the root, which every name has */
        out->host = cm_memdup_z(host, len);
        for (char *p = out->host; *p; p++)
            if (*p >= 'A' && *p <= 'Z')
                *p = (char)(*p | 0x20);
    }
    out->is_address = cm_address_parse(out->host, &out->address);
    return out->is_address ? NULL : fault_of_name(out->host);
}

static const char *take_parts(CURLU *u, struct cm_url *out)
{
    char *keep = NULL;
    const char *fault = NULL, *text = NULL;
    uint32_t port = 0;

    text = part(u, CURLUPART_SCHEME, 0, &keep);
    if (!text || (!cm_z_eq(text, "https") && !cm_z_eq(text, "http")))
        fault = "is not of a scheme that is spoken; http or https is expected";
    else
        out->tls = cm_z_eq(text, "https");
    if (!fault && (part(u, CURLUPART_USER, 0, &keep) || part(u, CURLUPART_PASSWORD, 0, &keep)))
        fault = "holds a user or a password; credentials are sent in headers";
    if (!fault && part(u, CURLUPART_ZONEID, 0, &keep))
        fault = "holds the zone of an address, which means something on one machine only";
    if (!fault) {
        text = part(u, CURLUPART_PORT, CURLU_DEFAULT_PORT, &keep);
        if (!text || cm_parse_u32(cm_str_of(text), &port, NULL) != CM_OK || port == 0 || port > 65535)
            fault = "has a port outside of 1 to 65535";
        out->port = (uint16_t)port;
    }
    if (!fault) {
        text = part(u, CURLUPART_HOST, 0, &keep);
        fault = text ? take_host(text, out) : "has no host";
    }
    cm_curl.free(keep);
    return fault;
}

/* Put the canonical host back and write the whole. */
static const char *write_back(CURLU *u, struct cm_url *out)
{
    bool v6 = strchr(out->host, ':') != NULL;
    cm_autofree char *host = cm_asprintf("%s%s%s", v6 ? "[" : "", out->host, v6 ? "]" : "");
    bool standard = out->port == (out->tls ? 443 : 80);
    cm_autofree char *port = cm_asprintf("%u", out->port);
    char *text = NULL;

    if (cm_curl.url_set(u, CURLUPART_HOST, host, 0) != CURLUE_OK ||
        cm_curl.url_set(u, CURLUPART_FRAGMENT, NULL, 0) != CURLUE_OK ||
        cm_curl.url_set(u, CURLUPART_PORT, standard ? NULL : port, 0) != CURLUE_OK ||
        cm_curl.url_get(u, CURLUPART_URL, &text, 0) != CURLUE_OK)
        return "cannot be written back as a URL";
    out->text = cm_strdup(text);
    cm_curl.free(text);
    return NULL;
}

/* What was written is read once more and must name the same place: a URL with two readings has none. */
static bool reads_the_same(const struct cm_url *url)
{
    struct cm_url again = {0};
    CURLU *u = cm_curl.url();
    bool same = u && cm_curl.url_set(u, CURLUPART_URL, url->text, 0) == CURLUE_OK && !take_parts(u, &again) &&
                cm_url_same_origin(url, &again);

    cm_curl.url_cleanup(u);
    cm_url_done(&again);
    return same;
}

cm_status cm_url_parse(struct cm_str text, const struct cm_url *base, struct cm_url *out, struct cm_err *err)
{
    cm_autourl url = {0};
    const char *fault = NULL;
    CURLU *u = NULL;

    if (text.len == 0 || text.len > CM_URL_MAX_BYTES)
        return cm_err_set(err, CM_E_INVALID, "a URL of %zu bytes; 1 to %d are expected", text.len,
                          CM_URL_MAX_BYTES);
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c < 0x20 || c == 0x7f)
            return refuse(text, "holds a line break or another control character", err);
        /* Browsers take it for a slash and others do not: the two would see different hosts. */
        if (c == '\\')
            return refuse(text, "holds a backslash; write / or %5C", err);
    }
    cm_autofree char *z = cm_memdup_z(text.ptr, text.len);
    /* curl takes a mere fragment for a file of the same folder. */
    if (base && z[0] == '#') {
        free(z);
        z = cm_strdup(base->text);
    }
    if (cm_curl__load(err) != CM_OK)
        return CM_E_UNAVAILABLE;
    u = cm_curl.url();
    if (!u || (base && cm_curl.url_set(u, CURLUPART_URL, base->text, 0) != CURLUE_OK) ||
        cm_curl.url_set(u, CURLUPART_URL, z, CURLU_URLENCODE | CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK)
        fault = "is no URL; https://host/path is expected";
    if (!fault)
        fault = take_parts(u, &url);
    if (!fault)
        fault = write_back(u, &url);
    cm_curl.url_cleanup(u);
    if (!fault && !reads_the_same(&url))
        fault = "can be read as more than one URL";
    if (fault)
        return refuse(text, fault, err);
    *out = url;
    url = (struct cm_url){0};
    return CM_OK;
}

char *cm_url_origin(const struct cm_url *u)
{
    bool v6 = strchr(u->host, ':') != NULL;
    cm_autofree char *port = u->port == (u->tls ? 443 : 80) ? cm_strdup("") : cm_asprintf(":%u", u->port);

    return cm_asprintf("%s://%s%s%s%s", u->tls ? "https" : "http", v6 ? "[" : "", u->host, v6 ? "]" : "",
                       port);
}

bool cm_url_same_origin(const struct cm_url *a, const struct cm_url *b)
{
    return a->tls == b->tls && a->port == b->port && cm_z_eq(a->host, b->host);
}
