/** Finding the file and walking its sections. Front page: config.h. */
#include "config/internal.h"

#include "base/fd.h"

#include <errno.h>
#include <unistd.h>

extern char **environ;

/* ---- where */

struct found {
    char *path;        /* absolute; NULL: none */
    const char *shown; /* as the user knows it */
    bool in_cwd;       /* found there, not named */
    char *text;
    size_t len;
};

static void found_done(struct found *f)
{
    free(f->path);
    if (f->text)
        explicit_bzero(f->text, f->len);
    free(f->text);
}

static char *join(const char *dir, const char *name)
{
    return name[0] == '/' ? cm_strdup(name) : cm_asprintf("%s%s%s", dir, cm_z_eq(dir, "/") ? "" : "/", name);
}

/** True when the path is there; reads it. Absence is not an error unless the file was named. */
static cm_status try_file(struct found *f, char *take_path, const char *shown, bool named, struct cm_err *err)
{
    cm_autofree char *path = take_path;

    if (!named && access(path, F_OK) != 0)
        return CM_OK;
    cm_status st = cm_read_file(path, CM_CONFIG_MAX_BYTES, &f->text, &f->len, err);
    if (st != CM_OK) {
        (void)cm_err_prefix(err, "configuration");
        if (err && st != CM_E_NOT_FOUND)
            err->status = st = CM_E_CONFIG; /* a folder, a file that is too large: for who named it to mend */
        return st;
    }
    f->path = cm_steal(&path);
    f->shown = shown;
    return CM_OK;
}

static cm_status find_user_file(const struct cm_config_lookup *l, struct found *f, struct cm_err *err)
{
    const char *base = cm_config__getenv(l->environ, CM_STR("XDG_CONFIG_HOME"));
    const char *home = cm_config__getenv(l->environ, CM_STR("HOME"));

    if (base && base[0] == '/')
        return try_file(f, join(base, "codemode/config.json"), NULL, false, err);
    if (home && home[0] == '/')
        return try_file(f, join(home, ".config/codemode/config.json"), NULL, false, err);
    return CM_OK;
}

static cm_status find_file(const struct cm_config_lookup *l, struct found *f, struct cm_err *err)
{
    static const char *const local[] = {"codemode.json", ".mcp.json"};
    const char *variable = cm_config__getenv(l->environ, CM_STR("CODEMODE_CONFIG"));
    cm_status st = CM_OK;

    if (l->path)
        return try_file(f, join(l->cwd, l->path), l->path, true, err);
    if (variable && *variable) {
        st = try_file(f, join(l->cwd, variable), variable, true, err);
        return st == CM_OK ? st : cm_err_prefix(err, "$CODEMODE_CONFIG");
    }
    for (size_t i = 0; i < CM_ARRAY_LEN(local) && !f->path; i++) {
        st = try_file(f, join(l->cwd, local[i]), NULL, false, err);
        if (st != CM_OK)
            return st;
        f->in_cwd = f->path != NULL;
    }
    return f->path ? CM_OK : find_user_file(l, f, err);
}

static cm_status check_trust(const struct cm_config_lookup *l, const struct found *f, struct cm_err *err)
{
    bool trusted = false;
    cm_status st = cm_config__is_trusted(l->environ, f->path, cm_str_mk(f->text, f->len), &trusted, err);

    if (st != CM_OK || trusted)
        return st;
    return cm_err_set(
        err, CM_E_DENIED,
        "'%s' was found in the working directory and can start programs, but it is not trusted as it is "
        "now; look at it, then run 'codemode check --trust', or name it: --config '%s'",
        f->path, f->path);
}

/* ---- sections */

typedef cm_status (*read_entry_fn)(cm_config *c, struct cm_config_entry *e, yyjson_val *obj, const char *at,
                                   struct cm_err *err);

/** A fault of this entry alone: kept with it, and it is switched off. */
static void switch_off(cm_config *c, struct cm_config_entry *e, const struct cm_err *why)
{
    e->error = cm_config__keepf(c, "%s: %s", c->where, why->message);
}

