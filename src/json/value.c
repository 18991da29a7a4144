/* The value codec: canonical form, and values from texts of the outside. */
#include "json/internal.h"

#include "base/utf8.h"

void cm_value_done(struct cm_own_value *v)
{
    free(v->json);
    free(v->marks);
    *v = (struct cm_own_value){0};
}

struct cm_own_value cm_value_dup(struct cm_value v)
{
    return (struct cm_own_value){
        .json = cm_memdup_z(v.json.ptr, v.json.len),
        .json_len = v.json.len,
        .marks = cm_memdup_z(v.marks.ptr, v.marks.len),
        .marks_len = v.marks.len,
    };
}

static void take(struct cm_own_value *out, struct cm_buf *json, struct cm_buf *marks)
{
    out->json = cm_buf_take(json, &out->json_len);
    out->marks = cm_buf_take(marks, &out->marks_len);
}

static cm_status check_size(struct cm_value v, size_t max_bytes, struct cm_err *err)
{
    if (v.json.len > max_bytes || v.marks.len > max_bytes - v.json.len)
        return cm_err_set(err, CM_E_LIMIT, "the value has %zu bytes, the limit is %zu",
                          v.json.len + v.marks.len, max_bytes);
    return CM_OK;
}

/* The marks document itself, sorted; its keys were checked to be different. */
static void write_marks(struct cm_buf *out, const struct cm_marks *m)
{
    if (m->n)
        cm_json_write_canonical(out, yyjson_doc_get_root(m->doc));
}

static cm_status checked_with(struct cm_marks *m, struct cm_value v, bool keep_order, size_t max_bytes,
                              struct cm_own_value *out, struct cm_err *err)
{
    cm_auto(yyjson_doc) doc = NULL;
    cm_autobuf json = CM_BUF_INIT(max_bytes);
    cm_autobuf marks = CM_BUF_INIT(max_bytes);
    struct cm_json__canon w = {.out = &json, .keep_order = keep_order, .refuse_duplicates = true, .err = err};
    cm_status st = cm_json_parse(v.json, CM_JSON_STRICT, &doc, err);

    (void)cm_buf_reserve(&json, v.json.len);
    if (st == CM_OK)
        st = cm_json__write_canon(&w, yyjson_doc_get_root(doc));
    if (st == CM_OK)
        st = cm_marks__verify(m, yyjson_doc_get_root(doc), err);
    if (st != CM_OK)
        return st;
    write_marks(&marks, m);
    st = cm_buf_check(&json, "the value", err);
    if (st == CM_OK)
        st = cm_buf_check(&marks, "the value", err);
    if (st == CM_OK)
        st = check_size((struct cm_value){cm_buf_str(&json), cm_buf_str(&marks)}, max_bytes, err);
    if (st == CM_OK)
        take(out, &json, &marks);
    return st;
}

static cm_status checked(struct cm_value v, bool keep_order, size_t max_bytes, struct cm_own_value *out,
                         struct cm_err *err)
{
    struct cm_marks m = {0};
    cm_status st = check_size(v, max_bytes, err);

    if (st != CM_OK)
        return st;
    st = cm_marks__load(&m, v.marks, err);
    if (st != CM_OK)
        return st;
    if (v.json.len > 0) {
        st = checked_with(&m, v, keep_order, max_bytes, out, err);
    } else if (m.n > 0) {
        st = cm_err_set(err, CM_E_INVALID, "marks: \"%.*s\" points at nothing, the value is absent",
                        CM_STR_ARG(m.v[0].pointer));
    } else {
        *out = cm_value_dup((struct cm_value){0});
    }
    cm_marks__done(&m);
    return st;
}

cm_status cm_value_canonical(struct cm_value v, size_t max_bytes, struct cm_own_value *out,
                             struct cm_err *err)
{
    return checked(v, false, max_bytes, out, err);
}

cm_status cm_value_checked(struct cm_value v, size_t max_bytes, struct cm_own_value *out, struct cm_err *err)
{
    return checked(v, true, max_bytes, out, err);
}

static cm_status from_json(struct cm_str text, size_t max_bytes, bool refuse_duplicates,
                           struct cm_own_value *out, struct cm_err *err)
{
    cm_auto(yyjson_doc) doc = NULL;
    cm_autobuf json = CM_BUF_INIT(max_bytes);
    cm_autobuf marks = CM_BUF_INIT(max_bytes);
    struct cm_marks_out found = {.text = CM_BUF_INIT(max_bytes)};
    struct cm_json__canon w = {.out = &json,
                               .keep_order = true,
                               .marks = &found,
                               .refuse_duplicates = refuse_duplicates,
                               .err = err};
    cm_status st = check_size((struct cm_value){.json = text}, max_bytes, err);

    if (st != CM_OK)
        return st;
    st = cm_json_parse(text, CM_JSON_BIGNUM | CM_JSON_REPAIR, &doc, err);
    if (st != CM_OK)
        return st;
    (void)cm_buf_reserve(&json, text.len); /* about what it will be: it need not grow */
    st = cm_json__write_canon(&w, yyjson_doc_get_root(doc));
    if (st == CM_OK)
        st = cm_buf_check(&json, "the value", err);
    if (st == CM_OK)
        st = cm_marks_out__write(&found, &marks, err);
    if (st == CM_OK)
        st = check_size((struct cm_value){cm_buf_str(&json), cm_buf_str(&marks)}, max_bytes, err);
    if (st == CM_OK)
        take(out, &json, &marks);
    cm_marks_out__done(&found);
    return st;
}

cm_status cm_value_from_json(struct cm_str text, size_t max_bytes, struct cm_own_value *out,
                             struct cm_err *err)
{
    return from_json(text, max_bytes, false, out, err);
}

cm_status cm_value_from_human_json(struct cm_str text, size_t max_bytes, struct cm_own_value *out,
                                   struct cm_err *err)
{
    return from_json(text, max_bytes, true, out, err);
}

struct cm_own_value cm_value_from_text(struct cm_str text)
{
    /* A control character takes six bytes, an invalid one three. */
    cm_autobuf json = CM_BUF_INIT(text.len * 6 + 2);
    cm_autobuf marks = CM_BUF_INIT(0);
    struct cm_own_value out = {0};

    cm_json_write_string(&json, text);
    take(&out, &json, &marks);
    return out;
}
