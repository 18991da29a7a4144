/** The command lines that a human is told, and waiting for what humans do. */
#include "api/internal.h"

/** How soon a change by another process is seen. SQLite tells of none; asking it for its number costs a microsecond. */
#define LOOK_MS 200

void cm_api_add_word(struct cm_buf *b, const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=@%+,-";

    cm_buf_add_char(b, ' ');
    if (*word && strspn(word, plain) == strlen(word)) {
        cm_buf_add_z(b, word);
        return;
    }
    cm_buf_add_char(b, '\'');
    for (; *word; word++)
        if (*word == '\'')
            cm_buf_add_z(b, "'\\''");
        else
            cm_buf_add_char(b, *word);
    cm_buf_add_char(b, '\'');
}

static void add_option(struct cm_buf *b, const char *name, const char *value)
{
    cm_buf_addf(b, " %s", name);
    cm_api_add_word(b, value);
}

char *cm_api_command(const cm_ctx *ctx, const char *words)
{
    const char *config = cm_config_path(ctx->config);
    cm_autofree char *whole = config ? realpath(config, NULL) : NULL;
    cm_autobuf b = CM_BUF_INIT(65536);

    cm_buf_addf(&b, "codemode %s", words);
    if (config) /* who types it stands in another folder */
        add_option(&b, "--config", whole ? whole : config);
    if (ctx->store_option)
        add_option(&b, "--store", ctx->store_option);
    if (ctx->runtime_given)
        add_option(&b, "--runtime", ctx->runtime_name);
    return cm_buf_take(&b, NULL);
}

static void on_tick(void *user)
{
    bool *ticked = user;

    *ticked = true;
}

cm_status cm_api_await_change(cm_ctx *ctx, int64_t *version, struct cm_err *err)
{
    bool ticked = false;
    int64_t now = 0;
    cm_auto(cm_timer) timer = cm_timer_new(ctx->loop, on_tick, &ticked);
    cm_status st = cm_store_changes(ctx->store, &now, err);

    while (st == CM_OK && now == *version && !ctx->interrupted) {
        cm_timer_start(timer, LOOK_MS);
        for (ticked = false; !ticked && !ctx->interrupted;)
            cm_api_turn(ctx);
        st = cm_store_changes(ctx->store, &now, err);
    }
    if (st == CM_OK && ctx->interrupted)
        return cm_err_set(err, CM_E_CANCELLED, "interrupted");
    *version = now;
    return st;
}
