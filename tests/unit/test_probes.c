/**
 * Out by system call: every probe of tests/probes in a worker of the real lock-down, then in workers with one
 * layer left out.
 *
 * A probe names what it wants; the worker answers with what it got, if it is still there. The host is this
 * program: it must notice how the worker ended, take nothing from it, and run the next program.
 */
#include "base/fd.h"
#include "base/sanitize.h"

#include "../probes/probe.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "sandbox_run.h"

#define LAYER(name) (UINT64_C(1) << CM_LAYER_##name)
#define ALL_NS \
    (LAYER(USER_NS) | LAYER(NET_NS) | LAYER(IPC_NS) | LAYER(MOUNT_NS) | LAYER(UTS_NS) | LAYER(PID_NS))
#define DIED_OF_FILTER "signal 31"

/** A sandbox of probe workers, and one of them that the others may aim at. */
struct range {
    struct world w;
    struct run sibling;
    struct probe_targets targets;
    int fds; /* of this process, before */
    unsigned n_died, n_refused, n_got, n_stopped;
};

static long parent_of(long pid)
{
    char path[64];
    cm_autofree char *text = NULL;
    long parent = 0;

    (void)snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    assert_int_equal(cm_read_file(path, 4096, &text, NULL, NULL), CM_OK);
    const char *close = strrchr(text, ')');
    assert_true(close && sscanf(close, ") %*c %ld", &parent) == 1);
    return parent;
}

static int count_fds(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    assert_non_null(d);
    while (readdir(d))
        n++;
    (void)closedir(d);
    return n;
}

static void open_range(struct range *r, const char *without)
{
    static char path[4096];

    *r = (struct range){.fds = count_fds()};
    (void)snprintf(path, sizeof(path), "%s/codemode-worker-probe%s%s", getenv("CM_PROBES"),
                   *without ? "-without-" : "", without);
    r->w = open_world(&(struct cm_sandbox_opts){.worker_path = path, .pool_size = 2});
    r->sibling = (struct run){.loop = r->w.loop};
    start(r->w.sb, &r->sibling, "sibling", "wait", NULL);
    while (r->sibling.n_waits == 0 && !r->sibling.ended)
        assert_true(cm_loop_once(r->w.loop));
    if (r->sibling.ended)
        fail_msg("no worker without %s: %s", without, r->sibling.message);
    r->targets.sibling = (long)cm_pass_pid(r->sibling.pass);
    r->targets.zygote = parent_of(r->targets.sibling);
    r->targets.host = getpid();
}

/** Nobody was hurt: the sibling still waits, answers and ends well, and the zygote is the same. */
static void close_range_(struct range *r)
{
    assert_false(r->sibling.ended);
    assert_int_equal(parent_of(r->targets.sibling), r->targets.zygote);
    cm_pass_deliver(r->sibling.pass, 1, false, false, (struct cm_value){.json = CM_STR("1")}, 1700000000500,
                    1);
    finish(&r->sibling);
    assert_string_equal(r->sibling.value, "{\"answered\":1}");
    close_world(&r->w);
    /* Whatever was passed to this process was not taken. */
    assert_int_equal(count_fds(), r->fds);
}

/** What became of a probe, in the terms of its table; the errno value, or 0: it got what it wanted. */
static int outcome_of(const struct run *r)
{
    long n = 0;

    if (r->kind == CM_PASS_LIMIT)
        return PROBE_LIMIT;
    if (r->kind == CM_PASS_PROTOCOL)
        return PROBE_BREAKS;
    if (r->kind == CM_PASS_CRASHED)
        return strstr(r->message, DIED_OF_FILTER) ? PROBE_DIES : PROBE_CRASHES;
    return sscanf(r->value, "{\"errno\":%ld}", &n) == 1 ? (int)n : 0;
}

static int run_probe(struct range *r, const struct probe *p, struct run *out)
{
    struct cm_limits limits = CM_LIMITS_DEFAULT;
    char source[256];

    limits.cpu_ms = p->expected == PROBE_LIMIT ? 50 : 5000;
    (void)snprintf(source, sizeof(source), "%s %ld %ld %ld", p->name, r->targets.host, r->targets.zygote,
                   r->targets.sibling);
    *out = run(r->w.loop, r->w.sb, source, &limits);
    int how = outcome_of(out);
    r->n_died += how == PROBE_DIES || how == PROBE_CRASHES;
    r->n_stopped += how == PROBE_LIMIT || how == PROBE_BREAKS;
    r->n_refused += how > 0;
    r->n_got += how == 0;
    return how;
}

