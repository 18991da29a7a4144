/* How a value is written in a path, a query, a header or a cookie: OpenAPI 3.1.1, "Style Values" (RFC 6570
 * where it has them). */
#include "connector/openapi.h"

/* ---- text ---- */

void cm_oa_encode(struct cm_buf *out, struct cm_str s, bool allow_reserved)
{
    /* Of the reserved characters '#', '&' and '+' are encoded all the same: they would end or change the
     * value. */
    static const char reserved[] = ":/?[]@!$'()*,;=";

    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     (c && strchr("-._~", c));
        if (plain || (allow_reserved && c && strchr(reserved, c)))
            cm_buf_add_char(out, (char)c);
        else
            cm_buf_addf(out, "%%%02X", c);
    }
}

/* A value as text: a string as it is, everything else as JSON has it. Borrowed from v or scratch. */
struct cm_str cm_oa__text_of(yyjson_val *v, struct cm_buf *scratch)
{
    if (yyjson_is_str(v))
        return cm_json_str(v);
    cm_buf_clear(scratch);
    cm_json_write(scratch, v);
    return cm_buf_str(scratch);
}

static void add_value(struct cm_buf *out, yyjson_val *v, bool allow_reserved)
{
    cm_autobuf scratch = CM_BUF_INIT(CM_OA_URL_MAX_BYTES);

    cm_oa_encode(out, cm_oa__text_of(v, &scratch), allow_reserved);
}

/* ---- lists: arrays and objects of the styles that write them in one piece ---- */

struct list_form {
    const char *separator; /* between elements */
    const char *between;   /* between a member's name and its value */
};

static void add_list(struct cm_buf *out, yyjson_val *v, struct list_form f, bool allow_reserved)
{
    size_t i, max;
    yyjson_val *key, *val;
    bool any = false;

    if (yyjson_is_arr(v)) {
        yyjson_arr_foreach(v, i, max, val)
        {
            if (yyjson_is_null(val))
                continue;
            cm_buf_add_z(out, any ? f.separator : "");
            add_value(out, val, allow_reserved);
            any = true;
        }
        return;
    }
    yyjson_obj_foreach(v, i, max, key, val)
    {
        if (yyjson_is_null(val))
            continue;
        cm_buf_add_z(out, any ? f.separator : "");
        cm_oa_encode(out, cm_json_str(key), false);
        cm_buf_add_z(out, f.between);
        add_value(out, val, allow_reserved);
        any = true;
    }
}

/* ---- query ---- */

void cm_oa__add_pair(struct cm_buf *out, struct cm_str name, yyjson_val *v, bool allow_reserved)
{
    cm_oa_encode(out, name, false);
    cm_buf_add_char(out, '=');
    add_value(out, v, allow_reserved);
    cm_buf_add_char(out, '&');
}

/* name[a][b]=v; an element of a list repeats its name. */
static void add_deep(struct cm_buf *out, struct cm_str name, yyjson_val *v, bool allow_reserved)
{
    size_t i, max;
    yyjson_val *key, *val;

    if (yyjson_is_obj(v)) {
        yyjson_obj_foreach(v, i, max, key, val)
        {
            cm_autobuf longer = CM_BUF_INIT(CM_OA_URL_MAX_BYTES);
            cm_buf_add_str(&longer, name);
            cm_buf_addf(&longer, "[%.*s]", CM_STR_ARG(cm_json_str(key)));
            add_deep(out, cm_buf_str(&longer), val, allow_reserved);
        }
    } else if (yyjson_is_arr(v)) {
        yyjson_arr_foreach(v, i, max, val)
        {
            add_deep(out, name, val, allow_reserved);
        }
    } else if (!yyjson_is_null(v)) {
        cm_oa__add_pair(out, name, v, allow_reserved);
    }
}

static void add_exploded(struct cm_buf *out, const struct cm_oa_param *p, yyjson_val *v)
{
    size_t i, max;
    yyjson_val *key, *val;

    if (yyjson_is_arr(v)) {
        yyjson_arr_foreach(v, i, max, val)
        {
            if (!yyjson_is_null(val))
                cm_oa__add_pair(out, cm_str_of(p->name), val, p->allow_reserved);
        }
        return;
    }
    yyjson_obj_foreach(v, i, max, key, val)
    {
        if (!yyjson_is_null(val))
            cm_oa__add_pair(out, cm_json_str(key), val, p->allow_reserved);
    }
}

static const char *query_separator(enum cm_oa_style style)
{
    return style == CM_OA_SPACE ? "%20" : style == CM_OA_PIPE ? "%7C" : ",";
}

