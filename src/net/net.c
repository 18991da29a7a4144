/*
 * libcurl's multi interface drives itself: it tells which sockets to watch (on_socket) and when it wants to
 * be woken (on_wake); we tell it what happened (curl_multi_socket_action) and then read which transfers have
 * ended (reap). Callbacks of ours run only in reap, never from within curl, so that they may start, cancel
 * and free as they like.
 *
 * What a server may not do: send credentials elsewhere (no redirects, no cookies, no netrc, headers never to
 * a proxy), fill the memory (header lines and the decoded body are bounded while they arrive), hold a request
 * for ever (one time limit for the whole transfer).
 */
#include "net/net.h"

#include "base/limits.h"
#include "net/curl.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEADERS_MAX_BYTES  (64u << 10)
#define HEADERS_MAX        200
#define REASON_BYTES       128
#define TIMEOUT_DEFAULT_MS 60000
#define ADDRESSES_MAX      64
#define MAX_CONNECTIONS    64 /* to all hosts together; more requests wait their turn */

struct sock {
    struct sock *next;
    cm_http *h;
    curl_socket_t fd;
    cm_watch *watch;
};

struct cm_http {
    cm_loop *loop;
    CURLM *multi;
    cm_timer *wake;
    struct sock *socks;
    cm_http_request *requests;
    char *no_proxy;
    bool refused; /* an address, in open_socket; see act */
    bool *gone;   /* set by cm_http_free for reap above it */
};

struct cm_http_request {
    cm_http *h;
    cm_http_request *next;
    cm_http_request **prev;
    CURL *easy;
    struct curl_slist *headers;
    struct curl_slist *resolve;
    bool (*may_connect)(void *user, const struct cm_address *a);
    bool refused; /* by may_connect */
    char *request_body;
    char *where; /* "http://host:port", for messages */
    uint32_t timeout_ms;
    cm_http_fn fn;
    void *user;
    struct cm_buf body;
    char *lines[HEADERS_MAX + 1]; /* response headers */
    size_t n_lines;
    size_t line_bytes;
    enum { CUT_NOT, CUT_BODY, CUT_HEADERS } cut;
    char reason[REASON_BYTES];
};

/* ---- ended transfers ---- */

static void clear_lines(cm_http_request *r)
{
    for (size_t i = 0; i < r->n_lines; i++) {
        free(r->lines[i]);
        r->lines[i] = NULL;
    }
    r->n_lines = 0;
    r->line_bytes = 0;
}

static void request_free(cm_http_request *r)
{
    if (r->prev) {
        *r->prev = r->next;
        if (r->next)
            r->next->prev = r->prev;
    }
    if (r->easy) {
        (void)cm_curl.multi_remove_handle(r->h->multi, r->easy);
        cm_curl.easy_cleanup(r->easy);
    }
    cm_curl.slist_free_all(r->headers);
    cm_curl.slist_free_all(r->resolve);
    clear_lines(r);
    cm_buf_done(&r->body);
    free(r->request_body);
    free(r->where);
    free(r);
}

/* Our own sentences: curl's may hold the URL, and with it what stands in a query. */
static cm_status explain(const cm_http_request *r, CURLcode code, struct cm_err *err)
{
    if (r->cut == CUT_BODY)
        return cm_err_set(err, CM_E_LIMIT, "%s sent more than %zu bytes", r->where, r->body.max_bytes);
    if (r->cut == CUT_HEADERS)
        return cm_err_set(err, CM_E_LIMIT, "%s sent more than %d headers or %u bytes of them", r->where,
                          HEADERS_MAX, HEADERS_MAX_BYTES);
    if (r->refused && (code == CURLE_COULDNT_CONNECT || code == CURLE_ABORTED_BY_CALLBACK))
        return cm_err_set(err, CM_E_DENIED, "%s leads to an address that may not be connected to", r->where);
    if (code == CURLE_PEER_FAILED_VERIFICATION)
        return cm_err_set(err, CM_E_UNAVAILABLE, "%s did not prove with its certificate that it is this host",
                          r->where);
    if (code == CURLE_OPERATION_TIMEDOUT)
        return cm_err_set(err, CM_E_TIMEOUT, "%s did not answer within %u ms", r->where, r->timeout_ms);
    if (code == CURLE_COULDNT_CONNECT)
        return cm_err_set(err, CM_E_UNAVAILABLE, "cannot connect to %s", r->where);
    if (code == CURLE_COULDNT_RESOLVE_HOST)
        return cm_err_set(err, CM_E_UNAVAILABLE, "there is no host of the name in %s", r->where);
    if (code == CURLE_OUT_OF_MEMORY)
        return cm_err_set(err, CM_E_NOMEM, "out of memory while talking to %s", r->where);
    return cm_err_set(err, CM_E_UNAVAILABLE, "request to %s failed: %s", r->where,
                      cm_curl.easy_strerror(code));
}

