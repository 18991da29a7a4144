/* Documents: the first byte chooses the flags, the rest is parsed. What was accepted is written canonically,
 * and that text parses to the same canonical text. */
#include "fuzz.h"
#include "json/json.h"

#define TEXT_MAX_BYTES (8U << 20)

static void canonical_text_is_stable(yyjson_val *root)
{
    cm_autobuf first = CM_BUF_INIT(TEXT_MAX_BYTES);
    cm_autobuf second = CM_BUF_INIT(TEXT_MAX_BYTES);
    cm_auto(yyjson_doc) again = NULL;
    struct cm_err err = {0};

    cm_json_write_canonical(&first, root);
    if (first.failed)
        return;
    CM_MUST(cm_json_parse(cm_buf_str(&first), CM_JSON_STRICT, &again, &err) == CM_OK);
    cm_json_write_canonical(&second, yyjson_doc_get_root(again));
    CM_MUST(cm_str_eq(cm_buf_str(&first), cm_buf_str(&second)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cm_auto(yyjson_doc) doc = NULL;
    cm_autobuf pretty = CM_BUF_INIT(TEXT_MAX_BYTES);
    struct cm_err err = {0};

    if (size == 0)
        return 0;
    unsigned flags = data[0] & (CM_JSON_RELAXED | CM_JSON_BIGNUM | CM_JSON_REPAIR);
    if (cm_json_parse(cm_str_mk(data + 1, size - 1), flags, &doc, &err) != CM_OK) {
        CM_MUST(err.message[0] != '\0');
        return 0;
    }
    cm_json_write_pretty(&pretty, yyjson_doc_get_root(doc));
    /* Raw numbers are for those who asked for them; canonical text is made of doubles. */
    if (!(flags & CM_JSON_BIGNUM))
        canonical_text_is_stable(yyjson_doc_get_root(doc));
    return 0;
}
