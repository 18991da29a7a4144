/** A pass that runs nothing: the program as it would run, from the parser in the sandbox. */
#include "api/internal.h"

#include "base/clock.h"

struct normalizing {
    bool done;
    cm_status st;
    struct cm_err *err;
    struct cm_buf *out;
    struct cm_buf *meta; /* or NULL */
};

/** A normalising pass has no business calling anything; a worker that does is not ours any more. */
static void on_call(void *user, cm_pass *p, uint32_t id, enum cm_call_kind kind, struct cm_str connector,
                    struct cm_str method, struct cm_value args, struct cm_call_place at)
{
    (void)user, (void)id, (void)kind, (void)connector, (void)method, (void)args, (void)at;
    cm_pass_stop(p, CM_PASS_PROTOCOL, "protocol", "the worker called a tool while it was to parse only");
}

static void on_step_end(void *user, cm_pass *p, uint32_t id, bool failed, struct cm_value value)
{
    (void)user, (void)p, (void)id, (void)failed, (void)value;
}

static void on_log(void *user, cm_pass *p, enum cm_log_level level, struct cm_str text)
{
    (void)user, (void)p, (void)level, (void)text;
}

static void on_wait(void *user, cm_pass *p, uint32_t outstanding)
{
    (void)user, (void)p, (void)outstanding;
}

static cm_status take_text(struct normalizing *n, struct cm_str json)
{
    cm_auto(yyjson_doc) doc = NULL;
    cm_status st = cm_json_parse(json, CM_JSON_STRICT, &doc, n->err);

    if (st != CM_OK)
        return st;
    yyjson_val *root = yyjson_doc_get_root(doc);
    if (!yyjson_is_str(root))
        return cm_err_set(n->err, CM_E_PROTOCOL, "the worker answered %s in place of a program",
                          cm_json_kind(root));
    cm_buf_add_str(n->out, cm_json_str(root));
    return CM_OK;
}

static cm_status syntax_error(struct normalizing *n, struct cm_str meta)
{
    cm_auto(yyjson_doc) doc = NULL;

    if (meta.len == 0 || cm_json_parse(meta, CM_JSON_STRICT, &doc, n->err) != CM_OK)
        return cm_err_set(n->err, CM_E_INVALID, "the program has a syntax error");
    yyjson_val *e = cm_json_get(yyjson_doc_get_root(doc), "error");
    const char *name = cm_json_get_z(e, "name"), *message = cm_json_get_z(e, "message");
    yyjson_val *line = cm_json_get(e, "line");
    if (!yyjson_is_uint(line))
        return cm_err_set(n->err, CM_E_INVALID, "%s: %s", name ? name : "Error", message ? message : "");
    cm_autofree char *frame = cm_api_frame(e);
    return cm_err_set(
        n->err, CM_E_INVALID, "%s: %s (line %llu, column %llu)%s%s", name ? name : "SyntaxError",
        message ? message : "", (unsigned long long)yyjson_get_uint(line),
        (unsigned long long)yyjson_get_uint(cm_json_get(e, "column")), frame ? "\n" : "", frame ? frame : "");
}

static void on_end(void *user, cm_pass *p, const struct cm_pass_end *end)
{
    struct normalizing *n = user;

    (void)p;
    n->done = true;
    if (n->meta && (end->kind == CM_PASS_COMPLETED || end->kind == CM_PASS_THREW))
        cm_buf_add_str(n->meta, end->meta_json);
    switch (end->kind) {
    case CM_PASS_COMPLETED:
        n->st = take_text(n, end->value.json);
        return;
    case CM_PASS_THREW:
        n->st = syntax_error(n, end->meta_json);
        return;
    case CM_PASS_LIMIT:
        n->st = cm_err_set(n->err, CM_E_LIMIT, "%s", end->message);
        return;
    case CM_PASS_CANCELLED:
        n->st = cm_err_set(n->err, CM_E_CANCELLED, "%s", end->message);
        return;
    case CM_PASS_CRASHED:
    case CM_PASS_PROTOCOL:
    case CM_PASS_EVICTED:
    case CM_PASS_FAILED:
        n->st = cm_err_set(n->err, CM_E_UNAVAILABLE, "%s", end->message);
        return;
    }
}

