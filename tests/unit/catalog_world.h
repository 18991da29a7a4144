/** A catalog over connectors that are made of JSON documents. */
#ifndef CM_TESTS_CATALOG_WORLD_H
#define CM_TESTS_CATALOG_WORLD_H

#include "catalog/catalog.h"
#include "catalog/internal.h"
#include "schema/schema.h"

#include <stdio.h>

#include "unit.h"

#define MAX ((size_t)32 << 20)

/* ---- a connector made of a JSON document ---- */

struct fake {
    yyjson_doc *doc;
    struct cm_method *methods;
    struct cm_schema_ref *in, *out;
    size_t n;
    char **owned;
    const char *instructions;
    bool fails;
};

MAYBE_UNUSED static void fake_start(void *self, cm_connector *c)
{
    struct fake *f = self;
    struct cm_err err = {.status = CM_E_UNAVAILABLE, .message = "broken: no such host"};

    if (f->fails)
        cm_connector__failed(c, &err);
    else
        cm_connector__ready(c);
}

MAYBE_UNUSED static size_t fake_methods(void *self, const struct cm_method **out)
{
    struct fake *f = self;

    *out = f->methods;
    return f->n;
}

MAYBE_UNUSED static void fake_schemas(void *self, size_t i, struct cm_schema_ref *input,
                                      struct cm_schema_ref *output)
{
    struct fake *f = self;

    *input = f->in[i];
    *output = f->out[i];
}

MAYBE_UNUSED static const char *fake_instructions(void *self)
{
    return ((struct fake *)self)->instructions;
}

MAYBE_UNUSED static void fake_call(void *self, size_t i, struct cm_value args, cm_call *call)
{
    (void)self;
    (void)i;
    (void)args;
    cm_call__fail(call, NULL, CM_STR(""), "not here");
}

MAYBE_UNUSED static void fake_free(void *self)
{
    struct fake *f = self;

    for (size_t i = 0; i < f->n * 2; i++)
        free(f->owned[i]);
    free(f->owned);
    free(f->methods);
    free(f->in);
    free(f->out);
    yyjson_doc_free(f->doc);
    free(f);
}

static const struct cm_connector_ops fake_ops = {.kind = "native",
                                                 .start = fake_start,
                                                 .methods = fake_methods,
                                                 .schemas = fake_schemas,
                                                 .instructions = fake_instructions,
                                                 .call = fake_call,
                                                 .free = fake_free};

MAYBE_UNUSED static struct fake *fake_new(yyjson_doc *take_doc, size_t cap)
{
    struct fake *f = cm_new(struct fake);

    f->doc = take_doc;
    f->methods = cm_calloc(cap + 1, sizeof *f->methods);
    f->in = cm_calloc(cap + 1, sizeof *f->in);
    f->out = cm_calloc(cap + 1, sizeof *f->out);
    f->owned = cm_calloc(cap * 2 + 1, sizeof *f->owned);
    return f;
}

MAYBE_UNUSED static void fake_add(struct fake *f, char *take_name, char *take_origin, const char *description,
                                  unsigned flags, yyjson_val *in, yyjson_val *out)
{
    yyjson_val *root = yyjson_doc_get_root(f->doc);

    f->owned[f->n * 2] = take_name;
    f->owned[f->n * 2 + 1] = take_origin;
    f->methods[f->n] = (struct cm_method){.name = take_name,
                                          .origin = take_origin,
                                          .description = description ? description : "",
                                          .flags = flags};
    f->in[f->n] = (struct cm_schema_ref){root, in};
    f->out[f->n] = (struct cm_schema_ref){root, out};
    f->n++;
}

