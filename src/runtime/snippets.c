/* Keeping snippets, showing them, and telling the catalogue of them. Running them is snippet.c's. */
#include "base/clock.h"
#include "base/utf8.h"
#include "runtime/internal.h"

#include <inttypes.h>

#define SNIPPETS_MAX          1000
#define DESCRIPTION_MAX_BYTES 2000
#define SCHEMA_MAX_BYTES      (64u << 10)

/* ---- keeping them ---- */

struct used {
    const cm_runtime *rt;
    struct cm_buf json;
    char **names;
    size_t n;
};

/** The connectors that calls went to; what was refused went nowhere, and a program's own requests are no connector's. */
static bool note_used(void *user, const struct cm_call_row *row)
{
    struct used *u = user;

    if (row->kind != CM_CALL_TOOL || cm_z_eq(row->decision, cm_decision_text(CM_DECIDE_REFUSE)) ||
        (u->rt->o.fetch && cm_z_eq(row->connector, cm_connector_name(u->rt->o.fetch))))
        return true;
    for (size_t i = 0; i < u->n; i++)
        if (cm_z_eq(u->names[i], row->connector))
            return true;
    u->names = cm_realloc(u->names, (u->n + 1) * sizeof *u->names);
    u->names[u->n++] = cm_strdup(row->connector);
    cm_buf_add_z(&u->json, u->n > 1 ? "," : "[");
    cm_json_write_string(&u->json, cm_str_of(row->connector));
    return true;
}

static cm_status used_connectors(cm_runtime *rt, const char *id, char **out, struct cm_err *err)
{
    struct used u = {.rt = rt, .json = CM_BUF_INIT(1u << 20)};
    cm_status st = cm_store_calls(rt->o.store, id, note_used, &u, err);

    cm_buf_add_z(&u.json, u.n ? "]" : "[]");
    if (st == CM_OK)
        st = cm_buf_check(&u.json, "the names of the connectors", err);
    if (st == CM_OK)
        *out = cm_buf_take(&u.json, NULL);
    for (size_t i = 0; i < u.n; i++)
        free(u.names[i]);
    free(u.names);
    cm_buf_done(&u.json);
    return st;
}

static cm_status check_name(const cm_runtime *rt, const char *name, struct cm_err *err)
{
    if (!rt_snippet_is_name(cm_str_of(name)))
        return cm_err_set(
            err, CM_E_INVALID,
            "snippet name '%.100s': expected 1 to %d letters, digits, '_' and '-', not '-' first; "
            "e.g. weekly_report",
            name, RT_SNIPPET_NAME_MAX);
    /* codemode.describe(NAME) must mean one thing. */
    if (cm_z_eq(name, "codemode") || cm_z_eq(name, "fetch") || rt_has_connector(rt, cm_str_of(name)))
        return cm_err_set(err, CM_E_INVALID,
                          "snippet name '%.100s': a connector has this name; choose another", name);
    return CM_OK;
}

/** The schema in one line; empty without one. */
static cm_status read_schema(struct cm_str text, struct cm_buf *out, struct cm_err *err)
{
    cm_auto(yyjson_doc) doc = NULL;
    cm_status st = CM_OK;

    if (text.len == 0)
        return CM_OK;
    if (text.len > SCHEMA_MAX_BYTES)
        return cm_err_limit(err, "schema_limit", "the input schema has %zu bytes, a snippet's may have %u",
                            text.len, SCHEMA_MAX_BYTES);
    st = cm_json_parse(text, CM_JSON_STRICT, &doc, err);
    if (st != CM_OK)
        return cm_err_prefix(err, "the input schema");
    if (!yyjson_is_obj(yyjson_doc_get_root(doc)))
        return cm_err_set(
            err, CM_E_INVALID,
            "the input schema is %s; expected a JSON Schema object, as in {\"type\": \"object\", "
            "\"properties\": {\"days\": {\"type\": \"integer\"}}}",
            cm_json_kind(yyjson_doc_get_root(doc)));
    cm_json_write(out, yyjson_doc_get_root(doc));
    return cm_buf_check(out, "the input schema", err);
}

static bool count_row(void *user, const struct cm_snippet_row *row)
{
    (void)row;
    ++*(size_t *)user;
    return true;
}

/** Room for one more; one that takes the place of another needs none. */
static cm_status check_room(cm_runtime *rt, const char *name, struct cm_err *err)
{
    size_t n = 0;
    cm_status st;

    if (cm_store_snippets(rt->o.store, rt->name, name, count_row, &n, NULL) == CM_OK)
        return CM_OK;
    st = cm_store_snippets(rt->o.store, rt->name, NULL, count_row, &n, err);
    if (st == CM_OK && n >= SNIPPETS_MAX)
        st = cm_err_limit(err, "snippets_limit",
                          "there are %zu snippets in runtime '%s', as many as there may be: delete one first",
                          n, rt->name);
    return st;
}

static cm_status check_description(const char *text, struct cm_err *err)
{
    struct cm_str s = cm_str_of(text);

    if (s.len > DESCRIPTION_MAX_BYTES)
        return cm_err_limit(err, "description_limit",
                            "the description has %zu bytes, a snippet's may have %d", s.len,
                            DESCRIPTION_MAX_BYTES);
    if (cm_utf8_valid_prefix(s) != s.len)
        return cm_err_set(err, CM_E_INVALID, "the description is not valid UTF-8 at byte %zu",
                          cm_utf8_valid_prefix(s));
    return CM_OK;
}

