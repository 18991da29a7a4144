/** What the files of config share. Others see config.h only. */
#ifndef CM_CONFIG_INTERNAL_H
#define CM_CONFIG_INTERNAL_H

#include "config/config.h"

/** Entries of all kinds together; more is a mistake or an attack, and each costs a process. */
#define CM_CONFIG__MAX_ENTRIES  1024
#define CM_CONFIG__MAX_TOOLS    4096
#define CM_CONFIG__MAX_RULES    4096
#define CM_CONFIG__MAX_WARNINGS 200
#define CM_CONFIG__TIMEOUT_MAX  86400000u /* a day, in milliseconds */
#define CM_CONFIG__START_MS     30000u    /* the longest start that a mere `timeout` allows */

struct cm_config {
    char *path;  /* absolute; NULL without a file */
    char *dir;   /* what relative paths are relative to; absolute */
    char *where; /* "'x.json'", for messages */
    const char *const *environ;

    void **kept; /* everything that lives as long as the configuration */
    size_t n_kept, cap_kept;

    struct cm_config_entry *entries;
    size_t n_entries, cap_entries;
    struct cm_config_fetch *fetch;
    size_t n_fetch;
    struct cm_buf modules;       /* "name":"text", … as BIND has them */
    struct cm_buf modules_names; /* for people: name, name */
    size_t n_modules;
    struct cm_policy_rule *rules;
    const char **rules_mapped; /* each match with the method part mapped as names are; NULL where that changes
                                  nothing */
    size_t n_rules;
    struct cm_config_revert *reverts;
    const char **reverts_mapped; /* as rules_mapped */
    size_t n_reverts;
    struct cm_config__drop *drops;
    size_t n_drops;
    const char **warnings;
    size_t n_warnings;
    struct cm_limits limits;
    struct cm_config_settings settings;
    cm_secrets *secrets;
};

/** One row of `log.drop`. */
struct cm_config__drop {
    const char *match, *mapped;
    bool args, results, completed_only;
};

/** Every spelling of connector.method. */
struct cm_config__paths {
    char *path[6];
    size_t n;
};

/** How a string of the file is treated when it is read. */
enum cm_config__text {
    CM_TEXT_PLAIN,
    CM_TEXT_SECRET, /* the value, and every variable in it, must appear nowhere */
};

/* ---- keep.c: memory, warnings, the environment */

