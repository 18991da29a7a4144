/** What the files of `fetch` share: its places, and one request as its arguments say. Others see kinds.h only. */
#ifndef CM_CONNECTOR_FETCH_H
#define CM_CONNECTOR_FETCH_H

#include "connector/kinds.h"
#include "net/allow.h"

/* ---- fetch_hosts.c: where to */

struct cm_fetch_place {
    struct cm_allow allow;
    char *at;
    char *off;
    char **headers;   /* "Name: value" lines */
    unsigned methods; /* bits by method */
    uint32_t timeout_ms;
    size_t max_bytes;
};

struct cm_fetch_places {
    struct cm_fetch_place *items;
    size_t n;
};

cm_status cm_fetch_places_new(const struct cm_fetch_spec *spec, struct cm_fetch_places *out,
                              struct cm_err *err);
void cm_fetch_places_done(struct cm_fetch_places *p);
/** The place that decides about a URL and lets it pass. CM_E_DENIED names what is allowed. */
cm_status cm_fetch_find(const struct cm_fetch_places *p, const struct cm_url *url, size_t method,
                        const struct cm_fetch_place **out, struct cm_err *err);
void cm_fetch_list(const struct cm_fetch_places *p, struct cm_buf *out);
/** "leads to a loopback address; …": why an address was refused, and what would let it pass. */
char *cm_fetch_why_address(const struct cm_fetch_place *place, enum cm_address_kind kind);

/* ---- fetch_request.c: what */

enum {
    CM_FETCH_GET,
    CM_FETCH_HEAD,
    CM_FETCH_OPTIONS,
    CM_FETCH_POST,
    CM_FETCH_PUT,
    CM_FETCH_PATCH,
    CM_FETCH_DELETE,
    CM_FETCH_METHODS
};
/** Lower-case names in the order above. */
extern const char *const cm_fetch_methods[CM_FETCH_METHODS];

enum cm_fetch_redirect { CM_FETCH_FOLLOW, CM_FETCH_ERROR, CM_FETCH_MANUAL };

/** Zero-initialise. */
struct cm_fetch_request {
    struct cm_url url;
    size_t method;
    char **headers; /* "Name: value" lines of the program, NULL-terminated */
    size_t n_headers;
    bool has_body;
    struct cm_buf body;
    enum cm_fetch_redirect redirect;
};

/** CM_E_INVALID names the argument and what would be accepted. */
cm_status cm_fetch_request_read(size_t method, struct cm_value args, struct cm_fetch_request *out,
                                struct cm_err *err);
void cm_fetch_request_done(struct cm_fetch_request *rq);
/** Drop the program's headers of this name; NULL drops nothing. */
void cm_fetch_drop_header(struct cm_fetch_request *rq, const char *name, size_t len);
/** Whether a request's header of this name is for the transfer to set, and no one else. */
bool cm_fetch_is_own_header(const char *name, size_t len);

#endif
