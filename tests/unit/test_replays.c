/**
 * Determinism: with the same seed, clock and outcomes a program does the same, byte for byte: calls with their arguments and places,
 * the ends of steps, console lines, warnings and the result; replay rests on this. Every third program of tests/cases runs twice in one
 * worker, every twelfth in each other isolation as well.
 */
#include "base/fd.h"
#include "base/sanitize.h"

#include <dirent.h>

#include "sandbox_run.h"

#define PROGRAMS_MAX  2000
#define PROGRAM_BYTES (1u << 16)
#define TRACE_BYTES   (4u << 20)
#define START_MS      1700000000000
#define STEP_MS       7 /* between two deliveries */
#define OPEN_MAX      512

/** ---- the host, whose answers follow from what it was asked ---- */

struct open_call {
    uint32_t id;
    enum cm_call_kind kind;
    struct cm_own_value answer;
    bool failed;
};

struct trace {
    struct cm_buf text;
    struct open_call open[OPEN_MAX];
    size_t n_open;
    int64_t now_ms;
    bool ended, limited;
};

static void add_value(struct trace *t, struct cm_value v)
{
    cm_buf_addf(&t->text, " json ");
    cm_buf_add_str(&t->text, v.json);
    cm_buf_addf(&t->text, " marks ");
    cm_buf_add_str(&t->text, v.marks);
    cm_buf_add_char(&t->text, '\n');
}

static struct cm_value answer_to(struct cm_str method, struct cm_value args, bool *failed)
{
    *failed = cm_str_eq(method, CM_STR("fail"));
    if (*failed)
        return (struct cm_value){CM_STR("{\"message\":\"refused\",\"name\":\"Error\"}"),
                                 CM_STR("{\"\":\"error\"}")};
    if (cm_str_eq(method, CM_STR("list")))
        return (struct cm_value){CM_STR("[{\"id\":1,\"name\":\"one\",\"size\":3},{\"id\":2}]"), CM_STR("")};
    return args.json.len ? args : (struct cm_value){CM_STR("null"), CM_STR("")};
}

static void trace_call(void *user, cm_pass *p, uint32_t id, enum cm_call_kind kind, struct cm_str connector,
                       struct cm_str method, struct cm_value args, struct cm_call_place at)
{
    struct trace *t = user;
    struct open_call *c = &t->open[t->n_open++];

    (void)p;
    assert_true(t->n_open < OPEN_MAX);
    cm_buf_addf(&t->text, "call %u kind %d %.*s.%.*s at %u:%u in %u", id, (int)kind, CM_STR_ARG(connector),
                CM_STR_ARG(method), at.line, at.column, at.step);
    add_value(t, args);
    *c = (struct open_call){.id = id, .kind = kind};
    c->answer = cm_value_dup(answer_to(method, args, &c->failed));
}

static void trace_step_end(void *user, cm_pass *p, uint32_t id, bool failed, struct cm_value value)
{
    struct trace *t = user;
    struct open_call *c = &t->open[t->n_open++];

    (void)p;
    assert_true(t->n_open < OPEN_MAX);
    cm_buf_addf(&t->text, "step %u failed %d", id, failed);
    add_value(t, value);
    *c = (struct open_call){.id = id, .kind = CM_CALL_TOOL, .answer = cm_value_dup(value), .failed = failed};
}

static void trace_log(void *user, cm_pass *p, enum cm_log_level level, struct cm_str text)
{
    struct trace *t = user;

    (void)p;
    cm_buf_addf(&t->text, "log %d ", (int)level);
    cm_buf_add_str(&t->text, text);
    cm_buf_add_char(&t->text, '\n');
}

static struct open_call take_call(struct trace *t, size_t i)
{
    struct open_call c = t->open[i];

    t->n_open--;
    memmove(&t->open[i], &t->open[i + 1], (t->n_open - i) * sizeof(t->open[0]));
    return c;
}

