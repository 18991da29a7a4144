/* {"schema", "value"}: whatever the schema says, its declarations are bounded, no text of it ends a comment
 * or leaves its line, and checking the value against it comes to an end. */
#include "fuzz.h"
#include "schema/schema.h"

#include "base/utf8.h"

#define TYPES_MAX_BYTES (8U << 20)

/* Each comment that is opened is closed by us: a second end of comment would have come from the schema.
 * Strings are skipped. */
static void comments_are_ours(struct cm_str text)
{
    bool in_comment = false;

    for (size_t i = 0; i < text.len; i++) {
        if (!in_comment && text.ptr[i] == '"') {
            for (i++; i < text.len && text.ptr[i] != '"'; i++) {
                CM_MUST(text.ptr[i] != '\n');
                i += text.ptr[i] == '\\';
            }
        } else if (!in_comment && i + 1 < text.len && memcmp(text.ptr + i, "/*", 2) == 0) {
            in_comment = true;
            i++;
        } else if (i + 1 < text.len && memcmp(text.ptr + i, "*/", 2) == 0) {
            CM_MUST(in_comment);
            in_comment = false;
            i++;
        }
    }
    CM_MUST(!in_comment);
}

static void rendering_is_bounded(yyjson_val *schema)
{
    cm_autobuf named = CM_BUF_INIT(TYPES_MAX_BYTES), inlined = CM_BUF_INIT(TYPES_MAX_BYTES),
               line = CM_BUF_INIT(TYPES_MAX_BYTES);
    struct cm_schema_method m = {.name = "m",
                                 .description = "",
                                 .in_root = schema,
                                 .in_node = schema,
                                 .out_root = schema,
                                 .out_node = schema};
    struct cm_err err = {0};

    if (cm_schema_render_named(&named, "T", schema, &err) == CM_OK) {
        comments_are_ours(cm_buf_str(&named));
        CM_MUST(cm_utf8_valid_prefix(cm_buf_str(&named)) == named.len);
    }
    cm_schema_render_type(&inlined, schema, schema, 0, NULL);
    CM_MUST(!inlined.failed && inlined.len > 0);
    cm_schema_render_signature(&line, &m, 200);
    CM_MUST(!line.failed && line.len < 2000 && !memchr(line.ptr, '\n', line.len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cm_auto(yyjson_doc) doc = NULL;
    struct cm_err err = {0};

    if (cm_json_parse(cm_str_mk(data, size), CM_JSON_STRICT, &doc, &err) != CM_OK)
        return 0;
    yyjson_val *schema = cm_json_get(yyjson_doc_get_root(doc), "schema");
    rendering_is_bounded(schema);
    if (cm_schema_check(schema, schema, cm_json_get(yyjson_doc_get_root(doc), "value"), &err) != CM_OK)
        CM_MUST(err.message[0] != '\0');
    return 0;
}
