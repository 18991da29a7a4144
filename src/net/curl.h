/**
 * libcurl, loaded when the network is first asked for. Private to this folder.
 *
 * It brings thirty libraries, whose loading was half of the time that a command takes which sends nothing. So what we call of it is
 * a table, filled once for the process and never emptied; who holds a handle of libcurl has loaded it.
 */
#ifndef CM_NET_CURL_H
#define CM_NET_CURL_H

#include "base/base.h"

#include <curl/curl.h>

/* These check their arguments' types and then call the function by its name, which is not there to be called. */
#undef curl_easy_getinfo
#undef curl_easy_setopt
#undef curl_multi_setopt

/* clang-format off */
#define CM_CURL_MAP(X)                                                                              \
    X(free) X(global_cleanup) X(global_init) X(slist_append) X(slist_free_all)                      \
    X(easy_cleanup) X(easy_getinfo) X(easy_init) X(easy_setopt) X(easy_strerror)                    \
    X(multi_add_handle) X(multi_assign) X(multi_cleanup) X(multi_info_read) X(multi_init)           \
    X(multi_perform) X(multi_remove_handle) X(multi_setopt) X(multi_socket_action)                  \
    X(url) X(url_cleanup) X(url_get) X(url_set)
/* clang-format on */

struct cm_curl {
#define CM_CURL_MEMBER_(name) __typeof__(curl_##name) *name;
    CM_CURL_MAP(CM_CURL_MEMBER_)
#undef CM_CURL_MEMBER_
};

extern struct cm_curl cm_curl;

/** Fill cm_curl. From any thread. Errors: CM_E_UNAVAILABLE it is not installed, or older than what we were built with. */
cm_status cm_curl__load(struct cm_err *err);

#endif
