/* What waits for people: shown to them whole, and for no longer than pausedTtlMs. */
#include "base/clock.h"
#include "runtime/internal.h"

#include <inttypes.h>

#define SHOWN_MAX_BYTES (1u << 30)
#define EXPIRY_MIN_MS   1000
#define EXPIRY_MAX_MS   60000

bool rt_pending_write(struct cm_buf *out, const char *id, const struct cm_call_row *row,
                      const cm_secrets *secrets)
{
    cm_autobuf args = CM_BUF_INIT(SHOWN_MAX_BYTES);
    bool appended = false;
    bool whole =
        cm_value_to_reader_json(row->args, &args, &appended, NULL) == CM_OK && !args.failed && appended;

    cm_buf_add_z(out, "{\"executionId\":");
    cm_json_write_string(out, cm_str_of(id));
    cm_buf_addf(out, ",\"seq\":%u,\"connector\":", row->seq);
    cm_json_write_string(out, cm_str_of(row->connector));
    cm_buf_add_z(out, ",\"method\":");
    cm_json_write_string(out, cm_str_of(row->method));
    if (whole) {
        cm_autofree char *clean = cm_secrets_redact(secrets, cm_buf_str(&args), NULL);

        cm_buf_add_z(out, ",\"args\":");
        cm_buf_add_str(out, clean ? cm_str_of(clean) : cm_buf_str(&args));
    }
    cm_buf_add_z(out, ",\"argsHash\":");
    cm_json_write_string(out, cm_str_of(row->args_hash));
    cm_buf_add_z(out, ",\"rule\":");
    cm_json_write_string(out, cm_str_of(row->rule));
    if (cm_z_eq(row->decision, "ask"))
        cm_buf_add_z(
            out,
            ",\"reason\":\"It was sent before, and whether it took effect is not known. Approving sends it "
            "again; rejecting lets the program see a failure.\"");
    cm_buf_addf(out, ",\"createdAt\":%" PRId64 "}", row->started_at);
    return whole;
}

struct listing {
    const cm_runtime *rt;
    struct cm_buf *out;
    size_t n;
};

static bool list_pending(void *user, const char *id, const struct cm_call_row *row)
{
    struct listing *l = user;

    if (l->n++)
        cm_buf_add_char(l->out, ',');
    (void)rt_pending_write(l->out, id, row, l->rt->o.secrets);
    return true;
}

cm_status rt_no_such(const char *id, struct cm_err *err)
{
    return cm_err_set(err, CM_E_NOT_FOUND, "there is no execution '%.100s'; `codemode executions` lists them",
                      id);
}

cm_status rt_recover(cm_runtime *rt, struct cm_err *err)
{
    size_t n = 0;
    cm_status st = cm_store_recover(rt->o.store, &n, err);

    /* Nobody is told of it, and it is found again if it is lost. */
    return st == CM_OK && n > 0 ? cm_store_commit(rt->o.store, false, err) : st;
}

cm_status rt_catch_up(cm_runtime *rt, struct cm_err *err)
{
    cm_status st = rt_recover(rt, err);

    return st == CM_OK ? cm_runtime_expire(rt, cm_now_ms(), err) : st;
}

cm_status cm_runtime_pending(cm_runtime *rt, const char *id, struct cm_buf *out, struct cm_err *err)
{
    struct listing l = {.rt = rt, .out = out};
    struct rt_kept row = {0};
    cm_status st = rt_catch_up(rt, err);

    if (st == CM_OK && id) {
        st = cm_store_execution(rt->o.store, id, rt_keep_row, &row, err);
        rt_kept_done(&row);
        if (st == CM_E_NOT_FOUND)
            return rt_no_such(id, err);
    }
    if (st != CM_OK)
        return st;
    cm_buf_add_z(out, "{\"pending\":[");
    st = cm_store_pending(rt->o.store, rt->name, id, list_pending, &l, err);
    cm_buf_add_z(out, "]}");
    return st == CM_OK ? cm_buf_check(out, "the list of what is pending", err) : st;
}

/* ---- expiry ---- */

static void drop_expired(void *user, const char *id)
{
    cm_exec *e = rt_held_find(user, id);

    if (e)
        rt_held_drop(e);
    if (rt_drop_parts(user, id, CM_EXEC_EXPIRED, NULL) == CM_OK)
        rt_touch(user);
    rt_announce(user, id, CM_EXEC_EXPIRED, false, (struct cm_str){0});
}

cm_status cm_runtime_expire_before(cm_runtime *rt, int64_t before, int64_t now, size_t *n, struct cm_err *err)
{
    size_t many = 0;
    cm_status st = cm_store_expire(rt->o.store, rt->name, before, now, drop_expired, rt, &many, err);

    /* What expires does so of itself: should the disk not get it, it is found again. */
    if (st == CM_OK && many > 0) {
        st = cm_store_commit(rt->o.store, false, err);
        rt_disk_ask(rt);
    }
    if (st == CM_OK && n)
        *n = many;
    return st;
}

cm_status cm_runtime_expire(cm_runtime *rt, int64_t now, struct cm_err *err)
{
    if (rt->o.paused_ttl_ms == 0)
        return CM_OK;
    return cm_runtime_expire_before(rt, now - (int64_t)rt->o.paused_ttl_ms, now, NULL, err);
}

static void look_again(cm_runtime *rt)
{
    uint64_t ms = rt->o.paused_ttl_ms / 4;

    cm_timer_start(rt->expiry, ms < EXPIRY_MIN_MS ? EXPIRY_MIN_MS : ms > EXPIRY_MAX_MS ? EXPIRY_MAX_MS : ms);
}

static void on_expiry(void *user)
{
    cm_runtime *rt = user;

    (void)cm_runtime_expire(rt, cm_now_ms(), NULL); /* what cannot be done now is tried again */
    look_again(rt);
}

void rt_expiry_open(cm_runtime *rt)
{
    if (rt->o.paused_ttl_ms == 0)
        return;
    rt->expiry = cm_timer_new(rt->o.loop, on_expiry, rt);
    on_expiry(rt);
}
