/**
 * An OpenAPI 3.x description as a table of operations, and the request and the result of one call - all
 * without a socket.
 *
 * Reading order: openapi_load.c (file -> document, references to other files inlined), openapi_table.c
 * (document -> operations), openapi_schema.c (what an operation takes and gives), openapi_request.c
 * (arguments -> request), openapi_response.c (answer -> value or failure), openapi.c (the connector).
 *
 * Conventions: an operation takes one object. Its members are the parameters by name and `body`. A parameter
 * called `body` of an operation that has one becomes `body_`; a name that stands in two places keeps its name
 * in the first of path, query, header, cookie and gets the place behind it in the others (`id_query`).
 */
#ifndef CM_CONNECTOR_OPENAPI_H
#define CM_CONNECTOR_OPENAPI_H

#include "connector/kinds.h"
#include "connector/namemap.h"

enum cm_oa_place { CM_OA_PATH, CM_OA_QUERY, CM_OA_HEADER, CM_OA_COOKIE };

enum cm_oa_style {
    CM_OA_FORM,
    CM_OA_SIMPLE,
    CM_OA_LABEL,
    CM_OA_MATRIX,
    CM_OA_SPACE,
    CM_OA_PIPE,
    CM_OA_DEEP,
};

enum cm_oa_body {
    CM_OA_BODY_NONE,
    CM_OA_BODY_JSON,
    CM_OA_BODY_FORM, /* application/x-www-form-urlencoded */
    CM_OA_BODY_RAW,  /* a string or bytes, as they are */
};

struct cm_oa_param {
    const char *name; /* upstream's; borrowed from the document */
    char *arg;        /* member of the arguments */
    char *own_name;   /* where only the path's template names it, what `name` points at */
    enum cm_oa_place place;
    enum cm_oa_style style;
    bool explode;
    bool allow_reserved;
    bool required;
    bool as_json;       /* described by `content`: its value is JSON text */
    yyjson_val *node;   /* of the parameter object; NULL: only the path's template names it */
    yyjson_val *schema; /* may be NULL */
};

struct cm_oa_op {
    const char *method; /* "GET" */
    const char *path;   /* borrowed from the document */
    char *name;         /* identifier */
    char *origin;       /* "GET /pets/{id}" */
    char *description;
    unsigned flags;
    yyjson_val *node;
    struct cm_oa_param *params;
    size_t n_params;
    enum cm_oa_body body;
    bool body_required;
    const char *body_type; /* media type to send */
    yyjson_val *body_node; /* of the requestBody object */
    yyjson_val *body_schema;
    yyjson_doc *input; /* made on demand */
};

struct cm_oa_skip {
    char *method; /* "" when a whole path was left out */
    char *path;
    char *reason;
};

/** A description that was read. Immutable but for the input schemas. */
struct cm_oa {
    yyjson_doc *doc;
    yyjson_val *root;
    char *base_url; /* without a slash at its end; NULL: the description has none that can be used, see
                       base_error */
    char *base_error;
    char *title;
    char *instructions; /* may be NULL */
    struct cm_oa_op *ops;
    struct cm_method *methods; /* one for each operation, in order */
    size_t n_ops;
    struct cm_namemap index;
    struct cm_oa_skip *skips;
    size_t n_skips;
};

/** What the table depends on beside the description. */
struct cm_oa_options {
    const char *base_url; /* NULL: the description's first server */
    const struct cm_pair *headers;
    size_t n_headers;
    const struct cm_pair *auth;
    size_t n_auth;
    const char *const *include;
    const char *const *exclude;
};

/** Read a description: JSON or YAML, of at most CM_SPEC_MAX_BYTES with the files it refers to. Blocks. *out:
 * free with yyjson_doc_free. */
cm_status cm_oa_load(const char *path, yyjson_doc **out, struct cm_err *err);

/** Make the table. Takes doc, also when it fails (it is no OpenAPI 3 description). */
cm_status cm_oa_new(yyjson_doc *take_doc, const struct cm_oa_options *options, struct cm_oa **out,
                    struct cm_err *err);
void cm_oa_free(struct cm_oa *oa);
static inline void cm_oa_auto_(struct cm_oa **oa)
{
    cm_oa_free(*oa);
}
#define cm_auto_oa __attribute__((cleanup(cm_oa_auto_))) struct cm_oa *