cm_status cm_api__normalize(cm_ctx *ctx, struct cm_str code, struct cm_buf *out, struct cm_buf *meta,
                            struct cm_err *err)
{
    static const struct cm_pass_events events = {.on_call = on_call,
                                                 .on_step_end = on_step_end,
                                                 .on_log = on_log,
                                                 .on_wait = on_wait,
                                                 .on_end = on_end};
    struct cm_err local;
    struct normalizing n = {.err = err ? err : &local, .out = out, .meta = meta};
    struct cm_pass_spec spec = {
        .runtime = ctx->runtime_name,
        .source = code,
        .now_ms = cm_now_ms(),
        .normalize = true,
        .limits = ctx->limits,
    };
    cm_autobuf bind = CM_BUF_INIT(CM_FRAME_MAX_BYTES);
    cm_pass *pass = NULL;
    cm_status st = cm_api__may_block(ctx, err);

    if (st == CM_OK && code.len > ctx->limits.source_bytes)
        return cm_err_limit(err, "source_limit",
                            "the program has %zu bytes; at most %llu are allowed (limits.sourceBytes)",
                            code.len, (unsigned long long)ctx->limits.source_bytes);
    /* Imports are shown as what they name here. */
    if (st == CM_OK)
        st = cm_api__catalog(ctx, err);
    if (st == CM_OK) {
        cm_catalog_bind(ctx->catalog, &bind);
        cm_config_add_modules(ctx->config, &bind);
        st = cm_buf_check(&bind, "the list of connectors", err);
        spec.bind_json = cm_buf_str(&bind);
    }
    if (st == CM_OK)
        st = cm_sandbox_start(ctx->sandbox, &spec, &events, &n, &pass, err);
    if (st != CM_OK)
        return st;
    while (!n.done) {
        cm_api_turn(ctx);
        if (ctx->interrupted && !n.done)
            cm_pass_stop(pass, CM_PASS_CANCELLED, "cancelled", "interrupted");
        ctx->interrupted = false;
    }
    return n.st;
}

cm_status cm_normalize(cm_ctx *ctx, const char *code, size_t code_len, char **text, struct cm_err *err)
{
    cm_autobuf b = CM_BUF_INIT(CM_API__TEXT_MAX_BYTES);
    cm_status st =
        cm_api__normalize(ctx, code_len ? cm_str_mk(code, code_len) : cm_str_of(code), &b, NULL, err);

    if (st == CM_OK)
        st = cm_buf_check(&b, "the program", err);
    if (st == CM_OK)
        *text = cm_buf_take(&b, NULL);
    return st;
}

/** Members of the worker's meta, which was checked when it came; it may be empty. */
static void add_meta(struct cm_buf *b, struct cm_str meta)
{
    static const char *const members[] = {"error", "warnings"};
    cm_auto(yyjson_doc) doc = NULL;
    bool first = b->len == 1;

    if (meta.len == 0 || cm_json_parse(meta, CM_JSON_STRICT, &doc, NULL) != CM_OK)
        return;
    for (size_t i = 0; i < CM_ARRAY_LEN(members); i++) {
        yyjson_val *v = cm_json_get(yyjson_doc_get_root(doc), members[i]);

        if (!v)
            continue;
        cm_buf_addf(b, "%s\"%s\":", first ? "" : ",", members[i]);
        cm_json_write(b, v);
        first = false;
    }
}

cm_status cm_api_normalize(cm_ctx *ctx, struct cm_str code, char **json, struct cm_err *err)
{
    cm_autobuf text = CM_BUF_INIT(CM_API__TEXT_MAX_BYTES);
    cm_autobuf meta = CM_BUF_INIT(CM_API__TEXT_MAX_BYTES);
    cm_autobuf b = CM_BUF_INIT(2 * CM_API__TEXT_MAX_BYTES);
    cm_status st = cm_api__normalize(ctx, code, &text, &meta, err), given;

    if (st != CM_OK && (st != CM_E_INVALID || meta.len == 0))
        return st;
    cm_buf_add_char(&b, '{');
    if (st == CM_OK) {
        cm_buf_add_z(&b, "\"code\":");
        cm_json_write_string(&b, cm_buf_str(&text));
    }
    add_meta(&b, cm_buf_str(&meta));
    cm_buf_add_char(&b, '}');
    given = cm_api__give(ctx, &b, json, st == CM_OK ? err : NULL);
    return st == CM_OK ? given : st;
}