/* {"methods": {NAME: {description, approve, in, out, origin}}, "instructions"} */
MAYBE_UNUSED static struct fake *fake_from_text(const char *text)
{
    struct cm_err err = {0};
    yyjson_doc *doc = NULL;
    yyjson_val *key, *m;
    size_t i, max;

    if (cm_json_parse(cm_str_of(text), CM_JSON_STRICT, &doc, &err) != CM_OK)
        fail_msg("%s", err.message);
    yyjson_val *methods = cm_json_get(yyjson_doc_get_root(doc), "methods");
    struct fake *f = fake_new(doc, yyjson_obj_size(methods));
    f->instructions = cm_json_get_z(yyjson_doc_get_root(doc), "instructions");
    f->fails = cm_json_get(yyjson_doc_get_root(doc), "fails") != NULL;
    yyjson_obj_foreach(methods, i, max, key, m)
    {
        const char *origin = cm_json_get_z(m, "origin");
        fake_add(f, cm_strdup(yyjson_get_str(key)), cm_strdup(origin ? origin : yyjson_get_str(key)),
                 cm_json_get_z(m, "description"), cm_json_get(m, "approve") ? CM_METHOD_REQUIRES_APPROVAL : 0,
                 cm_json_get(m, "in"), cm_json_get(m, "out"));
    }
    return f;
}

struct world {
    cm_loop *loop;
    cm_connector *connectors[4];
    size_t n;
    cm_catalog *catalog;
    struct cm_buf out;
    yyjson_doc *doc; /* out, parsed */
};

MAYBE_UNUSED static void count_ready(void *user, cm_connector *c)
{
    (void)c;
    ++*(size_t *)user;
}

MAYBE_UNUSED static void add_connector(struct world *w, const char *name, struct fake *take_fake, bool start)
{
    size_t ready = 0;

    w->connectors[w->n] = cm_connector_new(w->loop, &fake_ops, take_fake, name, "a test", 1000, 1000, NULL);
    if (start) {
        cm_connector_ensure(w->connectors[w->n], count_ready, &ready);
        while (!ready)
            assert_true(cm_loop_once(w->loop) || ready);
    }
    w->n++;
}

MAYBE_UNUSED static void open_catalog(struct world *w)
{
    w->out = CM_BUF_INIT(MAX);
    w->catalog = cm_catalog_new(w->connectors, w->n);
}

MAYBE_UNUSED static int set_up(void **state)
{
    struct world *w = cm_new(struct world);

    assert_int_equal(cm_loop_new(&w->loop, NULL), CM_OK);
    *state = w;
    return 0;
}

MAYBE_UNUSED static int tear_down(void **state)
{
    struct world *w = *state;

    cm_catalog_free(w->catalog);
    for (size_t i = 0; i < w->n; i++)
        cm_connector_free(w->connectors[i]);
    cm_loop_free(w->loop);
    cm_buf_done(&w->out);
    yyjson_doc_free(w->doc);
    free(w);
    return 0;
}

MAYBE_UNUSED static yyjson_val *parse_out(struct world *w)
{
    struct cm_err err = {0};

    yyjson_doc_free(w->doc);
    w->doc = NULL;
    if (cm_json_parse(cm_buf_str(&w->out), CM_JSON_STRICT, &w->doc, &err) != CM_OK)
        fail_msg("%s: %s", err.message, w->out.ptr);
    return yyjson_doc_get_root(w->doc);
}

MAYBE_UNUSED static yyjson_val *search(struct world *w, const char *query, size_t limit)
{
    cm_buf_clear(&w->out);
    cm_catalog_search(w->catalog, cm_str_of(query), limit, &w->out);
    return parse_out(w);
}

MAYBE_UNUSED static const char *path_of(yyjson_val *answer, size_t i)
{
    const char *path = cm_json_get_z(yyjson_arr_get(cm_json_get(answer, "results"), i), "path");

    return path ? path : "";
}

MAYBE_UNUSED static yyjson_val *describe(struct world *w, const char *target)
{
    struct cm_err err = {0};

    cm_buf_clear(&w->out);
    if (cm_catalog_describe(w->catalog, cm_str_of(target), &w->out, &err) != CM_OK)
        fail_msg("%s: %s", target, err.message);
    return parse_out(w);
}

#endif
