/**
 * A record matched with what a program does, from data: each file of tests/cases/replay is a record and a conversation, line by line.
 *
 *   row SEQ PARENT KIND NAME ARGS STATE [delivery=N] [outcome] [asked=ARGS] [ordinal=N]
 *   damaged TEXT                          the record is refused; TEXT is in the reason
 *   issue PARENT KIND NAME ARGS -> row N | new N | diverges     the call as the program makes it now, and what it is
 *   says TEXT                             TEXT is in the words of the last divergence
 *   next -> N | none                      what is to be delivered now; it counts as delivered
 *   starts -> N                           the same, but the function of a step is to be run
 *   refresh N, fresh N, drop N            the outcome is asked for anew; has come; the timer was cleared
 *   live -> yes | no
 *   missing -> N | none
 *
 * PARENT is a number or "-". NAME is connector.method. Everything after # is a comment.
 */
#include "base/fd.h"
#include "base/parse.h"
#include "runtime/replay.h"
#include "wire/wire.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "unit.h"

#define WORDS_MAX  12
#define FILE_BYTES (1u << 16)

struct talk {
    rt_replay *r;
    bool begun;
    uint32_t n_children[64]; /* by parent + 1 */
    struct cm_err err;
    const char *file;
    int line;
};

#define WRONG(t, ...)                                 \
    do {                                              \
        print_error("%s:%d: ", (t)->file, (t)->line); \
        fail_msg(__VA_ARGS__);                        \
    } while (0)

static uint32_t number(const char *text)
{
    uint32_t n = 0;

    assert_int_equal(cm_parse_u32(cm_str_of(text), &n, NULL), CM_OK);
    return n;
}

static uint8_t kind_of(const struct talk *t, const char *word)
{
    static const char *const kinds[] = {"tool", "step", "search", "describe", "timer"};

    for (uint8_t i = 0; i < CM_ARRAY_LEN(kinds); i++)
        if (cm_z_eq(word, kinds[i]))
            return i;
    WRONG(t, "no kind '%s'", word);
    return 0;
}

static int64_t parent_of(const char *word)
{
    return cm_z_eq(word, "-") ? -1 : (int64_t)number(word);
}

/** Arguments, whose hash is here the text itself. */
static struct cm_value value_of(const char *json)
{
    return (struct cm_value){cm_str_of(json), CM_STR("")};
}

static enum cm_call_state state_of(const struct talk *t, const char *word)
{
    for (unsigned i = 0; i < CM_CALL_STATE_COUNT_; i++)
        if (cm_z_eq(word, cm_call_state_text(i)))
            return i;
    WRONG(t, "no state '%s'", word);
    return 0;
}

static void split_name(char *name, const char **connector, const char **method)
{
    char *dot = strchr(name, '.');

    assert_non_null(dot);
    *dot = 0;
    *connector = name;
    *method = dot + 1;
}

static void add_row(struct talk *t, char **w, size_t n)
{
    struct cm_call_row row = {.seq = number(w[1]),
                              .parent_seq = parent_of(w[2]),
                              .kind = kind_of(t, w[3]),
                              .args = value_of(w[5]),
                              .args_hash = w[5],
                              .asked_hash = "",
                              .decision = "execute",
                              .rule = "default"};

    split_name(w[4], &row.connector, &row.method);
    row.state = state_of(t, w[6]);
    for (size_t i = 7; i < n; i++) {
        if (cm_z_eq(w[i], "outcome")) {
            row.has_outcome = true;
            row.outcome = value_of("1");
        } else if (strncmp(w[i], "delivery=", 9) == 0) {
            row.delivery = number(w[i] + 9);
        } else if (strncmp(w[i], "ordinal=", 8) == 0) {
            row.ordinal = number(w[i] + 8);
        } else if (strncmp(w[i], "asked=", 6) == 0) {
            row.asked = value_of(w[i] + 6);
            row.asked_hash = w[i] + 6;
        } else {
            WRONG(t, "no such part of a row: '%s'", w[i]);
        }
    }
    rt_replay_add(t->r, &row);
}

static void begin(struct talk *t)
{
    if (t->begun)
        return;
    t->begun = true;
    if (rt_replay_begin(t->r, &t->err) != CM_OK)
        WRONG(t, "%s", t->err.message);
}

static void issue(struct talk *t, char **w, size_t n)
{
    struct rt_issue is = {
        .parent_seq = parent_of(w[1]), .kind = kind_of(t, w[2]), .args = value_of(w[4]), .hash = w[4]};
    struct rt_entry *e = NULL;
    uint32_t seq = 0;
    cm_status st;

    split_name(w[3], &is.connector, &is.method);
    is.ordinal = ++t->n_children[is.parent_seq + 1];
    st = rt_replay_issue(t->r, &is, &e, &seq, &t->err);
    if (cm_z_eq(w[6], "diverges")) {
        if (st != CM_E_CONFLICT)
            WRONG(t, "it did not diverge");
        return;
    }
    if (st != CM_OK)
        WRONG(t, "%s", t->err.message);
    if (n != 8 || (e != NULL) != cm_z_eq(w[6], "row") || seq != number(w[7]))
        WRONG(t, "it is %s %u", e ? "row" : "new", seq);
}

