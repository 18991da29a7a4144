/*
 * The connector. Reading a description of megabytes happens on another thread; a start that is no longer
 * wanted (the connector was freed, or started again) lets go of its job, which then frees itself when it is
 * done.
 */
#include "connector/openapi.h"

#include "base/limits.h"
#include "base/names.h"
#include "net/net.h"
#include "schema/schema.h"

#include <stdio.h>

#define RESPONSE_MAX_BYTES (32u << 20)

struct job;

struct openapi {
    cm_loop *loop;
    cm_connector *c; /* known since the first start */
    cm_http *http;
    char *spec_path;
    char *base_url;
    struct cm_pair *headers;
    struct cm_pair *auth;
    char **include;
    char **exclude;
    struct cm_oa_options options; /* borrows from the above */
    struct cm_oa *oa;
    struct job *job;
};

struct job {
    struct openapi *owner; /* NULL: nobody waits for it */
    char *path;
    yyjson_doc *doc;
    cm_status status;
    struct cm_err err;
};

/* One request under way. */
struct flight {
    cm_call *call;
    const char *method; /* of a static table */
    cm_http_request *request;
};

/* ---- copies ---- */

static struct cm_pair *dup_pairs(const struct cm_pair *pairs, size_t n)
{
    struct cm_pair *copy = cm_calloc(n + 1, sizeof *copy);

    for (size_t i = 0; i < n; i++)
        copy[i] = (struct cm_pair){cm_strdup(pairs[i].name), cm_strdup(pairs[i].value)};
    return copy;
}

static void free_z(const char *z)
{
    free((void *)(uintptr_t)z);
}

static void free_pairs(struct cm_pair *pairs)
{
    for (size_t i = 0; pairs && pairs[i].name; i++) {
        free_z(pairs[i].name);
        free_z(pairs[i].value);
    }
    free(pairs);
}

/* ---- starting ---- */

static void job_run(void *user)
{
    struct job *j = user;

    j->status = cm_oa_load(j->path, &j->doc, &j->err);
}

static void warn_of_skips(struct openapi *o)
{
    for (size_t i = 0; i < o->oa->n_skips; i++) {
        const struct cm_oa_skip *s = &o->oa->skips[i];
        cm_connector__warn(o->c, "%s%s%s is left out: %s", s->method, s->method[0] ? " " : "", s->path,
                           s->reason);
    }
    for (size_t i = 0; i < o->options.n_auth; i++)
        if (!cm_oa_scheme(o->oa, o->options.auth[i].name))
            cm_connector__warn(o->c, "auth '%s': the description has no security scheme of this name",
                               o->options.auth[i].name);
}

static cm_status use_document(struct openapi *o, yyjson_doc *take_doc, struct cm_err *err)
{
    struct cm_oa *oa = NULL;
    cm_status st = cm_oa_new(take_doc, &o->options, &oa, err);

    if (st != CM_OK)
        return cm_err_prefix(err, "'%s'", o->spec_path);
    if (!oa->base_url) {
        st = cm_err_set(err, CM_E_CONFIG, "'%s': %s", o->spec_path, oa->base_error);
        cm_oa_free(oa);
        return st;
    }
    cm_oa_free(o->oa);
    o->oa = oa;
    return CM_OK;
}

static void job_done(void *user)
{
    struct job *j = user;
    struct openapi *o = j->owner;

    if (o) {
        o->job = NULL;
        cm_status st = j->status;
        if (st == CM_OK)
            st = use_document(o, cm_steal(&j->doc), &j->err);
        if (st == CM_OK) {
            warn_of_skips(o);
            cm_connector__ready(o->c);
        } else {
            cm_connector__failed(o->c, &j->err);
        }
    }
    yyjson_doc_free(j->doc);
    free(j->path);
    free(j);
}

