/* Values from a worker: JSON and marks, separated by the first NUL byte. The canonical form of an accepted
 * value is its own canonical form, the form that keeps the order has the same canonical one, and both views of it are JSON. A document of
 * the outside never has a mark but those of numbers that a double cannot hold. */
#include "fuzz.h"
#include "json/json.h"
#include "json/value.h"

#define VALUE_MAX_BYTES (4U << 20)

static void is_json(const struct cm_buf *text)
{
    cm_auto(yyjson_doc) doc = NULL;
    struct cm_err err = {0};

    if (!text->failed && text->len > 0)
        CM_MUST(cm_json_parse(cm_buf_str(text), CM_JSON_BIGNUM, &doc, &err) == CM_OK);
}

static void views_are_json(struct cm_value v)
{
    cm_autobuf tool = CM_BUF_INIT(VALUE_MAX_BYTES);
    cm_autobuf reader = CM_BUF_INIT(VALUE_MAX_BYTES);
    struct cm_err err = {0};
    bool appended = false;

    if (cm_value_to_tool_json(v, &tool, &err) == CM_OK)
        is_json(&tool);
    if (cm_value_to_reader_json(v, &reader, &appended, &err) == CM_OK)
        is_json(&reader);
}

static void canonical_is_stable(struct cm_value v)
{
    cm_autovalue first = {0};
    cm_autovalue second = {0};
    struct cm_err err = {0};

    if (cm_value_canonical(v, VALUE_MAX_BYTES, &first, &err) != CM_OK) {
        CM_MUST(err.message[0] != '\0');
        return;
    }
    CM_MUST(cm_value_canonical(cm_value_view(&first), VALUE_MAX_BYTES, &second, &err) == CM_OK);
    CM_MUST(cm_str_eq(cm_value_view(&first).json, cm_value_view(&second).json));
    CM_MUST(cm_str_eq(cm_value_view(&first).marks, cm_value_view(&second).marks));
    views_are_json(cm_value_view(&first));
}

/* Keeping the order of members changes nothing else: either both forms are refused, or they have one canonical form. */
static void order_is_all_that_differs(struct cm_value v)
{
    cm_autovalue sorted = {0}, kept = {0}, again = {0};
    cm_status st = cm_value_canonical(v, VALUE_MAX_BYTES, &sorted, NULL);

    CM_MUST(st == cm_value_checked(v, VALUE_MAX_BYTES, &kept, NULL));
    if (st != CM_OK)
        return;
    CM_MUST(cm_value_canonical(cm_value_view(&kept), VALUE_MAX_BYTES, &again, NULL) == CM_OK);
    CM_MUST(cm_str_eq(cm_value_view(&sorted).json, cm_value_view(&again).json));
    CM_MUST(cm_str_eq(cm_value_view(&sorted).marks, cm_value_view(&again).marks));
}

static void marks_are_of_numbers(struct cm_str marks)
{
    static const char *const kinds[] = {"bigint", "inf", "-inf", "-0"};
    cm_auto(yyjson_doc) doc = NULL;
    yyjson_val *key, *kind;
    size_t i, max;

    if (marks.len == 0)
        return;
    CM_MUST(cm_json_parse(marks, CM_JSON_STRICT, &doc, NULL) == CM_OK);
    yyjson_obj_foreach(yyjson_doc_get_root(doc), i, max, key, kind)
    {
        bool known = false;
        for (size_t k = 0; k < CM_ARRAY_LEN(kinds); k++)
            known = known || cm_str_eq_z(cm_json_str(kind), kinds[k]);
        CM_MUST(known);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
    struct cm_value v = {.json = cm_str_mk(data, nul ? (size_t)(nul - data) : size)};
    cm_autovalue outside = {0};
    struct cm_err err = {0};

    if (nul)
        v.marks = cm_str_mk(nul + 1, size - v.json.len - 1);
    canonical_is_stable(v);
    order_is_all_that_differs(v);
    if (cm_value_from_json(v.json, VALUE_MAX_BYTES, &outside, &err) == CM_OK) {
        marks_are_of_numbers(cm_value_view(&outside).marks);
        canonical_is_stable(cm_value_view(&outside));
    }
    return 0;
}
