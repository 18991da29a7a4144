/**
 * A web address, read once: by curl's own reader, and written back in one form. What is compared with a list is
 * then what is connected to, since curl is given that form and nothing else.
 *
 * Refused, each with a sentence: schemes but http and https, a user or password, hosts that are not ASCII
 * (programs have them converted by their URL), numbers that only look like an IPv4 address, zones, ports 0 and
 * over 65535, backslashes and control characters. Changed: upper case, an encoded host, one trailing dot, the
 * short, octal and hexadecimal forms of IPv4, the spellings of IPv6, the default port, dot segments; the
 * fragment goes.
 */
#ifndef CM_NET_URL_H
#define CM_NET_URL_H

#include "base/base.h"
#include "net/address.h"

/** Zero-initialise. */
struct cm_url {
    char *text;      /* the whole, canonical */
    bool tls;        /* https */
    char *host;      /* lower case, without brackets */
    uint16_t port;   /* the default of the scheme filled in */
    bool is_address; /* the host is one */
    struct cm_address address;
};

#define CM_URL_MAX_BYTES 65536

/** `base` may be NULL; otherwise text may be relative to it. CM_E_INVALID says what is wrong, without the query. */
cm_status cm_url_parse(struct cm_str text, const struct cm_url *base, struct cm_url *out, struct cm_err *err);
void cm_url_done(struct cm_url *u);
#define cm_autourl __attribute__((cleanup(cm_url_done))) struct cm_url
/** "https://host" or "https://host:8443". Owned by the caller. */
char *cm_url_origin(const struct cm_url *u);
bool cm_url_same_origin(const struct cm_url *a, const struct cm_url *b);

#endif
