/* Sources: IANA's registries of special-purpose addresses for IPv4 and IPv6; RFC 6890, RFC 6052 (NAT64), RFC 4193, RFC 6598. */
#include "net/address.h"

#include "base/parse.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
static const uint8_t nat64[12] = {0, 0x64, 0xff, 0x9b};

static void set_v4(const uint8_t v4[4], struct cm_address *out)
{
    memcpy(out->bytes, mapped, sizeof mapped);
    memcpy(out->bytes + 12, v4, 4);
}

/* A NAT64 forwards to the IPv4 address inside: that one is meant. The other forms that hold one (6to4, Teredo,
 * IPv4-compatible, translated) have no use left, and are SPECIAL as they stand. */
static void set_v6(const uint8_t v6[16], struct cm_address *out)
{
    if (memcmp(v6, nat64, sizeof nat64) == 0)
        set_v4(v6 + 12, out);
    else
        memcpy(out->bytes, v6, 16);
}

bool cm_address_parse(const char *text, struct cm_address *out)
{
    uint8_t bytes[16];

    if (inet_pton(AF_INET, text, bytes) == 1)
        set_v4(bytes, out);
    else if (inet_pton(AF_INET6, text, bytes) == 1)
        set_v6(bytes, out);
    else
        return false;
    return true;
}