static void finish(cm_http_request *r, CURLcode code)
{
    struct cm_err err = {.message = ""};
    struct cm_http_response response = {.content_type = "", .error = err.message, .reason = r->reason};

    if (code == CURLE_OK && !r->cut) {
        const char *type = NULL;
        (void)cm_curl.easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &response.code);
        (void)cm_curl.easy_getinfo(r->easy, CURLINFO_CONTENT_TYPE, &type);
        response.content_type = type ? type : "";
        response.body = cm_buf_str(&r->body);
        response.headers = (const char *const *)r->lines;
    } else {
        static const char *const none[] = {NULL};
        response.status = explain(r, code, &err);
        response.headers = none;
    }
    /* Out of every list before its owner hears of it: it cannot be cancelled any more. */
    *r->prev = r->next;
    if (r->next)
        r->next->prev = r->prev;
    r->prev = NULL;
    (void)cm_curl.multi_remove_handle(r->h->multi, r->easy);
    CURL *easy = cm_steal(&r->easy);
    r->fn(r->user, &response);
    /* The connection is the multi handle's; an easy handle outlives it unharmed. */
    cm_curl.easy_cleanup(easy);
    request_free(r);
}

static void reap(cm_http *h)
{
    bool gone = false;
    int left = 0;
    CURLMsg *msg = NULL;

    h->gone = &gone;
    while ((msg = cm_curl.multi_info_read(h->multi, &left))) {
        cm_http_request *r = NULL;
        if (msg->msg != CURLMSG_DONE)
            continue;
        CURLcode code = msg->data.result;
        (void)cm_curl.easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, (char **)&r);
        finish(r, code);
        if (gone)
            return;
    }
    h->gone = NULL;
}

/* ---- curl and the loop ---- */

/*
 * After an address was refused curl has no socket to wait for, and would try the next one only when half of the
 * time was up. Going over all transfers once more makes it go on now. Each turn takes an address of some name, so
 * this ends; the bound is for a name with very many.
 */
static void act(cm_http *h, curl_socket_t fd, int what)
{
    int running = 0;

    (void)cm_curl.multi_socket_action(h->multi, fd, what, &running);
    for (int i = 0; h->refused && i < ADDRESSES_MAX; i++) {
        h->refused = false;
        (void)cm_curl.multi_perform(h->multi, &running);
    }
    reap(h);
}

static void on_ready(void *user, unsigned events)
{
    struct sock *s = user;
    cm_http *h = s->h;
    int what =
        (events & CM_WATCH_READ ? CURL_CSELECT_IN : 0) | (events & CM_WATCH_WRITE ? CURL_CSELECT_OUT : 0);

    act(h, s->fd, what);
}

static void on_wake(void *user)
{
    cm_http *h = user;

    act(h, CURL_SOCKET_TIMEOUT, 0);
}

static int set_wake(CURLM *multi, long ms, void *user)
{
    cm_http *h = user;

    (void)multi;
    if (ms < 0)
        cm_timer_stop(h->wake);
    else
        cm_timer_start(h->wake, (uint64_t)ms);
    return 0;
}

static void drop_sock(cm_http *h, struct sock *s)
{
    for (struct sock **pp = &h->socks; *pp; pp = &(*pp)->next)
        if (*pp == s) {
            *pp = s->next;
            break;
        }
    cm_watch_free(s->watch);
    free(s);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *socket_user)
{
    cm_http *h = user;
    struct sock *s = socket_user;

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (s)
            drop_sock(h, s);
        return 0;
    }
    if (!s) {
        s = cm_new(struct sock);
        s->h = h;
        s->fd = fd;
        s->watch = cm_watch_new(h->loop, fd, on_ready, s);
        s->next = h->socks;
        h->socks = s;
        (void)cm_curl.multi_assign(h->multi, fd, s);
    }
    cm_watch_set(s->watch,
                 (what & CURL_POLL_IN ? CM_WATCH_READ : 0u) | (what & CURL_POLL_OUT ? CM_WATCH_WRITE : 0u));
    return 0;
}

