/*
 * What a worker says is hostile: an error is taken apart and put together again from the members that an
 * outcome has, each of the right type, bounded, and without the words that only the host may say.
 */
#include "base/utf8.h"
#include "runtime/internal.h"

#include <stdio.h>

#define NAME_BYTES   128
#define CODE_BYTES   128
#define SOURCE_BYTES 1024
/* Fewer than an execution may have: the host's own must not be crowded out. */
#define GUEST_WARNINGS_MAX (RT_WARNINGS_MAX / 2)
#define LINE_MAX_          10000000.0

static bool is_host_code(struct cm_str code)
{
    static const char *const codes[] = {
#define CODE_(c) c,
        RT_END_CODE_MAP(CODE_)
#undef CODE_
    };

    for (size_t i = 0; i < CM_ARRAY_LEN(codes); i++)
        if (cm_str_eq_z(code, codes[i]))
            return true;
    return false;
}

static void add_text(struct cm_buf *out, const char *key, struct cm_str text, size_t max)
{
    struct cm_str cut = {text.ptr, cm_utf8_cut(text, max)};

    cm_buf_addf(out, ",\"%s\":", key);
    if (cut.len == text.len) {
        cm_json_write_string(out, text);
    } else {
        cm_autofree char *shown = cm_asprintf("%.*s… (%zu bytes in all)", (int)cut.len, cut.ptr, text.len);

        cm_json_write_string(out, cm_str_of(shown));
    }
}

static void add_position(struct cm_buf *out, yyjson_val *error, const char *key)
{
    yyjson_val *v = cm_json_get(error, key);
    double n = yyjson_is_num(v) ? yyjson_get_num(v) : 0;

    if (n >= 1 && n <= LINE_MAX_)
        cm_buf_addf(out, ",\"%s\":%u", key, (unsigned)n);
}

static void add_place(struct cm_buf *out, yyjson_val *error)
{
    add_position(out, error, "line");
    add_position(out, error, "column");
    if (cm_json_str(cm_json_get(error, "module")).len)
        add_text(out, "module", cm_json_str(cm_json_get(error, "module")), NAME_BYTES);
    if (cm_json_str(cm_json_get(error, "source")).len)
        add_text(out, "source", cm_json_str(cm_json_get(error, "source")), SOURCE_BYTES);
    if (yyjson_is_uint(cm_json_get(error, "caret")) &&
        yyjson_get_uint(cm_json_get(error, "caret")) <= SOURCE_BYTES)
        cm_buf_addf(out, ",\"caret\":%u", (unsigned)yyjson_get_uint(cm_json_get(error, "caret")));
    if (cm_json_str(cm_json_get(error, "stack")).len)
        add_text(out, "stack", cm_json_str(cm_json_get(error, "stack")), RT_ERROR_TEXT);
}

void rt_guest_error(struct cm_str meta_json, struct cm_buf *out)
{
    cm_auto(yyjson_doc) doc = NULL;
    yyjson_val *error = NULL;
    struct cm_str name, message, code;

    if (meta_json.len && cm_json_parse(meta_json, CM_JSON_STRICT, &doc, NULL) == CM_OK)
        error = cm_json_get(yyjson_doc_get_root(doc), "error");
    name = cm_json_str(cm_json_get(error, "name"));
    message = cm_json_str(cm_json_get(error, "message"));
    code = cm_json_str(cm_json_get(error, "code"));
    if (!name.len)
        name = CM_STR("Error");
    if (!message.ptr)
        message = CM_STR("The program failed without saying why.");

    size_t start = out->len + 1; /* over the first comma */

    add_text(out, "name", name, NAME_BYTES);
    add_text(out, "message", message, RT_ERROR_TEXT);
    if (code.len && !is_host_code(code))
        add_text(out, "code", code, CODE_BYTES);
    add_place(out, error);
    if (out->len >= start)
        out->ptr[start - 1] = '{';
    cm_buf_add_char(out, '}');
}

static bool is_told(struct cm_str key)
{
    static const char *const told[] = {"name",   "message", "code",  "line", "column",
                                       "module", "source",  "caret", "stack"};

    for (size_t i = 0; i < CM_ARRAY_LEN(told); i++)
        if (cm_str_eq_z(key, told[i]))
            return true;
    return false;
}

void rt_guest_fields(struct cm_value fields, struct cm_buf *out)
{
    cm_auto(yyjson_doc) doc = NULL;
    cm_autovalue checked = {0};
    cm_autobuf json = CM_BUF_INIT(2 * RT_ERROR_FIELDS);
    yyjson_val *root, *key, *val;
    bool appended = false;
    size_t i, max;

    if (fields.json.len == 0 || cm_value_checked(fields, RT_ERROR_FIELDS, &checked, NULL) != CM_OK ||
        cm_value_to_reader_json(cm_value_view(&checked), &json, &appended, NULL) != CM_OK || !appended ||
        cm_json_parse(cm_buf_str(&json), CM_JSON_STRICT, &doc, NULL) != CM_OK)
        return;
    root = yyjson_doc_get_root(doc);
    /* A failed call's value is marked; a key of the program's would have two of these signs. */
    if (cm_json_get(root, "$error"))
        root = cm_json_get(root, "$error");
    if (!yyjson_is_obj(root))
        return;
    out->len--; /* the closing brace */
    yyjson_obj_foreach(root, i, max, key, val)
    {
        /* The place is the host's to tell, and so is what a code means. */
        if (is_told(cm_json_str(key)))
            continue;
        cm_buf_add_char(out, ',');
        cm_json_write_string(out, cm_json_str(key));
        cm_buf_add_char(out, ':');
        cm_json_write(out, val);
    }
    cm_buf_add_char(out, '}');
}

void rt_guest_place(struct cm_str meta_json, struct cm_buf *out)
{
    cm_auto(yyjson_doc) doc = NULL;

    if (out->len == 0 || cm_json_parse(meta_json, CM_JSON_STRICT, &doc, NULL) != CM_OK)
        return;
    out->len--; /* the closing brace */
    add_place(out, cm_json_get(yyjson_doc_get_root(doc), "error"));
    cm_buf_add_char(out, '}');
}

void rt_guest_warnings(cm_exec *e, struct cm_str meta_json)
{
    cm_auto(yyjson_doc) doc = NULL;
    yyjson_val *list, *v;
    yyjson_arr_iter it;
    size_t n = 0;

    if (!meta_json.len || cm_json_parse(meta_json, CM_JSON_STRICT, &doc, NULL) != CM_OK)
        return;
    list = cm_json_get(yyjson_doc_get_root(doc), "warnings");
    if (!yyjson_is_arr(list))
        return;
    yyjson_arr_iter_init(list, &it);
    while (n < GUEST_WARNINGS_MAX && (v = yyjson_arr_iter_next(&it))) {
        struct cm_str text = cm_json_str(v);

        n++;

        if (text.len)
            rt_exec_warn(e, "%.*s", (int)cm_utf8_cut(text, RT_WARNING_BYTES - 1), text.ptr);
    }
}

void rt_host_error(const cm_runtime *rt, const char *code, const char *message, struct cm_buf *out)
{
    cm_autofree char *clean = cm_secrets_redact(rt->o.secrets, cm_str_of(message), NULL);

    cm_buf_add_z(out, "{\"name\":\"Error\",\"message\":");
    cm_json_write_string(out, cm_str_of(clean ? clean : message));
    cm_buf_add_z(out, ",\"code\":");
    cm_json_write_string(out, cm_str_of(code));
    cm_buf_add_char(out, '}');
}