static void complain(const struct probe *p, int how, const struct run *r)
{
    print_error("%s (%s): expected %d, ended %d: %s %s\n", p->name, p->attempts, p->expected, how, r->message,
                r->value);
}

/** A sanitizer's worker has no filter: there these tests would send their signals. */
static void need_filter(void)
{
    if (!CM_SANITIZED)
        return;
    if (getenv("CM_TESTS_ALL"))
        fail_msg("the layer 'system call filter' is missing");
    print_message("# skipped: the layer 'system call filter' is missing\n");
    skip();
}

static void under_all_layers_every_probe_ends_as_its_row_says(void **state)
{
    (void)state;
    struct range r;
    unsigned n_bad = 0;

    need_filter();
    open_range(&r, "");
    for (size_t i = 0; i < cm_n_probes; i++) {
        const struct probe *p = &cm_probes[i];
        struct run out;
        int how = run_probe(&r, p, &out);

        if (how != p->expected && !(p->expected == PROBE_CRASHES && how == PROBE_DIES)) {
            complain(p, how, &out);
            n_bad++;
        }
    }
    print_message("# %zu probes: %u killed, %u refused, %u ended by the host\n", cm_n_probes, r.n_died,
                  r.n_refused, r.n_stopped);
    close_range_(&r);
    assert_int_equal(n_bad, 0);
    assert_true(cm_n_probes >= 60);
}

/** Whether a probe was held, whatever held it. A death is one that somebody meant: the filter's, the host's,
 * or the row's own. */
static bool is_held(const struct probe *p, int how)
{
    return how > 0 || how == PROBE_DIES || how == PROBE_LIMIT || how == p->expected;
}

static const char *const layer_names[] = {
#define NAME(name, text) #name,
    CM_LAYER_MAP(NAME)
#undef NAME
};

/** The rest of a line of a /proc file of a worker, behind `key`. */
static void proc_line(long pid, const char *file, const char *key, char *out, size_t size)
{
    char path[64];
    cm_autofree char *text = NULL;

    (void)snprintf(path, sizeof(path), "/proc/%ld/%s", pid, file);
    assert_int_equal(cm_read_file(path, 1u << 16, &text, NULL, NULL), CM_OK);
    const char *at = strstr(text, key);
    assert_non_null(at);
    at += strlen(key);
    at += strspn(at, " \t");
    (void)snprintf(out, size, "%.*s", (int)strcspn(at, " \t\n"), at);
}

/** That a layer is really not there: from what the zygote reports, or, where a step only claims to have held,
 * from outside. */
static void check_left_out(const struct range *r, enum cm_layer layer, uint64_t layers)
{
    char text[64];

    switch (layer) {
    case CM_LAYER_SECCOMP:
        proc_line(r->targets.sibling, "status", "\nSeccomp:", text, sizeof(text));
        assert_string_equal(text, "0");
        return;
    case CM_LAYER_NO_NEW_PRIVS:
        proc_line(r->targets.sibling, "status", "\nNoNewPrivs:", text, sizeof(text));
        assert_string_equal(text, "0");
        return;
    case CM_LAYER_RLIMITS:
        proc_line(r->targets.sibling, "limits", "Max open files", text, sizeof(text));
        assert_string_not_equal(text, "1");
        return;
    case CM_LAYER_USER_NS:
    case CM_LAYER_NET_NS:
    case CM_LAYER_IPC_NS:
    case CM_LAYER_MOUNT_NS:
    case CM_LAYER_UTS_NS:
    case CM_LAYER_PID_NS:
    case CM_LAYER_EMPTY_ROOT:
    case CM_LAYER_UNPRIVILEGED:
    case CM_LAYER_LANDLOCK:
    case CM_LAYER_MEMORY:
        assert_int_equal(layers >> layer & 1, 0);
        return;
    case CM_LAYER_COUNT_:
        fail();
    }
}