/* Here and not where a name is looked up: it is this very address that connect is given, so that no later
 * answer of a name server can put another in its place. */
static curl_socket_t open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *a)
{
    cm_http_request *r = user;
    struct cm_address address;

    (void)purpose;
    if (r->may_connect && (!cm_address_of(&a->addr, &address) || !r->may_connect(r->user, &address))) {
        r->refused = r->h->refused = true;
        return CURL_SOCKET_BAD;
    }
    return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

/* A connection that was kept was opened for an earlier request, which may have had other rules. */
static int before_sending(void *user, char *peer, char *local, int peer_port, int local_port)
{
    cm_http_request *r = user;
    struct cm_address address;

    (void)local, (void)peer_port, (void)local_port;
    if (cm_address_parse(peer, &address) && r->may_connect(r->user, &address))
        return CURL_PREREQFUNC_OK;
    r->refused = true;
    return CURL_PREREQFUNC_ABORT;
}

/* ---- what arrives ---- */

static size_t on_body(char *p, size_t size, size_t n, void *user)
{
    cm_http_request *r = user;

    cm_buf_add(&r->body, p, size * n);
    if (!r->body.failed)
        return size * n;
    r->cut = CUT_BODY;
    return 0;
}

/* "HTTP/1.1 404 Not Found" */
static void take_reason(cm_http_request *r, const char *p, size_t len)
{
    const char *code = memchr(p, ' ', len);
    const char *reason = code ? memchr(code + 1, ' ', len - (size_t)(code + 1 - p)) : NULL;
    size_t n = reason ? len - (size_t)(reason + 1 - p) : 0;

    while (n > 0 && strchr("\r\n ", reason[n]))
        n--;
    n = n < sizeof r->reason - 1 ? n : sizeof r->reason - 1;
    if (n)
        memcpy(r->reason, reason + 1, n);
    r->reason[n] = '\0';
}

static size_t on_header(char *p, size_t size, size_t n, void *user)
{
    cm_http_request *r = user;
    size_t len = size * n;
    const char *colon = memchr(p, ':', len);

    if (len >= 5 && memcmp(p, "HTTP/", 5) == 0) {
        clear_lines(r); /* the headers before were those of a 1xx */
        take_reason(r, p, len);
        return len;
    }
    if (!colon)
        return len;
    if (r->n_lines == HEADERS_MAX || r->line_bytes + len > HEADERS_MAX_BYTES) {
        r->cut = CUT_HEADERS;
        return 0;
    }
    size_t end = len;
    while (end > 0 && strchr("\r\n \t", p[end - 1]))
        end--;
    char *line = cm_memdup_z(p, end);
    for (char *c = line; c < line + (colon - p) && *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c | 0x20);
    r->lines[r->n_lines++] = line;
    r->line_bytes += len;
    return len;
}

/* ---- requests ---- */

static bool has_header(const struct cm_http_spec *spec, const char *name)
{
    size_t len = strlen(name);

    for (const char *const *h = spec->headers; h && *h; h++)
        if (strncasecmp(*h, name, len) == 0 && (*h)[len] == ':')
            return true;
    return false;
}

static bool add_line(cm_http_request *r, const char *line)
{
    struct curl_slist *list = cm_curl.slist_append(r->headers, line);

    if (list)
        r->headers = list;
    return list != NULL;
}

static cm_status add_headers(cm_http_request *r, const struct cm_http_spec *spec, struct cm_err *err)
{
    bool ok = true;

    for (const char *const *h = spec->headers; h && *h; h++) {
        size_t len = strlen(*h);
        const char *colon = strchr(*h, ':');
        if (!colon || colon == *h || strcspn(*h, "\r\n") < len)
            return cm_err_set(err, CM_E_INVALID, "header '%.*s' is no \"Name: value\" on one line",
                              (int)strcspn(*h, ":\r\n"), *h);
        /* curl drops a header whose value is empty unless it ends in a semicolon instead of the colon. */
        if (colon[1 + strspn(colon + 1, " \t")] == '\0') {
            cm_autofree char *empty = cm_asprintf("%.*s;", (int)(colon - *h), *h);
            ok = ok && add_line(r, empty);
        } else {
            ok = ok && add_line(r, *h);
        }
    }
    if (!has_header(spec, "User-Agent"))
        ok = ok && add_line(r, "User-Agent: codemode/" CM_VERSION);
    if (!has_header(spec, "Content-Type"))
        ok = ok && add_line(r, "Content-Type:"); /* curl would claim a form */
    ok = ok && add_line(r, "Expect:");
    return ok ? CM_OK : cm_err_set(err, CM_E_NOMEM, "out of memory for the headers of a request");
}

/* Scheme, host and port of the URL: what a message may name. Also refuses what is no http URL. */
static cm_status parse_url(const char *url, char **where, struct cm_err *err)
{
    cm_status st = CM_E_INVALID;
    char *scheme = NULL, *host = NULL, *port = NULL;
    CURLU *u = cm_curl.url();

    if (!u || cm_curl.url_set(u, CURLUPART_URL, url, CURLU_PATH_AS_IS) != CURLUE_OK ||
        cm_curl.url_get(u, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK ||
        cm_curl.url_get(u, CURLUPART_HOST, &host, 0) != CURLUE_OK) {
        (void)cm_err_set(err, st, "'%.*s' is no URL; http://host/path or https://host/path is expected",
                         (int)strcspn(url, "?#@"), url);
    } else if (!cm_z_eq(scheme, "http") && !cm_z_eq(scheme, "https")) {
        (void)cm_err_set(err, st, "'%s' URLs are not spoken; http or https is expected", scheme);
    } else {
        (void)cm_curl.url_get(u, CURLUPART_PORT, &port, 0);
        *where = cm_asprintf("%s://%s%s%s", scheme, host, port ? ":" : "", port ? port : "");
        st = CM_OK;
    }
    cm_curl.free(scheme);
    cm_curl.free(host);
    cm_curl.free(port);
    cm_curl.url_cleanup(u);
    return st;
}

static cm_status add_resolve(cm_http_request *r, const struct cm_http_spec *spec, struct cm_err *err)
{
    for (const char *const *line = spec->resolve; line && *line; line++) {
        struct curl_slist *list = cm_curl.slist_append(r->resolve, *line);
        if (!list)
            return cm_err_set(err, CM_E_NOMEM, "out of memory for a request");
        r->resolve = list;
    }
    return CM_OK;
}

static void set_method(cm_http_request *r, const struct cm_http_spec *spec)
{
    static const char *const with_body[] = {"POST", "PUT", "PATCH"};
    bool body = spec->body.ptr != NULL;

    /* Such a request without a body still says "Content-Length: 0"; some servers insist. */
    for (size_t i = 0; i < CM_ARRAY_LEN(with_body); i++)
        body = body || cm_z_eq(spec->method, with_body[i]);
    if (body) {
        (void)cm_curl.easy_setopt(r->easy, CURLOPT_POST, 1L);
        (void)cm_curl.easy_setopt(r->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)spec->body.len);
        (void)cm_curl.easy_setopt(r->easy, CURLOPT_POSTFIELDS, r->request_body);
    } else if (cm_z_eq(spec->method, "HEAD")) {
        (void)cm_curl.easy_setopt(r->easy, CURLOPT_NOBODY, 1L);
    }
    (void)cm_curl.easy_setopt(r->easy, CURLOPT_CUSTOMREQUEST, spec->method);
}

static void set_options(cm_http_request *r, const struct cm_http_spec *spec)
{
    CURL *e = r->easy;

    (void)cm_curl.easy_setopt(e, CURLOPT_PRIVATE, r);
    (void)cm_curl.easy_setopt(e, CURLOPT_URL, spec->url);
    (void)cm_curl.easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    (void)cm_curl.easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)cm_curl.easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
    (void)cm_curl.easy_setopt(e, CURLOPT_PATH_AS_IS, 1L);
    (void)cm_curl.easy_setopt(e, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    (void)cm_curl.easy_setopt(e, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
    (void)cm_curl.easy_setopt(e, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    (void)cm_curl.easy_setopt(e, CURLOPT_NOPROXY, r->h->no_proxy);
    (void)cm_curl.easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)r->timeout_ms);
    (void)cm_curl.easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)r->timeout_ms);
    (void)cm_curl.easy_setopt(e, CURLOPT_ACCEPT_ENCODING, ""); /* whatever this curl can decode */
    (void)cm_curl.easy_setopt(e, CURLOPT_HTTPHEADER, r->headers);
    (void)cm_curl.easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
    (void)cm_curl.easy_setopt(e, CURLOPT_WRITEDATA, r);
    (void)cm_curl.easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header);
    (void)cm_curl.easy_setopt(e, CURLOPT_HEADERDATA, r);
    (void)cm_curl.easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    (void)cm_curl.easy_setopt(e, CURLOPT_OPENSOCKETDATA, r);
    if (r->may_connect) {
        (void)cm_curl.easy_setopt(e, CURLOPT_PREREQFUNCTION, before_sending);
        (void)cm_curl.easy_setopt(e, CURLOPT_PREREQDATA, r);
        (void)cm_curl.easy_setopt(e, CURLOPT_PROXY, "");
    }
    if (r->resolve)
        (void)cm_curl.easy_setopt(e, CURLOPT_RESOLVE, r->resolve);
    set_method(r, spec);
}

