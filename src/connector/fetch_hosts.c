/*
 * The places of `fetch`. The first whose pattern matches a URL decides about it alone: a place that allows less
 * for one host is not undone by a wider one behind it, also where it is switched off.
 */
#include "base/limits.h"
#include "connector/fetch.h"

#define LISTED_MAX 20

static void place_done(struct cm_fetch_place *p)
{
    cm_allow_done(&p->allow);
    cm_list_free(p->headers);
    free(p->at);
    free(p->off);
}

void cm_fetch_places_done(struct cm_fetch_places *p)
{
    for (size_t i = 0; i < p->n; i++)
        place_done(&p->items[i]);
    free(p->items);
    *p = (struct cm_fetch_places){0};
}

static cm_status read_methods(const struct cm_fetch_host *from, struct cm_fetch_place *to, struct cm_err *err)
{
    to->methods = (1u << CM_FETCH_METHODS) - 1;
    if (!from->methods)
        return CM_OK;
    to->methods = 0;
    for (const char *const *m = from->methods; *m; m++) {
        size_t i = 0;
        while (i < CM_FETCH_METHODS && strcasecmp(*m, cm_fetch_methods[i]) != 0)
            i++;
        if (i == CM_FETCH_METHODS)
            return cm_err_set(err, CM_E_CONFIG,
                              "%s.methods: '%.40s' is none of get, head, options, post, put, patch, delete",
                              from->at, *m);
        to->methods |= 1u << i;
    }
    return to->methods
               ? CM_OK
               : cm_err_set(err, CM_E_CONFIG, "%s.methods: is empty; name some, or leave it out to allow all",
                            from->at);
}

static cm_status read_headers(const struct cm_fetch_host *from, struct cm_fetch_place *to, struct cm_err *err)
{
    to->headers = cm_calloc(from->n_headers + 1, sizeof *to->headers);
    for (size_t i = 0; i < from->n_headers; i++) {
        const struct cm_pair *h = &from->headers[i];
        if (cm_fetch_is_own_header(h->name, strlen(h->name)))
            return cm_err_set(err, CM_E_CONFIG, "%s.headers.%s: is set by the transfer itself; leave it out",
                              from->at, h->name);
        to->headers[i] = cm_asprintf("%s: %s", h->name, h->value);
    }
    return CM_OK;
}

static cm_status read_place(const struct cm_fetch_host *from, struct cm_fetch_place *to, struct cm_err *err)
{
    cm_status st = cm_allow_parse(from->pattern, &to->allow, err);

    if (st != CM_OK)
        return cm_err_prefix(err, "%s", from->at);
    to->at = cm_strdup(from->at);
    to->off = cm_strdup_null(from->off);
    to->timeout_ms = from->timeout_ms ? from->timeout_ms : 30000;
    to->max_bytes = from->max_bytes ? (size_t)from->max_bytes : CM_FETCH_BYTES;
    to->allow.allow_private = from->allow_private;
    for (const char *const *r = from->ranges; r && *r; r++)
        if (cm_allow_add_range(&to->allow, *r, err) != CM_OK)
            return cm_err_prefix(err, "%s.allowPrivate", from->at);
    st = read_methods(from, to, err);
    return st == CM_OK ? read_headers(from, to, err) : st;
}

cm_status cm_fetch_places_new(const struct cm_fetch_spec *spec, struct cm_fetch_places *out,
                              struct cm_err *err)
{
    struct cm_fetch_places p = {.items = cm_calloc(spec->n_hosts + 1, sizeof *p.items)};
    cm_status st = CM_OK;

    for (size_t i = 0; st == CM_OK && i < spec->n_hosts; i++)
        st = read_place(&spec->hosts[i], &p.items[p.n++], err);
    if (st != CM_OK) {
        cm_fetch_places_done(&p);
        return st;
    }
    *out = p;
    return CM_OK;
}

/* ---- deciding ---- */

static void list_methods(unsigned methods, struct cm_buf *out)
{
    bool first = true;

    for (size_t i = 0; i < CM_FETCH_METHODS; i++)
        if (methods & 1u << i) {
            cm_buf_addf(out, "%s%s", first ? "" : ", ", cm_fetch_methods[i]);
            first = false;
        }
}

