/** What must be true of a record when a process opens it, and in the end. To be included by test_schedules alone. */
#ifndef CM_TESTS_SCHED_END_H
#define CM_TESTS_SCHED_END_H

#include "sched_scenario.h"
#include "sched_world.h"

static const struct scenario *sc; /* the one that runs */
static char dir[64], where[96];

/* ---- what stands in the store ---- */

struct found {
    char id[64];
    enum cm_exec_state state;
    size_t n;
};

static bool find_one(void *user, const struct cm_exec_row *row)
{
    struct found *f = user;

    /* The newest that is the scenario's: another one may have been run to see whether it could be. */
    if (cm_str_eq_z(row->code, sc->text) && f->n++ == 0) {
        (void)snprintf(f->id, sizeof f->id, "%s", row->id);
        f->state = row->state;
    }
    return true;
}

static struct found find_execution(const struct world *w)
{
    struct found f = {.n = 0};
    struct cm_err err = {0};

    if (cm_store_executions(w->store, NULL, 10, false, find_one, &f, &err) != CM_OK)
        bad("cannot list: %s", err.message);
    return f;
}

struct audit {
    const struct deed *deed;
    bool sent;
};

static bool audit_row(void *user, const struct cm_call_row *row)
{
    struct audit *a = user;

    if (row->kind == CM_CALL_TOOL && cm_z_eq(row->method, a->deed->method) &&
        cm_str_eq_z(row->args.json, a->deed->args))
        a->sent = a->sent || (row->state != CM_CALL_PENDING && row->state != CM_CALL_CANCELLED) ||
                  !cm_z_eq(row->rule, "tool: requiresApproval");
    return true;
}

/** Nothing was done that the record does not know, and what was told is what stands there. */
static void audit(const struct world *w)
{
    struct found f = find_execution(w);
    struct cm_err err = {0};

    for (size_t i = 0; i < out->n_deeds; i++) {
        struct audit a = {.deed = &out->deeds[i]};

        if (a.deed->done == 0 || !is_unsafe(tool_of(a.deed->method)->flags))
            continue;
        if (f.n == 0 || cm_store_calls(w->store, f.id, audit_row, &a, &err) != CM_OK || !a.sent)
            bad("%s %s was done, and the record does not say so", a.deed->method, a.deed->args);
    }
    if (out->told && f.n == 0)
        bad("the embedder was told of an execution that is not in the record");
    if (out->told && out->told_state != CM_EXEC_PAUSED && f.state != out->told_state &&
        f.state != CM_EXEC_ROLLED_BACK)
        bad("the embedder was told '%s', the record says '%s'", cm_exec_state_text(out->told_state),
            cm_exec_state_text(f.state));
}

/* ---- what must be true in the end ---- */

/** The outcome of the record in the words of a scenario. */
static void summarise(const struct world *w, const char *id, struct cm_buf *to)
{
    cm_autobuf json = CM_BUF_INIT(1u << 20);
    cm_auto(yyjson_doc) doc = NULL;
    struct cm_err err = {0};
    yyjson_val *root, *error, *line;
    size_t i, max;

    if (cm_runtime_execution(w->rt, id, &json, &err) != CM_OK ||
        cm_json_parse(cm_buf_str(&json), CM_JSON_STRICT, &doc, &err) != CM_OK)
        bad("no outcome: %s", err.message);
    root = yyjson_doc_get_root(doc);
    /* A call that there was no memory for has failed, and its program may have caught that. */
    out->no_memory = out->failed && strstr(cm_buf_str(&json).ptr, "memory");
    error = cm_json_get(root, "error");
    cm_buf_add_str(to, cm_json_str(cm_json_get(root, "status")));
    if (cm_json_get(root, "result")) {
        cm_buf_add_char(to, ' ');
        cm_json_write(to, cm_json_get(root, "result"));
    }
    if (error) {
        cm_buf_add_char(to, ' ');
        cm_buf_add_str(to, cm_json_str(cm_json_get(error, "message")));
    }
    cm_buf_add_char(to, '\n');
    yyjson_arr_foreach(cm_json_get(root, "logs"), i, max, line)
    {
        cm_buf_add_z(to, "log ");
        cm_buf_add_str(to, cm_json_str(line));
        cm_buf_add_char(to, '\n');
    }
}

