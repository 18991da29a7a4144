/** `limits` and the settings beside it, by table: key, place, range. */
#include "config/internal.h"

#include "base/names.h"

#include <inttypes.h>

struct row {
    const char *key;
    size_t offset;
    bool wide; /* uint64_t, otherwise uint32_t */
    uint64_t min, max;
};

#define HOUR 3600000u
#define DAY  86400000u
#define U32(key, member, min, max)                               \
    {                                                            \
        key, offsetof(struct cm_limits, member), false, min, max \
    }
#define U64(key, member, min, max)                              \
    {                                                           \
        key, offsetof(struct cm_limits, member), true, min, max \
    }

/* The lower ends still let a small program run; the upper ends are what the machinery below bears. */
static const struct row limit_rows[] = {
    U32("cpuMs", cpu_ms, 10, HOUR),
    U32("wallMs", wall_ms, 10, DAY),
    U32("deadlineMs", deadline_ms, 10, DAY),
    U32("unawaitedMs", unawaited_ms, 1, DAY),
    U32("memoryMb", memory_mb, 16,
        4096), /* what a worker is started with room for: CM_WORKER_MEMORY_MAX_MB */
    U32("stackKb", stack_kb, 64, 8192),
    U32("subrequests", subrequests, 1, 1000000),
    U32("callsInFlight", calls_in_flight, 1, 1024),
    U32("timers", timers, 1, 10000),
    U64("sourceBytes", source_bytes, 1, 16u << 20),
    U64("argBytes", arg_bytes, 2, CM_FRAME_MAX_BYTES / 2),
    U64("resultBytes", result_bytes, 16, CM_FRAME_MAX_BYTES),
    U64("logBytes", log_bytes, 1, CM_FRAME_MAX_BYTES),
    U64("frameBytes", frame_bytes, 4096, CM_FRAME_MAX_BYTES),
};

static const char *const *limit_keys(void)
{
    static const char *keys[CM_ARRAY_LEN(limit_rows) + 1];

    for (size_t i = 0; i < CM_ARRAY_LEN(limit_rows); i++)
        keys[i] = limit_rows[i].key;
    return keys;
}

static uint64_t get(const struct cm_limits *l, const struct row *r)
{
    const char *p = (const char *)l + r->offset;

    return r->wide ? *(const uint64_t *)(const void *)p : *(const uint32_t *)(const void *)p;
}

static void set(struct cm_limits *l, const struct row *r, uint64_t value)
{
    char *p = (char *)l + r->offset;

    if (r->wide)
        *(uint64_t *)(void *)p = value;
    else
        *(uint32_t *)(void *)p = (uint32_t)value;
}

cm_status cm_config__read_limits(cm_config *c, yyjson_val *obj, const char *at, struct cm_err *err)
{
    if (!yyjson_is_obj(obj))
        return cm_config__type(obj, at, "", "an object", err);
    cm_config__unknown(c, obj, at, limit_keys(), NULL);
    for (size_t i = 0; i < CM_ARRAY_LEN(limit_rows); i++) {
        const struct row *r = &limit_rows[i];
        uint64_t value = get(&c->limits, r);
        cm_status st = cm_config__number(obj, at, r->key, r->min, r->max, &value, err);
        if (st != CM_OK)
            return st;
        set(&c->limits, r, value);
    }
    return CM_OK;
}

static const struct row *find_limit(struct cm_str key)
{
    for (size_t i = 0; i < CM_ARRAY_LEN(limit_rows); i++)
        if (cm_str_eq_z(key, limit_rows[i].key))
            return &limit_rows[i];
    return NULL;
}

static cm_status unknown_limit(struct cm_str key, struct cm_err *err)
{
    cm_autobuf b = CM_BUF_INIT(1024);
    const char *near = cm_config__nearest(key, limit_keys());

    for (size_t i = 0; i < CM_ARRAY_LEN(limit_rows); i++)
        cm_buf_addf(&b, "%s%s", i ? ", " : "", limit_rows[i].key);
    return cm_err_set(err, CM_E_INVALID, "limits.%.*s: unknown limit%s%s%s; known are %s", CM_STR_ARG(key),
                      near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "", cm_buf_str(&b).ptr);
}

/* A setting of the file is a configuration error; the same text in an argument is an invalid argument. */
static cm_status as_invalid(struct cm_err *err)
{
    if (err)
        err->status = CM_E_INVALID;
    return CM_E_INVALID;
}

cm_status cm_limits_lower(struct cm_limits *limits, struct cm_str json, struct cm_err *err)
{
    cm_auto(yyjson_doc) doc = NULL;
    struct cm_limits lowered = *limits;
    yyjson_val *key, *v;
    size_t i, max;
    cm_status st = cm_json_parse(json, CM_JSON_STRICT, &doc, err);

    if (st != CM_OK)
        return cm_err_prefix(err, "limits");
    yyjson_val *root = yyjson_doc_get_root(doc);
    if (!yyjson_is_obj(root))
        return cm_err_set(err, CM_E_INVALID, "limits: is %s; expected an object such as {\"cpuMs\": 1000}",
                          cm_json_kind(root));
    yyjson_obj_foreach(root, i, max, key, v)
    {
        const struct row *r = find_limit(cm_json_str(key));
        uint64_t value = 0;
        if (!r)
            return unknown_limit(cm_json_str(key), err);
        uint64_t now = get(limits, r);
        if (yyjson_is_uint(v) && yyjson_get_uint(v) > now)
            return cm_err_set(err, CM_E_INVALID,
                              "limits.%s: is %" PRIu64 ", more than the configured %" PRIu64
                              "; a single run can only lower a limit",
                              r->key, yyjson_get_uint(v), now);
        if (cm_config__number(root, "limits", r->key, r->min < now ? r->min : now, now, &value, err) != CM_OK)
            return as_invalid(err);
        set(&lowered, r, value);
    }
    *limits = lowered;
    return CM_OK;
}