/** Take over p; it is freed with the configuration. */
void *cm_config__keep(cm_config *c, void *take_p);
char *cm_config__keepf(cm_config *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void cm_config__warn(cm_config *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** Value of a variable in a NAME=value list, or NULL. */
const char *cm_config__getenv(const char *const *environ, struct cm_str name);
/** Absolute form of a path that is relative to `dir`; "~/" is the home directory. Kept. */
const char *cm_config__path(cm_config *c, const char *path);
/** The state directory, of an environment given as a list. Made when `make`. */
cm_status cm_config__state_dir(const char *const *environ, bool make, char **out, struct cm_err *err);

/* ---- read.c: one member of an object. `at` is the object's place ("mcpServers.github"). A missing member
 * leaves *out alone. */

cm_status cm_config__type(yyjson_val *v, const char *at, const char *key, const char *expected,
                          struct cm_err *err);
cm_status cm_config__object(yyjson_val *obj, const char *at, const char *key, yyjson_val **out,
                            struct cm_err *err);
cm_status cm_config__string(cm_config *c, yyjson_val *obj, const char *at, const char *key,
                            enum cm_config__text kind, const char **out, struct cm_err *err);
cm_status cm_config__strings(cm_config *c, yyjson_val *obj, const char *at, const char *key,
                             const char *const **out, struct cm_err *err);
cm_status cm_config__bool(yyjson_val *obj, const char *at, const char *key, bool *out, struct cm_err *err);
cm_status cm_config__number(yyjson_val *obj, const char *at, const char *key, uint64_t min, uint64_t max,
                            uint64_t *out, struct cm_err *err);
/** Like cm_config__number for a 32-bit member. */
cm_status cm_config__u32(yyjson_val *obj, const char *at, const char *key, uint32_t min, uint32_t max,
                         uint32_t *out, struct cm_err *err);
/** Warn about every key that is in no row. `foreign` are keys of other clients that mean nothing here; may be
 * NULL. */
void cm_config__unknown(cm_config *c, yyjson_val *obj, const char *at, const char *const *known,
                        const char *const *foreign);
/**
 * CM_E_CONFIG where an object has a key twice: one of the two would count, and nobody knows which. `deep` also
 * looks into its members, but for tools, which are checked one by one, and schemas, which are none of ours.
 */
cm_status cm_config__once(yyjson_val *v, const char *at, bool deep, struct cm_err *err);
/** The known name nearest to a mistyped one, or NULL when none is near. */
const char *cm_config__nearest(struct cm_str name, const char *const *known);

/* ---- expand.c */

/** Replace ${VAR}, ${VAR:-default} and ${env:VAR}. An unset variable is CM_E_CONFIG. *out is kept. */
cm_status cm_config__expand(cm_config *c, struct cm_str text, enum cm_config__text kind, const char **out,
                            struct cm_err *err);
/** Whether a variable, flag or query parameter of this name usually holds a secret (API_KEY, githubToken,
 * --password). */
bool cm_config__is_secret_name(struct cm_str name);
/** Remember what is secret in a command line: the value behind --token or --api-key=. */
void cm_config__secrets_of_argv(cm_config *c, const char *const *argv, const char *at);
/** Remember a URL's password and the values of its secret-like parameters. */
void cm_config__secrets_of_url(cm_config *c, const char *url, const char *at);
/** Remember a header's value, unless it is one of the few whose values are ordinary words. */
void cm_config__secret_header(cm_config *c, const char *name, struct cm_str raw, const char *value,
                              const char *at);

/* ---- the sections of the file */

/** A new entry with its name checked; *out is borrowed until the next one. */
cm_status cm_config__entry_new(cm_config *c, enum cm_entry_kind kind, const char *section, struct cm_str name,
                               struct cm_config_entry **out, struct cm_err *err);
cm_status cm_config__children_env(cm_config *c, yyjson_val *obj, const char *at, const char *const **out,
                                  struct cm_err *err);
cm_status cm_config__pairs(cm_config *c, yyjson_val *obj, const char *at, const char *key, bool headers,
                           const struct cm_config_pair **out, size_t *n, struct cm_err *err);
cm_status cm_config__read_mcp(cm_config *c, struct cm_config_entry *e, yyjson_val *obj, const char *at,
                              struct cm_err *err);
cm_status cm_config__read_openapi(cm_config *c, struct cm_config_entry *e, yyjson_val *obj, const char *at,
                                  struct cm_err *err);
cm_status cm_config__read_toolset(cm_config *c, struct cm_config_entry *e, yyjson_val *obj, const char *at,
                                  struct cm_err *err);
cm_status cm_config__read_limits(cm_config *c, yyjson_val *obj, const char *at, struct cm_err *err);
cm_status cm_config__read_modules(cm_config *c, yyjson_val *obj, const char *at, struct cm_err *err);
cm_status cm_config__read_fetch(cm_config *c, yyjson_val *list, const char *at, struct cm_err *err);
cm_status cm_config__read_policy(cm_config *c, yyjson_val *list, const char *at, struct cm_err *err);
cm_status cm_config__read_reverts(cm_config *c, yyjson_val *obj, const char *at, struct cm_err *err);
cm_status cm_config__read_log(cm_config *c, yyjson_val *obj, const char *at, struct cm_err *err);
cm_status cm_config__read_transform(cm_config *c, yyjson_val *obj, const char *at, struct cm_err *err);
cm_status cm_config__read_settings(cm_config *c, yyjson_val *obj, const char *at, struct cm_err *err);
/** Keys of `codemode` that cm_config__read_settings reads. NULL-terminated. */
extern const char *const cm_config__setting_keys[];

/* ---- policy.c: patterns over connector.method */

/** The pattern as names are mapped to identifiers, kept; NULL where it is the same. */
const char *cm_config__mapped_pattern(cm_config *c, const char *match);
/** Warn where a pattern names a connector that the file does not have; `place` is the key that holds it. */
void cm_config__names_connector(cm_config *c, const char *match, const char *mapped, const char *place);
void cm_config__paths(const cm_config *c, const char *connector, const char *method, const char *origin,
                      struct cm_config__paths *out);
void cm_config__paths_done(struct cm_config__paths *p);
bool cm_config__paths_match(const struct cm_config__paths *p, const char *match, const char *mapped);

/* ---- trust.c */

/** Whether this file with this content was trusted. */
cm_status cm_config__is_trusted(const char *const *environ, const char *path, struct cm_str content,
                                bool *out, struct cm_err *err);

#endif
