/*
 * Snippets: programs that somebody kept, by name, in one runtime.
 *
 * codemode.run(name, input) is a call of its own kind. It is recorded with the text that it ran, so what becomes of the snippet later
 * changes no replay; what its function calls is numbered beneath it, like the calls of a step. What is wrong with a run (no such
 * snippet, a connector that is gone, an input that does not fit) is an error of the call, before anything of it runs.
 *
 * A snippet has no rights of its own. It runs in the program's realm, its calls are the run's: counted, decided and paused like any.
 */
#include "base/clock.h"
#include "base/names.h"
#include "runtime/internal.h"
#include "schema/schema.h"

/* What the language's own stack would end, in words that name the way: a snippet that runs itself is most often a mistake. */
#define DEPTH_MAX 8

void rt_snippet_done(struct rt_snippet *k)
{
    free(k->name);
    free(k->description);
    free(k->code);
    free(k->schema);
    free(k->connectors);
    free(k->execution);
}

static bool keep_row(void *user, const struct cm_snippet_row *row)
{
    struct rt_snippet *k = user;

    *k = (struct rt_snippet){
        .name = cm_strdup(row->name),
        .description = cm_strdup(row->description ? row->description : ""),
        .code = cm_memdup_z(row->code.ptr, row->code.len),
        .code_len = row->code.len,
        .schema = cm_memdup_z(row->input_schema.ptr, row->input_schema.len),
        .schema_len = row->input_schema.len,
        .connectors = cm_strdup(row->connectors_json ? row->connectors_json : "[]"),
        .execution = cm_strdup(row->execution ? row->execution : ""),
        .saved_at = row->saved_at,
    };
    return false;
}

/* ---- names ---- */

bool rt_snippet_is_name(struct cm_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';

        if (!letter && (c != '-' || i == 0))
            return false;
    }
    return name.len > 0 && name.len <= RT_SNIPPET_NAME_MAX;
}

bool rt_has_connector(const cm_runtime *rt, struct cm_str name)
{
    for (size_t i = 0; i < rt->o.n_connectors; i++)
        if (cm_str_eq_z(name, cm_connector_name(rt->o.connectors[i])))
            return true;
    return false;
}

struct names {
    struct cm_str asked;
    struct cm_buf near, all;
    size_t n_near, n;
};

static bool note_name(void *user, const struct cm_snippet_row *row)
{
    struct names *n = user;
    size_t len = n->asked.len < 40 ? n->asked.len : 40;

    if (n->n_near < 3 && cm_name_distance(cm_str_of(row->name), n->asked) <= 1 + len / 3)
        cm_buf_addf(&n->near, "%s\"%s\"", n->n_near++ ? ", " : " Did you mean ", row->name);
    if (n->n++ < 20)
        cm_buf_addf(&n->all, "%s%s", n->n > 1 ? ", " : "", row->name);
    return true;
}

static cm_status unknown(cm_runtime *rt, struct cm_str name, struct cm_err *err)
{
    struct names n = {.asked = name, .near = CM_BUF_INIT(1000), .all = CM_BUF_INIT(4000)};
    cm_status st = cm_store_snippets(rt->o.store, rt->name, NULL, note_name, &n, err);

    if (st == CM_OK && n.n == 0)
        st = cm_err_set(err, CM_E_NOT_FOUND,
                        "There is no snippet \"%.*s\": none has been saved. A person saves one with "
                        "`codemode snippets save NAME EXECUTION`.",
                        name.len > 100 ? 100 : (int)name.len, name.ptr);
    else if (st == CM_OK)
        st = cm_err_set(err, CM_E_NOT_FOUND, "There is no snippet \"%.*s\".%s%s Snippets here: %s%s.",
                        name.len > 100 ? 100 : (int)name.len, name.ptr,
                        n.n_near ? cm_buf_str(&n.near).ptr : "", n.n_near ? "?" : "", cm_buf_str(&n.all).ptr,
                        n.n > 20 ? ", …" : "");
    cm_buf_done(&n.near);
    cm_buf_done(&n.all);
    return st;
}

cm_status rt_snippet_find(cm_runtime *rt, struct cm_str name, struct rt_snippet *out, struct cm_err *err)
{
    cm_autofree char *z = cm_memdup_z(name.ptr, name.len);
    cm_status st;

    if (!rt_snippet_is_name(name)) /* none has such a name, and a NUL must not make it another */
        return unknown(rt, name, err);
    st = cm_store_snippets(rt->o.store, rt->name, z, keep_row, out, err);
    return st == CM_E_NOT_FOUND ? unknown(rt, name, err) : st;
}

/* ---- what it needs ---- */

