/** Policy: the rules and their matching. A rule that quietly matches nothing would be a hole, so names are
 * met in every spelling. */
#include "config/internal.h"

#include "base/names.h"

static const char *const rule_keys[] = {"match", "action", "comment", "reason", NULL};

static const struct {
    const char *word;
    enum cm_policy_action action;
} actions[] = {{"allow", CM_POLICY_ALLOW}, {"approve", CM_POLICY_APPROVE}, {"deny", CM_POLICY_DENY}};

/**
 * The pattern as names are mapped to identifiers: "my-server.get-item*" is "my_server.get_item*". NULL where
 * it is the same. The first dot parts connector and method; a later one is part of the upstream name.
 */
const char *cm_config__mapped_pattern(cm_config *c, const char *match)
{
    cm_autofree char *text = cm_strdup(match);
    bool in_method = false;

    for (char *p = text; *p; p++) {
        if (*p == '.' && !in_method)
            in_method = true;
        else if (strchr("-./: \t", *p))
            *p = '_';
    }
    return cm_z_eq(text, match) ? NULL : cm_config__keepf(c, "%s", text);
}

/** A connector that a rule names but the file does not have is nearly always a typing error. */
void cm_config__names_connector(cm_config *c, const char *match, const char *mapped, const char *place)
{
    const char *names[CM_CONFIG__MAX_ENTRIES + 1];
    const char *forms[] = {match, mapped};

    for (size_t f = 0; f < CM_ARRAY_LEN(forms); f++) {
        size_t len = forms[f] ? strcspn(forms[f], ".*") : 0;
        if (!forms[f])
            continue;
        if (forms[f][len] == '*' || (c->n_fetch && cm_str_eq(cm_str_mk(forms[f], len), CM_STR("fetch"))))
            return;
        for (size_t i = 0; i < c->n_entries; i++)
            if (cm_str_eq_z(cm_str_mk(forms[f], len), c->entries[i].name) ||
                cm_str_eq_z(cm_str_mk(forms[f], len), c->entries[i].configured_name))
                return;
    }
    for (size_t i = 0; i < c->n_entries; i++)
        names[i] = c->entries[i].configured_name;
    names[c->n_entries] = NULL;
    const char *near = cm_config__nearest(cm_str_mk(match, strcspn(match, ".")), names);
    cm_config__warn(c, "%s: '%s' names no configured connector%s%s%s", place, match,
                    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static cm_status read_rule(cm_config *c, yyjson_val *v, const char *place, struct cm_policy_rule *rule,
                           struct cm_err *err)
{
    const char *action = NULL;
    cm_status st;

    if (!yyjson_is_obj(v))
        return cm_config__type(v, place, "",
                               "an object such as {\"match\": \"*.delete_*\", \"action\": \"approve\"}", err);
    cm_config__unknown(c, v, place, rule_keys, NULL);
    st = cm_config__string(c, v, place, "match", CM_TEXT_PLAIN, &rule->match, err);
    if (st == CM_OK)
        st = cm_config__string(c, v, place, "action", CM_TEXT_PLAIN, &action, err);
    if (st != CM_OK)
        return st;
    if (!rule->match || !*rule->match)
        return cm_err_set(err, CM_E_CONFIG,
                          "%s.match: is missing; expected a pattern such as \"github.delete_*\"", place);
    if (!strchr(rule->match, '.') && !strchr(rule->match, '*'))
        return cm_err_set(err, CM_E_CONFIG,
                          "%s.match: '%s' can match no \"connector.method\"; did you mean '%s.*'?", place,
                          rule->match, rule->match);
    for (size_t i = 0; i < CM_ARRAY_LEN(actions); i++)
        if (action && cm_z_eq(action, actions[i].word)) {
            rule->action = actions[i].action;
            return CM_OK;
        }
    return cm_err_set(err, CM_E_CONFIG, "%s.action: is %s%s%s; expected \"allow\", \"approve\" or \"deny\"",
                      place, action ? "'" : "", action ? action : "missing", action ? "'" : "");
}

cm_status cm_config__read_policy(cm_config *c, yyjson_val *list, const char *at, struct cm_err *err)
{
    yyjson_val *v;
    size_t i, max;

    if (!yyjson_is_arr(list))
        return cm_config__type(list, at, "", "an array of {match, action}", err);
    if (yyjson_arr_size(list) > CM_CONFIG__MAX_RULES)
        return cm_err_set(err, CM_E_CONFIG, "%s: has %zu rules; at most %d are allowed", at,
                          yyjson_arr_size(list), CM_CONFIG__MAX_RULES);
    c->rules = cm_config__keep(c, cm_calloc(yyjson_arr_size(list) + 1, sizeof *c->rules));
    c->rules_mapped = cm_config__keep(c, cm_calloc(yyjson_arr_size(list) + 1, sizeof *c->rules_mapped));
    yyjson_arr_foreach(list, i, max, v)
    {
        cm_autofree char *place = cm_asprintf("%s[%zu]", at, i);
        cm_status st = read_rule(c, v, place, &c->rules[i], err);
        if (st != CM_OK)
            return st;
        c->rules_mapped[i] = cm_config__mapped_pattern(c, c->rules[i].match);
        cm_autofree char *key = cm_asprintf("%s.match", place);
        cm_config__names_connector(c, c->rules[i].match, c->rules_mapped[i], key);
        c->n_rules++;
    }
    return CM_OK;
}

/** `*` is any run of characters, all else itself. Linear but for the last star, so no pattern can take long.
 */
static bool matches(const char *pattern, const char *text)
{
    const char *star = NULL, *mark = NULL;

    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            mark = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++mark;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

/** The name without the underscore that mapping put on it (`delete_`, `_2fa`), or NULL where it put none. */
static char *bare_name(const char *method)
{
    size_t len = strlen(method);
    struct cm_str bare[] = {cm_str_mk(method, len ? len - 1 : 0), cm_str_mk(method + 1, len ? len - 1 : 0)};

    for (size_t i = 0; i < CM_ARRAY_LEN(bare) && len > 1; i++) {
        cm_autofree char *mapped = cm_name_to_method(bare[i]);
        if (cm_z_eq(mapped, method))
            return cm_memdup_z(bare[i].ptr, bare[i].len);
    }
    return NULL;
}

void cm_config__paths(const cm_config *c, const char *connector, const char *method, const char *origin,
                      struct cm_config__paths *out)
{
    cm_autofree char *bare = bare_name(method);
    const char *const methods[] = {method, bare, origin};
    const char *connectors[] = {connector, NULL};

    out->n = 0;
    for (size_t i = 0; i < c->n_entries; i++)
        if (cm_z_eq(c->entries[i].name, connector) && !cm_z_eq(c->entries[i].configured_name, connector))
            connectors[1] = c->entries[i].configured_name;
    for (size_t k = 0; k < CM_ARRAY_LEN(connectors); k++)
        for (size_t m = 0; m < CM_ARRAY_LEN(methods); m++)
            if (connectors[k] && methods[m])
                out->path[out->n++] = cm_asprintf("%s.%s", connectors[k], methods[m]);
}

void cm_config__paths_done(struct cm_config__paths *p)
{
    while (p->n > 0)
        free(p->path[--p->n]);
}

bool cm_config__paths_match(const struct cm_config__paths *p, const char *match, const char *mapped)
{
    for (size_t k = 0; k < p->n; k++)
        if (matches(match, p->path[k]) || (mapped && matches(mapped, p->path[k])))
            return true;
    return false;
}

const struct cm_policy_rule *cm_config_policy_match(const cm_config *c, const char *connector,
                                                    const char *method, const char *origin, size_t *index)
{
    struct cm_config__paths paths __attribute__((cleanup(cm_config__paths_done))) = {0};

    if (c->n_rules == 0)
        return NULL;
    cm_config__paths(c, connector, method, origin, &paths);
    for (size_t i = 0; i < c->n_rules; i++)
        if (cm_config__paths_match(&paths, c->rules[i].match, c->rules_mapped[i])) {
            if (index)
                *index = i;
            return &c->rules[i];
        }
    return NULL;
}
