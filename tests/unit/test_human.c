/**
 * What people decide, as files: tests/cases/human. Each is a program, what people say while it waits, and what then stands there in the
 * end. It runs in every way in which a paused run can go on, and the outcome is the same in all of them, but for times.
 *
 *     program:        JavaScript
 *     people:         one line each; ` => STATUS WORDS` where it must be refused with these words
 *       pending N[: METHOD ARGS]      so many wait; the first of them is shown so
 *       approve [SEQ…] [args JSON | hash shown | hash TEXT]
 *       reject [SEQ…] [reason TEXT]
 *       cancel | expire | deny PATTERN
 *     expect:         status, result, error CODE WORDS, logs, calls STATE…, effects
 */
#include "base/fd.h"
#include "human_world.h"

#include <dirent.h>

struct scene {
    char *title, *program, *people, *expect;
};

/* ---- files ---- */

static char *section(const char *text, const char *name, const char *next)
{
    const char *at = strstr(text, name), *end;

    assert_non_null(at);
    at += strlen(name);
    end = next ? strstr(at, next) : at + strlen(at);
    assert_non_null(end);
    return cm_memdup_z(at, (size_t)(end - at));
}

static void read_scene(const char *path, struct scene *s)
{
    cm_autofree char *text = NULL;
    struct cm_err err = {0};

    if (cm_read_file(path, 1u << 20, &text, NULL, &err) != CM_OK)
        fail_msg("%s", err.message);
    s->title = section(text, "", "\n");
    s->program = section(text, "\nprogram:\n", "\npeople:\n");
    s->people = section(text, "\npeople:\n", "\nexpect:\n");
    s->expect = section(text, "\nexpect:\n", NULL);
}

static void scene_done(struct scene *s)
{
    free(s->title);
    free(s->program);
    free(s->people);
    free(s->expect);
}

/* ---- people ---- */

#define SAY(cond, ...)                  \
    do {                                \
        if (!(cond)) {                  \
            print_message(__VA_ARGS__); \
            print_message("\n");        \
            return false;               \
        }                               \
    } while (0)

static yyjson_doc *list_pending(struct world *w)
{
    cm_autobuf out = CM_BUF_INIT(1u << 20);
    struct cm_err err = {0};
    yyjson_doc *doc = NULL;

    if (cm_runtime_pending(w->rt, w->id, &out, &err) != CM_OK)
        fail_msg("%s", err.message);
    assert_int_equal(cm_json_parse(cm_buf_str(&out), CM_JSON_STRICT, &doc, NULL), CM_OK);
    return doc;
}

/** Of a file of ours, and small. */
static uint32_t read_number(const char **at)
{
    uint32_t n = 0;

    for (; **at >= '0' && **at <= '9'; ++*at)
        n = 10 * n + (uint32_t)(**at - '0');
    return n;
}

static bool check_pending(struct world *w, const char *rest)
{
    cm_auto(yyjson_doc) doc = list_pending(w);
    yyjson_val *list = cm_json_get(yyjson_doc_get_root(doc), "pending");
    uint32_t n = read_number(&rest);
    const char *colon = strchr(rest, ':');
    cm_autobuf shown = CM_BUF_INIT(1u << 20);

    SAY(yyjson_arr_size(list) == n, "# %zu are pending, not %u", yyjson_arr_size(list), n);
    if (!colon)
        return true;
    cm_buf_addf(&shown, "%s ", cm_json_get_z(yyjson_arr_get_first(list), "method"));
    cm_json_write(&shown, cm_json_get(yyjson_arr_get_first(list), "args"));
    SAY(cm_str_eq_z(cm_buf_str(&shown), colon + 2), "# shown as %s", shown.ptr);
    return true;
}