/** Of the connectors that its calls had when it was saved, those that are not here. */
static cm_status check_connectors(const cm_runtime *rt, const struct rt_snippet *k, struct cm_err *err)
{
    cm_auto(yyjson_doc) doc = NULL;
    cm_autobuf gone = CM_BUF_INIT(1000), here = CM_BUF_INIT(1000);
    size_t n = 0, i, max;
    yyjson_val *v;

    if (cm_json_parse(cm_str_of(k->connectors), CM_JSON_STRICT, &doc, NULL) != CM_OK)
        return CM_OK; /* damaged: its calls will tell */
    yyjson_arr_foreach(yyjson_doc_get_root(doc), i, max, v)
    {
        if (yyjson_is_str(v) && !rt_has_connector(rt, cm_json_str(v)))
            cm_buf_addf(&gone, "%s%.*s", n++ ? ", " : "", CM_STR_ARG(cm_json_str(v)));
    }
    if (n == 0)
        return CM_OK;
    for (i = 0; i < rt->o.n_connectors; i++)
        cm_buf_addf(&here, "%s%s", i ? ", " : "", cm_connector_name(rt->o.connectors[i]));
    return cm_err_set(err, CM_E_UNAVAILABLE,
                      "Snippet \"%s\" calls %s, which %s not configured here. Connectors here: %s.", k->name,
                      cm_buf_str(&gone).ptr, n > 1 ? "are" : "is", here.len ? cm_buf_str(&here).ptr : "none");
}

/** `input` is absent where none was given. */
static cm_status check_input(const struct rt_snippet *k, struct cm_value input, struct cm_err *err)
{
    cm_auto(yyjson_doc) schema = NULL;
    cm_auto(yyjson_doc) doc = NULL;
    cm_autobuf json = CM_BUF_INIT(CM_FRAME_MAX_BYTES), shape = CM_BUF_INIT(1000);
    cm_status st = CM_OK;
    struct cm_err why = {0};

    if (k->schema_len == 0 ||
        cm_json_parse(cm_str_mk(k->schema, k->schema_len), CM_JSON_STRICT, &schema, NULL) != CM_OK)
        return CM_OK;
    st = cm_value_to_tool_json(input, &json, &why);
    if (st == CM_OK)
        st = cm_json_parse(cm_buf_str(&json), CM_JSON_BIGNUM, &doc, &why);
    if (st == CM_OK)
        st = cm_schema_check(yyjson_doc_get_root(schema), yyjson_doc_get_root(schema),
                             yyjson_doc_get_root(doc), &why);
    if (st == CM_OK)
        return CM_OK;
    if (yyjson_obj_size(cm_json_get(yyjson_doc_get_root(schema), "properties")) > 0) {
        cm_buf_add_z(&shape, ". It takes { ");
        cm_schema_write_accepted(&shape, yyjson_doc_get_root(schema));
        cm_buf_add_z(&shape, " }");
    }
    return cm_err_set(err, CM_E_INVALID, "The input of snippet \"%s\": %s%s", k->name, why.message,
                      shape.len ? cm_buf_str(&shape).ptr : "");
}

cm_status cm_runtime_snippet_program(cm_runtime *rt, const char *name, struct cm_value input, char **code,
                                     size_t *len, struct cm_err *err)
{
    RT_AUTO_SNIPPET k = {0};
    cm_status st = rt_snippet_find(rt, cm_str_of(name), &k, err);

    if (st == CM_OK)
        st = check_connectors(rt, &k, err);
    if (st == CM_OK)
        st = check_input(&k, input, err);
    if (st != CM_OK)
        return st;
    *code = cm_steal(&k.code);
    *len = k.code_len;
    return CM_OK;
}

/* ---- codemode.run ---- */

/** The runs of snippets that this call is inside of, itself included. A parent that has ended is no level: what it left behind is a
 * chain, not a nest, and the limits on entries and on time end it. */
static unsigned depth_of(const struct rt_call *c)
{
    unsigned n = 1;

    for (int64_t seq = c->parent_seq; seq >= 0;) {
        const struct rt_call *p = c->e->calls;

        while (p && p->seq != (uint64_t)seq)
            p = p->next;
        if (!p)
            break;
        n += p->kind == CM_CALL_RUN;
        seq = p->parent_seq;
    }
    return n;
}

/** The marks of [name, input] as those of the input alone. */
static cm_status marks_of_input(const struct rt_call *c, struct cm_buf *out, struct cm_err *err)
{
    cm_auto(yyjson_doc) doc = NULL;
    yyjson_val *key, *value;
    size_t i, max, n = 0;

    if (c->args.marks_len == 0)
        return CM_OK;
    cm_status st = cm_json_parse(cm_str_mk(c->args.marks, c->args.marks_len), CM_JSON_STRICT, &doc, err);
    if (st != CM_OK)
        return st;
    yyjson_obj_foreach(yyjson_doc_get_root(doc), i, max, key, value)
    {
        struct cm_str pointer = cm_json_str(key);

        /* "/1" and what is beneath it: a name that is something else than a text is none. */
        if (!cm_str_has_prefix(pointer, CM_STR("/1")))
            return cm_err_set(err, CM_E_INVALID, "codemode.run takes a text as the name of a snippet");
        cm_buf_add_z(out, n++ ? "," : "{");
        cm_json_write_string(out, cm_str_mk(pointer.ptr + 2, pointer.len - 2));
        cm_buf_add_char(out, ':');
        cm_json_write(out, value);
    }
    cm_buf_add_z(out, n ? "}" : "");
    return CM_OK;
}