static void expect_next(struct talk *t, const char *want, bool starts)
{
    struct rt_entry *e = rt_replay_next(t->r);

    if (cm_z_eq(want, "none")) {
        if (e)
            WRONG(t, "it is %u", e->row.seq);
        return;
    }
    if (!e || e->row.seq != number(want))
        WRONG(t, "it is %d", e ? (int)e->row.seq : -1);
    if (rt_entry_starts(e) != starts)
        WRONG(t, "%s", starts ? "it is an outcome" : "it starts a function");
    e->given = true;
}

static struct rt_entry *entry(struct talk *t, const char *seq)
{
    struct rt_entry *e;

    for (size_t i = 0; (e = rt_replay_entry(t->r, i)); i++)
        if (e->row.seq == number(seq))
            return e;
    WRONG(t, "no row %s", seq);
    return NULL;
}

static void expect_word(struct talk *t, const char *want, const char *is)
{
    if (!cm_z_eq(want, is))
        WRONG(t, "it is %s", is);
}

static void command(struct talk *t, char **w, size_t n, const char *rest)
{
    const struct rt_entry *missing;
    char number[16];

    if (cm_z_eq(w[0], "row")) {
        add_row(t, w, n);
    } else if (cm_z_eq(w[0], "damaged")) {
        t->begun = true;
        if (rt_replay_begin(t->r, &t->err) != CM_E_INVALID || !strstr(t->err.message, rest))
            WRONG(t, "it says: %s", t->err.message);
    } else if (cm_z_eq(w[0], "says")) {
        if (!strstr(t->err.message, rest))
            WRONG(t, "it says: %s", t->err.message);
    } else {
        begin(t);
        if (cm_z_eq(w[0], "issue"))
            issue(t, w, n);
        else if (cm_z_eq(w[0], "next") || cm_z_eq(w[0], "starts"))
            expect_next(t, w[2], cm_z_eq(w[0], "starts"));
        else if (cm_z_eq(w[0], "refresh") || cm_z_eq(w[0], "fresh"))
            entry(t, w[1])->refreshing = cm_z_eq(w[0], "refresh");
        else if (cm_z_eq(w[0], "drop"))
            rt_replay_drop(entry(t, w[1]));
        else if (cm_z_eq(w[0], "live"))
            expect_word(t, w[2], rt_replay_is_live(t->r) ? "yes" : "no");
        else if (cm_z_eq(w[0], "missing")) {
            missing = rt_replay_missing(t->r);
            (void)snprintf(number, sizeof number, "%u", missing ? missing->row.seq : 0);
            expect_word(t, w[2], missing ? number : "none");
        } else
            WRONG(t, "no command '%s'", w[0]);
    }
}

static void talk(const char *file, char *text)
{
    struct talk t = {.r = rt_replay_new(), .file = file};
    char *save = NULL;

    for (char *line = text, *end; line && *line; line = end ? end + 1 : NULL) {
        char *words[WORDS_MAX] = {0};
        size_t n = 0;

        t.line++;
        end = strchr(line, '\n');
        if (end)
            *end = 0;
        line[strcspn(line, "#")] = 0;

        cm_autofree char *copy = cm_strdup(line);
        const char *space = strchr(copy, ' ');
        for (char *w = strtok_r(line, " ", &save); w && n < WORDS_MAX; w = strtok_r(NULL, " ", &save))
            words[n++] = w;
        if (n > 0)
            command(&t, words, n, space ? space + 1 : "");
    }
    rt_replay_free(t.r);
}

static void every_record_is_matched_as_its_file_says(void **state)
{
    cm_autofree char *dir = cm_asprintf("%s/tests/cases/replay", getenv("CM_SOURCE_ROOT"));
    DIR *d = opendir(dir);
    struct dirent *entry;
    int n = 0;

    (void)state;
    assert_non_null(d);
    while ((entry = readdir(d))) {
        cm_autofree char *path = cm_asprintf("%s/%s", dir, entry->d_name), *text = NULL;
        struct cm_err err = {0};
        size_t len = 0;

        if (!strstr(entry->d_name, ".txt"))
            continue;
        if (cm_read_file(path, FILE_BYTES, &text, &len, &err) != CM_OK)
            fail_msg("%s", err.message);
        talk(entry->d_name, text);
        n++;
    }
    (void)closedir(d);
    assert_true(n >= 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_is_matched_as_its_file_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