static cm_status read_entries(cm_config *c, yyjson_val *section, const char *name, enum cm_entry_kind kind,
                              read_entry_fn read, struct cm_err *err)
{
    yyjson_val *key, *v;
    size_t i, max;

    if (!section)
        return CM_OK;
    if (!yyjson_is_obj(section))
        return cm_config__type(section, name, "", "an object from name to entry", err);
    yyjson_obj_foreach(section, i, max, key, v)
    {
        struct cm_config_entry *e = NULL;
        struct cm_err why;
        bool enabled = true, disabled = false;
        cm_autofree char *at = NULL;
        if (yyjson_get_bool(cm_json_get(v, "disabled")))
            continue;
        cm_status st = cm_config__entry_new(c, kind, name, cm_json_str(key), &e, err);
        if (st != CM_OK)
            return st;
        at = cm_asprintf("%s.%s", name, e->configured_name);
        if (!yyjson_is_obj(v))
            st = cm_config__type(v, at, "", "an object", &why);
        else if ((st = cm_config__once(v, at, true, &why)) == CM_OK &&
                 (st = cm_config__bool(v, at, "disabled", &disabled, &why)) == CM_OK &&
                 (st = cm_config__bool(v, at, "enabled", &enabled, &why)) == CM_OK && enabled)
            st = read(c, e, v, at, &why);
        if (st != CM_OK)
            switch_off(c, e, &why);
        else if (!enabled)
            c->n_entries--;
    }
    return CM_OK;
}

static const char *const top_keys[] = {"mcpServers", "servers", "codemode", "$schema", "inputs", NULL};

static cm_status read_ours(cm_config *c, yyjson_val *ours, struct cm_err *err)
{
    yyjson_val *v;
    cm_status st;

    cm_config__unknown(c, ours, "codemode", cm_config__setting_keys, NULL);
    st = cm_config__once(ours, "codemode", false, err);
    if (st == CM_OK)
        st = cm_config__once(cm_json_get(ours, "limits"), "codemode.limits", true, err);
    if (st == CM_OK)
        st = cm_config__once(cm_json_get(ours, "policy"), "codemode.policy", true, err);
    if (st == CM_OK)
        st = read_entries(c, cm_json_get(ours, "openapi"), "codemode.openapi", CM_ENTRY_OPENAPI,
                          cm_config__read_openapi, err);
    if (st == CM_OK)
        st = read_entries(c, cm_json_get(ours, "toolsets"), "codemode.toolsets", CM_ENTRY_TOOLSET,
                          cm_config__read_toolset, err);
    if (st == CM_OK && (v = cm_json_get(ours, "limits")) != NULL)
        st = cm_config__read_limits(c, v, "codemode.limits", err);
    /* After the entries: a module has no connector's name. */
    if (st == CM_OK && (v = cm_json_get(ours, "modules")) != NULL)
        st = cm_config__once(v, "codemode.modules", true, err);
    if (st == CM_OK && v)
        st = cm_config__read_modules(c, v, "codemode.modules", err);
    if (st == CM_OK && (v = cm_json_get(ours, "fetch")) != NULL)
        st = cm_config__read_fetch(c, v, "codemode.fetch", err);
    /* After the entries: a rule that names none of them is worth a warning. */
    if (st == CM_OK && (v = cm_json_get(ours, "policy")) != NULL)
        st = cm_config__read_policy(c, v, "codemode.policy", err);
    if (st == CM_OK && (v = cm_json_get(ours, "reverts")) != NULL)
        st = cm_config__once(v, "codemode.reverts", true, err);
    if (st == CM_OK && v)
        st = cm_config__read_reverts(c, v, "codemode.reverts", err);
    if (st == CM_OK && (v = cm_json_get(ours, "log")) != NULL)
        st = cm_config__once(v, "codemode.log", true, err);
    if (st == CM_OK && v)
        st = cm_config__read_log(c, v, "codemode.log", err);
    if (st == CM_OK && (v = cm_json_get(ours, "transformResult")) != NULL)
        st = cm_config__once(v, "codemode.transformResult", true, err);
    if (st == CM_OK && v)
        st = cm_config__read_transform(c, v, "codemode.transformResult", err);
    if (st == CM_OK)
        st = cm_config__read_settings(c, ours, "codemode", err);
    return st;
}

static cm_status read_document(cm_config *c, struct cm_str text, struct cm_err *err)
{
    cm_auto(yyjson_doc) doc = NULL;
    yyjson_val *ours = NULL;
    cm_status st = cm_json_parse(text, CM_JSON_RELAXED, &doc, err);

    if (st != CM_OK)
        return err->status = CM_E_CONFIG;
    yyjson_val *root = yyjson_doc_get_root(doc);
    if (!yyjson_is_obj(root))
        return cm_err_set(err, CM_E_CONFIG, "is %s; expected an object with \"mcpServers\" or \"codemode\"",
                          cm_json_kind(root));
    cm_config__unknown(c, root, "", top_keys, NULL);
    st = cm_config__once(root, "", false, err);
    if (st == CM_OK)
        st = read_entries(c, cm_json_get(root, "mcpServers"), "mcpServers", CM_ENTRY_MCP_STDIO,
                          cm_config__read_mcp, err);
    if (st == CM_OK)
        st = read_entries(c, cm_json_get(root, "servers"), "servers", CM_ENTRY_MCP_STDIO, cm_config__read_mcp,
                          err);
    if (st == CM_OK)
        st = cm_config__object(root, "", "codemode", &ours, err);
    if (st == CM_OK && ours)
        st = read_ours(c, ours, err);
    return st;
}

