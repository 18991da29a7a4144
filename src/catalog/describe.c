/* Describing one path, and declarations of everything. */
#include "catalog/internal.h"

#include "base/names.h"
#include "schema/schema.h"

#include <ctype.h>

#define DEFS_MAX_BYTES \
    (20u << 10) /* declarations beside a described method; past half of it they are `unknown` */
#define TYPES_MAX_BYTES      (8u << 20)
#define FULL_METHODS_MAX     40 /* a connector with more is described by its signatures */
#define SIGNATURES_MAX_BYTES (48u << 10)

struct target {
    struct cm_str connector; /* may be empty */
    struct cm_str method;    /* may be empty */
};

static struct cm_str trim(struct cm_str s)
{
    while (s.len > 0 && isspace((unsigned char)s.ptr[0]))
        s = cm_str_mk(s.ptr + 1, s.len - 1);
    while (s.len > 0 && (isspace((unsigned char)s.ptr[s.len - 1]) || s.ptr[s.len - 1] == ';'))
        s.len--;
    return s;
}

/* "await github.create_issue({…});" as a model may write it; parts behind the method do not count. */
static struct target read_target(struct cm_str text)
{
    struct cm_str s = trim(text);
    struct target t = {{NULL, 0}, {NULL, 0}};

    if (cm_str_has_prefix(s, CM_STR("await ")))
        s = trim(cm_str_mk(s.ptr + 6, s.len - 6));
    const char *open = s.len ? memchr(s.ptr, '(', s.len) : NULL;
    if (open)
        s = trim(cm_str_mk(s.ptr, (size_t)(open - s.ptr)));
    const char *dot = s.len ? memchr(s.ptr, '.', s.len) : NULL;
    if (!dot) {
        t.connector = s;
        return t;
    }
    t.connector = cm_str_mk(s.ptr, (size_t)(dot - s.ptr));
    t.method = cm_str_mk(dot + 1, s.len - (size_t)(dot - s.ptr) - 1);
    const char *more = t.method.len ? memchr(t.method.ptr, '.', t.method.len) : NULL;
    if (more)
        t.method.len = (size_t)(more - t.method.ptr);
    return t;
}

static cm_connector *find_connector(const cm_catalog *c, struct cm_str name)
{
    cm_autofree char *id = cm_name_to_identifier(name);

    for (size_t i = 0; i < c->n_connectors; i++)
        if (cm_str_eq_z(name, cm_connector_name(c->connectors[i])))
            return c->connectors[i];
    for (size_t i = 0; name.len > 0 && i < c->n_connectors; i++)
        if (strcmp(id, cm_connector_name(c->connectors[i])) == 0)
            return c->connectors[i];
    return NULL;
}

/* By its name in programs, or by the upstream's own. */
static long find_method(const cm_connector *c, struct cm_str name)
{
    const struct cm_method *methods = NULL;
    long i = cm_connector_find(c, name);
    size_t n = i < 0 ? cm_connector_methods(c, &methods) : 0;

    for (size_t k = 0; k < n; k++)
        if (methods[k].origin && cm_str_eq_z(name, methods[k].origin))
            return (long)k;
    return i;
}

static void write_method_types(struct cm_buf *out, cm_connector *c, const struct cm_schema_method *m,
                               size_t max_defs)
{
    cm_autobuf defs = CM_BUF_INIT(max_defs);
    cm_autobuf member = CM_BUF_INIT(TYPES_MAX_BYTES);

    cm_schema_render_method(&member, m, &defs);
    if (defs.len) {
        cm_buf_add_str(out, cm_buf_str(&defs));
        cm_buf_add_char(out, '\n');
    }
    cm_buf_addf(out, "declare const %s: {\n", cm_connector_name(c));
    cm_buf_add_str(out, cm_buf_str(&member));
    cm_buf_add_z(out, "};\n");
}

static void write_connector_types(struct cm_buf *out, cm_connector *c)
{
    const struct cm_method *methods = NULL;
    size_t n = cm_connector_methods(c, &methods);
    cm_autofree struct cm_schema_method *m = cm_calloc(n + 1, sizeof *m);

    for (size_t i = 0; i < n; i++)
        m[i] = cm_catalog__schema_method(c, i);
    cm_schema_render_connector(out, cm_connector_name(c), cm_connector_instructions(c), m, n);
}

