/**
 * Which places a program may reach: one pattern, and which addresses its names may lead to.
 *
 *   pattern  = [ "https://" | "http://" ] host [ ":" port ]
 *   host     = a name, an IPv4 address, an IPv6 address in brackets, or "*." and a name: any name that ends in
 *              it with at least one label before, and not that name itself
 *
 * https unless http is written; the port of the scheme unless one is. A name must lead to a public address.
 * Excepted are: an address that is itself the pattern's host; this machine's own for `localhost` and names below
 * it; what allow_private or a range admits.
 */
#ifndef CM_NET_ALLOW_H
#define CM_NET_ALLOW_H

#include "net/address.h"
#include "net/url.h"

/** Zero-initialise. */
struct cm_allow {
    struct cm_url at; /* scheme, host without "*.", port */
    bool below;       /* "*.": names below the host */
    bool allow_private;
    struct cm_range *ranges;
    size_t n_ranges;
};

/** CM_E_CONFIG says what is wrong with the pattern and what would be accepted. */
cm_status cm_allow_parse(const char *pattern, struct cm_allow *out, struct cm_err *err);
void cm_allow_done(struct cm_allow *a);
/** Take up a range; a metadata address counts only where it is a range of its own. */
cm_status cm_allow_add_range(struct cm_allow *a, const char *text, struct cm_err *err);
bool cm_allow_matches(const struct cm_allow *a, const struct cm_url *url);
/** Whether a connection for a URL that matches may go to this address. */
bool cm_allow_address(const struct cm_allow *a, const struct cm_address *address);
/** The pattern in one form: scheme, star, host, port where it is not the usual one. Owned by the caller. */
char *cm_allow_text(const struct cm_allow *a);

#endif