/** The hash that is shown of one call, owned. */
static char *shown_hash(struct world *w, uint32_t seq)
{
    cm_auto(yyjson_doc) doc = list_pending(w);
    yyjson_val *list = cm_json_get(yyjson_doc_get_root(doc), "pending"), *v;
    yyjson_arr_iter it;

    yyjson_arr_iter_init(list, &it);
    while ((v = yyjson_arr_iter_next(&it)))
        if (yyjson_get_uint(cm_json_get(v, "seq")) == seq)
            return cm_strdup(cm_json_get_z(v, "argsHash"));
    return cm_strdup("");
}

/** "0 2 args {…}" */
static void read_decision(struct world *w, const char *rest, struct cm_decide *d, uint32_t seqs[8],
                          char **hash)
{
    *d = (struct cm_decide){.id = w->id, .seqs = seqs, .by = "a test"};
    for (;;) {
        while (*rest == ' ')
            rest++;
        if (*rest >= '0' && *rest <= '9' && d->n_seqs < 8)
            seqs[d->n_seqs++] = read_number(&rest);
        else
            break;
    }
    if (strncmp(rest, "args ", 5) == 0)
        d->args_json = cm_str_of(rest + 5);
    else if (strncmp(rest, "reason ", 7) == 0)
        d->reason = rest + 7;
    else if (strncmp(rest, "hash ", 5) == 0)
        d->hash = *hash = cm_z_eq(rest + 5, "shown") ? shown_hash(w, seqs[0]) : cm_strdup(rest + 5);
    else
        assert_string_equal(rest, "");
}

static bool is_refused(cm_status st, const struct cm_err *err, const char *refusal)
{
    static const struct {
        const char *name;
        cm_status st;
    } names[] = {{"conflict", CM_E_CONFLICT},
                 {"invalid", CM_E_INVALID},
                 {"not_found", CM_E_NOT_FOUND},
                 {"denied", CM_E_DENIED}};
    size_t len = strcspn(refusal, " ");

    for (size_t i = 0; i < CM_ARRAY_LEN(names); i++)
        if (strlen(names[i].name) == len && memcmp(names[i].name, refusal, len) == 0)
            SAY(st == names[i].st, "# status %d: %s", (int)st, err->message);
    if (refusal[len])
        SAY(strstr(err->message, refusal + len + 1), "# refused with: %s", err->message);
    return true;
}

static bool decide(struct world *w, struct waiter *k, bool approve, const char *rest, const char *refusal)
{
    cm_autofree char *hash = NULL;
    struct cm_decide d;
    uint32_t seqs[8];
    struct cm_err err = {0};
    cm_status st;

    read_decision(w, rest, &d, seqs, &hash);
    k->told = false;
    st = approve ? cm_runtime_approve(w->rt, &d, on_told, k, &k->exec, &err)
                 : cm_runtime_reject(w->rt, &d, on_told, k, &k->exec, &err);
    if (refusal)
        return is_refused(st, &err, refusal);
    SAY(st == CM_OK, "# %s", err.message);
    assert_false(k->told); /* never from inside */
    await_told(k);
    SAY(!k->err.message[0], "# told: %s", k->err.message);
    return true;
}

static bool act(struct world *w, struct waiter *k, char *line)
{
    char *arrow = strstr(line, " => ");
    const char *refusal = arrow ? arrow + 4 : NULL;
    struct cm_err err = {0};

    if (arrow)
        *arrow = '\0';
    if (strncmp(line, "pending ", 8) == 0)
        return check_pending(w, line + 8);
    if (strncmp(line, "deny ", 5) == 0) {
        set_policy(w, line + 5);
        return true;
    }
    go_the_way(w);
    if (strncmp(line, "approve", 7) == 0 || strncmp(line, "reject", 6) == 0)
        return decide(w, k, line[0] == 'a', line + (line[0] == 'a' ? 7 : 6), refusal);
    if (cm_z_eq(line, "expire")) {
        /* Strictly older than the limit: this is a millisecond more. */
        SAY(cm_runtime_expire(w->rt, cm_now_ms() + TTL_MS + 1, &err) == CM_OK, "# %s", err.message);
        return true;
    }
    assert_string_equal(line, "cancel");
    cm_status st = cm_runtime_cancel(w->rt, w->id, &err);
    if (refusal)
        return is_refused(st, &err, refusal);
    SAY(st == CM_OK, "# %s", err.message);
    return true;
}

