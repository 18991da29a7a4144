/**
 * Reverts by configuration: a method's calls are undone by another call, whose arguments are a template.
 *
 *   "reverts": { "github.create_issue": { "call": "github.close_issue",
 *                                         "args": { "number": "$result.number", "repo": "$args.repo" } } }
 *
 * A string of the template that begins with `$` is a place in the arguments or the result of the call that is undone:
 *
 *   place = ( "$args" | "$result" ) { "." NAME | "[" DIGITS "]" | "[" JSON-string "]" } [ "?" ]
 *
 * and is replaced by what is there, whatever its type. With `?` behind it a place that is not there leaves its member out (null in
 * an array); without, the revert fails before anything is sent. "$$…" is the text "$…". Without "args" the call gets the arguments of
 * the one that it undoes.
 */
#include "config/internal.h"

#include <ctype.h>

static const char *const revert_keys[] = {"call", "args", "comment", NULL};

/* ---- places */

struct place {
    const char *rest; /* what is not read yet */
    bool result;      /* "$result", otherwise "$args" */
    yyjson_val *at;   /* NULL: not there */
};

static bool begins(const char **text, const char *word)
{
    size_t len = strlen(word);

    if (strncmp(*text, word, len) != 0)
        return false;
    *text += len;
    return true;
}

static yyjson_val *member(yyjson_val *v, struct cm_str key)
{
    return yyjson_is_obj(v) ? yyjson_obj_getn(v, key.ptr, key.len) : NULL;
}

/** "[0]" or "[\"a key\"]", behind the bracket. */
static bool step_bracket(struct place *p)
{
    const char *end;

    if (isdigit((unsigned char)*p->rest)) {
        size_t n = 0;

        while (isdigit((unsigned char)*p->rest) && n < 100000000)
            n = n * 10 + (size_t)(*p->rest++ - '0');
        p->at = yyjson_is_arr(p->at) ? yyjson_arr_get(p->at, n) : NULL;
        return begins(&p->rest, "]");
    }
    if (*p->rest != '"')
        return false;
    for (end = p->rest + 1; *end && *end != '"'; end++)
        end += *end == '\\' && end[1];
    if (*end != '"')
        return false;
    cm_auto(yyjson_doc) doc = NULL;
    if (cm_json_parse(cm_str_mk(p->rest, (size_t)(end + 1 - p->rest)), CM_JSON_STRICT, &doc, NULL) != CM_OK)
        return false;
    p->at = member(p->at, cm_json_str(yyjson_doc_get_root(doc)));
    p->rest = end + 1;
    return begins(&p->rest, "]");
}

static bool step_name(struct place *p)
{
    size_t len = strcspn(p->rest, ".[?");

    if (len == 0)
        return false;
    p->at = member(p->at, cm_str_mk(p->rest, len));
    p->rest += len;
    return true;
}

/** Follow `text`. False: it is no place. */
static bool follow(const char *text, yyjson_val *args, yyjson_val *result, struct place *p, bool *optional)
{
    *p = (struct place){.rest = text};
    p->result = begins(&p->rest, "$result");
    if (!p->result && !begins(&p->rest, "$args"))
        return false;
    p->at = p->result ? result : args;
    while (*p->rest == '.' || *p->rest == '[') {
        bool name = *p->rest++ == '.';

        if (!(name ? step_name(p) : step_bracket(p)))
            return false;
    }
    *optional = begins(&p->rest, "?");
    return *p->rest == '\0';
}

/* ---- reading */

static cm_status check_template(yyjson_val *v, const char *at, struct cm_err *err)
{
    struct place p;
    bool optional;
    size_t i, max;
    yyjson_val *key, *item;

    if (yyjson_is_str(v) && yyjson_get_str(v)[0] == '$' && yyjson_get_str(v)[1] != '$' &&
        (strlen(yyjson_get_str(v)) != yyjson_get_len(v) ||
         !follow(yyjson_get_str(v), NULL, NULL, &p, &optional)))
        return cm_err_set(
            err, CM_E_CONFIG,
            "%s: '%s' is no place in a call; expected \"$args.NAME\", \"$result.NAME[0]\", "
            "\"$result[\\\"a key\\\"]\", one of them with ? behind it where it may be missing, or "
            "\"$$…\" for a text that begins with $",
            at, yyjson_get_str(v));
    yyjson_arr_foreach(v, i, max, item)
    {
        cm_autofree char *place = cm_asprintf("%s[%zu]", at, i);
        cm_status st = check_template(item, place, err);
        if (st != CM_OK)
            return st;
    }
    yyjson_obj_foreach(v, i, max, key, item)
    {
        cm_autofree char *place = cm_asprintf("%s.%s", at, yyjson_get_str(key));
        cm_status st = check_template(item, place, err);
        if (st != CM_OK)
            return st;
    }
    return CM_OK;
}