/** The input out of [name, input], as a value; absent without one. */
static cm_status input_of(const struct rt_call *c, struct cm_own_value *out, struct cm_err *err)
{
    cm_auto(yyjson_doc) doc = NULL;
    cm_autobuf text = CM_BUF_INIT(CM_FRAME_MAX_BYTES), marks = CM_BUF_INIT(CM_FRAME_MAX_BYTES);
    cm_status st = cm_json_parse(cm_str_mk(c->args.json, c->args.json_len), CM_JSON_BIGNUM, &doc, err);

    if (st != CM_OK)
        return st;
    yyjson_val *root = yyjson_doc_get_root(doc);
    if (yyjson_arr_size(root) > 2 || !cm_str_eq_z(cm_json_str(yyjson_arr_get(root, 0)), c->method))
        return cm_err_set(err, CM_E_INVALID, "codemode.run takes the name of a snippet and one input");
    st = marks_of_input(c, &marks, err);
    if (st != CM_OK || yyjson_arr_size(root) < 2)
        return st;
    cm_json_write(&text, yyjson_arr_get(root, 1));
    return cm_value_canonical((struct cm_value){cm_buf_str(&text), cm_buf_str(&marks)}, CM_FRAME_MAX_BYTES,
                              out, err);
}

/** The intent, with the text that is about to run. */
static cm_status record(struct rt_call *c, struct cm_str code)
{
    struct cm_call_row row;
    cm_exec *e = c->e;
    struct cm_err err = {0};
    cm_status st;

    rt_call_place_start(c);
    row = rt_call_row(c, CM_CALL_EXECUTING);
    row.decision = cm_decision_text(CM_DECIDE_EXECUTE);
    row.rule = "snippet";
    row.code = code;
    st = cm_store_call_intent(e->rt->o.store, e->id, &row, false, &err);
    if (st != CM_OK) {
        rt_exec_store_failed(e, &err);
        return st;
    }
    c->recorded = true;
    rt_touch(e->rt);
    return CM_OK;
}

/*
 * [code] or [code, input] in place of [name] or [name, input]: what the snippet gets is the canonical form, as it is logged. The name
 * is one that needs no escapes, so it ends where it ends.
 */
void rt_snippet_execute(struct rt_call *c, struct cm_str code)
{
    size_t from = strlen(c->method) + 3; /* [" and " */
    cm_autobuf json = CM_BUF_INIT(CM_FRAME_MAX_BYTES);

    /* So it is by input_of; a record that something else has written may say what it likes. */
    if (c->args.json_len < from || !rt_snippet_is_name(cm_str_of(c->method))) {
        rt_call_fail(c, CM_CALL_FAILED, "invalid_arguments",
                     "codemode.run takes the name of a snippet and one input");
        return;
    }
    cm_buf_add_char(&json, '[');
    cm_json_write_string(&json, code);
    cm_buf_add(&json, c->args.json + from, c->args.json_len - from);
    if (json.failed) {
        rt_call_fail(c, CM_CALL_FAILED, "result_too_large",
                     "Snippet \"%s\" and its input do not fit into a frame", c->method);
        return;
    }
    rt_call_start_function(c, (struct cm_value){cm_buf_str(&json), {c->args.marks, c->args.marks_len}});
}

void rt_snippet_issue(struct rt_call *c)
{
    RT_AUTO_SNIPPET k = {0};
    cm_autovalue input = {0};
    struct cm_err err = c->args_err;
    const char *code = "invalid_arguments";
    cm_status st = c->args_ok ? input_of(c, &input, &err) : CM_E_INVALID;

    if (st == CM_OK && depth_of(c) > DEPTH_MAX) {
        rt_call_fail(
            c, CM_CALL_FAILED, "snippet_depth",
            "codemode.run(\"%s\") is more than %d snippets inside of each other. A snippet that runs itself "
            "needs an end; a loop in the program does the same without.",
            c->method, DEPTH_MAX);
        return;
    }
    if (st == CM_OK) {
        code = "unknown_snippet";
        st = rt_snippet_find(c->e->rt, cm_str_of(c->method), &k, &err);
    }
    if (st == CM_OK) {
        code = "unknown_connector";
        st = check_connectors(c->e->rt, &k, &err);
    }
    if (st == CM_OK) {
        code = "invalid_arguments";
        st = check_input(&k, cm_value_view(&input), &err);
    }
    if (st == CM_E_IO) {
        rt_exec_store_failed(c->e, &err);
        return;
    }
    if (st != CM_OK)
        rt_call_fail(c, CM_CALL_FAILED, code, "%s", err.message);
    else if (record(c, cm_str_mk(k.code, k.code_len)) == CM_OK)
        rt_snippet_execute(c, cm_str_mk(k.code, k.code_len));
}
