/* What is recorded of a call: its name and its bytes as they may be, their hash, its row, and how much there may be of all that. */
#include "base/clock.h"
#include "base/utf8.h"
#include "runtime/internal.h"

#include <nettle/sha2.h>

char *rt_clean_name(struct cm_str name)
{
    struct cm_str cut = {name.ptr, cm_utf8_cut(name, CM_NAME_MAX_BYTES)};
    size_t len = 0;
    char *text = cm_utf8_repair(cut, &len);

    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            text[i] = '?';
    return text;
}

void rt_hash_args(struct cm_value args, char out[RT_HASH_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    struct sha256_ctx ctx;
    uint8_t digest[SHA256_DIGEST_SIZE];

    sha256_init(&ctx);
    sha256_update(&ctx, args.json.len, (const uint8_t *)args.json.ptr);
    sha256_update(&ctx, 1, (const uint8_t *)"");
    sha256_update(&ctx, args.marks.len, (const uint8_t *)args.marks.ptr);
    sha256_digest(&ctx, sizeof digest, digest);
    memcpy(out, "sha256:", 7);
    for (size_t i = 0; i < sizeof digest; i++) {
        out[7 + 2 * i] = digits[digest[i] >> 4];
        out[8 + 2 * i] = digits[digest[i] & 15];
    }
    out[7 + 2 * sizeof digest] = '\0';
}

struct cm_call_row rt_call_row(const struct rt_call *c, enum cm_call_state state)
{
    return (struct cm_call_row){
        .seq = c->seq,
        .kind = (uint8_t)c->kind,
        .parent_seq = c->parent_seq,
        .ordinal = c->ordinal,
        .delivery = c->start,
        .delivered_at = c->start_clock,
        .connector = c->connector,
        .method = c->method,
        .args = cm_value_view(&c->args),
        .args_hash = c->hash,
        .decision = "refuse",
        .rule = "",
        .method_flags = c->flags,
        .state = state,
        .started_at = c->started_at,
        .line = c->line,
        .column = c->column,
    };
}

bool rt_account(cm_exec *e, size_t bytes)
{
    e->recorded_bytes += bytes;
    if (e->recorded_bytes <= RT_RECORD_MAX)
        return true;
    rt_exec_end(e, CM_EXEC_ERROR, "record_limit",
                "The arguments and results of this run are more than the %u MB that one run may record. Ask "
                "the connectors for less: "
                "filter, page, or run several smaller programs.",
                RT_RECORD_MAX >> 20);
    return false;
}

cm_status rt_call_record(struct rt_call *c, enum cm_decision decision, const char *rule,
                         enum cm_call_state state, bool sync)
{
    struct cm_call_row row = rt_call_row(c, state);
    cm_exec *e = c->e;
    struct cm_err err = {0};
    cm_status st;

    row.decision = cm_decision_text(decision);
    row.rule = rule;
    st = cm_store_call_intent(e->rt->o.store, e->id, &row, sync, &err);
    if (st != CM_OK) {
        rt_exec_store_failed(e, &err);
        return st;
    }
    c->recorded = true;
    rt_event_decided(c, row.decision, rule);
    rt_touch(e->rt);
    return CM_OK;
}

struct cm_own_value rt_error_value(const char *code, const char *message)
{
    cm_autobuf json = CM_BUF_INIT(64 << 10);
    struct cm_value v = {.marks = CM_STR("{\"\":\"error\"}")};

    cm_buf_add_z(&json, "{\"name\":\"Error\",\"message\":");
    cm_json_write_string(&json, cm_str_of(message));
    cm_buf_add_z(&json, ",\"code\":");
    cm_json_write_string(&json, cm_str_of(code));
    cm_buf_add_char(&json, '}');
    v.json = cm_buf_str(&json);
    return cm_value_dup(v);
}

cm_status rt_record_outcome(struct rt_call *c, enum cm_call_state state, bool failed, struct cm_value value,
                            struct cm_err *err)
{
    cm_exec *e = c->e;
    struct cm_call_row row = rt_call_row(c, state);

    row.has_outcome = true;
    row.failed = failed;
    row.outcome = value;
    row.ended_at = cm_now_ms();
    if (!e->ending.set) {
        rt_exec_move_clock(e);
        row.delivery = ++e->n_deliveries;
        row.delivered_at = e->clock;
    }
    rt_touch(e->rt);
    if (!c->recorded && c->kind != CM_CALL_TOOL)
        row.decision = "execute";
    cm_status st = c->recorded ? cm_store_call_outcome(e->rt->o.store, e->id, &row, err)
                               : cm_store_call_intent(e->rt->o.store, e->id, &row, false, err);
    if (st == CM_OK)
        rt_event_outcome(c, state, failed, value);
    return st;
}

cm_status rt_without_secrets(const cm_runtime *rt, struct cm_own_value *v, bool canonical, struct cm_err *err)
{
    struct cm_own_value clean = {0};
    cm_status st;

    if (!cm_secrets_occur(rt->o.secrets, cm_value_view(v).json) &&
        !cm_secrets_occur(rt->o.secrets, cm_value_view(v).marks))
        return CM_OK;

    size_t json_len = v->json_len, marks_len = v->marks_len;
    cm_autofree char *json = cm_secrets_redact(rt->o.secrets, cm_value_view(v).json, &json_len);
    cm_autofree char *marks = cm_secrets_redact(rt->o.secrets, cm_value_view(v).marks, &marks_len);
    const struct cm_value view = {cm_str_mk(json ? json : v->json, json_len),
                                  cm_str_mk(marks ? marks : v->marks, marks_len)};

    /* Again, since a key may have changed its place, and what was base64 may be none any more. */
    st = canonical ? cm_value_canonical(view, 2 * (size_t)CM_FRAME_MAX_BYTES, &clean, err)
                   : cm_value_checked(view, 2 * (size_t)CM_FRAME_MAX_BYTES, &clean, err);
    if (st != CM_OK)
        return cm_err_prefix(err, "it holds a secret in a place from which it cannot be removed");
    cm_value_done(v);
    *v = clean;
    return CM_OK;
}