/* ---- what stands there in the end ---- */

static char *outcome_of(struct world *w)
{
    cm_autobuf out = CM_BUF_INIT(1u << 20);
    struct cm_err err = {0};

    if (cm_runtime_execution(w->rt, w->id, &out, &err) != CM_OK)
        fail_msg("%s", err.message);
    return cm_memdup_z(out.ptr, out.len);
}

/** "status completed\nresult …\n" as a file says it. */
static char *summary(struct world *w, const char *outcome)
{
    cm_auto(yyjson_doc) doc = NULL;
    cm_autobuf b = CM_BUF_INIT(1u << 20);
    yyjson_val *o, *v, *error;
    yyjson_arr_iter it;

    assert_int_equal(cm_json_parse(cm_str_of(outcome), CM_JSON_STRICT, &doc, NULL), CM_OK);
    o = yyjson_doc_get_root(doc);
    cm_buf_addf(&b, "status %s\n", cm_json_get_z(o, "status"));
    for (size_t i = 0; i < 2; i++) {
        static const char *const keys[] = {"result", "logs"};

        if (!cm_json_get(o, keys[i]))
            continue;
        cm_buf_addf(&b, "%s ", keys[i]);
        cm_json_write(&b, cm_json_get(o, keys[i]));
        cm_buf_add_char(&b, '\n');
    }
    error = cm_json_get(o, "error");
    if (error)
        cm_buf_addf(&b, "error %s %s\n", cm_json_get_z(error, "code") ? cm_json_get_z(error, "code") : "-",
                    cm_json_get_z(error, "message"));
    cm_buf_add_z(&b, "calls");
    yyjson_arr_iter_init(cm_json_get(o, "calls"), &it);
    while ((v = yyjson_arr_iter_next(&it)))
        cm_buf_addf(&b, " %s", cm_json_get_z(v, "state"));
    cm_buf_addf(&b, "\neffects %.*s\n", CM_STR_ARG(cm_buf_str(&w->effects)));
    return cm_memdup_z(b.ptr, b.len);
}

static size_t line_len(const char *at)
{
    return strcspn(at, "\n");
}

/** Line by line; of an error, that its message has the words. */
static bool fits(const char *want, const char *got)
{
    while (*want && *got) {
        size_t wn = line_len(want), gn = line_len(got);
        bool same = wn == gn && memcmp(want, got, wn) == 0;

        if (strncmp(want, "error ", 6) == 0 && strncmp(got, "error ", 6) == 0) {
            size_t code = 6 + strcspn(want + 6, " \n");
            cm_autofree char *words = cm_memdup_z(want + code, wn > code ? wn - code : 0);
            cm_autofree char *message = cm_memdup_z(got, gn);

            same = gn >= code && memcmp(want, got, code) == 0 && strstr(message, words[0] ? words + 1 : "");
        }
        /* An empty list has no space behind its name in a file that somebody tidied. */
        if (!same && !(wn + 1 == gn && memcmp(want, got, wn) == 0 && got[wn] == ' '))
            return false;
        want += wn + (want[wn] == '\n');
        got += gn + (got[gn] == '\n');
    }
    return !*want && !*got;
}

static void strip_times(yyjson_mut_val *v)
{
    static const char *const keys[] = {"executionId", "startedAt", "endedAt", "createdAt",
                                       "updatedAt",   "decidedAt", "stack"};
    yyjson_mut_obj_iter it;
    yyjson_mut_arr_iter ai;
    yyjson_mut_val *k, *e;

    if (yyjson_mut_is_arr(v)) {
        yyjson_mut_arr_iter_init(v, &ai);
        while ((e = yyjson_mut_arr_iter_next(&ai)))
            strip_times(e);
    }
    if (!yyjson_mut_is_obj(v))
        return;
    for (size_t i = 0; i < CM_ARRAY_LEN(keys); i++)
        (void)yyjson_mut_obj_remove_key(v, keys[i]);
    yyjson_mut_obj_iter_init(v, &it);
    while ((k = yyjson_mut_obj_iter_next(&it)))
        strip_times(yyjson_mut_obj_iter_get_val(k));
}