bool cm_address_of(const struct sockaddr *sa, struct cm_address *out)
{
    if (sa->sa_family == AF_INET)
        set_v4((const uint8_t *)&((const struct sockaddr_in *)(const void *)sa)->sin_addr, out);
    else if (sa->sa_family == AF_INET6)
        set_v6(((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr.s6_addr, out);
    else
        return false;
    return true;
}

/* First match counts: what is listed before is narrower. What stands in no row is public for IPv4; for IPv6
 * the last rows say that only 2000::/3 is. */
static const struct row {
    const char *range;
    enum cm_address_kind kind;
} rows[] = {
    {"169.254.169.254", CM_ADDRESS_METADATA}, /* most clouds */
    {"169.254.170.2", CM_ADDRESS_METADATA},   /* Amazon's containers */
    {"169.254.170.23", CM_ADDRESS_METADATA},  /* Amazon's pods */
    {"100.100.100.200", CM_ADDRESS_METADATA}, /* Alibaba */
    {"168.63.129.16",
     CM_ADDRESS_METADATA}, /* Azure: an address of the public range that only its machines see */
    {"192.0.0.192", CM_ADDRESS_METADATA},   /* Oracle */
    {"fd00:ec2::254", CM_ADDRESS_METADATA}, /* Amazon */
    {"fd00:ec2::23", CM_ADDRESS_METADATA},  /* Amazon's pods */
    {"fd20:ce::254", CM_ADDRESS_METADATA},  /* Google */
    {"0.0.0.0/8", CM_ADDRESS_SPECIAL},      /* Linux connects 0.0.0.0 to this machine */
    {"10.0.0.0/8", CM_ADDRESS_PRIVATE},
    {"100.64.0.0/10", CM_ADDRESS_PRIVATE},
    {"127.0.0.0/8", CM_ADDRESS_LOOPBACK},
    {"169.254.0.0/16", CM_ADDRESS_LINK_LOCAL},
    {"172.16.0.0/12", CM_ADDRESS_PRIVATE},
    {"192.0.0.0/24", CM_ADDRESS_SPECIAL},
    {"192.0.2.0/24", CM_ADDRESS_SPECIAL},
    {"192.31.196.0/24", CM_ADDRESS_SPECIAL},
    {"192.52.193.0/24", CM_ADDRESS_SPECIAL},
    {"192.88.99.0/24", CM_ADDRESS_SPECIAL}, /* relays of 6to4 */
    {"192.168.0.0/16", CM_ADDRESS_PRIVATE},
    {"192.175.48.0/24", CM_ADDRESS_SPECIAL},
    {"198.18.0.0/15", CM_ADDRESS_SPECIAL}, /* benchmarks */
    {"198.51.100.0/24", CM_ADDRESS_SPECIAL},
    {"203.0.113.0/24", CM_ADDRESS_SPECIAL},
    {"224.0.0.0/3", CM_ADDRESS_SPECIAL}, /* multicast, reserved, broadcast */
    {"::ffff:0.0.0.0/96", CM_ADDRESS_PUBLIC},
    {"::1", CM_ADDRESS_LOOPBACK},
    {"fc00::/7", CM_ADDRESS_PRIVATE},
    {"fec0::/10", CM_ADDRESS_PRIVATE},
    {"fe80::/10", CM_ADDRESS_LINK_LOCAL},
    {"2001::/23", CM_ADDRESS_SPECIAL}, /* Teredo, benchmarks, ORCHID and other protocols */
    {"2001:db8::/32", CM_ADDRESS_SPECIAL},
    {"2002::/16", CM_ADDRESS_SPECIAL}, /* 6to4 */
    {"2620:4f:8000::/48", CM_ADDRESS_SPECIAL},
    {"3fff::/20", CM_ADDRESS_SPECIAL}, /* documentation */
    {"2000::/3", CM_ADDRESS_PUBLIC},
    {"::/0", CM_ADDRESS_SPECIAL},
};

enum cm_address_kind cm_address_kind(const struct cm_address *a)
{
    for (size_t i = 0; i < CM_ARRAY_LEN(rows); i++) {
        struct cm_range r = {0};
        if (cm_range_parse(rows[i].range, &r, NULL) == CM_OK && cm_range_has(&r, a))
            return rows[i].kind;
    }
    return CM_ADDRESS_SPECIAL;
}

const char *cm_address_kind_text(enum cm_address_kind kind)
{
    switch (kind) {
    case CM_ADDRESS_PUBLIC:
        return "a public address";
    case CM_ADDRESS_PRIVATE:
        return "an address of a private network";
    case CM_ADDRESS_LOOPBACK:
        return "a loopback address";
    case CM_ADDRESS_LINK_LOCAL:
        return "a link-local address";
    case CM_ADDRESS_METADATA:
        return "the address of a cloud's metadata service";
    case CM_ADDRESS_SPECIAL:
        return "an address of a range that is no one's";
    }
    return "";
}

static cm_status no_range(const char *text, const char *why, struct cm_err *err)
{
    return cm_err_set(err, CM_E_CONFIG,
                      "'%.100s' %s; expected an address or a range such as 10.0.0.0/8 or fd00::/8", text,
                      why);
}

cm_status cm_range_parse(const char *text, struct cm_range *out, struct cm_err *err)
{
    cm_autofree char *address = cm_strdup(text);
    char *slash = strchr(address, '/');
    bool v4 = strchr(address, ':') == NULL;
    uint32_t bits = v4 ? 32 : 128;
    struct cm_range r = {0};

    if (slash) {
        *slash = '\0';
        if (cm_parse_u32(cm_str_of(slash + 1), &bits, NULL) != CM_OK || bits > (v4 ? 32u : 128u))
            return no_range(text, "has no prefix length that fits its address", err);
    }
    if (!cm_address_parse(address, &r.base))
        return no_range(text, "is no range of addresses", err);
    r.bits = v4 ? bits + 96 : bits;
    for (unsigned i = r.bits; i < 128; i++)
        if (r.base.bytes[i / 8] & 0x80 >> i % 8)
            return no_range(text, "has bits behind its prefix length", err);
    *out = r;
    return CM_OK;
}

bool cm_range_has(const struct cm_range *r, const struct cm_address *a)
{
    unsigned whole = r->bits / 8, rest = r->bits % 8;

    if (memcmp(r->base.bytes, a->bytes, whole) != 0)
        return false;
    return rest == 0 || ((r->base.bytes[whole] ^ a->bytes[whole]) >> (8 - rest)) == 0;
}
