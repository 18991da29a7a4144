#include "base/limits.h"
#include "connector/mcp.h"

void cm_mcp_outcome_done(struct cm_mcp_outcome *o)
{
    free(o->message);
    cm_buf_done(&o->fields);
    cm_value_done(&o->value);
    *o = (struct cm_mcp_outcome){0};
}

static bool is_kind(yyjson_val *block, const char *kind)
{
    return cm_str_eq_z(cm_json_str(cm_json_get(block, "type")), kind);
}

static bool is_text_block(yyjson_val *block)
{
    return is_kind(block, "text") && yyjson_is_str(cm_json_get(block, "text"));
}

/* The texts of all text blocks joined by newlines; how many there were, and how many blocks were something
 * else. */
static void join_text(yyjson_val *content, struct cm_buf *out, size_t *n_text, size_t *n_other)
{
    yyjson_arr_iter iter;
    yyjson_val *block;

    *n_text = *n_other = 0;
    (void)yyjson_arr_iter_init(content, &iter);
    while ((block = yyjson_arr_iter_next(&iter))) {
        if (!is_text_block(block)) {
            ++*n_other;
            continue;
        }
        if (++*n_text > 1)
            cm_buf_add_char(out, '\n');
        cm_buf_add_str(out, cm_json_str(cm_json_get(block, "text")));
    }
}

static cm_status value_of_node(yyjson_val *node, struct cm_own_value *out, struct cm_err *err)
{
    cm_autobuf text = CM_BUF_INIT(CM_RPC_MAX_BYTES);

    cm_json_write(&text, node);
    cm_status st = cm_buf_check(&text, "the result", err);
    return st == CM_OK ? cm_value_from_json(cm_buf_str(&text), CM_FRAME_MAX_BYTES, out, err) : st;
}

static struct cm_str trimmed(struct cm_str s)
{
    while (s.len > 0 && strchr(" \t\r\n", s.ptr[0]))
        s = cm_str_mk(s.ptr + 1, s.len - 1);
    while (s.len > 0 && strchr(" \t\r\n", s.ptr[s.len - 1]))
        s.len--;
    return s;
}

/*
 * A bare scalar is data only where nothing is lost: JSON must write it back as it was. A version "1.10", a
 * postal code "007" or an id "1e5" that a tool gives as text would otherwise arrive as another number.
 */
static bool is_faithful(struct cm_str text, const struct cm_own_value *v)
{
    struct cm_str json = {v->json, v->json_len};
    struct cm_str quoted = {v->json + 1, v->json_len >= 2 ? v->json_len - 2 : 0};

    return cm_str_eq(text, json) || (v->json[0] == '"' && cm_str_eq(text, quoted) && text.ptr[0] != '"');
}

static cm_status value_of_text(struct cm_str text, struct cm_own_value *out)
{
    struct cm_str json = trimmed(text);
    cm_autovalue v = {0};

    /* First characters of JSON: everything else, prose above all, is not parsed to find out. */
    if (json.len > 0 && strchr("{[\"-0123456789tfn", json.ptr[0]) &&
        cm_value_from_json(json, CM_FRAME_MAX_BYTES, &v, NULL) == CM_OK &&
        (json.ptr[0] == '{' || json.ptr[0] == '[' || is_faithful(json, &v))) {
        *out = v;
        v = (struct cm_own_value){0};
        return CM_OK;
    }
    *out = cm_value_from_text(text);
    return CM_OK;
}

/* ---- content with bytes in it ---- */

static int sextet(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;

    return at ? (int)(at - digits) : -1;
}

/* Canonical base64 (RFC 4648, section 4, padded, no stray bits): only that may carry the mark of bytes. */
static bool is_base64(struct cm_str s)
{
    size_t pad = 0;

    if (s.len % 4 != 0 || !s.ptr)
        return false;
    while (pad < 2 && pad < s.len && s.ptr[s.len - 1 - pad] == '=')
        pad++;
    for (size_t i = 0; i + pad < s.len; i++)
        if (sextet(s.ptr[i]) < 0)
            return false;
    if (pad == 0)
        return true;
    int last = sextet(s.ptr[s.len - 1 - pad]);
    return pad == 1 ? (last & 0x3) == 0 : (last & 0xf) == 0;
}

/* The member of a block that is base64, as a pointer below the block; NULL where there is none. */
static const char *bytes_of(yyjson_val *block, yyjson_val **node)
{
    yyjson_val *resource = cm_json_get(block, "resource");

    if (is_kind(block, "image") || is_kind(block, "audio")) {
        *node = cm_json_get(block, "data");
        return "data";
    }
    if (is_kind(block, "resource") && yyjson_is_str(cm_json_get(resource, "blob"))) {
        *node = cm_json_get(resource, "blob");
        return "resource/blob";
    }
    return NULL;
}