void cm_limits_write(const struct cm_limits *limits, struct cm_buf *out)
{
    for (size_t i = 0; i < CM_ARRAY_LEN(limit_rows); i++)
        cm_buf_addf(out, "%c\"%s\":%" PRIu64, i ? ',' : '{', limit_rows[i].key, get(limits, &limit_rows[i]));
    cm_buf_add_char(out, '}');
}

void cm_limits_at_most(struct cm_limits *limits, struct cm_str json)
{
    cm_auto(yyjson_doc) doc = NULL;

    if (cm_json_parse(json, CM_JSON_STRICT, &doc, NULL) != CM_OK)
        return;
    for (size_t i = 0; i < CM_ARRAY_LEN(limit_rows); i++) {
        const struct row *r = &limit_rows[i];
        yyjson_val *v = cm_json_get(yyjson_doc_get_root(doc), r->key);

        if (yyjson_is_uint(v) && yyjson_get_uint(v) < get(limits, r) && yyjson_get_uint(v) >= r->min)
            set(limits, r, yyjson_get_uint(v));
    }
}

/* ---- settings beside `limits` */

static const char *const isolations[] = {"realm", "vm", "process", NULL};

const char *const cm_config__setting_keys[] = {
    "store",     "runtime",         "isolation",   "jit",     "maxExecutions", "maxWorkers",
    "maxQueued", "runsPerWorker",   "workerAgeMs", "graceMs", "pausedTtlMs",   "fetch",
    "modules",   "limits",          "policy",      "openapi", "toolsets",      "reverts",
    "log",       "transformResult", NULL};

static cm_status read_store(cm_config *c, yyjson_val *obj, const char *at, struct cm_err *err)
{
    const char *store = NULL;
    cm_status st = cm_config__string(c, obj, at, "store", CM_TEXT_PLAIN, &store, err);

    if (st != CM_OK || !store)
        return st;
    if (cm_z_eq(store, "memory:"))
        c->settings.store = store;
    else if (strncmp(store, "sqlite:", 7) == 0 && store[7])
        c->settings.store = cm_config__keepf(c, "sqlite:%s", cm_config__path(c, store + 7));
    else
        return cm_err_set(err, CM_E_CONFIG, "%s.store: expected \"sqlite:PATH\" or \"memory:\"", at);
    return CM_OK;
}

static bool is_runtime_name(const char *s)
{
    size_t len = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-");

    return len > 0 && len <= 64 && s[len] == '\0';
}

static cm_status read_names(cm_config *c, yyjson_val *obj, const char *at, struct cm_err *err)
{
    struct cm_config_settings *s = &c->settings;
    cm_status st = cm_config__string(c, obj, at, "runtime", CM_TEXT_PLAIN, &s->runtime, err);

    if (st == CM_OK && !is_runtime_name(s->runtime))
        return cm_err_set(err, CM_E_CONFIG,
                          "%s.runtime: is '%s'; expected 1 to 64 of the characters A-Z a-z 0-9 _ . -", at,
                          s->runtime);
    if (st == CM_OK)
        st = cm_config__string(c, obj, at, "isolation", CM_TEXT_PLAIN, &s->isolation, err);
    for (size_t i = 0; st == CM_OK && isolations[i]; i++)
        if (cm_z_eq(s->isolation, isolations[i]))
            return CM_OK;
    return st != CM_OK ? st
                       : cm_err_set(err, CM_E_CONFIG,
                                    "%s.isolation: is '%s'; expected \"realm\", \"vm\" or \"process\"", at,
                                    s->isolation);
}

cm_status cm_config__read_settings(cm_config *c, yyjson_val *obj, const char *at, struct cm_err *err)
{
    struct cm_config_settings *s = &c->settings;
    const struct {
        const char *key;
        uint32_t min, max, *into;
    } numbers[] = {
        {"maxExecutions", 1, 1000000, &s->max_executions}, {"maxWorkers", 1, 1024, &s->max_workers},
        {"maxQueued", 1, 10000, &s->max_queued},           {"runsPerWorker", 1, 1000000, &s->runs_per_worker},
        {"workerAgeMs", 1000, DAY, &s->worker_age_ms},     {"graceMs", 0, HOUR, &s->grace_ms},
    };
    cm_status st = read_store(c, obj, at, err);

    if (st == CM_OK)
        st = read_names(c, obj, at, err);
    if (st == CM_OK)
        st = cm_config__bool(obj, at, "jit", &s->jit, err);
    for (size_t i = 0; st == CM_OK && i < CM_ARRAY_LEN(numbers); i++)
        st = cm_config__u32(obj, at, numbers[i].key, numbers[i].min, numbers[i].max, numbers[i].into, err);
    if (st == CM_OK)
        st = cm_config__number(obj, at, "pausedTtlMs", 1000, 365ull * DAY, &s->paused_ttl_ms, err);
    return st;
}