/* A connector with very many methods would fill a model's context: one line each, and how to get the rest. */
static void write_signatures(struct cm_buf *out, cm_connector *c)
{
    const struct cm_method *methods = NULL;
    const char *name = cm_connector_name(c);
    size_t n = cm_connector_methods(c, &methods), i = 0;

    cm_buf_addf(
        out,
        "// %zu methods, shown by signature: codemode.describe(\"%s.METHOD\") gives the types of one, "
        "codemode.search(\"WORDS\") finds one.\n",
        n, name);
    cm_buf_addf(out, "declare const %s: {\n", name);
    for (; i < n && out->len < SIGNATURES_MAX_BYTES; i++) {
        struct cm_schema_method m = cm_catalog__schema_method(c, i);
        cm_buf_add_z(out, "    ");
        cm_schema_render_signature(out, &m, 120);
        cm_buf_add_z(out, ";\n");
    }
    if (i < n)
        cm_buf_addf(out, "    // … and %zu more\n", n - i);
    cm_buf_add_z(out, "};\n");
}

static void write_text(struct cm_buf *out, const char *key, struct cm_str text)
{
    cm_buf_addf(out, ",\"%s\":", key);
    cm_json_write_string(out, text);
}

static cm_status describe_connector(cm_connector *c, struct cm_buf *out, struct cm_err *err)
{
    const struct cm_method *methods = NULL;
    const char *instructions = cm_connector_instructions(c);
    cm_autobuf types = CM_BUF_INIT(TYPES_MAX_BYTES);

    if (cm_connector_methods(c, &methods) > FULL_METHODS_MAX)
        write_signatures(&types, c);
    else
        write_connector_types(&types, c);
    cm_status st = cm_buf_check(&types, cm_connector_name(c), err);
    if (st != CM_OK)
        return st;
    cm_buf_add_z(out, "{\"path\":");
    cm_json_write_string(out, cm_str_of(cm_connector_name(c)));
    cm_buf_add_z(out, ",\"kind\":\"connector\"");
    if (instructions && instructions[0])
        write_text(out, "description", cm_str_of(instructions));
    write_text(out, "types", cm_buf_str(&types));
    cm_buf_add_char(out, '}');
    return cm_buf_check(out, "the description", err);
}

static cm_status describe_method(cm_connector *c, size_t i, struct cm_buf *out, struct cm_err *err)
{
    struct cm_schema_method m = cm_catalog__schema_method(c, i);
    cm_autobuf text = CM_BUF_INIT(TYPES_MAX_BYTES);

    cm_buf_addf(&text, "%s.%s", cm_connector_name(c), m.name);
    cm_buf_add_z(out, "{\"path\":");
    cm_json_write_string(out, cm_buf_str(&text));
    cm_buf_add_z(out, ",\"kind\":\"method\"");
    if (m.description[0])
        write_text(out, "description", cm_str_of(m.description));
    if (m.requires_approval)
        cm_buf_add_z(out, ",\"requiresApproval\":true");
    cm_buf_clear(&text);
    write_method_types(&text, c, &m, DEFS_MAX_BYTES);
    write_text(out, "types", cm_buf_str(&text));
    cm_buf_add_char(out, '}');
    return cm_buf_check(out, "the description", err);
}

/* Whether a name may be meant by another: in whole, or by what stands behind its dot. */
static bool is_near(const char *path, struct cm_str name)
{
    const char *dot = strchr(path, '.');
    unsigned limit = 1 + (unsigned)(name.len > 40 ? 40 : name.len) / 3;

    return cm_name_distance(cm_str_of(path), name) <= limit ||
           (dot && cm_name_distance(cm_str_of(dot + 1), name) <= limit);
}

static cm_status not_found(cm_catalog *c, struct cm_str name, struct cm_err *err)
{
    cm_autobuf hint = CM_BUF_INIT(1000), connectors = CM_BUF_INIT(1000);
    char *near[3] = {NULL};
    size_t n, shown = 0;

    cm_catalog__refresh(c);
    for (size_t i = 0; i < c->n_connectors && i < 20; i++) {
        const char *connector = cm_connector_name(c->connectors[i]);

        cm_buf_addf(&connectors, "%s%s", i ? ", " : "", connector);
        if (shown == 0 && name.len && is_near(connector, name))
            cm_buf_addf(&hint, "%s%s", shown++ ? ", " : " Did you mean ", connector);
    }
    n = cm_catalog__nearest(c, name, near, CM_ARRAY_LEN(near));
    for (size_t i = 0; i < n; i++) {
        if (is_near(near[i], name))
            cm_buf_addf(&hint, "%s%s", shown++ ? ", " : " Did you mean ", near[i]);
        free(near[i]);
    }
    return cm_err_set(err, CM_E_NOT_FOUND,
                      "'%.*s' is no connector, no method and no snippet.%s%s The connectors here are: %s.",
                      200 < name.len ? 200 : (int)name.len, name.ptr ? name.ptr : "", cm_buf_str(&hint).ptr,
                      shown ? "?" : "", c->n_connectors ? cm_buf_str(&connectors).ptr : "none");
}