/* ---- the whole */

static cm_config *config_new(const struct cm_config_lookup *l)
{
    cm_config *c = cm_new(cm_config);

    c->environ = l->environ;
    c->secrets = cm_secrets_new();
    c->limits = CM_LIMITS_DEFAULT;
    c->modules = CM_BUF_INIT(CM_MODULES_MAX_BYTES);
    c->modules_names = CM_BUF_INIT(CM_MODULES_MAX_BYTES);
    c->settings = (struct cm_config_settings){
        .runtime = "default",
        .isolation = "realm",
        .jit = true,
        .max_executions = 50,
        .max_workers = 64,
        .runs_per_worker = 1000,
        .worker_age_ms = 3600000,
        .grace_ms = 30000,
        .paused_ttl_ms = 86400000,
    };
    return c;
}

static void set_place(cm_config *c, const struct cm_config_lookup *l, struct found *f)
{
    c->path = cm_steal(&f->path);
    c->where = c->path ? cm_asprintf("'%s'", f->shown ? f->shown : c->path) : cm_strdup("the configuration");
    c->dir = cm_strdup(l->cwd);
    if (c->path) {
        free(c->dir);
        char *slash = strrchr(c->path, '/');
        c->dir = cm_memdup_z(c->path, slash == c->path ? 1 : (size_t)(slash - c->path));
    }
}

static cm_status load(const struct cm_config_lookup *l, struct found *f, cm_config **out, struct cm_err *err)
{
    cm_auto(cm_config) c = config_new(l);
    cm_status st = CM_OK;

    if (!l->none && l->text)
        f->text = cm_strdup(l->text), f->len = strlen(l->text);
    else if (!l->none)
        st = find_file(l, f, err);
    if (st == CM_OK && f->in_cwd)
        st = check_trust(l, f, err);
    if (st != CM_OK)
        return st;
    set_place(c, l, f);
    if (f->text && read_document(c, cm_str_mk(f->text, f->len), err) != CM_OK)
        return cm_err_prefix(err, "%s", c->where);
    c->environ = NULL; /* borrowed while loading only */
    *out = cm_steal(&c);
    return CM_OK;
}

cm_status cm_config_load(const struct cm_config_lookup *lookup, cm_config **out, struct cm_err *err)
{
    struct cm_config_lookup l = *lookup;
    struct found f __attribute__((cleanup(found_done))) = {0};
    struct cm_err local;
    cm_autofree char *cwd = NULL;

    if (l.path && l.text)
        return cm_err_set(err, CM_E_INVALID,
                          "a configuration file and a configuration text were given; give one");
    if (!l.environ)
        l.environ = (const char *const *)environ;
    if (!l.cwd) {
        l.cwd = cwd = getcwd(NULL, 0);
        if (!cwd)
            return cm_err_errno(err, errno, "the working directory");
    }
    return load(&l, &f, out, err ? err : &local);
}

void cm_config_free(cm_config *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n_kept; i++)
        free(c->kept[i]);
    free(c->kept);
    free(c->entries);
    cm_buf_done(&c->modules);
    cm_buf_done(&c->modules_names);
    free(c->warnings);
    free(c->path);
    free(c->dir);
    free(c->where);
    cm_secrets_free(c->secrets);
    free(c);
}

const char *cm_config_path(const cm_config *c)
{
    return c->path;
}

size_t cm_config_entries(const cm_config *c, const struct cm_config_entry **out)
{
    *out = c->entries;
    return c->n_entries;
}

size_t cm_config_fetch(const cm_config *c, const struct cm_config_fetch **out)
{
    *out = c->fetch;
    return c->n_fetch;
}

size_t cm_config_policy(const cm_config *c, const struct cm_policy_rule **out)
{
    *out = c->rules;
    return c->n_rules;
}

size_t cm_config_warnings(const cm_config *c, const char *const **out)
{
    *out = c->warnings;
    return c->n_warnings;
}

const struct cm_limits *cm_config_limits(const cm_config *c)
{
    return &c->limits;
}

const cm_secrets *cm_config_secrets(const cm_config *c)
{
    return c->secrets;
}

const struct cm_config_settings *cm_config_settings(const cm_config *c)
{
    return &c->settings;
}
