/** An outcome is one JSON text (design, section 8, "JSON that programs rely on"); the accessors read it. */
#include "api/internal.h"

#include "base/utf8.h"

struct cm_outcome {
    char *json;
    size_t len;
    char status[16]; /* as the text begins with it; "" where it does not */
    bool parsed;     /* somebody has asked for what only the document tells: most want the text alone */
    yyjson_doc
        *doc; /* NULL when the text is no JSON, which the runtime never gives; then every member is absent */
    char *result; /* written at the first question */
    size_t result_len;
    char *fields;  /* likewise */
    char *frame;   /* NULL: nobody asked, or there is none */
    char *pending; /* the newest answer of cm_outcome_pending */
};

cm_outcome *cm_api__outcome_new(char *take_json, size_t len)
{
    static const char front[] = "{\"status\":\"";
    cm_outcome *o = cm_new(cm_outcome);
    struct cm_str text = cm_str_mk(take_json, len);

    o->json = take_json;
    o->len = len;
    if (cm_str_has_prefix(text, cm_str_of(front))) {
        const char *name = take_json + sizeof front - 1;
        size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz_");

        if (n < sizeof o->status && name[n] == '"')
            memcpy(o->status, name, n);
    }
    return o;
}

static yyjson_val *root(const cm_outcome *o)
{
    /* The document is a view of the text; the outcome itself does not change. */
    cm_outcome *mine = (cm_outcome *)(uintptr_t)o;

    if (!o->parsed && cm_json_parse(cm_str_mk(o->json, o->len), CM_JSON_BIGNUM, &mine->doc, NULL) != CM_OK)
        mine->doc = NULL;
    mine->parsed = true;
    return o->doc ? yyjson_doc_get_root(o->doc) : NULL;
}

void cm_outcome_free(cm_outcome *o)
{
    if (!o)
        return;
    yyjson_doc_free(o->doc);
    free(o->json);
    free(o->result);
    free(o->fields);
    free(o->frame);
    free(o->pending);
    free(o);
}

static yyjson_val *member(const cm_outcome *o, const char *key)
{
    return cm_json_get(root(o), key);
}

const char *cm_outcome_status(const cm_outcome *o)
{
    const char *status = o->status[0] ? o->status : cm_json_get_z(root(o), "status");

    return status ? status : "error";
}

const char *cm_outcome_execution_id(const cm_outcome *o)
{
    const char *id = cm_json_get_z(root(o), "executionId");

    return id ? id : "";
}

const char *cm_outcome_json(const cm_outcome *o, size_t *len)
{
    if (len)
        *len = o->len;
    return o->json;
}

static const char *write_result(cm_outcome *o)
{
    yyjson_val *v = member(o, "result");
    struct cm_buf b = CM_BUF_INIT(CM_API__TEXT_MAX_BYTES);

    if (!v)
        return NULL;
    cm_json_write(&b, v);
    o->result = cm_buf_take(&b, &o->result_len);
    return o->result;
}

const char *cm_outcome_result_json(const cm_outcome *o, size_t *len)
{
    /* The text is a view of what is there already; the outcome itself does not change. */
    cm_outcome *mine = (cm_outcome *)(uintptr_t)o;
    const char *text = o->result ? o->result : write_result(mine);

    if (len)
        *len = text ? o->result_len : 0;
    return text;
}

const char *cm_outcome_result_text(const cm_outcome *o, size_t *len)
{
    yyjson_val *v = member(o, "result");

    if (!yyjson_is_str(v))
        return NULL;
    if (len)
        *len = yyjson_get_len(v);
    return yyjson_get_str(v);
}

/*
 * A program may put NUL into what it throws and logs, and what it wrote behind it must not be lost to a reader of C strings: each
 * becomes U+001A, the character that stands for another. Written into the document, which is this outcome's own; its JSON text is
 * another and stays exact.
 */
static const char *terminated(yyjson_val *v)
{
    char *text = (char *)(uintptr_t)yyjson_get_str(v);
    size_t len = yyjson_get_len(v);

    for (char *nul = text ? memchr(text, '\0', len) : NULL; nul;
         nul = memchr(nul, '\0', len - (size_t)(nul - text)))
        *nul = '\x1a';
    return text;
}

