/** Entries: their names, the environment of their programs, and the two kinds that reach a service. */
#include "config/internal.h"

#include "base/names.h"

#include <ctype.h>

/* What a program may call by these names already; a connector of such a name would take it away. ECMA-262 and
 * the web's. */
static const char globals[] =
    " AggregateError Array ArrayBuffer AsyncFunction Atomics BigInt BigInt64Array BigUint64Array Boolean"
    " DataView Date Error EvalError FinalizationRegistry Float32Array Float64Array Function Infinity"
    " Int16Array Int32Array Int8Array Intl Iterator JSON Map Math NaN Number Object Promise Proxy"
    " RangeError ReferenceError Reflect RegExp Set SharedArrayBuffer String Symbol SyntaxError TypeError"
    " URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet WebAssembly"
    " decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape globalThis isFinite isNaN"
    " parseFloat parseInt URL URLSearchParams TextEncoder TextDecoder Blob Headers Request Response"
    " FormData AbortController AbortSignal Event EventTarget DOMException atob btoa clearInterval"
    " clearTimeout console crypto fetch performance queueMicrotask self setInterval setTimeout"
    " structuredClone __proto__ constructor hasOwnProperty isPrototypeOf propertyIsEnumerable"
    " toLocaleString toString valueOf __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__"
    " ";

bool cm_config_is_global(const char *name)
{
    cm_autofree char *word = cm_asprintf(" %s ", name);

    return strstr(globals, word) != NULL;
}

/** The identifier of a configured name; says so where it is another one. */
static const char *identifier_of(cm_config *c, struct cm_str configured, const char *at)
{
    cm_autofree char *mapped = cm_name_to_identifier(configured);
    bool taken = cm_config_is_global(mapped);
    const char *name = cm_config__keepf(c, "%s%s", mapped, taken ? "_" : "");

    if (taken)
        cm_config__warn(c, "%s: programs reach it as '%s', since '%s' is a name that JavaScript needs itself",
                        at, name, mapped);
    else if (!cm_str_eq_z(configured, name))
        cm_config__warn(c, "%s: programs reach it as '%s', since '%.*s' is no JavaScript identifier", at,
                        name, CM_STR_ARG(configured));
    return name;
}

/** All entries are of one file, so their places in it tell them apart. */
static cm_status same_name(const cm_config *c, const struct cm_config_entry *other, const char *at,
                           const char *id, struct cm_err *err)
{
    int len = (int)(strlen(other->origin) - strlen(c->where) - strlen(" in "));

    return cm_err_set(err, CM_E_CONFIG, "%.*s and %s would both be '%s' in a program; rename one of them",
                      len, other->origin, at, id);
}

cm_status cm_config__entry_new(cm_config *c, enum cm_entry_kind kind, const char *section, struct cm_str name,
                               struct cm_config_entry **out, struct cm_err *err)
{
    const char *configured = cm_config__keep(c, cm_memdup_z(name.ptr, name.len));
    const char *at = cm_config__keepf(c, "%s.%s", section, configured);
    const char *origin = cm_config__keepf(c, "%s in %s", at, c->where);

    if (c->n_entries == CM_CONFIG__MAX_ENTRIES)
        return cm_err_set(err, CM_E_CONFIG, "more than %d servers and tool sets", CM_CONFIG__MAX_ENTRIES);
    if (name.len == 0)
        return cm_err_set(err, CM_E_CONFIG, "%s: an entry has an empty name; give it one", section);
    if (name.len > CM_NAME_MAX_BYTES)
        return cm_err_set(err, CM_E_CONFIG, "%s: an entry's name has %zu bytes; at most %d are allowed",
                          section, name.len, CM_NAME_MAX_BYTES);
    const char *id = identifier_of(c, name, at);
    if (cm_z_eq(id, "codemode"))
        return cm_err_set(err, CM_E_CONFIG, "%s: the name 'codemode' is reserved; rename this entry", at);
    for (size_t i = 0; i < c->n_entries; i++)
        if (cm_z_eq(c->entries[i].name, id))
            return same_name(c, &c->entries[i], at, id, err);
    if (c->n_entries == c->cap_entries) {
        c->cap_entries = c->cap_entries ? c->cap_entries * 2 : 8;
        c->entries = cm_realloc(c->entries, c->cap_entries * sizeof *c->entries);
    }
    *out = &c->entries[c->n_entries++];
    **out =
        (struct cm_config_entry){.kind = kind, .name = id, .configured_name = configured, .origin = origin};
    return CM_OK;
}

