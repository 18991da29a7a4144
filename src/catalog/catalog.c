/* The catalogue itself, and what search and describe have in common. */
#include "catalog/internal.h"

#include "base/names.h"
#include "schema/schema.h"

cm_catalog *cm_catalog_new(cm_connector *const *connectors, size_t n)
{
    cm_catalog *c = cm_new(cm_catalog);

    c->connectors = cm_calloc(n + 1, sizeof(cm_connector *));
    c->sources = cm_calloc(n + 1, sizeof *c->sources);
    for (size_t i = 0; i < n; i++)
        c->connectors[i] = connectors[i];
    c->n_connectors = n;
    return c;
}

void cm_catalog_free(cm_catalog *c)
{
    if (!c)
        return;
    cm_catalog__drop_index(c);
    cm_catalog__free_snippets(c);
    free(c->connectors);
    free(c->sources);
    free(c);
}

struct cm_schema_method cm_catalog__schema_method(cm_connector *c, size_t i)
{
    const struct cm_method *methods = NULL;
    struct cm_schema_ref in = {0}, out = {0};

    (void)cm_connector_methods(c, &methods);
    cm_connector_schemas(c, i, &in, &out);
    return (struct cm_schema_method){.name = methods[i].name,
                                     .description = methods[i].description,
                                     .requires_approval = methods[i].flags & CM_METHOD_REQUIRES_APPROVAL,
                                     .in_root = in.root,
                                     .in_node = in.node,
                                     .out_root = out.root,
                                     .out_node = out.node};
}

const char *cm_catalog__why_not_ready(const cm_connector *c)
{
    switch (cm_connector_state(c)) {
    case CM_CONN_FAILED:
        return cm_connector_error(c);
    case CM_CONN_STARTING:
        return "it is still starting";
    case CM_CONN_IDLE:
        return "it has not been started";
    case CM_CONN_READY:
        break;
    }
    return "";
}

const char *cm_catalog__owner(const cm_catalog *c, const struct cm_entry *e)
{
    return CM_CATALOG__IS_SNIPPET(c, e) ? "snippet" : cm_connector_name(c->connectors[e->connector]);
}

char *cm_catalog__path(const cm_catalog *c, const struct cm_entry *e)
{
    const char *method = c->sources[e->connector].methods[e->method].name;

    return CM_CATALOG__IS_SNIPPET(c, e) ? cm_strdup(method)
                                        : cm_asprintf("%s.%s", cm_catalog__owner(c, e), method);
}

struct near {
    uint32_t entry;
    unsigned distance;
};

static unsigned distance_to(const cm_catalog *c, const struct cm_entry *e, struct cm_str name)
{
    const struct cm_method *methods = c->sources[e->connector].methods;
    const char *method = methods[e->method].name;
    cm_autofree char *path = cm_catalog__path(c, e);
    unsigned whole = cm_name_distance(cm_str_of(path), name),
             alone = cm_name_distance(cm_str_of(method), name);

    return whole < alone ? whole : alone;
}

size_t cm_catalog__nearest(cm_catalog *c, struct cm_str name, char *out[], size_t max)
{
    struct near best[16] = {{0}};
    size_t n = 0;
    unsigned limit = 2 + (unsigned)(name.len > 40 ? 40 : name.len) / 2;

    if (max > CM_ARRAY_LEN(best))
        max = CM_ARRAY_LEN(best);
    for (size_t i = 0; i < c->n_entries; i++) {
        struct near here = {(uint32_t)i, distance_to(c, &c->entries[i], name)};
        if (here.distance > limit || (n == max && here.distance >= best[n - 1].distance))
            continue;
        size_t at = n < max ? n++ : n - 1;
        for (; at > 0 && best[at - 1].distance > here.distance; at--)
            best[at] = best[at - 1];
        best[at] = here;
    }
    for (size_t i = 0; i < n; i++)
        out[i] = cm_catalog__path(c, &c->entries[best[i].entry]);
    return n;
}

void cm_catalog_bind(cm_catalog *c, struct cm_buf *out)
{
    cm_buf_add_z(out, "{\"connectors\":[");
    for (size_t i = 0; i < c->n_connectors; i++) {
        const struct cm_method *methods = NULL;
        cm_buf_add_z(out, i ? ",{\"name\":" : "{\"name\":");
        cm_json_write_string(out, cm_str_of(cm_connector_name(c->connectors[i])));
        cm_buf_add_z(out, ",\"methods\":");
        if (cm_connector_state(c->connectors[i]) != CM_CONN_READY) {
            cm_buf_add_z(out, "null}");
            continue;
        }
        size_t n = cm_connector_methods(c->connectors[i], &methods);
        cm_buf_add_char(out, '[');
        for (size_t k = 0; k < n; k++) {
            cm_buf_add_z(out, k ? "," : "");
            cm_json_write_string(out, cm_str_of(methods[k].name));
        }
        cm_buf_add_z(out, "]}");
    }
    cm_buf_add_z(out, "]}");
}