/** `without` is names of layers, joined by "-". */
static unsigned run_without(const char *without, bool filter)
{
    struct range r;
    unsigned n_bad = 0;
    uint64_t layers = 0;

    open_range(&r, without);
    assert_int_equal(cm_sandbox_layers(r.w.sb, &layers, NULL), CM_OK);
    for (size_t i = 0; i < CM_ARRAY_LEN(layer_names); i++) {
        if (strstr(without, layer_names[i]))
            check_left_out(&r, (enum cm_layer)i, layers);
    }
    if (!filter && (layers & ALL_NS) != ALL_NS) {
        /* There the filter is what keeps signals from everybody of this user: it is not left out. */
        print_message("# not tried without %s: this machine gives no namespaces that would hold instead\n",
                      without);
        close_range_(&r);
        return 0;
    }
    for (size_t i = 0; i < cm_n_probes; i++) {
        const struct probe *p = &cm_probes[i];
        struct run out;
        int how = run_probe(&r, p, &out);

        if (!is_held(p, how) && (filter || !p->filter_only)) {
            complain(p, how, &out);
            n_bad++;
        }
    }
    print_message("# without %s: %u killed, %u refused, %u ended by the host, %u done\n", without, r.n_died,
                  r.n_refused, r.n_stopped, r.n_got);
    close_range_(&r);
    return n_bad;
}

static void with_any_one_layer_left_out_every_probe_is_held(void **state)
{
    (void)state;
    unsigned n_bad = 0;

    need_filter();
    for (size_t i = 0; i < CM_ARRAY_LEN(layer_names); i++)
        n_bad += run_without(layer_names[i], i != CM_LAYER_SECCOMP);
    assert_int_equal(n_bad, 0);
}

static void without_any_namespace_the_rest_holds(void **state)
{
    (void)state;
    static const char no_ns[] = "USER_NS-NET_NS-IPC_NS-MOUNT_NS-UTS_NS-PID_NS";

    need_filter(); /* which may leave for good: nothing is held yet */
    cm_autofree char *no_root = cm_asprintf("%s-EMPTY_ROOT", no_ns);
    assert_int_equal(run_without(no_ns, true), 0);
    assert_int_equal(run_without(no_root, true), 0);
}

static const struct probe *find_probe(const char *name)
{
    for (size_t i = 0; i < cm_n_probes; i++) {
        if (cm_z_eq(cm_probes[i].name, name))
            return &cm_probes[i];
    }
    fail_msg("no probe '%s'", name);
    return NULL;
}

/** What a worker sends that is free to send anything: also where sanitizers watch the host. */
static void the_host_ends_a_forger_and_takes_no_descriptor(void **state)
{
    (void)state;
    static const char *const forged[] = {"frame-of-host", "frame-huge", "frame-again"};
    struct range r;
    struct run out;
    int how = ETOOMANYREFS;

    open_range(&r, CM_SANITIZED ? "" : "SECCOMP");
    for (size_t i = 0; i < CM_ARRAY_LEN(forged); i++) {
        const struct probe *p = find_probe(forged[i]);
        assert_int_equal(run_probe(&r, p, &out), p->expected);
    }
    /* The kernel refuses it while the zygote has sent some that were not received yet: their user has no room
     * for more. */
    while (how == ETOOMANYREFS)
        how = run_probe(&r, find_probe("send-descriptor"), &out);
    assert_int_equal(how, 0);
    assert_int_equal(out.n_logs, 1);
    close_range_(&r);
}

/** The first loop of a process leaves what all loops share. */
static int open_a_loop(void **state)
{
    cm_loop *loop = NULL;

    (void)state;
    assert_int_equal(cm_loop_new(&loop, NULL), CM_OK);
    cm_loop_free(loop);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(under_all_layers_every_probe_ends_as_its_row_says),
        cmocka_unit_test(with_any_one_layer_left_out_every_probe_is_held),
        cmocka_unit_test(without_any_namespace_the_rest_holds),
        cmocka_unit_test(the_host_ends_a_forger_and_takes_no_descriptor),
    };

    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests_name("probes", tests, open_a_loop, NULL);
}
