/** Saved programs, and what search and describe say of them: the runtime's, behind <codemode.h>. */
#include "api/internal.h"

#define API_BUF CM_BUF_INIT(CM_API__TEXT_MAX_BYTES)

cm_status cm_api__know_snippets(cm_ctx *ctx, struct cm_err *err)
{
    cm_status st = cm_api__runtime(ctx, err);

    return st == CM_OK ? cm_runtime_look_at_snippets(ctx->runtime, err) : st;
}

/** The text of an execution that never ran, since it does not parse, is nothing that anybody could use. */
static cm_status check_program(cm_ctx *ctx, const char *id, struct cm_err *err)
{
    cm_autobuf b = API_BUF, text = API_BUF, meta = CM_BUF_INIT(1u << 20);
    cm_auto(yyjson_doc) doc = NULL;
    cm_status st = cm_runtime_execution(ctx->runtime, id, &b, err);

    if (st == CM_OK)
        st = cm_buf_check(&b, "the execution", err);
    if (st == CM_OK)
        st = cm_json_parse(cm_buf_str(&b), CM_JSON_BIGNUM, &doc, err);
    if (st != CM_OK)
        return st;
    yyjson_val *error = cm_json_get(yyjson_doc_get_root(doc), "error");
    if (!cm_str_eq_z(cm_json_str(cm_json_get(error, "code")), "syntax"))
        return CM_OK;
    st =
        cm_api__normalize(ctx, cm_json_str(cm_json_get(yyjson_doc_get_root(doc), "code")), &text, &meta, err);
    return st == CM_E_INVALID
               ? cm_err_set(err, st, "the program of '%.100s' cannot be saved: it does not parse (%s)", id,
                            cm_json_get_z(error, "message") ? cm_json_get_z(error, "message") : "")
               : st;
}

cm_status cm_snippet_save(cm_ctx *ctx, const struct cm_snippet *s, struct cm_err *err)
{
    cm_status st = cm_api__may_block(ctx, err);

    if (st == CM_OK && (!s || !s->name || !s->execution_id))
        return cm_err_set(err, CM_E_INVALID, "a snippet needs a name and the id of an execution");
    if (st == CM_OK)
        st = cm_api__runtime(ctx, err);
    if (st == CM_OK)
        st = check_program(ctx, s->execution_id, err);
    if (st != CM_OK)
        return st;
    const struct cm_snippet_spec spec = {.name = s->name,
                                         .execution = s->execution_id,
                                         .description = s->description,
                                         .input_schema = cm_str_of(s->input_schema ? s->input_schema : "")};
    return cm_runtime_snippet_save(ctx->runtime, &spec, err);
}

cm_status cm_snippets(cm_ctx *ctx, char **json, struct cm_err *err)
{
    cm_autobuf b = API_BUF;
    cm_status st = cm_api__runtime(ctx, err);

    if (st == CM_OK)
        st = cm_runtime_snippets(ctx->runtime, &b, err);
    return st == CM_OK ? cm_api__give(ctx, &b, json, err) : st;
}

cm_status cm_snippet_show(cm_ctx *ctx, const char *name, char **json, struct cm_err *err)
{
    cm_autobuf b = API_BUF;
    cm_status st = cm_api__runtime(ctx, err);

    if (st == CM_OK)
        st = cm_runtime_snippet(ctx->runtime, name, &b, err);
    return st == CM_OK ? cm_api__give(ctx, &b, json, err) : st;
}

cm_status cm_snippet_delete(cm_ctx *ctx, const char *name, struct cm_err *err)
{
    cm_status st = cm_api__runtime(ctx, err);

    return st == CM_OK ? cm_runtime_snippet_delete(ctx->runtime, name, err) : st;
}