struct check {
    const char *rest; /* lines of the summary that were not compared yet */
    bool undone, perhaps, listed[48];
};

/** The first line is the status, with the result or a part of the error's message. */
static void check_line(void *user, const char *line)
{
    struct check *c = user;
    const char *end = line_end(c->rest);
    cm_autofree char *got = cm_memdup_z(c->rest, (size_t)(end - c->rest));
    size_t status = strcspn(line, " ");
    bool first = strncmp(line, "log ", 4) != 0;
    bool ok = first && !strstr(line, "completed") && line[status]
                  ? strncmp(got, line, status) == 0 && strstr(got, line + status + 1)
              : first && !line[status] ? strncmp(got, line, status) == 0
                                       : cm_z_eq(got, line);

    if (!ok)
        bad("expected '%s', got '%s'", line, got);
    c->rest = *end ? end + 1 : end;
}

/** One deed that the scenario has. */
static void check_deed(void *user, const char *line)
{
    struct check *c = user;
    size_t word = strcspn(line, " ");
    cm_autofree char *method = cm_memdup_z(line, word);
    const struct deed *d = deed_of(method, cm_str_of(line + word + 1));
    int n = c->undone ? d->undone : d->done;

    c->listed[d - out->deeds] = true;
    if (c->perhaps && n <= 1)
        return;
    if (c->undone ? n != (d->done > 0) && !out->cut_short : n != 1 && !out->cut_short)
        bad("%s was %s %d times", line, c->undone ? "undone" : "done", n);
}

/** A write failed, or there was no memory for a question, and the run ended by it, in words that say so. */
static bool was_not_recordable(const struct cm_buf *summary)
{
    const char *text = cm_buf_str(summary).ptr;

    return out->no_memory || (out->failed && (strstr(text, "could not be recorded") ||
                                              strstr(text, "out of memory") || strstr(text, "no memory")));
}

static void check_end(const struct world *w, const char *id)
{
    cm_autobuf text = CM_BUF_INIT(1u << 20);
    struct check outcome = {0}, done = {0}, perhaps = {.perhaps = true}, undone = {.undone = true};

    summarise(w, id, &text);
    out->cut_short = sc->cancel_in_flight || out->n_reported_unknown > 0 || was_not_recordable(&text);
    each_line(sc->text, "done", check_deed, &done);
    each_line(sc->text, "perhaps done", check_deed, &perhaps);
    each_line(sc->text, "undone", check_deed, &undone);
    for (size_t i = 0; i < out->n_deeds; i++) {
        const struct deed *d = &out->deeds[i];

        if (d->done > 0 && is_unsafe(tool_of(d->method)->flags) && !done.listed[i] && !perhaps.listed[i] &&
            !out->cut_short)
            bad("%s %s was done, which the scenario does not have", d->method, d->args);
        if (d->undone > 0 && !undone.listed[i])
            bad("%s %s was undone, which the scenario does not have", d->method, d->args);
    }
    if (out->n_reported_unknown > 0 || was_not_recordable(&text))
        return;
    outcome.rest = cm_buf_str(&text).ptr;
    each_line(sc->text, "expect", check_line, &outcome);
    if (*outcome.rest)
        bad("the outcome has more: %s", outcome.rest);
}

static void check_database(void)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *q = NULL;

    if (sqlite3_open_v2(where + 7, &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &q, NULL) != SQLITE_OK ||
        sqlite3_step(q) != SQLITE_ROW || !cm_z_eq((const char *)sqlite3_column_text(q, 0), "ok"))
        bad("the database is damaged: %s",
            q && sqlite3_column_count(q) ? (const char *)sqlite3_column_text(q, 0) : sqlite3_errmsg(db));
    (void)sqlite3_finalize(q);
    (void)sqlite3_close(db);
}

#endif
