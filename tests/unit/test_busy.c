/**
 * Programs that keep the engine busy where it does not look up (tests/cases/limits/busy): each ends at its
 * CPU limit, as that limit, whatever it did to hide it, with what it logged and called before; and another
 * runtime's programs go on meanwhile.
 *
 *     // what: what keeps it busy
 *     // end: the code of its end, or several divided by |; "threw": an error of its own
 *
 * What also takes memory may meet that limit first and says so. The time between limit and end is printed,
 * not judged: the machine may be busy with others.
 */
#include "base/fd.h"
#include "base/sanitize.h"

#include <dirent.h>
#include <stdio.h>

#include "sandbox_run.h"

#define CPU_MS    80
#define AT_A_TIME 3 /* more than there are processors: what waits for one must not be blamed for it */
#define PREFIX    "await svc.before({}); console.log('before'); "

struct busy {
    struct run run;
    char *name;
    char *program;
    char *end; /* borrows from program */
};

struct corpus {
    struct busy *all;
    size_t n;
};

/** The rest of the line "// key: " at the head of a program; fails the test where there is none. */
static char *take_head(const char *program, const char *name, const char *key)
{
    char mark[32];
    int n = snprintf(mark, sizeof mark, "// %s: ", key);
    const char *at = strstr(program, mark);

    if (!at)
        fail_msg("%s has no line '%s'", name, mark);
    return cm_memdup_z(at + n, strcspn(at + n, "\n"));
}

static int is_script(const struct dirent *d)
{
    size_t len = strlen(d->d_name);

    return len > 3 && cm_z_eq(d->d_name + len - 3, ".js");
}

static struct corpus load(void)
{
    const char *root = getenv("CM_SOURCE_ROOT");
    cm_autofree char *dir = cm_asprintf("%s/tests/cases/limits/busy", root ? root : ".");
    struct dirent **names = NULL;
    int n = scandir(dir, &names, is_script, alphasort);

    assert_true(n > 0);
    struct corpus c = {.all = cm_malloc((size_t)n * sizeof *c.all), .n = (size_t)n};
    for (int i = 0; i < n; i++) {
        cm_autofree char *path = cm_asprintf("%s/%s", dir, names[i]->d_name);
        cm_autofree char *text = NULL;

        assert_int_equal(cm_read_file(path, 1u << 20, &text, NULL, NULL), CM_OK);
        c.all[i] = (struct busy){
            .name = cm_strdup(names[i]->d_name),
            .program = cm_asprintf("%s%s", PREFIX, text),
            .end = take_head(text, names[i]->d_name, "end"),
        };
        free(take_head(text, names[i]->d_name, "what"));
        free(names[i]);
    }
    free(names);
    return c;
}

static void free_corpus(struct corpus *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->all[i].name);
        free(c->all[i].program);
        free(c->all[i].end);
    }
    free(c->all);
}

static bool is_one_of(const char *list, const char *name)
{
    cm_autofree char *copied = cm_strdup(list);
    char *save = NULL;

    for (char *one = strtok_r(copied, "|", &save); one; one = strtok_r(NULL, "|", &save)) {
        if (cm_z_eq(one, name))
            return true;
    }
    return false;
}

/** What is wrong with how it ended; NULL: nothing. */
static const char *judge(const struct busy *b)
{
    const struct run *r = &b->run;

    /* A sanitizer's allocator ends the process where the kernel's limit, which it excludes, would have. */
    bool instead = CM_SANITIZED && strstr(b->end, "memory_limit") && cm_z_eq(r->code, "crashed");
    const char *end = r->kind == CM_PASS_THREW && !r->code[0] ? "threw" : r->code;
    if (!instead && !is_one_of(b->end, end))
        return "ended otherwise";
    if (r->n_calls == 0)
        return "its call was not seen";
    if (!r->logs.ptr || strncmp(r->logs.ptr, "before\n", strlen("before\n")) != 0)
        return "its log is lost";
    if (cm_z_eq(r->code, "cpu_limit") && !strstr(r->message, "limits.cpuMs"))
        return "the message does not name the limit";
    return NULL;
}