/** The last of those that wait is answered first: order is not that of issue. */
static void trace_wait(void *user, cm_pass *p, uint32_t outstanding)
{
    struct trace *t = user;

    cm_buf_addf(&t->text, "wait for %u\n", outstanding);
    assert_int_equal(outstanding, t->n_open);
    struct open_call c = take_call(t, t->n_open - 1);
    t->now_ms += STEP_MS;
    cm_pass_deliver(p, c.id, c.failed, c.kind == CM_CALL_STEP, cm_value_view(&c.answer), t->now_ms,
                    (uint32_t)(t->now_ms / STEP_MS));
    cm_value_done(&c.answer);
}

static void trace_end(void *user, cm_pass *p, const struct cm_pass_end *end)
{
    struct trace *t = user;

    (void)p;
    cm_buf_addf(&t->text, "end %d code '%s' message '%s' meta ", (int)end->kind, end->code, end->message);
    cm_buf_add_str(&t->text, end->meta_json);
    add_value(t, end->value);
    t->ended = true;
    /* Where a limit falls is a matter of time. */
    t->limited = end->kind != CM_PASS_COMPLETED && end->kind != CM_PASS_THREW;
}

static void trace_cancel(void *user, cm_pass *p, uint32_t id)
{
    struct trace *t = user;

    (void)p;
    cm_buf_addf(&t->text, "cancel %u\n", id);
    for (size_t i = 0; i < t->n_open; i++) {
        if (t->open[i].id != id)
            continue;
        struct open_call c = take_call(t, i);
        cm_value_done(&c.answer);
        return;
    }
}

static const struct cm_pass_events trace_events = {trace_call, trace_step_end, trace_log,
                                                   trace_wait, trace_end,      trace_cancel};

static void run_traced(struct world *w, const char *source, struct trace *t)
{
    static const char bind[] =
        "{\"connectors\":[{\"name\":\"demo\",\"methods\":[\"echo\",\"list\",\"fail\"]},"
        "{\"name\":\"any\",\"methods\":null},{\"name\":\"crm\",\"methods\":null},"
        "{\"name\":\"github\",\"methods\":null},{\"name\":\"weather\",\"methods\":null}]}";
    struct cm_pass_spec spec = {.runtime = "test",
                                .source = cm_str_of(source),
                                .bind_json = cm_str_of(bind),
                                .seed = {1, 2, 3, 4, 5, 6, 7, 8},
                                .now_ms = START_MS,
                                .limits = CM_LIMITS_DEFAULT};
    struct cm_err err = {0};
    cm_pass *p = NULL;

    *t = (struct trace){.text = CM_BUF_INIT(TRACE_BYTES), .now_ms = START_MS};
    spec.limits.cpu_ms = CM_SANITIZED ? 5000 : 1000;
    spec.limits.calls_in_flight = 200;
    if (cm_sandbox_start(w->sb, &spec, &trace_events, t, &p, &err) != CM_OK)
        fail_msg("%s", err.message);
    while (!t->ended)
        assert_true(cm_loop_once(w->loop) || t->ended);
    for (size_t i = 0; i < t->n_open; i++)
        cm_value_done(&t->open[i].answer);
    assert_false(t->text.failed);
}

/** ---- the programs ---- */

static struct {
    char *list[PROGRAMS_MAX];
    size_t n;
} programs;

/** The programs of a case file: between "=== " and the first line that begins with "--- ". */
static void add_programs(const char *text)
{
    const char *at = strncmp(text, "=== ", 4) == 0 ? text : strstr(text, "\n=== ");

    while (at) {
        const char *begin = strchr(at + 1, '\n');
        const char *next = begin ? strstr(begin, "\n=== ") : NULL;
        const char *end = begin ? strstr(begin, "\n--- ") : NULL;
        if (!begin)
            return;
        if (!end || (next && next < end))
            end = next ? next : begin + strlen(begin);
        assert_true(programs.n < PROGRAMS_MAX);
        programs.list[programs.n++] = cm_memdup_z(begin + 1, end > begin ? (size_t)(end - begin - 1) : 0);
        at = next;
    }
}

