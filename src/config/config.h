/**
 * config: the one file users already have (`mcpServers` or VS Code's `servers`) and everything of ours under
 * the key `codemode`.
 *
 * It reads, expands and checks; it starts nothing and reaches nothing. Comments and trailing commas are
 * tolerated, unknown keys are warnings. A fault in one entry (an unset variable, a bad name) switches off
 * that entry only and is kept with it. Shape, defaults and look-up order: design, section 7. Source of
 * `mcpServers`: the files of MCP clients, field-notes "Configuration".
 */
#ifndef CM_CONFIG_CONFIG_H
#define CM_CONFIG_CONFIG_H

#include "base/base.h"
#include "base/limits.h"
#include "base/secrets.h"
#include "json/json.h"

typedef struct cm_config cm_config;

enum cm_entry_kind { CM_ENTRY_MCP_STDIO, CM_ENTRY_MCP_HTTP, CM_ENTRY_OPENAPI, CM_ENTRY_TOOLSET };

struct cm_config_pair {
    const char *name;
    const char *value;
};

struct cm_config_tool {
    const char *name, *description;
    const char *const *command;               /* NULL-terminated */
    const char *const *revert;                /* or NULL */
    const char *const *env;                   /* whole environment, NAME=value, NULL-terminated */
    const char *cwd;                          /* absolute */
    const char *input_schema, *output_schema; /* JSON text or NULL */
    bool requires_approval, read_only, idempotent, reexecute;
    uint32_t timeout_ms;
};

/** One connector as configured. Everything is expanded; paths are absolute (relative to the file's folder).
 * Owned by the config. */
struct cm_config_entry {
    enum cm_entry_kind kind;
    const char *name;            /* identifier in the program */
    const char *configured_name; /* as in the file */
    const char *origin;          /* "mcpServers.my-server in 'x.json'" */
    const char *error;           /* NULL, or why this entry is switched off (names file, key, reason) */
    uint32_t start_timeout_ms, timeout_ms; /* 0: default */
    /* MCP_STDIO */
    const char *const *argv;
    const char *const *env; /* whole environment for the child */
    const char *cwd;
    /* MCP_HTTP, OPENAPI */
    const char *url; /* url or baseUrl; may be NULL for OPENAPI */
    const struct cm_config_pair *headers;
    size_t n_headers;
    const char *spec;                  /* absolute path */
    const struct cm_config_pair *auth; /* scheme → secret; basic as "user:password" */
    size_t n_auth;
    const char *const *include, *const *exclude;
    /* TOOLSET */
    const char *instructions;
    const struct cm_config_tool *tools;
    size_t n_tools;
};

/** One entry of `fetch`. Owned by the config; what a host pattern means is net/allow.h's to say. */
struct cm_config_fetch {
    const char *at;   /* "codemode.fetch[0]" */
    const char *host; /* pattern */
    const char *off;  /* NULL, or why requests that it matches are refused */
    const struct cm_config_pair *headers;
    size_t n_headers;
    const char *const *methods; /* or NULL */
    bool allow_private;
    const char *const *ranges; /* or NULL */
    uint32_t timeout_ms;       /* 0: default */
    uint64_t max_bytes;        /* 0: default */
};

enum cm_policy_action { CM_POLICY_ALLOW, CM_POLICY_APPROVE, CM_POLICY_DENY };
struct cm_policy_rule {
    const char *match; /* pattern over connector.method, `*` any run of characters */
    enum cm_policy_action action;
};

/** How the calls of a method are undone: by another call (docs/rollback.md). Owned by the config. */
struct cm_config_revert {
    const char *at;        /* "codemode.reverts.github.create_issue" */
    const char *method;    /* "github.create_issue", as written */
    const char *connector; /* of the call that undoes it: "github" */
    const char *call;      /* and its method: "close_issue" */
    const char
        *args_json; /* its arguments; strings "$args…" and "$result…" are places in those of the call */
};

/** What leaves the record of a call when its execution has ended; bits. */
enum cm_config_drop { CM_DROP_ARGS = 1, CM_DROP_RESULT = 2 };

struct cm_config_lookup {
    const char *path;           /* --config, or NULL */
    const char *text;           /* configuration as text, or NULL */
    const char *const *environ; /* NAME=value list used for look-up and expansion; NULL: the process's */
    const char *cwd;            /* NULL: the process's */
    bool none;                  /* an empty configuration */
};