/* ---- environment of a child */

/*
 * What MCP clients pass on (getDefaultEnvironment of the official SDK: HOME LOGNAME PATH SHELL TERM USER),
 * and what programs need to find their locale, time zone, folders and certificates. Everything else may hold
 * secrets and must be named in `env`.
 */
static const char *const inherited[] = {
    "HOME",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "USER",
    "LANG",
    "LANGUAGE",
    "TMPDIR",
    "TZ",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
};

static bool is_inherited(const char *pair)
{
    size_t len = strcspn(pair, "=");

    if (pair[len] == '\0' || strncmp(pair + len, "=()", 3) == 0)
        return false; /* a shell function, which the official SDK leaves out as well */
    if (strncmp(pair, "LC_", 3) == 0 || strncmp(pair, "XDG_", 4) == 0)
        return true;
    for (size_t i = 0; i < CM_ARRAY_LEN(inherited); i++)
        if (strlen(inherited[i]) == len && strncmp(inherited[i], pair, len) == 0)
            return true;
    return false;
}

static cm_status env_value(cm_config *c, yyjson_val *env, yyjson_val *v, const char *at, const char *name,
                           const char **out, struct cm_err *err)
{
    cm_autofree char *place = cm_asprintf("%s.env", at);

    if (yyjson_is_bool(v)) {
        *out = yyjson_get_bool(v) ? "true" : "false";
        return CM_OK;
    }
    if (yyjson_is_num(v)) {
        cm_autobuf b = CM_BUF_INIT(64);
        cm_json_write(&b, v);
        *out = cm_config__keep(c, cm_buf_take(&b, NULL));
        return CM_OK;
    }
    bool secret = cm_config__is_secret_name(cm_str_of(name));
    cm_status st = cm_config__string(c, env, place, name, secret ? CM_TEXT_SECRET : CM_TEXT_PLAIN, out, err);
    if (st == CM_OK && secret) {
        cm_autofree char *label = cm_asprintf("%s.%s", place, name);
        cm_secrets_add(c->secrets, cm_str_of(*out), label);
    }
    return st;
}

/** Remove NAME from the list of n pairs; returns the new n. */
static size_t env_unset(const char **list, size_t n, const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < n; i++)
        if (strncmp(list[i], name, len) == 0 && list[i][len] == '=') {
            memmove(list + i, list + i + 1, (n - i - 1) * sizeof *list);
            return n - 1;
        }
    return n;
}

cm_status cm_config__children_env(cm_config *c, yyjson_val *obj, const char *at, const char *const **out,
                                  struct cm_err *err)
{
    yyjson_val *env = NULL, *key, *v;
    size_t i, max, n = 0, n_base = 0;
    cm_status st = cm_config__object(obj, at, "env", &env, err);

    if (st != CM_OK)
        return st;
    while (c->environ && c->environ[n_base])
        n_base++;
    const char **list = cm_config__keep(c, cm_calloc(n_base + yyjson_obj_size(env) + 1, sizeof *list));
    for (size_t k = 0; k < n_base; k++)
        if (is_inherited(c->environ[k]))
            list[n++] = cm_config__keep(c, cm_strdup(c->environ[k]));
    yyjson_obj_foreach(env, i, max, key, v)
    {
        struct cm_str name = cm_json_str(key);
        const char *value = NULL;
        if (name.len == 0 || memchr(name.ptr, '=', name.len) || strlen(name.ptr) != name.len)
            return cm_err_set(err, CM_E_CONFIG, "%s.env: '%.*s' cannot be the name of a variable", at,
                              CM_STR_ARG(name));
        n = env_unset(list, n, name.ptr);
        if (yyjson_is_null(v))
            continue; /* as VS Code has it: null takes an inherited variable away */
        st = env_value(c, env, v, at, name.ptr, &value, err);
        if (st != CM_OK)
            return st;
        list[n++] = cm_config__keepf(c, "%s=%s", name.ptr, value);
    }
    list[n] = NULL;
    *out = list;
    return CM_OK;
}