struct figures {
    unsigned n_bad, n_beside, n_cpu;
    uint64_t over_us, worst_us;
    const char *worst;
};

static void take_figures(struct figures *f, const struct busy *b)
{
    if (!cm_z_eq(b->run.code, "cpu_limit"))
        return;
    uint64_t over = b->run.cpu_us > CPU_MS * 1000 ? b->run.cpu_us - CPU_MS * 1000 : 0;
    f->n_cpu++;
    f->over_us += over;
    if (over >= f->worst_us) {
        f->worst_us = over;
        f->worst = b->name;
    }
    /* Early is wrong whatever the machine does. */
    if (b->run.cpu_us < CPU_MS * 1000) {
        print_error("%s: ended after %llu us\n", b->name, (unsigned long long)b->run.cpu_us);
        f->n_bad++;
    }
}

/** Run some at once, and beside them one of another runtime. */
static void run_some(struct world *w, struct busy *some, size_t n, struct figures *f)
{
    struct cm_limits limits = CM_LIMITS_DEFAULT;
    struct run other = {.loop = w->loop, .answer = true};
    bool beside = false;

    limits.cpu_ms = CPU_MS;
    for (size_t i = 0; i < n; i++) {
        some[i].run = (struct run){.loop = w->loop, .answer = true};
        start(w->sb, &some[i].run, "busy", some[i].program, &limits);
    }
    /* The last to begin is at it: its call has been answered. */
    while (some[n - 1].run.n_calls == 0 && !some[n - 1].run.ended)
        assert_true(cm_loop_once(w->loop));
    start(w->sb, &other, "other", "return await svc.quick({})", NULL);
    while (!other.ended)
        assert_true(cm_loop_once(w->loop));
    for (size_t i = 0; i < n; i++)
        beside = beside || !some[i].run.ended;
    f->n_beside += beside;
    assert_int_equal(other.kind, CM_PASS_COMPLETED);
    cm_buf_done(&other.logs);
    for (size_t i = 0; i < n; i++) {
        struct run *r = &some[i].run;
        while (!r->ended)
            assert_true(cm_loop_once(w->loop));
        const char *wrong = judge(&some[i]);
        if (wrong)
            print_error("%s: %s: kind %d code '%s' message '%s' value '%.80s' meta '%s'\n", some[i].name,
                        wrong, (int)r->kind, r->code, r->message, r->value, r->meta);
        f->n_bad += wrong != NULL;
        take_figures(f, &some[i]);
        cm_buf_done(&r->logs);
    }
}

static void a_busy_program_ends_at_its_cpu_limit_whatever_it_does(void **state)
{
    (void)state;
    struct world w = open_world(&(struct cm_sandbox_opts){.pool_size = AT_A_TIME});
    struct corpus c = load();
    struct figures f = {0};
    unsigned n_groups = 0;

    expect(w.loop, w.sb, "return 1", "1");
    for (size_t i = 0; i < c.n; i += AT_A_TIME, n_groups++)
        run_some(&w, c.all + i, c.n - i < AT_A_TIME ? c.n - i : AT_A_TIME, &f);
    print_message("# %zu programs, %u ended by the CPU limit; CPU beyond it: %.1f ms on average, at most "
                  "%.1f ms (%s)\n",
                  c.n, f.n_cpu, f.n_cpu ? (double)f.over_us / 1000 / f.n_cpu : 0, (double)f.worst_us / 1000,
                  f.worst ? f.worst : "none");
    print_message("# beside them: %u of %u other runs ended first\n", f.n_beside, n_groups);
    assert_int_equal(f.n_bad, 0);
    assert_true(c.n > 100);
    /*
     * Each takes a millisecond of a processor that three others want; that all of them were last cannot be.
     */
    assert_true(f.n_beside > 0);
    free_corpus(&c);
    close_world(&w);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_busy_program_ends_at_its_cpu_limit_whatever_it_does),
    };

    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests_name("busy", tests, NULL, NULL);
}