/** An execution of another runtime is none: its text may hold what only that one may know. */
static cm_status find_execution(cm_runtime *rt, const char *id, struct rt_kept *out, struct cm_err *err)
{
    cm_status st = cm_store_execution(rt->o.store, id, rt_keep_row, out, err);

    if (st == CM_E_NOT_FOUND || (st == CM_OK && !cm_z_eq(out->row.runtime, rt->name)))
        return cm_err_set(err, CM_E_NOT_FOUND,
                          "there is no execution '%.100s' in runtime '%s'; `codemode executions` lists them",
                          id, rt->name);
    return st;
}

cm_status cm_runtime_snippet_save(cm_runtime *rt, const struct cm_snippet_spec *spec, struct cm_err *err)
{
    cm_autobuf schema = CM_BUF_INIT(2 * SCHEMA_MAX_BYTES);
    cm_autofree char *connectors = NULL;
    struct rt_kept kept = {0};
    cm_autofree char *clean =
        spec->description ? cm_secrets_redact(rt->o.secrets, cm_str_of(spec->description), NULL) : NULL;
    const char *description = clean ? clean : spec->description ? spec->description : "";
    cm_status st = check_name(rt, spec->name, err);

    if (st == CM_OK)
        st = check_description(description, err);
    if (st == CM_OK)
        st = read_schema(spec->input_schema, &schema, err);
    if (st == CM_OK)
        st = check_room(rt, spec->name, err);
    if (st == CM_OK)
        st = find_execution(rt, spec->execution, &kept, err);
    if (st == CM_OK)
        st = used_connectors(rt, spec->execution, &connectors, err);
    if (st == CM_OK) {
        const struct cm_snippet_row row = {
            .runtime = rt->name,
            .name = spec->name,
            .description = description,
            .code = kept.row.code,
            .input_schema = cm_buf_str(&schema),
            .connectors_json = connectors,
            .execution = spec->execution,
            .saved_at = cm_now_ms(),
        };

        st = cm_store_snippet_save(rt->o.store, &row, err);
    }
    rt_kept_done(&kept);
    return st;
}

cm_status cm_runtime_snippet_delete(cm_runtime *rt, const char *name, struct cm_err *err)
{
    RT_AUTO_SNIPPET k = {0};
    cm_status st = rt_snippet_find(rt, cm_str_of(name), &k, err);

    return st == CM_OK ? cm_store_snippet_delete(rt->o.store, rt->name, name, err) : st;
}

/* ---- showing them ---- */

struct listing {
    struct cm_buf *out;
    size_t n;
    bool with_code;
};

static void add_text(struct cm_buf *out, const char *key, struct cm_str text)
{
    cm_buf_addf(out, ",\"%s\":", key);
    cm_json_write_string(out, text);
}

/** JSON of the store's, or what stands for it where it was damaged. */
static void add_json(struct cm_buf *out, const char *key, struct cm_str text, const char *otherwise)
{
    cm_auto(yyjson_doc) doc = NULL;

    cm_buf_addf(out, ",\"%s\":", key);
    if (cm_json_parse(text, CM_JSON_STRICT, &doc, NULL) == CM_OK)
        cm_json_write(out, yyjson_doc_get_root(doc));
    else
        cm_buf_add_z(out, otherwise);
}

static bool list_row(void *user, const struct cm_snippet_row *row)
{
    struct listing *l = user;

    cm_buf_add_z(l->out, l->n++ ? ",{\"name\":" : "{\"name\":");
    cm_json_write_string(l->out, cm_str_of(row->name));
    add_text(l->out, "description", cm_str_of(row->description));
    add_json(l->out, "connectors", cm_str_of(row->connectors_json), "[]");
    if (row->input_schema.len)
        add_json(l->out, "inputSchema", row->input_schema, "{}");
    add_text(l->out, "executionId", cm_str_of(row->execution));
    cm_buf_addf(l->out, ",\"savedAt\":%" PRId64, row->saved_at);
    if (l->with_code)
        add_text(l->out, "code", row->code);
    cm_buf_add_char(l->out, '}');
    return true;
}

cm_status cm_runtime_snippets(cm_runtime *rt, struct cm_buf *out, struct cm_err *err)
{
    struct listing l = {.out = out};
    cm_status st;

    cm_buf_add_z(out, "{\"snippets\":[");
    st = cm_store_snippets(rt->o.store, rt->name, NULL, list_row, &l, err);
    cm_buf_add_z(out, "]}");
    return st == CM_OK ? cm_buf_check(out, "the list of snippets", err) : st;
}

cm_status cm_runtime_snippet(cm_runtime *rt, const char *name, struct cm_buf *out, struct cm_err *err)
{
    struct listing l = {.out = out, .with_code = true};
    RT_AUTO_SNIPPET k = {0};
    cm_status st = rt_snippet_find(rt, cm_str_of(name), &k, err);

    if (st == CM_OK)
        st = cm_store_snippets(rt->o.store, rt->name, name, list_row, &l, err);
    return st == CM_OK ? cm_buf_check(out, "the snippet", err) : st;
}

/* ---- search and describe ---- */

struct feeding {
    cm_catalog *catalog;
    size_t n;
};

static bool feed_row(void *user, const struct cm_snippet_row *row)
{
    struct feeding *f = user;
    const struct cm_catalog_snippet s = {row->name, row->description, row->connectors_json, row->code,
                                         row->input_schema};

    cm_catalog_put_snippet(f->catalog, f->n++, &s);
    return f->n < SNIPPETS_MAX;
}

cm_status cm_runtime_look_at_snippets(cm_runtime *rt, struct cm_err *err)
{
    struct feeding f = {.catalog = rt->o.catalog};
    cm_status st = cm_store_snippets(rt->o.store, rt->name, NULL, feed_row, &f, err);

    if (st == CM_OK)
        cm_catalog_end_snippets(rt->o.catalog, f.n);
    return st;
}