/* ---- headers and auth */

static cm_status check_header(const char *name, const char *value, struct cm_err *err)
{
    for (const char *p = name; *p || p == name; p++)
        if (!isalnum((unsigned char)*p) && (*p == '\0' || !strchr("!#$%&'*+-.^_`|~", *p)))
            return cm_err_set(err, CM_E_CONFIG, "no name of an HTTP header (RFC 9110, section 5.1)");
    for (const char *p = value; *p; p++)
        if (((unsigned char)*p < 0x20 && *p != '\t') || *p == 0x7f)
            return cm_err_set(
                err, CM_E_CONFIG,
                "the value holds a line break or another control character, which no header may");
    return CM_OK;
}

static cm_status auth_value(cm_config *c, yyjson_val *obj, yyjson_val *v, const char *at, const char *name,
                            const char **out, struct cm_err *err)
{
    const char *user = NULL, *password = NULL;
    cm_autofree char *place = cm_asprintf("%s.%s", at, name);
    cm_status st;

    if (yyjson_is_str(v))
        return cm_config__string(c, obj, at, name, CM_TEXT_SECRET, out, err);
    if (!yyjson_is_obj(v) || !cm_json_get(v, "username") || !cm_json_get(v, "password"))
        return cm_config__type(v, at, name, "a string (the secret) or {\"username\": …, \"password\": …}",
                               err);
    st = cm_config__string(c, v, place, "username", CM_TEXT_PLAIN, &user, err);
    if (st == CM_OK)
        st = cm_config__string(c, v, place, "password", CM_TEXT_SECRET, &password, err);
    if (st != CM_OK)
        return st;
    if (strchr(user, ':'))
        return cm_err_set(err, CM_E_CONFIG, "%s.username: may hold no colon (RFC 7617, section 2)", place);
    cm_secrets_add(c->secrets, cm_str_of(password), place);
    *out = cm_config__keepf(c, "%s:%s", user, password);
    return CM_OK;
}

cm_status cm_config__pairs(cm_config *c, yyjson_val *obj, const char *at, const char *key, bool headers,
                           const struct cm_config_pair **out, size_t *n, struct cm_err *err)
{
    yyjson_val *map = NULL, *k, *v;
    size_t i, max;
    cm_autofree char *place = cm_asprintf("%s.%s", at, key);
    cm_status st = cm_config__object(obj, at, key, &map, err);

    if (st != CM_OK || !map)
        return st;
    struct cm_config_pair *list = cm_config__keep(c, cm_calloc(yyjson_obj_size(map) + 1, sizeof *list));
    yyjson_obj_foreach(map, i, max, k, v)
    {
        const char *name = cm_config__keep(c, cm_memdup_z(yyjson_get_str(k), yyjson_get_len(k)));
        const char *value = NULL;
        cm_autofree char *label = cm_asprintf("%s.%s", place, name);
        st = headers ? cm_config__string(c, map, place, name, CM_TEXT_SECRET, &value, err)
                     : auth_value(c, map, v, place, name, &value, err);
        if (st != CM_OK)
            return st;
        if (!value)
            return cm_err_set(err, CM_E_CONFIG, "%s: a name holds a NUL character", place);
        if (headers && check_header(name, value, err) != CM_OK)
            return cm_err_prefix(err, "%s", label);
        if (headers)
            cm_config__secret_header(c, name, cm_json_str(v), value, label);
        else
            cm_secrets_add(c->secrets, cm_str_of(value), label);
        list[i] = (struct cm_config_pair){name, value};
    }
    *out = list;
    *n = yyjson_obj_size(map);
    return CM_OK;
}

/* ---- the two kinds that reach a service */