/** v, or a value that is nothing: yyjson's loops may not be given NULL. */
yyjson_val *cm_oa_or_nothing(yyjson_val *v);
/** Follow `$ref`s of a parameter, body, response or path item; NULL when they lead nowhere or in a circle. */
yyjson_val *cm_oa_deref(yyjson_val *root, yyjson_val *node);
/** Whether a media type is JSON: application/json, text/json, any +json; parameters after `;` do not matter.
 */
bool cm_oa_is_json(const char *type);
/** Whether two media types or header names are the same, ignoring case and what follows `;`. */
bool cm_oa_same_type(const char *a, const char *b);

const char *cm_oa_place_name(enum cm_oa_place place);
/** Parameters and body of op (openapi_params.c). An error is the reason why the operation is left out. */
cm_status cm_oa__read_input(struct cm_oa *oa, struct cm_oa_op *op, yyjson_val *item,
                            const struct cm_oa_options *options, struct cm_err *err);

void cm_oa_schemas(struct cm_oa *oa, size_t i, struct cm_schema_ref *input, struct cm_schema_ref *output);

/** ---- the request ---- */

struct cm_oa_request {
    const char *method;
    char *url;
    char **headers; /* "Name: value", NULL-terminated */
    size_t n_headers;
    struct cm_buf body;
    bool has_body;
};
void cm_oa_request_done(struct cm_oa_request *rq);

/**
 * The request for arguments (canonical). Pure: no clock, no socket. Nothing is sent that the arguments do not
 * say, and no value reaches another path than the operation's.
 *
 * Errors: CM_E_INVALID  an unknown, missing or unfit argument; the message names it and what is accepted
 */
cm_status cm_oa_request(struct cm_oa *oa, size_t i, const struct cm_oa_options *options, struct cm_value args,
                        struct cm_oa_request *out, struct cm_err *err);

/** ---- credentials (openapi_auth.c) ---- */

/** The security scheme of this name, or NULL. */
yyjson_val *cm_oa_scheme(const struct cm_oa *oa, const char *name);
/** Append what the configured `auth` adds to a call of op: header lines to rq, "name=value&" to query,
 * "name=value; " to cookie. */
void cm_oa_apply_auth(const struct cm_oa *oa, const struct cm_oa_op *op, const struct cm_oa_options *options,
                      struct cm_oa_request *rq, struct cm_buf *query, struct cm_buf *cookie);
/** Whether a header (or query parameter) of this name is ours: configured, a credential, or of the connection
 * itself. */
bool cm_oa_is_ours(yyjson_val *root, const struct cm_oa_options *options, enum cm_oa_place place,
                   const char *name);
void cm_oa_add_header(struct cm_oa_request *rq, const char *name, struct cm_str value);

/** ---- how values are written (openapi_style.c) ---- */

#define CM_OA_URL_MAX_BYTES (64u << 10) /* of a path, and of a query; servers take less */

/** Append s percent-encoded; reserved characters stay where allow_reserved. */
void cm_oa_encode(struct cm_buf *out, struct cm_str s, bool allow_reserved);
/** A value as text: a string as it is, everything else as JSON has it. Borrowed from v or scratch. */
struct cm_str cm_oa__text_of(yyjson_val *v, struct cm_buf *scratch);
/** Append "name=value&". */
void cm_oa__add_pair(struct cm_buf *out, struct cm_str name, yyjson_val *v, bool allow_reserved);
void cm_oa__add_query(struct cm_buf *out, const struct cm_oa_param *p, yyjson_val *v);
/** Append "name=value; ". */
void cm_oa__add_cookie(struct cm_buf *out, const struct cm_oa_param *p, yyjson_val *v);
void cm_oa__add_path_value(struct cm_buf *out, const struct cm_oa_param *p, yyjson_val *v);
/** Refuse what would reach another path: an empty value, and "." or ".." between slashes. */
cm_status cm_oa__check_path_value(const struct cm_oa_param *p, yyjson_val *v, struct cm_err *err);
bool cm_oa__has_dot_segment(struct cm_str path);

/** ---- the answer ---- */

struct cm_http_response;
/** Finish the call with what the service answered. */
void cm_oa_finish(cm_call *call, const char *http_method, const struct cm_http_response *r);

#endif