static cm_status read_template(cm_config *c, yyjson_val *v, struct cm_config_revert *r, struct cm_err *err)
{
    cm_autobuf b = CM_BUF_INIT(CM_CONFIG_MAX_BYTES);
    yyjson_val *args = cm_json_get(v, "args");
    cm_autofree char *place = cm_asprintf("%s.args", r->at);
    bool whole = yyjson_is_str(args) && yyjson_get_str(args)[0] == '$' && yyjson_get_str(args)[1] != '$';
    cm_status st;

    r->args_json = "\"$args\"";
    if (!args)
        return CM_OK;
    if (!yyjson_is_obj(args) && !whole)
        return cm_config__type(args, place, "", "an object from argument to value", err);
    st = check_template(args, place, err);
    if (st != CM_OK)
        return st;
    cm_json_write(&b, args);
    st = cm_buf_check(&b, "the arguments", err);
    if (st != CM_OK)
        return cm_err_prefix(err, "%s", place);
    r->args_json = cm_config__keep(c, cm_buf_take(&b, NULL));
    return CM_OK;
}

/** "connector.method" without patterns; a dot in it parts them. */
static bool is_path(const char *text)
{
    const char *dot = text ? strchr(text, '.') : NULL;

    return dot && dot != text && dot[1] && !strchr(text, '*');
}

static cm_status read_revert(cm_config *c, yyjson_val *v, struct cm_config_revert *r, struct cm_err *err)
{
    const char *call = NULL;
    cm_autofree char *place = cm_asprintf("%s.call", r->at);
    cm_status st;

    if (!is_path(r->method))
        return cm_err_set(err, CM_E_CONFIG,
                          "%s: expected the method whose calls are undone as \"connector.method\", such as "
                          "\"github.create_issue\", without patterns",
                          r->at);
    if (!yyjson_is_obj(v))
        return cm_config__type(v, r->at, "",
                               "an object such as {\"call\": \"github.close_issue\", \"args\": {…}}", err);
    cm_config__unknown(c, v, r->at, revert_keys, NULL);
    st = cm_config__string(c, v, r->at, "call", CM_TEXT_PLAIN, &call, err);
    if (st != CM_OK)
        return st;
    if (!is_path(call))
        return cm_err_set(err, CM_E_CONFIG,
                          "%s: is %s; expected \"connector.method\", the call that undoes it", place,
                          call ? call : "missing");
    cm_config__names_connector(c, call, cm_config__mapped_pattern(c, call), place);
    r->connector = cm_config__keep(c, cm_memdup_z(call, strcspn(call, ".")));
    r->call = strchr(call, '.') + 1;
    return read_template(c, v, r, err);
}

cm_status cm_config__read_reverts(cm_config *c, yyjson_val *obj, const char *at, struct cm_err *err)
{
    yyjson_val *key, *v;
    size_t i, max;

    if (!yyjson_is_obj(obj))
        return cm_config__type(obj, at, "", "an object from \"connector.method\" to {call, args}", err);
    if (yyjson_obj_size(obj) > CM_CONFIG__MAX_RULES)
        return cm_err_set(err, CM_E_CONFIG, "%s: has %zu reverts; at most %d are allowed", at,
                          yyjson_obj_size(obj), CM_CONFIG__MAX_RULES);
    c->reverts = cm_config__keep(c, cm_calloc(yyjson_obj_size(obj) + 1, sizeof *c->reverts));
    c->reverts_mapped = cm_config__keep(c, cm_calloc(yyjson_obj_size(obj) + 1, sizeof *c->reverts_mapped));
    yyjson_obj_foreach(obj, i, max, key, v)
    {
        struct cm_config_revert *r = &c->reverts[i];
        r->method = cm_config__keep(c, cm_memdup_z(yyjson_get_str(key), yyjson_get_len(key)));
        r->at = cm_config__keepf(c, "%s.%s", at, r->method);
        cm_status st = read_revert(c, v, r, err);
        if (st != CM_OK)
            return st;
        c->reverts_mapped[i] = cm_config__mapped_pattern(c, r->method);
        cm_config__names_connector(c, r->method, c->reverts_mapped[i], r->at);
        c->n_reverts++;
    }
    return CM_OK;
}

size_t cm_config_reverts(const cm_config *c, const struct cm_config_revert **out)
{
    *out = c->reverts;
    return c->n_reverts;
}