static cm_status check_pairs(const struct openapi *o, struct cm_err *err)
{
    static const char token[] =
        "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

    for (size_t i = 0; i < o->options.n_headers; i++) {
        const struct cm_pair *h = &o->options.headers[i];
        if (!h->name[0] || strspn(h->name, token) < strlen(h->name))
            return cm_err_set(err, CM_E_CONFIG, "headers: '%.80s' is no name of a header", h->name);
        if (strcspn(h->value, "\r\n") < strlen(h->value))
            return cm_err_set(err, CM_E_CONFIG, "headers.%s: the value must be on one line", h->name);
    }
    for (size_t i = 0; i < o->options.n_auth; i++)
        if (strcspn(o->options.auth[i].value, "\r\n") < strlen(o->options.auth[i].value))
            return cm_err_set(err, CM_E_CONFIG, "auth.%s: the value must be on one line",
                              o->options.auth[i].name);
    return CM_OK;
}

static void openapi_start(void *self, cm_connector *c)
{
    struct openapi *o = self;
    struct cm_err err;
    cm_status st = check_pairs(o, &err);

    o->c = c;
    if (o->job)
        o->job->owner = NULL;
    o->job = NULL;
    if (st == CM_OK && !o->http)
        st = cm_http_new(o->loop, &o->http, &err);
    if (st != CM_OK) {
        cm_connector__failed(c, &err);
        return;
    }
    o->job = cm_new(struct job);
    o->job->owner = o;
    o->job->path = cm_strdup(o->spec_path);
    cm_work_post(o->loop, job_run, job_done, o->job);
}

/* ---- the table ---- */

static size_t openapi_methods(void *self, const struct cm_method **out)
{
    struct openapi *o = self;

    *out = o->oa ? o->oa->methods : NULL;
    return o->oa ? o->oa->n_ops : 0;
}

static void openapi_schemas(void *self, size_t i, struct cm_schema_ref *input, struct cm_schema_ref *output)
{
    struct openapi *o = self;

    cm_oa_schemas(o->oa, i, input, output);
}

static const char *openapi_instructions(void *self)
{
    struct openapi *o = self;

    return o->oa ? o->oa->instructions : NULL;
}

/* ---- calls ---- */

static void on_response(void *user, const struct cm_http_response *r)
{
    struct flight *f = user;
    cm_call *call = f->call;
    const char *method = f->method;

    free(f);
    cm_oa_finish(call, method, r);
}

static void openapi_call(void *self, size_t i, struct cm_value args, cm_call *call)
{
    struct openapi *o = self;
    struct cm_oa_request rq = {0};
    struct cm_err err;

    if (cm_oa_request(o->oa, i, &o->options, args, &rq, &err) != CM_OK) {
        cm_call__fail(call, "arguments", CM_STR(""), "%s: %s", cm_call__method(call), err.message);
        return;
    }
    struct flight *f = cm_new(struct flight);
    *f = (struct flight){.call = call, .method = rq.method};
    struct cm_http_spec spec = {
        .method = rq.method,
        .url = rq.url,
        .headers = (const char *const *)rq.headers,
        .body = rq.has_body ? cm_buf_str(&rq.body) : (struct cm_str){NULL, 0},
        .timeout_ms = cm_call__timeout_ms(call),
        .max_body_bytes = RESPONSE_MAX_BYTES,
    };
    if (cm_http_start(o->http, &spec, on_response, f, &f->request, &err) != CM_OK) {
        free(f);
        cm_call__fail(call, "unavailable", CM_STR(""), "%s: %s", cm_call__method(call), err.message);
    } else {
        cm_call__set_state(call, f);
    }
    cm_oa_request_done(&rq);
}

static void openapi_cancel(void *self, cm_call *call)
{
    struct flight *f = cm_call__state(call);

    (void)self;
    if (!f)
        return;
    cm_http_cancel(f->request);
    free(f);
}

static void openapi_free(void *self)
{
    struct openapi *o = self;

    if (o->job)
        o->job->owner = NULL;
    cm_http_free(o->http);
    cm_oa_free(o->oa);
    free(o->spec_path);
    free(o->base_url);
    free_pairs(o->headers);
    free_pairs(o->auth);
    cm_list_free(o->include);
    cm_list_free(o->exclude);
    free(o);
}

static const struct cm_connector_ops openapi_ops = {
    .kind = "openapi",
    .start = openapi_start,
    .methods = openapi_methods,
    .schemas = openapi_schemas,
    .instructions = openapi_instructions,
    .call = openapi_call,
    .cancel = openapi_cancel,
    .free = openapi_free,
};