static cm_status read_timeouts(struct cm_config_entry *e, yyjson_val *obj, const char *at, struct cm_err *err)
{
    cm_status st = cm_config__u32(obj, at, "timeout", 1, CM_CONFIG__TIMEOUT_MAX, &e->timeout_ms, err);

    if (st == CM_OK)
        st = cm_config__u32(obj, at, "timeoutMs", 1, CM_CONFIG__TIMEOUT_MAX, &e->timeout_ms, err);
    /* One request's time is also the first one's; but a long one must not let a silent server hold up
     * `check`. */
    e->start_timeout_ms = e->timeout_ms < CM_CONFIG__START_MS ? e->timeout_ms : CM_CONFIG__START_MS;
    if (st == CM_OK)
        st = cm_config__u32(obj, at, "startTimeoutMs", 1, CM_CONFIG__TIMEOUT_MAX, &e->start_timeout_ms, err);
    return st;
}

static cm_status read_url(cm_config *c, struct cm_config_entry *e, yyjson_val *obj, const char *at,
                          const char *key, struct cm_err *err)
{
    cm_status st = cm_config__string(c, obj, at, key, CM_TEXT_PLAIN, &e->url, err);

    if (st != CM_OK || !e->url)
        return st;
    cm_config__secrets_of_url(c, e->url, at);
    if (strncasecmp(e->url, "http://", 7) != 0 && strncasecmp(e->url, "https://", 8) != 0)
        return cm_err_set(err, CM_E_CONFIG, "%s.%s: is no URL that begins with http:// or https://", at, key);
    for (const char *p = e->url; *p; p++)
        if ((unsigned char)*p <= 0x20 || *p == 0x7f)
            return cm_err_set(err, CM_E_CONFIG, "%s.%s: a URL may hold no white space or control characters",
                              at, key);
    return CM_OK;
}

static cm_status read_cwd(cm_config *c, yyjson_val *obj, const char *at, const char **out, struct cm_err *err)
{
    cm_status st = cm_config__string(c, obj, at, "cwd", CM_TEXT_PLAIN, out, err);

    if (st == CM_OK)
        *out = *out ? cm_config__path(c, *out) : c->dir;
    return st;
}

static const char *const mcp_keys[] = {"command",  "args",        "env",       "cwd",
                                       "type",     "transport",   "url",       "headers",
                                       "disabled", "timeout",     "timeoutMs", "startTimeoutMs",
                                       "enabled",  "description", NULL};
static const char *const mcp_foreign[] = {"alwaysAllow",
                                          "autoApprove",
                                          "autoApproved",
                                          "dev",
                                          "disabledTools",
                                          "enabledTools",
                                          "envFile",
                                          "excludeTools",
                                          "gallery",
                                          "icon",
                                          "id",
                                          "includeTools",
                                          "name",
                                          "oauth",
                                          "trust",
                                          "tools",
                                          "version",
                                          "serverInstructions",
                                          "initTimeout",
                                          "chatMenu",
                                          NULL};

static cm_status read_stdio(cm_config *c, struct cm_config_entry *e, yyjson_val *obj, const char *at,
                            struct cm_err *err)
{
    const char *command = NULL;
    const char *const *args = NULL;
    size_t n = 0;
    cm_status st = cm_config__string(c, obj, at, "command", CM_TEXT_PLAIN, &command, err);

    if (st == CM_OK)
        st = cm_config__strings(c, obj, at, "args", &args, err);
    if (st == CM_OK)
        st = read_cwd(c, obj, at, &e->cwd, err);
    if (st == CM_OK)
        st = cm_config__children_env(c, obj, at, &e->env, err);
    if (st != CM_OK)
        return st;
    if (!*command)
        return cm_err_set(err, CM_E_CONFIG, "%s.command: is empty; expected the name of a program", at);
    while (args && args[n])
        n++;
    const char **argv = cm_config__keep(c, cm_calloc(n + 2, sizeof *argv));
    /* With a slash it is a file, and then one beside the configuration, wherever the command was started. */
    argv[0] = strchr(command, '/') ? cm_config__path(c, command) : command;
    if (n)
        memcpy(argv + 1, args, n * sizeof *argv);
    e->argv = argv;
    cm_config__secrets_of_argv(c, argv, at);
    if (cm_json_get(obj, "headers") || cm_json_get(obj, "url"))
        cm_config__warn(c, "%s: has a 'command', so 'url' and 'headers' are not used", at);
    return CM_OK;
}

