/**
 * `modules`: texts that programs may import, a path or {"code": "…"} by name. Read once, at the start: a fault ends the start, since a
 * program that misses a module it was written for fails in the middle.
 */
#include "config/internal.h"

#include "base/fd.h"
#include "base/utf8.h"

#define MAX_MODULES 256
#define NAME_BYTES  100

/** Where a place in a module is written "module:NAME:line:column", so no colon and nothing that ends a line. */
static cm_status check_name(const cm_config *c, struct cm_str name, const char *at, struct cm_err *err)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-/@";

    for (size_t i = 0; i < name.len; i++)
        if (!name.ptr[i] || !strchr(allowed, name.ptr[i]))
            return cm_err_set(
                err, CM_E_CONFIG,
                "%s: a module's name has the characters A-Z a-z 0-9 _ . - / @ only, such as \"helpers.js\"",
                at);
    if (name.len == 0 || name.len > NAME_BYTES || memcmp(name.ptr, "./", name.len < 2 ? name.len : 2) == 0)
        return cm_err_set(err, CM_E_CONFIG,
                          "%s: a module's name has 1 to %d characters and does not begin with ./", at,
                          NAME_BYTES);
    if (cm_str_eq_z(name, "codemode"))
        return cm_err_set(err, CM_E_CONFIG, "%s: the name codemode is taken: importing it gives the global",
                          at);
    for (size_t i = 0; i < c->n_entries; i++)
        if (cm_str_eq_z(name, c->entries[i].name) || cm_str_eq_z(name, c->entries[i].configured_name))
            return cm_err_set(err, CM_E_CONFIG, "%s: %s has this name, and is what an import of it gives", at,
                              c->entries[i].origin);
    return CM_OK;
}

/** A module's text: owned by the configuration. */
static cm_status read_text(cm_config *c, yyjson_val *v, const char *at, struct cm_str *out,
                           struct cm_err *err)
{
    static const char *const keys[] = {"code", "path", NULL};
    const char *path = NULL;
    char *text = NULL;
    cm_status st = CM_OK;

    if (yyjson_is_obj(v)) {
        cm_config__unknown(c, v, at, keys, NULL);
        if (yyjson_is_str(cm_json_get(v, "code"))) {
            *out = cm_json_str(cm_json_get(v, "code"));
            out->ptr = cm_config__keep(c, cm_memdup_z(out->ptr, out->len));
            return CM_OK;
        }
        st = cm_config__string(c, v, at, "path", CM_TEXT_PLAIN, &path, err);
    } else if (yyjson_is_str(v)) {
        st = cm_config__expand(c, cm_json_str(v), CM_TEXT_PLAIN, &path, err);
        if (st != CM_OK)
            return cm_err_prefix(err, "%s", at);
    }
    if (st != CM_OK)
        return st;
    if (!path)
        return cm_err_set(err, CM_E_CONFIG,
                          "%s: is %s; expected the path of a JavaScript file, or {\"code\": \"…\"}", at,
                          cm_json_kind(v));
    st = cm_read_file(cm_config__path(c, path), CM_MODULES_MAX_BYTES, &text, &out->len, err);
    if (st != CM_OK) {
        (void)cm_err_prefix(err, "%s", at);
        if (err)
            err->status = CM_E_CONFIG;
        return CM_E_CONFIG;
    }
    out->ptr = cm_config__keep(c, text);
    return CM_OK;
}

static cm_status add(cm_config *c, struct cm_buf *json, yyjson_val *key, yyjson_val *v, const char *at,
                     struct cm_err *err)
{
    struct cm_str text = {0}, name = cm_json_str(key);
    cm_autofree char *place =
        cm_asprintf("%s.%.*s", at, (int)(name.len < NAME_BYTES ? name.len : NAME_BYTES), name.ptr);
    cm_status st = check_name(c, name, place, err);

    if (st == CM_OK)
        st = read_text(c, v, place, &text, err);
    if (st != CM_OK)
        return st;
    if (cm_utf8_valid_prefix(text) < text.len)
        return cm_err_set(err, CM_E_CONFIG, "%s: is no UTF-8 (byte %zu)", place, cm_utf8_valid_prefix(text));
    if (json->len > 0)
        cm_buf_add_char(json, ',');
    cm_json_write_string(json, name);
    cm_buf_add_char(json, ':');
    cm_json_write_string(json, text);
    c->n_modules++;
    if (c->modules_names.len > 0)
        cm_buf_add_z(&c->modules_names, ", ");
    cm_buf_add_str(&c->modules_names, name);
    return CM_OK;
}

cm_status cm_config__read_modules(cm_config *c, yyjson_val *obj, const char *at, struct cm_err *err)
{
    yyjson_val *key, *v;
    size_t i, max;
    cm_status st = CM_OK;

    if (!yyjson_is_obj(obj))
        return cm_config__type(obj, at, "", "an object from name to path, or to {\"code\": \"…\"}", err);
    if (yyjson_obj_size(obj) > MAX_MODULES)
        return cm_err_set(err, CM_E_CONFIG, "%s: has %zu modules; at most %d are allowed", at,
                          yyjson_obj_size(obj), MAX_MODULES);
    yyjson_obj_foreach(obj, i, max, key, v)
    {
        st = add(c, &c->modules, key, v, at, err);
        if (st != CM_OK)
            return st;
        if (c->modules.failed)
            return cm_err_set(err, CM_E_CONFIG, "%s: the modules have more than %u bytes in all", at,
                              CM_MODULES_MAX_BYTES);
    }
    return st;
}

void cm_config_add_modules(const cm_config *c, struct cm_buf *bind)
{
    if (!c || c->n_modules == 0 || bind->len == 0)
        return;
    bind->len--; /* the object goes on */
    cm_buf_add_z(bind, ",\"modules\":{");
    cm_buf_add_str(bind, cm_buf_str(&c->modules));
    cm_buf_add_z(bind, "}}");
}

struct cm_str cm_config_modules(const cm_config *c)
{
    return c ? cm_buf_str(&c->modules_names) : CM_STR("");
}