cm_status cm_http_start(cm_http *h, const struct cm_http_spec *spec, cm_http_fn fn, void *user,
                        cm_http_request **out, struct cm_err *err)
{
    cm_http_request *r = cm_new(cm_http_request);
    cm_status st = CM_OK;

    r->h = h;
    r->fn = fn;
    r->user = user;
    r->may_connect = spec->may_connect;
    r->timeout_ms = spec->timeout_ms ? spec->timeout_ms : TIMEOUT_DEFAULT_MS;
    r->body = CM_BUF_INIT(spec->max_body_bytes);
    r->request_body = cm_try_malloc(spec->body.len + 1);
    r->easy = cm_curl.easy_init();
    if (!r->request_body || !r->easy) {
        st = cm_err_set(err, CM_E_NOMEM, "out of memory for a request");
        goto fail;
    }
    if (spec->body.len)
        memcpy(r->request_body, spec->body.ptr, spec->body.len);
    r->request_body[spec->body.len] = '\0';
    st = parse_url(spec->url, &r->where, err);
    if (st == CM_OK)
        st = add_headers(r, spec, err);
    if (st == CM_OK)
        st = add_resolve(r, spec, err);
    if (st != CM_OK)
        goto fail;
    set_options(r, spec);
    if (cm_curl.multi_add_handle(h->multi, r->easy) != CURLM_OK) {
        st = cm_err_set(err, CM_E_INTERNAL, "cannot start a request to %s", r->where);
        goto fail;
    }
    r->next = h->requests;
    r->prev = &h->requests;
    if (r->next)
        r->next->prev = &r->next;
    h->requests = r;
    *out = r;
    return CM_OK;

fail:
    request_free(r);
    return st;
}

