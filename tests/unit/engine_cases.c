/* See engine_cases.h. */
#include "engine_cases.h"

#include "base/fd.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#define CASE_FILE_MAX (1U << 20)
#define QUEUE_MAX     512
#define START_MS      1700000000000

static _Noreturn void die(const char *what, const char *why)
{
    (void)fprintf(stderr, "%s: %s\n", what, why);
    abort();
}

/* ⏎ becomes a line break, in place. */
static void unfold(char *s)
{
    char *to = s;

    for (const char *from = s; *from;) {
        if (strncmp(from, "⏎", strlen("⏎")) == 0) {
            *to++ = '\n';
            from += strlen("⏎");
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
}

static void add_folded(struct cm_buf *b, struct cm_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '\n')
            cm_buf_add_z(b, "⏎");
        else
            cm_buf_add_char(b, s.ptr[i]);
    }
}

static void add_key(struct test_case *t, char *line)
{
    char *space = strchr(line, ' ');

    if (t->n_keys == CASE_KEYS_MAX)
        die(t->name, "too many keys");
    if (space)
        *space = '\0';
    t->keys[t->n_keys++] = (struct case_key){line, space ? space + 1 : strchr(line, '\0')};
}

/* The text of all files, cut up in place: only the lines that are no program end in NUL. */
static void cut_cases(struct cases *c, char *text)
{
    struct test_case *t = NULL;

    for (char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            next++;
        if (strncmp(line, "=== ", 4) == 0 && next) {
            c->list = cm_realloc(c->list, (c->n + 1) * sizeof(*c->list));
            t = &c->list[c->n++];
            *t = (struct test_case){.name = line + 4, .program = next};
            next[-1] = '\0';
        } else if (t && strncmp(line, "--- ", 4) == 0) {
            line[-1] = '\0';
            if (next)
                next[-1] = '\0';
            if (t->n_keys == 0 && t->program == line)
                t->program = line - 1;
            add_key(t, line + 4);
        }
    }
}

void cases_load(const char *folder, struct cases *out)
{
    const char *root = getenv("CM_SOURCE_ROOT");
    cm_autofree char *dir = cm_asprintf("%s/tests/cases/%s", root ? root : ".", folder);
    struct dirent **entries = NULL;
    cm_autobuf all = CM_BUF_INIT(CASE_FILE_MAX);
    int n = scandir(dir, &entries, NULL, alphasort);

    if (n < 0)
        die(dir, "cannot be read; set CM_SOURCE_ROOT");
    for (int i = 0; i < n; i++) {
        cm_autofree char *path = cm_asprintf("%s/%s", dir, entries[i]->d_name);
        cm_autofree char *text = NULL;
        struct cm_err err;
        size_t len = 0;

        if (strstr(entries[i]->d_name, ".txt")) {
            if (cm_read_file(path, CASE_FILE_MAX, &text, &len, &err) != CM_OK)
                die(path, err.message);
            cm_buf_add(&all, text, len);
        }
        free(entries[i]);
    }
    free(entries);
    out->text = cm_buf_take(&all, NULL);
    cut_cases(out, out->text);
    if (out->n == 0)
        die(dir, "no cases");
}

void cases_done(struct cases *c)
{
    free(c->list);
    free(c->text);
}

const char *case_get(const struct test_case *t, const char *key)
{
    for (size_t i = 0; i < t->n_keys; i++) {
        if (cm_z_eq(t->keys[i].key, key))
            return t->keys[i].value;
    }
    return NULL;
}

/* ---- the host ---- */

struct answer {
    uint32_t id;
    bool failed, execute;
    double due; /* a timer's milliseconds; 0 for everything else */
    struct cm_own_value value;
};

struct host {
    struct outcome *out;
    struct answer queue[QUEUE_MAX];
    size_t n;
    bool jumble;
    bool columns; /* a call's place is told with its column */
};

static void push(struct host *h, struct answer a)
{
    if (h->n == QUEUE_MAX)
        die("host", "too many calls outstanding");
    h->queue[h->n++] = a;
}

static struct cm_own_value own(const char *json, const char *marks)
{
    return cm_value_dup((struct cm_value){cm_str_of(json), cm_str_of(marks)});
}