static char *without_times(const char *outcome)
{
    cm_auto(yyjson_doc) doc = NULL;
    cm_auto(yyjson_mut_doc) mut = NULL;

    assert_int_equal(cm_json_parse(cm_str_of(outcome), CM_JSON_STRICT, &doc, NULL), CM_OK);
    mut = yyjson_doc_mut_copy(doc, NULL);
    strip_times(yyjson_mut_doc_get_root(mut));
    return yyjson_mut_write(mut, YYJSON_WRITE_PRETTY_TWO_SPACES, NULL);
}

/* ---- cases ---- */

static bool play(struct world *w, const struct scene *s, char **outcome)
{
    struct waiter k;
    cm_autofree char *people = cm_strdup(s->people);
    cm_autofree char *got = NULL;
    bool good = true;
    char *rest = NULL;

    start(w, &k, cm_str_of(s->program));
    await_told(&k);
    for (char *line = strtok_r(people, "\n", &rest); line && good; line = strtok_r(NULL, "\n", &rest)) {
        cm_autofree char *said = cm_strdup(line);

        good = act(w, &k, line);
        if (!good)
            print_message("# at: %s\n", said);
    }
    *outcome = outcome_of(w);
    got = summary(w, *outcome);
    if (good && !fits(s->expect, got)) {
        print_message("# expected\n%s# got\n%s", s->expect, got);
        good = false;
    }
    free(k.outcome);
    return good;
}

/** From the first line that differs. */
static void print_difference(const char *a, const char *b)
{
    size_t at = 0, line = 0;

    for (; a[at] && a[at] == b[at]; at++)
        line = a[at] == '\n' ? at + 1 : line;
    print_message("# one way:     %.*s\n# another way: %.*s\n", (int)line_len(a + line), a + line,
                  (int)line_len(b + line), b + line);
}

static bool play_each_way(const char *dir, const char *name)
{
    cm_autofree char *path = cm_asprintf("%s/%s", dir, name);
    cm_autofree char *before = NULL;
    struct scene s = {0};
    bool good = true;

    read_scene(path, &s);
    for (enum way way = HELD; way < N_WAYS && good; way++) {
        struct world w;
        cm_autofree char *outcome = NULL, *same = NULL;

        open_world(&w, way, NULL);
        good = play(&w, &s, &outcome);
        same = without_times(outcome);
        if (good && before && !cm_z_eq(before, same)) {
            print_difference(before, same);
            good = false;
        }
        if (!good)
            print_message("# %s, %s: %s\n", name, way_names[way], s.title);
        if (!before)
            before = cm_steal(&same);
        close_world(&w);
    }
    scene_done(&s);
    return good;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void every_scene_ends_as_written_whichever_way_it_goes_on(void **state)
{
    (void)state;
    const char *root = getenv("CM_SOURCE_ROOT"), *only = getenv("CM_ONLY");
    cm_autofree char *dir = cm_asprintf("%s/tests/cases/human", root ? root : ".");
    DIR *d = opendir(dir);
    char *names[128];
    size_t n = 0, failed = 0;

    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) && n < CM_ARRAY_LEN(names);)
        if (strstr(e->d_name, ".txt") && (!only || strstr(e->d_name, only)))
            names[n++] = cm_strdup(e->d_name);
    (void)closedir(d);
    assert_true(n >= 20 || only);
    qsort(names, n, sizeof *names, by_name);
    for (size_t i = 0; i < n; i++) {
        failed += !play_each_way(dir, names[i]);
        free(names[i]);
    }
    assert_int_equal(failed, 0);
}

static int tear_down(void **state)
{
    (void)state;
    close_sandbox();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scene_ends_as_written_whichever_way_it_goes_on),
    };

    return cmocka_run_group_tests(tests, NULL, tear_down);
}