cm_connector *cm_connector_openapi(cm_loop *loop, const struct cm_connector_base *base,
                                   const struct cm_openapi_spec *spec)
{
    struct openapi *o = cm_new(struct openapi);

    o->loop = loop;
    o->spec_path = cm_strdup(spec->spec_path);
    o->base_url = cm_strdup_null(spec->base_url);
    o->headers = dup_pairs(spec->headers, spec->n_headers);
    o->auth = dup_pairs(spec->auth, spec->n_auth);
    o->include = cm_list_dup(spec->include);
    o->exclude = cm_list_dup(spec->exclude);
    o->options = (struct cm_oa_options){.base_url = o->base_url,
                                        .headers = o->headers,
                                        .n_headers = spec->n_headers,
                                        .auth = o->auth,
                                        .n_auth = spec->n_auth,
                                        .include = (const char *const *)o->include,
                                        .exclude = (const char *const *)o->exclude};
    return cm_connector_new(loop, &openapi_ops, o, base->name, base->origin, base->start_timeout_ms,
                            base->timeout_ms, base->secrets);
}

/* ---- a description without a service ---- */

static void write_types(struct cm_oa *oa, const char *name, struct cm_buf *out)
{
    struct cm_schema_method *methods = cm_calloc(oa->n_ops + 1, sizeof *methods);
    cm_autobuf types = CM_BUF_INIT((size_t)CM_SPEC_MAX_BYTES);
    cm_autofree char *identifier = cm_name_to_identifier(cm_str_of(name));

    for (size_t i = 0; i < oa->n_ops; i++) {
        struct cm_schema_ref input, output;
        cm_oa_schemas(oa, i, &input, &output);
        methods[i] = (struct cm_schema_method){.name = oa->ops[i].name,
                                               .description = oa->ops[i].description,
                                               .in_root = input.root,
                                               .in_node = input.node,
                                               .out_root = output.root,
                                               .out_node = output.node};
    }
    cm_schema_render_connector(&types, identifier, oa->instructions, methods, oa->n_ops);
    free(methods);
    cm_json_write_string(out, cm_buf_str(&types));
}

static void write_members(struct cm_buf *out, const char *first_key, const char *first, const char *method,
                          const char *path)
{
    if (first_key) {
        cm_buf_addf(out, "{\"%s\":", first_key);
        cm_json_write_string(out, cm_str_of(first));
        cm_buf_add_char(out, ',');
    } else {
        cm_buf_add_char(out, '{');
    }
    cm_buf_add_z(out, "\"method\":");
    cm_json_write_string(out, cm_str_of(method));
    cm_buf_add_z(out, ",\"path\":");
    cm_json_write_string(out, cm_str_of(path));
}

cm_status cm_openapi_describe_file(const char *path, const char *name, struct cm_buf *out_json,
                                   struct cm_err *err)
{
    yyjson_doc *doc = NULL;
    cm_auto_oa oa = NULL;
    cm_status st = cm_oa_load(path, &doc, err);

    if (st != CM_OK)
        return st;
    st = cm_oa_new(doc, &(struct cm_oa_options){0}, &oa, err);
    if (st != CM_OK)
        return cm_err_prefix(err, "'%s'", path);
    cm_buf_add_z(out_json, "{\"operations\":[");
    for (size_t i = 0; i < oa->n_ops; i++) {
        cm_buf_add_z(out_json, i ? "," : "");
        write_members(out_json, "name", oa->ops[i].name, oa->ops[i].method, oa->ops[i].path);
        cm_buf_add_char(out_json, '}');
    }
    cm_buf_add_z(out_json, "],\"skipped\":[");
    for (size_t i = 0; i < oa->n_skips; i++) {
        cm_buf_add_z(out_json, i ? "," : "");
        write_members(out_json, NULL, NULL, oa->skips[i].method, oa->skips[i].path);
        cm_buf_add_z(out_json, ",\"reason\":");
        cm_json_write_string(out_json, cm_str_of(oa->skips[i].reason));
        cm_buf_add_char(out_json, '}');
    }
    cm_buf_add_z(out_json, "],\"types\":");
    write_types(oa, name ? name : oa->title[0] ? oa->title : "api", out_json);
    cm_buf_add_char(out_json, '}');
    return cm_buf_check(out_json, "the declarations", err);
}