void cm_http_cancel(cm_http_request *r)
{
    request_free(r);
}

/* ---- the client ---- */

cm_status cm_http_new(cm_loop *loop, cm_http **out, struct cm_err *err)
{
    if (cm_curl__load(err) != CM_OK)
        return CM_E_UNAVAILABLE;
    if (cm_curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return cm_err_set(err, CM_E_INTERNAL, "the HTTP client cannot start");
    cm_http *h = cm_new(cm_http);
    const char *no_proxy = getenv("no_proxy") ? getenv("no_proxy") : getenv("NO_PROXY");
    h->loop = loop;
    h->multi = cm_curl.multi_init();
    if (!h->multi) {
        free(h);
        return cm_err_set(err, CM_E_NOMEM, "out of memory for the HTTP client");
    }
    /* This machine is never reached through a proxy, whatever the environment says. */
    h->no_proxy = no_proxy && cm_z_eq(no_proxy, "*")
                      ? cm_strdup("*")
                      : cm_asprintf("localhost,127.0.0.1,::1%s%s", no_proxy && *no_proxy ? "," : "",
                                    no_proxy ? no_proxy : "");
    h->wake = cm_timer_new(loop, on_wake, h);
    (void)cm_curl.multi_setopt(h->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    (void)cm_curl.multi_setopt(h->multi, CURLMOPT_SOCKETDATA, h);
    (void)cm_curl.multi_setopt(h->multi, CURLMOPT_TIMERFUNCTION, set_wake);
    (void)cm_curl.multi_setopt(h->multi, CURLMOPT_TIMERDATA, h);
    (void)cm_curl.multi_setopt(h->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long)MAX_CONNECTIONS);
    *out = h;
    return CM_OK;
}

void cm_http_free(cm_http *h)
{
    if (!h)
        return;
    if (h->gone)
        *h->gone = true;
    while (h->requests)
        request_free(h->requests);
    (void)cm_curl.multi_cleanup(h->multi);
    while (h->socks)
        drop_sock(h, h->socks);
    cm_timer_free(h->wake);
    free(h->no_proxy);
    free(h);
    cm_curl.global_cleanup();
}
