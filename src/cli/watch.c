/** `--watch`: a list is looked at again whenever a process has changed the store. */
#include "api/api.h"
#include "cli/answer.h"

#include <stdio.h>

/** What was there at the last look. */
struct seen {
    char **v;
    size_t n;
};

static void seen_done(struct seen *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->v[i]);
    free(s->v);
}

static bool was_seen(const struct seen *s, const char *key)
{
    for (size_t i = 0; i < s->n; i++)
        if (cm_z_eq(s->v[i], key))
            return true;
    return false;
}

static void print_new(const struct cm_cli *cli, yyjson_val *item, const struct cm_cli_watched *w)
{
    cm_autobuf line = CM_BUF_INIT(256u << 20);

    if (!cli->json) {
        w->print(item);
        return;
    }
    cm_json_write(&line, item);
    cm_buf_add_char(&line, '\n');
    fwrite(line.ptr, 1, line.len, stdout);
}

/** Print what was not there at the last look, and remember what is there now. */
static void print_news(const struct cm_cli *cli, yyjson_val *list, const struct cm_cli_watched *w,
                       struct seen *seen)
{
    size_t n = yyjson_arr_size(list);
    struct seen now = {.v = cm_calloc(n + 1, sizeof *now.v)};

    for (size_t i = 0; i < n; i++) {
        yyjson_val *item = yyjson_arr_get(list, w->newest_first ? n - 1 - i : i);
        char *key = w->key(item);

        if (!was_seen(seen, key))
            print_new(cli, item, w);
        now.v[now.n++] = key;
    }
    seen_done(seen);
    *seen = now;
}

static cm_status look(const struct cm_cli *cli, cm_ctx *ctx, const char *id, const struct cm_cli_watched *w,
                      struct seen *seen, struct cm_err *err)
{
    cm_auto(yyjson_doc) doc = NULL;
    char *json = NULL;
    cm_status st = w->read(ctx, id, &json, err);

    if (st == CM_OK)
        st = cm_json_parse(cm_str_of(json), CM_JSON_BIGNUM, &doc, err);
    cm_text_free(json);
    if (st == CM_OK)
        print_news(cli, cm_json_get(yyjson_doc_get_root(doc), w->list), w, seen);
    return st;
}

int cm_cli_watch(const struct cm_cli *cli, cm_ctx *ctx, const char *id, const struct cm_cli_watched *w)
{
    struct seen seen = {0};
    struct cm_err err = {0};
    int64_t version = 0;
    cm_status st = CM_OK;

    cm_cli_cancel_on_signals(ctx);
    while (st == CM_OK) {
        /* The number first: what changes during the look is looked at again. */
        st = cm_api_await_change(ctx, &version, &err);
        if (st == CM_OK)
            st = look(cli, ctx, id, w, &seen, &err);
        if (st == CM_OK && fflush(stdout) != 0) /* nobody reads any more */
            break;
    }
    seen_done(&seen);
    return st == CM_E_CANCELLED ? CM_CLI_INTERRUPTED : st == CM_OK ? CM_CLI_FAILED : cm_cli_fail(&err);
}