/* A method named alone: the connector that has it, if it is only one. */
static cm_status find_alone(cm_catalog *c, struct cm_str name, cm_connector **connector, long *method,
                            struct cm_err *err)
{
    cm_autobuf paths = CM_BUF_INIT(1000);
    size_t found = 0;

    for (size_t i = 0; i < c->n_connectors; i++) {
        long at = name.len ? find_method(c->connectors[i], name) : -1;
        if (at < 0)
            continue;
        cm_buf_addf(&paths, "%s%s.%.*s", found++ ? " or " : "", cm_connector_name(c->connectors[i]),
                    CM_STR_ARG(name));
        *connector = c->connectors[i];
        *method = at;
    }
    if (found == 0)
        return not_found(c, name, err);
    if (found > 1)
        return cm_err_set(err, CM_E_NOT_FOUND, "%zu connectors have a method '%.*s'; say which: %s", found,
                          CM_STR_ARG(name), paths.ptr);
    return CM_OK;
}

/* *method is -1 for a connector as a whole. */
static cm_status find_target(cm_catalog *c, struct cm_str text, cm_connector **connector, long *method,
                             struct cm_err *err)
{
    struct target t = read_target(text);

    *method = -1;
    *connector = find_connector(c, t.connector);
    if (!*connector)
        return find_alone(c, t.method.len ? t.method : t.connector, connector, method, err);
    if (cm_connector_state(*connector) != CM_CONN_READY)
        return cm_err_set(err, CM_E_NOT_FOUND, "connector '%s' has no methods now: %s",
                          cm_connector_name(*connector), cm_catalog__why_not_ready(*connector));
    if (t.method.len == 0)
        return CM_OK;
    *method = find_method(*connector, t.method);
    if (*method >= 0)
        return CM_OK;
    cm_autofree char *why = cm_connector_unknown(*connector, t.method);
    return cm_err_set(err, CM_E_NOT_FOUND, "%s", why);
}

/** A snippet by its name, also as search results name it: "snippet.NAME". -1: none; a connector of the name comes first. */
static long find_snippet(const cm_catalog *c, struct cm_str text)
{
    struct target t = read_target(text);

    if (find_connector(c, t.connector))
        return -1;
    if (t.method.len == 0)
        return cm_catalog__find_snippet(c, t.connector);
    return cm_str_eq_z(t.connector, "snippet") ? cm_catalog__find_snippet(c, t.method) : -1;
}

cm_status cm_catalog_describe(cm_catalog *c, struct cm_str target, struct cm_buf *out, struct cm_err *err)
{
    cm_connector *connector = NULL;
    long method = -1, snippet = find_snippet(c, target);
    cm_status st = CM_OK;

    if (snippet >= 0)
        return cm_catalog__describe_snippet(c, (size_t)snippet, out, err);
    st = find_target(c, target, &connector, &method, err);
    if (st != CM_OK)
        return st;
    return method < 0 ? describe_connector(connector, out, err)
                      : describe_method(connector, (size_t)method, out, err);
}

cm_status cm_catalog_types(cm_catalog *c, struct cm_str path, struct cm_buf *out, struct cm_err *err)
{
    cm_connector *connector = NULL;
    long method = -1;
    bool first = true;

    if (trim(path).len == 0) {
        for (size_t i = 0; i < c->n_connectors; i++) {
            if (cm_connector_state(c->connectors[i]) != CM_CONN_READY)
                continue;
            cm_buf_add_z(out, first ? "" : "\n");
            first = false;
            write_connector_types(out, c->connectors[i]);
        }
        return cm_buf_check(out, "the declarations", err);
    }
    cm_status st = find_target(c, path, &connector, &method, err);
    if (st != CM_OK)
        return st;
    if (method < 0) {
        write_connector_types(out, connector);
    } else {
        struct cm_schema_method m = cm_catalog__schema_method(connector, (size_t)method);
        write_method_types(out, connector, &m, TYPES_MAX_BYTES);
    }
    return cm_buf_check(out, "the declarations", err);
}