const struct cm_config_revert *cm_config_revert_of(const cm_config *c, const char *connector,
                                                   const char *method, const char *origin)
{
    struct cm_config__paths paths __attribute__((cleanup(cm_config__paths_done))) = {0};

    if (c->n_reverts == 0)
        return NULL;
    cm_config__paths(c, connector, method, origin, &paths);
    for (size_t i = 0; i < c->n_reverts; i++)
        if (cm_config__paths_match(&paths, c->reverts[i].method, c->reverts_mapped[i]))
            return &c->reverts[i];
    return NULL;
}

/* ---- filling the template */

struct filling {
    yyjson_val *args, *result;
    bool no_result; /* nobody knows it */
    struct cm_buf *out;
    struct cm_err *err;
};

/** Append what stands for `v`. *missing: nothing does, and that is fine. */
static cm_status fill(const struct filling *f, yyjson_val *v, bool *missing);

static cm_status fill_string(const struct filling *f, yyjson_val *v, bool *missing)
{
    const char *text = yyjson_get_str(v);
    struct place p;

    if (text[0] != '$') {
        cm_json_write(f->out, v);
        return CM_OK;
    }
    if (text[1] == '$') {
        cm_json_write_string(f->out, cm_str_mk(text + 1, yyjson_get_len(v) - 1));
        return CM_OK;
    }
    if (!follow(text, f->args, f->result, &p, missing))
        return cm_err_set(f->err, CM_E_INVALID, "'%s' is no place in a call", text);
    if (p.at) {
        *missing = false;
        cm_json_write(f->out, p.at);
        return CM_OK;
    }
    if (*missing)
        return CM_OK;
    if (p.result && f->no_result)
        return cm_err_set(f->err, CM_E_NOT_FOUND,
                          "the result of the call is not known, and %s is needed to undo it", text);
    return cm_err_set(f->err, CM_E_NOT_FOUND, "there is no %s in the call", text);
}

static cm_status fill_list(const struct filling *f, yyjson_val *v)
{
    size_t i, max;
    yyjson_val *item;

    cm_buf_add_char(f->out, '[');
    yyjson_arr_foreach(v, i, max, item)
    {
        bool missing = false;
        if (i)
            cm_buf_add_char(f->out, ',');
        cm_status st = fill(f, item, &missing);
        if (st != CM_OK)
            return st;
        if (missing)
            cm_buf_add_z(f->out, "null");
    }
    cm_buf_add_char(f->out, ']');
    return CM_OK;
}

static cm_status fill_object(const struct filling *f, yyjson_val *v)
{
    size_t i, max;
    yyjson_val *key, *item;
    bool first = true;

    cm_buf_add_char(f->out, '{');
    yyjson_obj_foreach(v, i, max, key, item)
    {
        size_t before = f->out->len;
        bool missing = false;
        if (!first)
            cm_buf_add_char(f->out, ',');
        cm_json_write(f->out, key);
        cm_buf_add_char(f->out, ':');
        cm_status st = fill(f, item, &missing);
        if (st != CM_OK)
            return st;
        if (missing && !f->out->failed)
            f->out->len = before;
        else
            first = false;
    }
    cm_buf_add_char(f->out, '}');
    return CM_OK;
}

static cm_status fill(const struct filling *f, yyjson_val *v, bool *missing)
{
    *missing = false;
    if (yyjson_is_str(v))
        return fill_string(f, v, missing);
    if (yyjson_is_arr(v))
        return fill_list(f, v);
    if (yyjson_is_obj(v))
        return fill_object(f, v);
    cm_json_write(f->out, v);
    return CM_OK;
}

cm_status cm_config_revert_args(const struct cm_config_revert *r, struct cm_str args_json,
                                struct cm_str result_json, struct cm_buf *out, struct cm_err *err)
{
    cm_auto(yyjson_doc) template = NULL;
    cm_auto(yyjson_doc) args = NULL;
    cm_auto(yyjson_doc) result = NULL;
    struct filling f = {.no_result = result_json.len == 0, .out = out, .err = err};
    bool missing = false;
    cm_status st = cm_json_parse(cm_str_of(r->args_json), CM_JSON_BIGNUM, &template, err);

    if (st == CM_OK)
        st = cm_json_parse(args_json, CM_JSON_BIGNUM, &args, err);
    if (st == CM_OK && !f.no_result)
        st = cm_json_parse(result_json, CM_JSON_BIGNUM, &result, err);
    if (st != CM_OK)
        return st;
    f.args = yyjson_doc_get_root(args);
    f.result = yyjson_doc_get_root(result);
    st = fill(&f, yyjson_doc_get_root(template), &missing);
    if (st == CM_OK && missing)
        cm_buf_add_z(out, "{}");
    if (st == CM_OK)
        st = cm_buf_check(out, "the arguments", err);
    return st == CM_OK ? st : cm_err_prefix(err, "%s", r->at);
}