static bool ends_in(const char *name, const char *suffix)
{
    size_t len = strlen(name), n = strlen(suffix);

    return len >= n && cm_z_eq(name + len - n, suffix);
}

static void load_folder(const char *folder)
{
    const char *root = getenv("CM_SOURCE_ROOT");
    cm_autofree char *path = cm_asprintf("%s/tests/cases/%s", root ? root : ".", folder);
    DIR *dir = opendir(path);

    assert_non_null(dir);
    for (const struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        cm_autofree char *file = cm_asprintf("%s/%s", path, e->d_name);
        cm_autofree char *text = NULL;
        size_t len = 0;
        if (!ends_in(e->d_name, ".txt") && !ends_in(e->d_name, ".js"))
            continue;
        assert_int_equal(cm_read_file(file, PROGRAM_BYTES * 16, &text, &len, NULL), CM_OK);
        if (ends_in(e->d_name, ".txt"))
            add_programs(text);
        else
            programs.list[programs.n++] = cm_strdup(text);
    }
    (void)closedir(dir);
}

static int load_programs(void **state)
{
    static const char *const folders[] = {"programs", "normalize", "corpus", "reference", "runtime"};

    (void)state;
    for (size_t i = 0; i < CM_ARRAY_LEN(folders); i++)
        load_folder(folders[i]);
    return 0;
}

static int free_programs(void **state)
{
    (void)state;
    for (size_t i = 0; i < programs.n; i++)
        free(programs.list[i]);
    return 0;
}

/** ---- tests ---- */

static void expect_equal(const char *source, const struct trace *a, const struct trace *b)
{
    if (a->limited || b->limited || cm_str_eq(cm_buf_str(&a->text), cm_buf_str(&b->text)))
        return;
    fail_msg("not the same twice:\n%s\n---- once\n%.*s\n---- and then\n%.*s", source,
             CM_STR_ARG(cm_buf_str(&a->text)), CM_STR_ARG(cm_buf_str(&b->text)));
}

/** Each `step`-th program in the first world and then in the second, which may be the same. */
static void compare_worlds(struct world *first, struct world *second, size_t step)
{
    size_t n_compared = 0;

    for (size_t i = 0; i < programs.n; i += step) {
        struct trace a, b;
        run_traced(first, programs.list[i], &a);
        run_traced(second, programs.list[i], &b);
        expect_equal(programs.list[i], &a, &b);
        n_compared += !a.limited;
        cm_buf_done(&a.text);
        cm_buf_done(&b.text);
    }
    assert_true(programs.n > 300);
    assert_true(n_compared * 10 > programs.n / step * 9);
}

static void a_second_run_in_the_same_worker_is_the_same(void **state)
{
    struct world w = open_world(NULL);

    (void)state;
    compare_worlds(&w, &w, 3);
    close_world(&w);
}

static void a_vm_of_its_own_changes_nothing(void **state)
{
    const struct cm_sandbox_opts vm = {.pool_size = 1, .isolation = "vm"};
    struct world w = open_world(NULL), other = open_world(&vm);

    (void)state;
    compare_worlds(&w, &other, 12);
    close_world(&other);
    close_world(&w);
}

static void a_process_of_its_own_changes_nothing(void **state)
{
    const struct cm_sandbox_opts process = {.pool_size = 2, .isolation = "process"};
    struct world w = open_world(NULL), other = open_world(&process);

    (void)state;
    compare_worlds(&w, &other, 12);
    close_world(&other);
    close_world(&w);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_run_in_the_same_worker_is_the_same),
        cmocka_unit_test(a_vm_of_its_own_changes_nothing),
        cmocka_unit_test(a_process_of_its_own_changes_nothing),
    };

    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests_name("replays", tests, load_programs, free_programs);
}