/* Append a mark for each block that holds bytes. */
static void add_marks(yyjson_val *content, struct cm_buf *marks)
{
    yyjson_arr_iter iter;
    yyjson_val *block, *node = NULL;

    (void)yyjson_arr_iter_init(content, &iter);
    for (size_t i = 0; (block = yyjson_arr_iter_next(&iter)); i++) {
        const char *where = bytes_of(block, &node);
        if (!where || !is_base64(cm_json_str(node)))
            continue;
        cm_buf_addf(marks, "%s\"/%zu/%s\":\"bytes\"", marks->len > 1 ? "," : "", i, where);
    }
}

static cm_status value_of_content(yyjson_val *content, struct cm_own_value *out, struct cm_err *err)
{
    cm_autobuf marks = CM_BUF_INIT(CM_RPC_MAX_BYTES);
    cm_autovalue plain = {0};
    cm_status st = value_of_node(content, &plain, err);

    if (st != CM_OK)
        return st;
    /* The marks of integers beyond 2^53, if any, then ours; cm_value_checked sorts them and checks each. */
    cm_buf_add_char(&marks, '{');
    if (plain.marks_len > 2)
        cm_buf_add(&marks, plain.marks + 1, plain.marks_len - 2);
    add_marks(content, &marks);
    cm_buf_add_char(&marks, '}');
    st = cm_buf_check(&marks, "the result", err);
    if (st != CM_OK)
        return st;
    return cm_value_checked((struct cm_value){{plain.json, plain.json_len}, cm_buf_str(&marks)},
                            CM_FRAME_MAX_BYTES, out, err);
}

/* ---- isError ---- */

static void add_field(struct cm_buf *b, const char *key, yyjson_val *value)
{
    cm_buf_add_z(b, b->len > 1 ? ",\"" : "\"");
    cm_buf_add_z(b, key);
    cm_buf_add_z(b, "\":");
    cm_json_write(b, value);
}

/** What the tool said as data: its structured content, or the JSON that its text is; NULL for none. Borrowed from result or *doc. */
static yyjson_val *error_data(yyjson_val *structured, struct cm_str text, yyjson_doc **doc)
{
    struct cm_str json = trimmed(text);

    if (structured && !yyjson_is_null(structured))
        return structured;
    if (!json.len || !strchr("{[", json.ptr[0]) || cm_json_parse(json, CM_JSON_BIGNUM, doc, NULL) != CM_OK)
        return NULL;
    return yyjson_doc_get_root(*doc);
}

static void unwrap_error(yyjson_val *result, struct cm_str text, size_t n_other, struct cm_mcp_outcome *out)
{
    yyjson_val *structured = cm_json_get(result, "structuredContent");
    const char *own = cm_json_get_z(structured, "message");
    cm_auto(yyjson_doc) doc = NULL;
    yyjson_val *data = error_data(structured, text, &doc);

    if (!own)
        own = cm_json_get_z(structured, "error");
    out->failed = true;
    out->fields = CM_BUF_INIT(CM_RPC_MAX_BYTES);
    out->message = text.len > 0 ? cm_memdup_z(text.ptr, text.len)
                                : cm_strdup(own ? own : "the tool failed and did not say why");
    cm_buf_add_char(&out->fields, '{');
    if (data)
        add_field(&out->fields, "data", data);
    if (n_other > 0)
        add_field(&out->fields, "content", cm_json_get(result, "content"));
    cm_buf_add_char(&out->fields, '}');
    if (out->fields.failed || out->fields.len == 2)
        cm_buf_done(&out->fields);
}

cm_status cm_mcp_unwrap(yyjson_val *result, struct cm_mcp_outcome *out, struct cm_err *err)
{
    cm_autobuf text = CM_BUF_INIT(CM_RPC_MAX_BYTES);
    yyjson_val *legacy = cm_json_get(result, "toolResult");
    yyjson_val *structured = cm_json_get(result, "structuredContent");
    yyjson_val *content = cm_json_get(result, "content");
    size_t n_text = 0, n_other = 0;

    if (legacy)
        return value_of_node(legacy, &out->value, err);
    join_text(content, &text, &n_text, &n_other);
    cm_status st = cm_buf_check(&text, "the text of the result", err);
    if (st != CM_OK)
        return st;
    if (yyjson_is_true(cm_json_get(result, "isError"))) {
        unwrap_error(result, cm_buf_str(&text), n_other, out);
        return CM_OK;
    }
    if (structured && !yyjson_is_null(structured))
        return value_of_node(structured, &out->value, err);
    if (n_text == 1 && n_other == 0)
        return value_of_text(cm_buf_str(&text), &out->value);
    if (n_text > 1 && n_other == 0) {
        out->value = cm_value_from_text(cm_buf_str(&text));
        return CM_OK;
    }
    if (yyjson_is_arr(content))
        return value_of_content(content, &out->value, err);
    return value_of_node(result, &out->value, err);
}