void cm_oa__add_query(struct cm_buf *out, const struct cm_oa_param *p, yyjson_val *v)
{
    bool list = yyjson_is_ctn(v);

    if (p->as_json || !list) {
        cm_autobuf json = CM_BUF_INIT(CM_OA_URL_MAX_BYTES);
        if (p->as_json)
            cm_json_write(&json, v);
        cm_oa_encode(out, cm_str_of(p->name), false);
        cm_buf_add_char(out, '=');
        if (p->as_json)
            cm_oa_encode(out, cm_buf_str(&json), false);
        else
            add_value(out, v, p->allow_reserved);
        cm_buf_add_char(out, '&');
    } else if (p->style == CM_OA_DEEP) {
        add_deep(out, cm_str_of(p->name), v, p->allow_reserved);
    } else if (p->explode) {
        add_exploded(out, p, v);
    } else if (unsafe_yyjson_get_len(v) > 0) {
        const char *separator = query_separator(p->style);
        cm_oa_encode(out, cm_str_of(p->name), false);
        cm_buf_add_char(out, '=');
        add_list(out, v, (struct list_form){separator, separator}, p->allow_reserved);
        cm_buf_add_char(out, '&');
    }
}

/* ---- path ---- */

bool cm_oa__has_dot_segment(struct cm_str s)
{
    for (size_t from = 0, i = 0; i <= s.len; i++) {
        if (i < s.len && s.ptr[i] != '/' && s.ptr[i] != '\\')
            continue;
        size_t len = i - from;
        if ((len == 1 && s.ptr[from] == '.') || (len == 2 && s.ptr[from] == '.' && s.ptr[from + 1] == '.'))
            return true;
        from = i + 1;
    }
    return false;
}

static cm_status check_piece(const struct cm_oa_param *p, yyjson_val *v, struct cm_err *err)
{
    cm_autobuf scratch = CM_BUF_INIT(CM_OA_URL_MAX_BYTES);
    struct cm_str s = cm_oa__text_of(v, &scratch);

    if (s.len == 0)
        return cm_err_set(err, CM_E_INVALID,
                          "argument '%s' is empty; it is a part of the path and needs a value", p->arg);
    if (cm_oa__has_dot_segment(s) || memchr(s.ptr, '\0', s.len))
        return cm_err_set(
            err, CM_E_INVALID,
            "argument '%s' must not hold '.' or '..' as a part of a path: it would reach another one",
            p->arg);
    return CM_OK;
}

cm_status cm_oa__check_path_value(const struct cm_oa_param *p, yyjson_val *v, struct cm_err *err)
{
    size_t i, max;
    yyjson_val *key, *val;
    cm_status st = CM_OK;

    if (!yyjson_is_ctn(v) || p->as_json)
        return check_piece(p, v, err);
    if (unsafe_yyjson_get_len(v) == 0)
        return cm_err_set(err, CM_E_INVALID,
                          "argument '%s' is empty; it is a part of the path and needs a value", p->arg);
    if (yyjson_is_arr(v)) {
        yyjson_arr_foreach(v, i, max, val)
        {
            if (st == CM_OK)
                st = check_piece(p, val, err);
        }
        return st;
    }
    yyjson_obj_foreach(v, i, max, key, val)
    {
        if (st == CM_OK)
            st = check_piece(p, key, err);
        if (st == CM_OK)
            st = check_piece(p, val, err);
    }
    return st;
}

static void add_matrix(struct cm_buf *out, const struct cm_oa_param *p, yyjson_val *v)
{
    size_t i, max;
    yyjson_val *val;

    cm_buf_add_char(out, ';');
    if (p->explode && yyjson_is_obj(v)) {
        add_list(out, v, (struct list_form){";", "="}, false);
        return;
    }
    if (p->explode && yyjson_is_arr(v)) {
        bool any = false;
        yyjson_arr_foreach(v, i, max, val)
        {
            cm_buf_add_z(out, any ? ";" : "");
            cm_oa_encode(out, cm_str_of(p->name), false);
            cm_buf_add_char(out, '=');
            add_value(out, val, false);
            any = true;
        }
        return;
    }
    cm_oa_encode(out, cm_str_of(p->name), false);
    cm_buf_add_char(out, '=');
    if (yyjson_is_ctn(v))
        add_list(out, v, (struct list_form){",", ","}, false);
    else
        add_value(out, v, false);
}

void cm_oa__add_path_value(struct cm_buf *out, const struct cm_oa_param *p, yyjson_val *v)
{
    bool label = p->style == CM_OA_LABEL;
    const char *separator = label && p->explode ? "." : ",";

    if (p->as_json) {
        cm_autobuf json = CM_BUF_INIT(CM_OA_URL_MAX_BYTES);
        cm_json_write(&json, v);
        cm_oa_encode(out, cm_buf_str(&json), false);
        return;
    }
    if (p->style == CM_OA_MATRIX) {
        add_matrix(out, p, v);
        return;
    }
    if (label)
        cm_buf_add_char(out, '.');
    if (yyjson_is_ctn(v))
        add_list(out, v, (struct list_form){separator, p->explode ? "=" : ","}, false);
    else
        add_value(out, v, false);
}

void cm_oa__add_cookie(struct cm_buf *out, const struct cm_oa_param *p, yyjson_val *v)
{
    cm_oa_encode(out, cm_str_of(p->name), false);
    cm_buf_add_char(out, '=');
    if (yyjson_is_ctn(v) && !p->as_json)
        add_list(out, v, (struct list_form){"%2C", "%2C"}, false);
    else
        add_value(out, v, false);
    cm_buf_add_z(out, "; ");
}