/* A server that has an answer, and one that may not be reached. */
static void answer_fetch(struct host *h, uint32_t id, struct cm_str method)
{
    if (cm_str_eq_z(method, "delete"))
        push(h,
             (struct answer){.id = id,
                             .failed = true,
                             .value = own("{\"message\":\"that host is not allowed\",\"name\":\"TypeError\"}",
                                          "{\"\":\"error\"}")});
    else
        push(h,
             (struct answer){
                 .id = id,
                 .value = own("{\"status\":201,\"statusText\":\"Made\",\"url\":\"https://b.example/"
                              "\",\"redirected\":true,"
                              "\"headers\":[[\"Content-Type\",\"application/json\"],[\"set-cookie\",\"a=1\"],"
                              "[\"set-cookie\",\"b=2\"]],\"body\":\"eyJvayI6dHJ1ZX0=\"}",
                              "{\"/body\":\"bytes\"}")});
}

static void answer_tool(struct host *h, uint32_t id, struct cm_str method, struct cm_value args)
{
    if (cm_str_eq_z(method, "hang"))
        return;
    if (cm_str_eq_z(method, "echo"))
        push(h, (struct answer){.id = id, .value = cm_value_dup(args)});
    else if (cm_str_eq_z(method, "list"))
        push(h, (struct answer){.id = id, .value = own("[{\"id\":1,\"size\":2},{\"id\":2,\"size\":3}]", "")});
    else if (cm_str_eq_z(method, "fail"))
        push(h, (struct answer){
                    .id = id,
                    .failed = true,
                    .value = own("{\"code\":\"E_404\",\"message\":\"no issue 7\",\"name\":\"NotFoundError\","
                                 "\"status\":404}",
                                 "{\"\":\"error\"}")});
    else
        push(h,
             (struct answer){
                 .id = id,
                 .failed = true,
                 .value = own("{\"name\":\"TypeError\",\"message\":\"no such method; did you mean echo?\"}",
                              "{\"\":\"error\"}")});
}

static void on_call(void *user, uint32_t id, unsigned kind, struct cm_str connector, struct cm_str method,
                    struct cm_value args, struct cm_call_place at)
{
    static const char *const names[] = {"tool", "step", "search", "describe", "timer"};
    struct host *h = user;
    struct cm_buf *b = &h->out->calls;

    if (kind == 0)
        cm_buf_addf(b, "%.*s.%.*s", CM_STR_ARG(connector), CM_STR_ARG(method));
    else
        cm_buf_addf(b, "%s%s%.*s", names[kind], method.len ? " " : "", CM_STR_ARG(method));
    cm_buf_addf(b, "%s%.*s%s%.*s", args.json.len ? " " : "", CM_STR_ARG(args.json), args.marks.len ? " " : "",
                CM_STR_ARG(args.marks));
    if (at.line)
        cm_buf_addf(b, " @%u", at.line);
    if (at.line && h->columns)
        cm_buf_addf(b, ":%u", at.column);
    if (at.step)
        cm_buf_addf(b, " in step %u", at.step);
    cm_buf_add_char(b, '\n');
    if (kind == 0 && cm_str_eq_z(connector, "fetch"))
        answer_fetch(h, id, method);
    else if (kind == 0)
        answer_tool(h, id, method, args);
    else if (kind == 1)
        push(h, (struct answer){.id = id, .execute = true, .value = own("", "")});
    else if (kind == 4)
        push(h, (struct answer){.id = id, .due = strtod(args.json.ptr, NULL) + 1, .value = own("", "")});
    else
        push(h, (struct answer){.id = id, .value = cm_value_dup(args)});
}

static void on_step_end(void *user, uint32_t id, bool failed, struct cm_value value)
{
    struct host *h = user;

    cm_buf_addf(&h->out->calls, "step-end%s %.*s%s%.*s\n", failed ? " failed" : "", CM_STR_ARG(value.json),
                value.marks.len ? " " : "", CM_STR_ARG(value.marks));
    push(h, (struct answer){.id = id, .failed = failed, .value = cm_value_dup(value)});
}

static void on_log(void *user, unsigned level, struct cm_str text)
{
    struct host *h = user;

    cm_buf_addf(&h->out->logs, "%u ", level);
    add_folded(&h->out->logs, text);
    cm_buf_add_char(&h->out->logs, '\n');
}

