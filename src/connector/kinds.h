/** The kinds of connector and what each is made from. Everything in a spec is copied; text is NUL-terminated,
 * optional where NULL is allowed. */
#ifndef CM_CONNECTOR_KINDS_H
#define CM_CONNECTOR_KINDS_H

#include "connector/connector.h"

/** What all kinds share. name: an identifier, already mapped (config does that). origin: where it was
 * configured, for messages. */
struct cm_connector_base {
    const char *name;
    const char *origin;
    const cm_secrets *secrets; /* borrowed for the connector's life */
    uint32_t start_timeout_ms; /* 0: 30000 */
    uint32_t timeout_ms;       /* 0: 60000 */
};

/** `mcpServers.NAME` with a command: a child that speaks MCP on its standard streams. */
struct cm_mcp_stdio_spec {
    const char *const *argv; /* NULL-terminated */
    const char *const *env;  /* the whole environment, NAME=value, NULL-terminated */
    const char *cwd;         /* may be NULL */
};
cm_connector *cm_connector_mcp_stdio(cm_loop *loop, const struct cm_connector_base *base,
                                     const struct cm_mcp_stdio_spec *spec);

struct cm_pair {
    const char *name;
    const char *value;
};

/** `openapi.NAME`: a description (JSON or YAML, OpenAPI 3.x) and how to reach the service. */
struct cm_openapi_spec {
    const char *spec_path; /* absolute path */
    const char *base_url;  /* NULL: the description's first server */
    const struct cm_pair *headers;
    size_t n_headers;
    const char *const *include; /* NULL-terminated patterns over method names, `*` any run; NULL: all */
    const char *const *exclude;
    /** security scheme name → secret: apiKey (header, query, cookie), http bearer, http basic
     * ("user:password"). */
    const struct cm_pair *auth;
    size_t n_auth;
};
cm_connector *cm_connector_openapi(cm_loop *loop, const struct cm_connector_base *base,
                                   const struct cm_openapi_spec *spec);

/** One tool of a tool set: a local command (design, section 7). */
struct cm_toolset_tool {
    const char *name;           /* as configured; mapped to an identifier */
    const char *description;    /* may be NULL */
    const char *const *command; /* NULL-terminated */
    const char *const *env;     /* the whole environment */
    const char *cwd;            /* may be NULL */
    const char *input_schema;   /* JSON text; NULL: any object */
    const char *output_schema;  /* JSON text or NULL */
    const char *const *revert;  /* command or NULL */
    unsigned flags;             /* enum cm_method_flag */
    uint32_t timeout_ms;        /* 0: the connector's */
};
struct cm_toolset_spec {
    const char *instructions;
    const struct cm_toolset_tool *tools;
    size_t n_tools;
};
cm_connector *cm_connector_toolset(cm_loop *loop, const struct cm_connector_base *base,
                                   const struct cm_toolset_spec *spec);

/**
 * A tool set from callbacks of the embedder. fn runs on the loop's thread with the arguments as JSON
 * (cm_value_to_tool_json) and answers at once or later through cm_native_reply_* with `call`, exactly once.
 */
typedef void (*cm_native_fn)(void *user, cm_call *call, struct cm_str args_json);
struct cm_native_tool {
    const char *name;
    const char *description;
    const char *input_schema;
    const char *output_schema;
    unsigned flags;
    uint32_t timeout_ms;
    cm_native_fn fn;
    void *user;
    cm_native_fn revert; /* may be NULL; its args_json is {"args": …, "result": …} */
};
cm_connector *cm_connector_native(cm_loop *loop, const struct cm_connector_base *base,
                                  const char *instructions);
/** Answer with JSON text; empty text is undefined. The call is not touched afterwards. */
void cm_native_reply_json(cm_call *call, struct cm_str json);
/** Answer with a failure that the program can catch. code may be NULL; fields_json: an object's text with
 * further members, or empty. */
void cm_native_reply_error(cm_call *call, const char *code, struct cm_str fields_json, const char *message);
/** Add a tool before or after start. CM_E_CONFLICT: a tool of this identifier exists (names both);
 * CM_E_INVALID: bad schema. */
cm_status cm_connector_native_add(cm_connector *c, const struct cm_native_tool *tool, struct cm_err *err);
/** What the embedder keeps for executions (struct cm_connector_ops has the rules); NULL: nothing. In place of the last ones. */
struct cm_native_hooks {
    void (*pass_end)(void *user, const char *execution, const char *status);
    void (*dispose)(void *user, const char *execution, const char *status);
    void *user;
};
cm_status cm_connector_native_hooks(cm_connector *c, const struct cm_native_hooks *hooks, struct cm_err *err);

/** One place of `fetch`: which programs may reach, and how. */
struct cm_fetch_host {
    const char *at;      /* "codemode.fetch[0]", for messages */
    const char *pattern; /* net/allow.h */
    const char *off;     /* why it is switched off, or NULL. It still takes the requests that it matches. */
    const struct cm_pair *headers; /* sent by the host, in place of a program's own of that name */
    size_t n_headers;
    const char *const *methods; /* lower case, NULL-terminated; NULL: all */
    bool allow_private;
    const char *const *ranges; /* further addresses, NULL-terminated; or NULL */
    uint32_t timeout_ms;       /* of a request with all its redirects; 0: 30000 */
    uint64_t max_bytes;        /* of a response, decoded; 0: CM_FETCH_BYTES */
};
struct cm_fetch_spec {
    const struct cm_fetch_host *hosts; /* the first that matches a URL decides */
    size_t n_hosts;
    const char *const *resolve; /* as in net/net.h, for tests; NULL */
};
/**
 * `fetch`: a program's own HTTP requests. Methods get, head, options, post, put, patch, delete with {url, headers,
 * body, redirect}; the result is {status, statusText, url, redirected, headers, body}.
 *
 * Errors: CM_E_CONFIG  a place cannot be read; names it and says what would be accepted
 */
cm_status cm_connector_fetch(cm_loop *loop, const struct cm_connector_base *base,
                             const struct cm_fetch_spec *spec, cm_connector **out, struct cm_err *err);
/** Append the places by name, as they stand in a sentence: "https://api.example.com (only get) and http://localhost:8080". */
void cm_connector_fetch_places(const cm_connector *c, struct cm_buf *out);

/** The operations of a description without a service:
 * {"operations":[{name,method,path}],"skipped":[{method,path,reason}],"types":"…"}. */
cm_status cm_openapi_describe_file(const char *path, const char *name, struct cm_buf *out_json,
                                   struct cm_err *err);

#endif