static bool is_http_type(const char *type)
{
    static const char *const http[] = {"http", "sse", "streamable-http", "streamableHttp", "streamable_http",
                                       "ws"};

    for (size_t i = 0; i < CM_ARRAY_LEN(http); i++)
        if (cm_z_eq(type, http[i]))
            return true;
    return false;
}

cm_status cm_config__read_mcp(cm_config *c, struct cm_config_entry *e, yyjson_val *obj, const char *at,
                              struct cm_err *err)
{
    const char *type = NULL;
    bool has_command = cm_json_get(obj, "command") != NULL;
    cm_status st;

    cm_config__unknown(c, obj, at, mcp_keys, mcp_foreign);
    st = read_timeouts(e, obj, at, err);
    if (st == CM_OK)
        st = cm_config__string(c, obj, at, "transport", CM_TEXT_PLAIN, &type, err);
    if (st == CM_OK)
        st = cm_config__string(c, obj, at, "type", CM_TEXT_PLAIN, &type, err);
    if (st != CM_OK)
        return st;
    bool http = type ? is_http_type(type) : !has_command;
    if (type && !http && !cm_z_eq(type, "stdio"))
        return cm_err_set(err, CM_E_CONFIG, "%s.type: is '%s'; expected \"stdio\", \"http\" or \"sse\"", at,
                          type);
    e->kind = http ? CM_ENTRY_MCP_HTTP : CM_ENTRY_MCP_STDIO;
    if (!http && !has_command)
        return cm_err_set(err, CM_E_CONFIG, "%s.command: is missing; a server of type \"stdio\" needs it",
                          at);
    if (!http)
        return read_stdio(c, e, obj, at, err);
    st = read_url(c, e, obj, at, "url", err);
    if (st == CM_OK && !e->url)
        return cm_err_set(
            err, CM_E_CONFIG,
            "%s: needs a 'command' (a program that speaks MCP on its standard streams) or a 'url'", at);
    if (st == CM_OK)
        st = cm_config__pairs(c, obj, at, "headers", true, &e->headers, &e->n_headers, err);
    return st;
}

static const char *const openapi_keys[] = {"spec",     "baseUrl",        "headers",     "auth",
                                           "include",  "exclude",        "timeout",     "timeoutMs",
                                           "disabled", "startTimeoutMs", "description", NULL};

cm_status cm_config__read_openapi(cm_config *c, struct cm_config_entry *e, yyjson_val *obj, const char *at,
                                  struct cm_err *err)
{
    cm_status st;

    cm_config__unknown(c, obj, at, openapi_keys, NULL);
    st = read_timeouts(e, obj, at, err);
    if (st == CM_OK)
        st = cm_config__string(c, obj, at, "spec", CM_TEXT_PLAIN, &e->spec, err);
    if (st == CM_OK)
        st = read_url(c, e, obj, at, "baseUrl", err);
    if (st == CM_OK)
        st = cm_config__pairs(c, obj, at, "headers", true, &e->headers, &e->n_headers, err);
    if (st == CM_OK)
        st = cm_config__pairs(c, obj, at, "auth", false, &e->auth, &e->n_auth, err);
    if (st == CM_OK)
        st = cm_config__strings(c, obj, at, "include", &e->include, err);
    if (st == CM_OK)
        st = cm_config__strings(c, obj, at, "exclude", &e->exclude, err);
    if (st != CM_OK)
        return st;
    if (!e->spec || !*e->spec)
        return cm_err_set(err, CM_E_CONFIG,
                          "%s.spec: is missing; expected the path of an OpenAPI description", at);
    if (strstr(e->spec, "://"))
        return cm_err_set(err, CM_E_CONFIG, "%s.spec: is a URL; save the description and name the file", at);
    e->spec = cm_config__path(c, e->spec);
    return CM_OK;
}