void cm_fetch_list(const struct cm_fetch_places *p, struct cm_buf *out)
{
    for (size_t i = 0; i < p->n && i < LISTED_MAX; i++) {
        cm_autofree char *text = cm_allow_text(&p->items[i].allow);
        bool last = i > 0 && i + 1 == p->n;
        cm_buf_addf(out, "%s%s", i == 0 ? "" : last ? " and " : ", ", text);
        if (p->items[i].methods != (1u << CM_FETCH_METHODS) - 1) {
            cm_buf_add_z(out, " (only ");
            list_methods(p->items[i].methods, out);
            cm_buf_add_char(out, ')');
        }
    }
    if (p->n > LISTED_MAX)
        cm_buf_addf(out, " and %zu more", p->n - LISTED_MAX);
}

static cm_status deny_url(const struct cm_fetch_places *p, const struct cm_url *url, struct cm_err *err)
{
    cm_autofree char *origin = cm_url_origin(url);
    cm_autobuf list = CM_BUF_INIT(65536);

    /* The right host over the wrong scheme or port is a slip that is named as one. */
    for (size_t i = 0; i < p->n; i++) {
        struct cm_url alike = *url;
        cm_autofree char *text = cm_allow_text(&p->items[i].allow);
        alike.tls = p->items[i].allow.at.tls;
        alike.port = p->items[i].allow.at.port;
        if (cm_allow_matches(&p->items[i].allow, &alike))
            return cm_err_set(
                err, CM_E_DENIED,
                "%.300s is not allowed: the configuration allows that host as %.300s, and scheme and port "
                "count. Write the URL so, or tell the user",
                origin, text);
    }
    cm_fetch_list(p, &list);
    return cm_err_set(
        err, CM_E_DENIED,
        "%.300s is not allowed: the configuration (codemode.fetch) allows %.1500s. Use one of these, or a "
        "connector, or tell the user that this host is missing",
        origin, p->n ? cm_buf_str(&list).ptr : "no host");
}

char *cm_fetch_why_address(const struct cm_fetch_place *place, enum cm_address_kind kind)
{
    cm_autofree char *text = cm_allow_text(&place->allow);

    return cm_asprintf("leads to %s, and the configuration allows %s on the public network only (%s: "
                       "allowPrivate would change "
                       "that). Tell the user",
                       cm_address_kind_text(kind), text, place->at);
}

static cm_status check_place(const struct cm_fetch_place *place, const struct cm_url *url, size_t method,
                             struct cm_err *err)
{
    cm_autofree char *origin = cm_url_origin(url);

    if (place->off)
        return cm_err_set(err, CM_E_DENIED, "%.300s is switched off: %.1000s. Tell the user", origin,
                          place->off);
    if (!(place->methods & 1u << method)) {
        cm_autobuf list = CM_BUF_INIT(256);
        list_methods(place->methods, &list);
        return cm_err_set(err, CM_E_DENIED,
                          "%s to %.300s is not allowed: the configuration allows only %s there",
                          cm_fetch_methods[method], origin, cm_buf_str(&list).ptr);
    }
    /* A name is judged by where it leads, when it is connected to. */
    if (url->is_address && !cm_allow_address(&place->allow, &url->address)) {
        cm_autofree char *why = cm_fetch_why_address(place, cm_address_kind(&url->address));
        return cm_err_set(err, CM_E_DENIED, "%.300s is not allowed: it %s", origin, why);
    }
    return CM_OK;
}

cm_status cm_fetch_find(const struct cm_fetch_places *p, const struct cm_url *url, size_t method,
                        const struct cm_fetch_place **out, struct cm_err *err)
{
    for (size_t i = 0; i < p->n; i++) {
        if (!cm_allow_matches(&p->items[i].allow, url))
            continue;
        cm_status st = check_place(&p->items[i], url, method, err);
        if (st == CM_OK)
            *out = &p->items[i];
        return st;
    }
    return deny_url(p, url, err);
}