static void on_cancel(void *user, uint32_t id)
{
    struct host *h = user;

    for (size_t i = 0; i < h->n; i++) {
        if (h->queue[i].id == id) {
            cm_value_done(&h->queue[i].value);
            h->queue[i] = h->queue[--h->n];
            return;
        }
    }
    die("host", "a timer was cleared that is not outstanding");
}

/* Everything else before timers, timers by their time. */
static size_t pick(const struct host *h)
{
    size_t best = 0;

    for (size_t i = 1; i < h->n; i++) {
        if (h->queue[i].due < h->queue[best].due || (h->jumble && h->queue[i].due == h->queue[best].due))
            best = i;
    }
    return best;
}

const char *case_bind(const struct test_case *t)
{
    static const char bind[] =
        "{\"connectors\":[{\"name\":\"demo\",\"methods\":[\"echo\",\"fail\",\"hang\",\"list\"]},"
        "{\"name\":\"any\",\"methods\":null}]}";

    return case_get(t, "bind") ? case_get(t, "bind") : bind;
}

/* The program with the line ends and the mark that its keys ask for: files of the tree have neither. Owned. */
static char *program_of(const struct test_case *t)
{
    cm_autobuf b = CM_BUF_INIT(CASE_FILE_MAX);
    bool crlf = case_get(t, "crlf") != NULL;

    if (case_get(t, "bom"))
        cm_buf_add_z(&b, "\xef\xbb\xbf");
    for (const char *p = t->program; *p; p++) {
        if (crlf && *p == '\n')
            cm_buf_add_char(&b, '\r');
        cm_buf_add_char(&b, *p);
    }
    return cm_buf_take(&b, NULL);
}

void case_run(cm_engine *e, const struct test_case *t, struct outcome *out)
{
    static const struct cm_realm_host host = {on_call, on_step_end, on_log, on_cancel};
    struct host *h = cm_new(struct host);
    cm_auto(cm_realm) r = NULL;
    cm_autofree char *program = program_of(t);
    struct cm_realm_opts opts = {
        .source = cm_str_of(program),
        .bind_json = cm_str_of(case_bind(t)),
        .input = {cm_str_of(case_get(t, "input")), CM_STR("")},
        .seed = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
        .now_ms = START_MS,
        .host = &host,
        .user = h,
    };
    int64_t now = START_MS;
    struct cm_err err;

    *out = (struct outcome){.logs = CM_BUF_INIT(CASE_FILE_MAX), .calls = CM_BUF_INIT(CASE_FILE_MAX)};
    h->out = out;
    h->jumble = case_get(t, "jumble") != NULL;
    h->columns = case_get(t, "columns") != NULL;
    if (cm_realm_start(e, &opts, &r, &err) != CM_OK)
        die(t->name, err.message);
    for (uint32_t draw = 0; cm_realm_state(r) == CM_REALM_WAITING && h->n > 0;) {
        size_t i = pick(h);
        struct answer a = h->queue[i];

        memmove(&h->queue[i], &h->queue[i + 1], (--h->n - i) * sizeof(a));
        if (cm_realm_deliver(r, a.id, a.failed, a.execute, cm_value_view(&a.value), now += 10, ++draw,
                             &err) != CM_OK)
            die(t->name, err.message);
        cm_value_done(&a.value);
    }
    bool failed = false;
    if (cm_realm_has_ended(r, &failed) && cm_realm_finish(r, &err) != CM_OK)
        die(t->name, err.message);
    while (h->n > 0)
        cm_value_done(&h->queue[--h->n].value);
    out->waiting = cm_realm_state(r) == CM_REALM_WAITING;
    if (!out->waiting) {
        const struct cm_realm_result *result = cm_realm_result(r);

        out->failed = result->failed;
        out->json = cm_memdup_z(result->value.json.ptr, result->value.json.len);
        out->marks = cm_memdup_z(result->value.marks.ptr, result->value.marks.len);
        out->meta = cm_memdup_z(result->meta_json.ptr, result->meta_json.len);
    }
    free(h);
    for (size_t i = 0; i < t->n_keys; i++) {
        if (strcmp(t->keys[i].key, "log") != 0)
            unfold(t->keys[i].value);
    }
}

void outcome_done(struct outcome *o)
{
    free(o->json);
    free(o->marks);
    free(o->meta);
    cm_buf_done(&o->logs);
    cm_buf_done(&o->calls);
}
