/** What the record of an execution holds in the end, and what of a result is told: `log` and `transformResult`. */
#include "config/internal.h"

/* ---- log.drop */

static const char *const log_keys[] = {"drop", "comment", NULL};
static const char *const drop_keys[] = {"match", "args", "results", "when", "comment", NULL};

static cm_status read_when(cm_config *c, yyjson_val *v, const char *place, bool *completed_only,
                           struct cm_err *err)
{
    const char *when = "ended";
    cm_status st = cm_config__string(c, v, place, "when", CM_TEXT_PLAIN, &when, err);

    if (st != CM_OK)
        return st;
    *completed_only = cm_z_eq(when, "completed");
    if (!*completed_only && !cm_z_eq(when, "ended"))
        return cm_err_set(
            err, CM_E_CONFIG,
            "%s.when: is '%s'; expected \"ended\" (however it ended) or \"completed\" (only then)", place,
            when);
    return CM_OK;
}

static cm_status read_drop(cm_config *c, yyjson_val *v, const char *place, struct cm_config__drop *d,
                           struct cm_err *err)
{
    cm_autofree char *key = cm_asprintf("%s.match", place);
    cm_status st;

    if (!yyjson_is_obj(v))
        return cm_config__type(v, place, "", "an object such as {\"match\": \"crm.*\", \"args\": true}", err);
    cm_config__unknown(c, v, place, drop_keys, NULL);
    st = cm_config__string(c, v, place, "match", CM_TEXT_PLAIN, &d->match, err);
    if (st == CM_OK)
        st = cm_config__bool(v, place, "args", &d->args, err);
    if (st == CM_OK)
        st = cm_config__bool(v, place, "results", &d->results, err);
    if (st == CM_OK)
        st = read_when(c, v, place, &d->completed_only, err);
    if (st != CM_OK)
        return st;
    if (!d->match || !*d->match || (!strchr(d->match, '.') && !strchr(d->match, '*')))
        return cm_err_set(err, CM_E_CONFIG,
                          "%s: is %s; expected a pattern such as \"crm.*\" or \"crm.get_*\"", key,
                          d->match ? d->match : "missing");
    if (!d->args && !d->results)
        return cm_err_set(err, CM_E_CONFIG,
                          "%s: drops nothing; expected \"args\": true, \"results\": true, or both", place);
    d->mapped = cm_config__mapped_pattern(c, d->match);
    cm_config__names_connector(c, d->match, d->mapped, key);
    return CM_OK;
}

cm_status cm_config__read_log(cm_config *c, yyjson_val *obj, const char *at, struct cm_err *err)
{
    yyjson_val *list, *v;
    size_t i, max;

    if (!yyjson_is_obj(obj))
        return cm_config__type(obj, at, "",
                               "an object such as {\"drop\": [{\"match\": \"crm.*\", \"args\": true}]}", err);
    cm_config__unknown(c, obj, at, log_keys, NULL);
    list = cm_json_get(obj, "drop");
    if (!list)
        return CM_OK;
    if (!yyjson_is_arr(list))
        return cm_config__type(list, at, "drop", "an array of {match, args, results, when}", err);
    if (yyjson_arr_size(list) > CM_CONFIG__MAX_RULES)
        return cm_err_set(err, CM_E_CONFIG, "%s.drop: has %zu rows; at most %d are allowed", at,
                          yyjson_arr_size(list), CM_CONFIG__MAX_RULES);
    c->drops = cm_config__keep(c, cm_calloc(yyjson_arr_size(list) + 1, sizeof *c->drops));
    yyjson_arr_foreach(list, i, max, v)
    {
        cm_autofree char *place = cm_asprintf("%s.drop[%zu]", at, i);
        cm_status st = read_drop(c, v, place, &c->drops[i], err);
        if (st != CM_OK)
            return st;
        c->n_drops++;
    }
    return CM_OK;
}

bool cm_config_drops_any(const cm_config *c)
{
    return c && c->n_drops > 0;
}

unsigned cm_config_drops(const cm_config *c, const char *connector, const char *method, bool completed)
{
    struct cm_config__paths paths __attribute__((cleanup(cm_config__paths_done))) = {0};
    unsigned parts = 0;

    if (!cm_config_drops_any(c))
        return 0;
    cm_config__paths(c, connector, method, NULL, &paths);
    for (size_t i = 0; i < c->n_drops; i++) {
        const struct cm_config__drop *d = &c->drops[i];

        if ((d->completed_only && !completed) || !cm_config__paths_match(&paths, d->match, d->mapped))
            continue;
        parts |= (d->args ? CM_DROP_ARGS : 0u) | (d->results ? CM_DROP_RESULT : 0u);
    }
    return parts;
}

/* ---- transformResult */

static const char *const transform_keys[] = {"maxBytes", "snippet", "comment", NULL};

cm_status cm_config__read_transform(cm_config *c, yyjson_val *obj, const char *at, struct cm_err *err)
{
    struct cm_config_settings *s = &c->settings;
    cm_status st;

    if (!yyjson_is_obj(obj))
        return cm_config__type(obj, at, "", "{\"maxBytes\": N} or {\"snippet\": \"NAME\"}", err);
    cm_config__unknown(c, obj, at, transform_keys, NULL);
    st = cm_config__number(obj, at, "maxBytes", 16, CM_FRAME_MAX_BYTES, &s->transform_max_bytes, err);
    if (st == CM_OK)
        st = cm_config__string(c, obj, at, "snippet", CM_TEXT_PLAIN, &s->transform_snippet, err);
    if (st != CM_OK)
        return st;
    if (!s->transform_max_bytes && !s->transform_snippet)
        return cm_err_set(err, CM_E_CONFIG,
                          "%s: is empty; expected {\"maxBytes\": N} or {\"snippet\": \"NAME\"}", at);
    if (s->transform_snippet && !*s->transform_snippet)
        return cm_err_set(err, CM_E_CONFIG, "%s.snippet: is empty; expected the name of a snippet", at);
    return CM_OK;
}