const char *cm_outcome_error(const cm_outcome *o, const char *name)
{
    return terminated(cm_json_get(member(o, "error"), name));
}

static uint32_t position(const cm_outcome *o, const char *name)
{
    yyjson_val *v = cm_json_get(member(o, "error"), name);

    return yyjson_is_uint(v) && yyjson_get_uint(v) <= UINT32_MAX ? (uint32_t)yyjson_get_uint(v) : 0;
}

uint32_t cm_outcome_error_line(const cm_outcome *o)
{
    return position(o, "line");
}

uint32_t cm_outcome_error_column(const cm_outcome *o)
{
    return position(o, "column");
}

/** Members that have an accessor, or a place. */
static bool is_known(struct cm_str key)
{
    static const char *const known[] = {"name",   "message", "code",  "module", "line",
                                        "column", "source",  "caret", "stack"};

    for (size_t i = 0; i < CM_ARRAY_LEN(known); i++)
        if (cm_str_eq_z(key, known[i]))
            return true;
    return false;
}

static char *write_fields(yyjson_val *error)
{
    struct cm_buf b = CM_BUF_INIT(CM_API__TEXT_MAX_BYTES);
    yyjson_val *key, *val;
    size_t i, max;

    yyjson_obj_foreach(error, i, max, key, val)
    {
        if (is_known(cm_json_str(key)))
            continue;
        cm_buf_add_char(&b, b.len ? ',' : '{');
        cm_json_write_string(&b, cm_json_str(key));
        cm_buf_add_char(&b, ':');
        cm_json_write(&b, val);
    }
    if (b.len)
        cm_buf_add_char(&b, '}');
    return cm_buf_take(&b, NULL);
}

const char *cm_outcome_error_fields(const cm_outcome *o)
{
    cm_outcome *mine = (cm_outcome *)(uintptr_t)o; /* as for the result: a view of what is there */

    if (!mine->fields)
        mine->fields = member(o, "error") ? write_fields(member(o, "error")) : cm_strdup("");
    return mine->fields[0] ? mine->fields : NULL;
}

const char *cm_outcome_error_frame(const cm_outcome *o)
{
    cm_outcome *mine = (cm_outcome *)(uintptr_t)o; /* as for the result: a view of what is there */

    if (!mine->frame)
        mine->frame = cm_api_frame(member(o, "error"));
    return o->frame;
}

static const char *item(const cm_outcome *o, const char *list, size_t i)
{
    return terminated(yyjson_arr_get(member(o, list), i));
}

const char *cm_outcome_log(const cm_outcome *o, size_t i)
{
    return item(o, "logs", i);
}

const char *cm_outcome_warning(const cm_outcome *o, size_t i)
{
    return item(o, "warnings", i);
}

const char *cm_outcome_truncated(const cm_outcome *o, size_t i)
{
    yyjson_val *cut = member(o, "truncated");
    const char *result = terminated(cm_json_get(cut, "message"));
    const char *logs = terminated(cm_json_get(cm_json_get(cut, "logs"), "message"));

    if (i == 0)
        return result ? result : logs;
    return i == 1 && result ? logs : NULL;
}

const char *cm_outcome_pending(const cm_outcome *o, size_t i)
{
    enum { SHOWN = 400 };                          /* of the arguments: who decides looks at them whole */
    cm_outcome *mine = (cm_outcome *)(uintptr_t)o; /* as for the result: a view of what is there */
    yyjson_val *call = yyjson_arr_get(member(o, "pending"), i);
    const char *connector = cm_json_get_z(call, "connector"), *method = cm_json_get_z(call, "method");
    cm_autobuf args = CM_BUF_INIT(CM_API__TEXT_MAX_BYTES);
    size_t shown;

    if (!call)
        return NULL;
    if (cm_json_get(call, "args"))
        cm_json_write(&args, cm_json_get(call, "args"));
    shown = cm_utf8_cut(cm_buf_str(&args), SHOWN);
    free(mine->pending);
    mine->pending =
        cm_asprintf("call %llu: %s.%s %.*s%s", (unsigned long long)yyjson_get_uint(cm_json_get(call, "seq")),
                    connector ? connector : "", method ? method : "", (int)shown, cm_buf_str(&args).ptr,
                    shown < args.len ? "…" : "");
    return o->pending;
}