/**
 * Find, read, expand, check. No file at all is an empty configuration (cm_config_path is NULL).
 *
 * Errors: CM_E_CONFIG   names file, key ("codemode.limits.cpuMs") and reason, with line and column where it
 * does not parse; also two connectors of one name or identifier (names both origins), and the reserved name
 * `codemode` CM_E_DENIED   the file was found in the working directory and is not trusted: says how to trust
 * it CM_E_NOT_FOUND  a file that was named
 */
cm_status cm_config_load(const struct cm_config_lookup *lookup, cm_config **out, struct cm_err *err);
void cm_config_free(cm_config *c);
CM_DEFINE_AUTO(cm_config, cm_config_free)

const char *cm_config_path(const cm_config *c);
size_t cm_config_entries(const cm_config *c, const struct cm_config_entry **out);
/** Hosts that programs may reach, in the order in which they decide; none is the default. */
size_t cm_config_fetch(const cm_config *c, const struct cm_config_fetch **out);
size_t cm_config_policy(const cm_config *c, const struct cm_policy_rule **out);
size_t cm_config_warnings(const cm_config *c, const char *const **out);
const struct cm_limits *cm_config_limits(const cm_config *c);
/** Put the modules' texts into BIND's JSON: "modules":{…} behind its last member. Nothing when there are none; c may be NULL. */
void cm_config_add_modules(const cm_config *c, struct cm_buf *bind);
/** Names of the modules that programs may import: "helpers.js, dates"; empty when there are none. Borrowed. */
struct cm_str cm_config_modules(const cm_config *c);
/** Every value that must not appear anywhere: headers, auth, variables expanded into them, env of secret-like
 * names. */
const cm_secrets *cm_config_secrets(const cm_config *c);

struct cm_config_settings {
    const char *store;     /* NULL: default place */
    const char *runtime;   /* "default" */
    const char *isolation; /* "realm" */
    bool jit;
    uint32_t max_executions, max_workers, max_queued, runs_per_worker, worker_age_ms, grace_ms;
    uint64_t paused_ttl_ms;
    uint64_t transform_max_bytes;  /* transformResult: cut results beyond this; 0: limits.resultBytes alone */
    const char *transform_snippet; /* transformResult: the snippet that a result is put through; NULL: none */
};
const struct cm_config_settings *cm_config_settings(const cm_config *c);

/** Whether a program needs a global of this name for itself (Promise, console, …), so that no connector may
 * have it. */
bool cm_config_is_global(const char *name);
/** First rule that matches connector.method in any spelling, or NULL; *index is its place in the list. `origin`
 * is the upstream's own name of the method, or NULL while that is unknown. */
const struct cm_policy_rule *cm_config_policy_match(const cm_config *c, const char *connector,
                                                    const char *method, const char *origin, size_t *index);
size_t cm_config_reverts(const cm_config *c, const struct cm_config_revert **out);
/** The one for connector.method in any spelling (as cm_config_policy_match), or NULL. */
const struct cm_config_revert *cm_config_revert_of(const cm_config *c, const char *connector,
                                                   const char *method, const char *origin);
/**
 * Append the arguments of the call that undoes one with these arguments and this result (JSON texts as tools see them; result empty:
 * not known). Errors: CM_E_NOT_FOUND names the place that is not there.
 */
cm_status cm_config_revert_args(const struct cm_config_revert *r, struct cm_str args_json,
                                struct cm_str result_json, struct cm_buf *out, struct cm_err *err);
/** What `log.drop` says of connector.method: enum cm_config_drop. `completed`: the execution completed. */
unsigned cm_config_drops(const cm_config *c, const char *connector, const char *method, bool completed);
/** Whether there is anything to drop at all. */
bool cm_config_drops_any(const cm_config *c);
/** Lower `limits` by a JSON object of the same keys. A larger value or an unknown key is CM_E_INVALID that
 * names it. */
cm_status cm_limits_lower(struct cm_limits *limits, struct cm_str json, struct cm_err *err);
/** Append them as JSON that the two functions around this one read. */
void cm_limits_write(const struct cm_limits *limits, struct cm_buf *out);
/** Lower each to what stands in json, where that is less; what is not there or cannot be read changes nothing. */
void cm_limits_at_most(struct cm_limits *limits, struct cm_str json);
/** Record that the configuration found in the working directory is trusted as it is now (path and hash, in
 * the state directory). */
cm_status cm_config_trust(const char *path, struct cm_err *err);
/** $XDG_STATE_HOME/codemode or ~/.local/state/codemode; made with mode 0700. Owned by the caller. */
cm_status cm_config_state_dir(char **out, struct cm_err *err);

#endif
