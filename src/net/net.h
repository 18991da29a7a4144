/**
 * net: the HTTP client, over libcurl's multi interface on the loop. curl's headers stay inside this folder.
 *
 * It does not interpret bodies. Redirects are not followed (a server must not send credentials elsewhere). Only http and https.
 *
 *   url.h      a URL in one form, which is what is compared and what is connected to
 *   address.h  what an address leads to
 *   allow.h    which places a program may reach
 */
#ifndef CM_NET_NET_H
#define CM_NET_NET_H

#include "base/base.h"
#include "loop/loop.h"
#include "net/address.h"

typedef struct cm_http cm_http;
typedef struct cm_http_request cm_http_request;

cm_status cm_http_new(cm_loop *loop, cm_http **out, struct cm_err *err);
/** Requests in flight end without their callback. */
void cm_http_free(cm_http *h);
CM_DEFINE_AUTO(cm_http, cm_http_free)

struct cm_http_spec {
    const char *method; /* "GET", … */
    const char *url;    /* absolute, already encoded */
    const char *const *
        headers; /* "Name: value" lines, NULL-terminated; no CR or LF within (asserted by the caller's checks) */
    struct cm_str body;    /* absent when ptr is NULL */
    uint32_t timeout_ms;   /* whole transfer */
    size_t max_body_bytes; /* response, decoded */
    /**
     * Asked with each address before a socket is opened for it, and once more with the one that a request is about
     * to be sent to, which may be that of a connection kept from before; `user` is the request's. NULL: any. With it
     * no proxy is used: one would look up names itself. Runs inside curl: it may note something, and no more.
     */
    bool (*may_connect)(void *user, const struct cm_address *a);
    const char *const
        *resolve; /* "NAME:PORT:ADDRESS", NULL-terminated: instead of asking for these; or NULL */
};

/** A response, or why there is none. Borrowed for the duration of the callback. */
struct cm_http_response {
    cm_status
        status; /* CM_OK: there is a response of any HTTP code; CM_E_DENIED: may_connect refused all addresses */
    const char *error; /* a sentence when status != CM_OK; holds no header and no query string */
    long code;
    const char *reason;       /* the words behind the code; "" when there are none */
    const char *content_type; /* "" when absent */
    struct cm_str body;
    const char *const *headers; /* "name: value", names in lower case, NULL-terminated */
};
typedef void (*cm_http_fn)(void *user, const struct cm_http_response *r);

/** fn runs once, never inside this call. *out is valid until then. */
cm_status cm_http_start(cm_http *h, const struct cm_http_spec *spec, cm_http_fn fn, void *user,
                        cm_http_request **out, struct cm_err *err);
/** Abort; fn does not run. */
void cm_http_cancel(cm_http_request *r);

#endif
