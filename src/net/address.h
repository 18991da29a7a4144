/**
 * Addresses and what they lead to: the public network, or something nearer that no program is to reach unasked.
 *
 * The one form of an address is IPv6; an IPv4 address, also one that stands inside an IPv6 address (mapped, or
 * behind a NAT64), is the mapped one. So there is one question and no second spelling that escapes it.
 */
#ifndef CM_NET_ADDRESS_H
#define CM_NET_ADDRESS_H

#include "base/base.h"

#include <stdint.h>

struct sockaddr;

struct cm_address {
    uint8_t bytes[16];
};

/** What `allowPrivate` opens is PRIVATE and LOOPBACK; the others must be listed as they are. */
enum cm_address_kind {
    CM_ADDRESS_PUBLIC,
    CM_ADDRESS_PRIVATE,    /* RFC 1918, RFC 6598 (CGNAT), unique and site local */
    CM_ADDRESS_LOOPBACK,   /* this machine */
    CM_ADDRESS_LINK_LOCAL, /* this wire */
    CM_ADDRESS_METADATA,   /* where clouds hand out the credentials of the machine that asks */
    CM_ADDRESS_SPECIAL, /* multicast, unspecified, documentation, tunnels: nothing that a name should lead to */
};

/** A range: the first `bits` bits of `base`, counted in the form above (so an IPv4 /8 has 104). */
struct cm_range {
    struct cm_address base;
    unsigned bits;
};

/** "192.0.2.1" or "2001:db8::1"; no other spelling. */
bool cm_address_parse(const char *text, struct cm_address *out);
/** False for a family that is neither IPv4 nor IPv6. */
bool cm_address_of(const struct sockaddr *sa, struct cm_address *out);
enum cm_address_kind cm_address_kind(const struct cm_address *a);
/** "a loopback address", for messages. */
const char *cm_address_kind_text(enum cm_address_kind kind);
/** "10.0.0.0/8", or an address alone. CM_E_CONFIG: it is none, or has bits behind its length. */
cm_status cm_range_parse(const char *text, struct cm_range *out, struct cm_err *err);
bool cm_range_has(const struct cm_range *r, const struct cm_address *a);

#endif
