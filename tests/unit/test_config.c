/**
 * The configuration file: each tests/cases/config/NAME.json is read with the environment below and dumped;
 * the dump must be NAME.expected. `CM_UPDATE=1` writes the expectations anew, to be looked at before they are
 * committed.
 */
#include "base/fd.h"
#include "config/config.h"

#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const environ_of_cases[] = {"HOME=/home/ann",
                                               "PATH=/usr/bin:/bin",
                                               "USER=ann",
                                               "LANG=C.UTF-8",
                                               "GITHUB_TOKEN=ghp_0123456789",
                                               "PET_KEY=pet-key-value",
                                               "EMPTY=",
                                               "SECRET_OF_HOST=do-not-pass-me",
                                               "LC_TIME=de_DE",
                                               "XDG_DATA_HOME=/data",
                                               "REGION=eu-west",
                                               "TERM=xterm",
                                               "BAD=line\nbreak",
                                               NULL};

static char *case_path(const char *name)
{
    const char *root = getenv("CM_SOURCE_ROOT");

    return cm_asprintf("%s/tests/cases/config/%s", root ? root : ".", name);
}

static void dump_list(struct cm_buf *out, const char *what, const char *const *list)
{
    if (!list)
        return;
    cm_buf_addf(out, "  %s:", what);
    for (; *list; list++)
        cm_buf_addf(out, " [%s]", *list);
    cm_buf_add_char(out, '\n');
}

static void dump_entry(struct cm_buf *out, const struct cm_config_entry *e)
{
    static const char *const kinds[] = {"mcp-stdio", "mcp-http", "openapi", "toolset"};

    cm_buf_addf(out, "%s %s (%s)\n", kinds[e->kind], e->name, e->origin);
    if (e->error) {
        cm_buf_addf(out, "  off: %s\n", e->error);
        return;
    }
    if (e->start_timeout_ms || e->timeout_ms)
        cm_buf_addf(out, "  timeout: start %u, call %u\n", e->start_timeout_ms, e->timeout_ms);
    dump_list(out, "argv", e->argv);
    dump_list(out, "env", e->env);
    if (e->cwd)
        cm_buf_addf(out, "  cwd: %s\n", e->cwd);
    if (e->url)
        cm_buf_addf(out, "  url: %s\n", e->url);
    if (e->spec)
        cm_buf_addf(out, "  spec: %s\n", e->spec);
    for (size_t i = 0; i < e->n_headers; i++)
        cm_buf_addf(out, "  header: %s: %s\n", e->headers[i].name, e->headers[i].value);
    for (size_t i = 0; i < e->n_auth; i++)
        cm_buf_addf(out, "  auth: %s = %s\n", e->auth[i].name, e->auth[i].value);
    dump_list(out, "include", e->include);
    dump_list(out, "exclude", e->exclude);
    if (e->instructions)
        cm_buf_addf(out, "  instructions: %s\n", e->instructions);
    for (size_t i = 0; i < e->n_tools; i++) {
        const struct cm_config_tool *t = &e->tools[i];
        cm_buf_addf(out, "  tool %s: %s%s%s%s%s timeout %u cwd %s\n", t->name,
                    t->description ? t->description : "-", t->requires_approval ? " approval" : "",
                    t->read_only ? " read-only" : "", t->idempotent ? " idempotent" : "",
                    t->reexecute ? " reexecute" : "", t->timeout_ms, t->cwd);
        dump_list(out, "  command", t->command);
        dump_list(out, "  revert", t->revert);
        dump_list(out, "  env", t->env);
        if (t->input_schema)
            cm_buf_addf(out, "    input: %s\n", t->input_schema);
    }
}

static void dump_fetch(struct cm_buf *out, const cm_config *c)
{
    const struct cm_config_fetch *list = NULL;
    size_t n = cm_config_fetch(c, &list);

    for (size_t i = 0; i < n; i++) {
        const struct cm_config_fetch *f = &list[i];
        cm_buf_addf(out, "fetch %s (%s) private %d timeout %u bytes %llu\n", f->host, f->at, f->allow_private,
                    f->timeout_ms, (unsigned long long)f->max_bytes);
        if (f->off)
            cm_buf_addf(out, "  off: %s\n", f->off);
        for (size_t k = 0; k < f->n_headers; k++)
            cm_buf_addf(out, "  header: %s: %s\n", f->headers[k].name, f->headers[k].value);
        dump_list(out, "methods", f->methods);
        dump_list(out, "private", f->ranges);
    }
}

/** What of the text a reader would see in place of secrets. */
static void dump_secrets(struct cm_buf *out, const cm_config *c)
{
    static const char *const candidates[] = {
        "ghp_0123456789",   "pet-key-value", "inline-secret",    "do-not-pass-me",        "eu-west",
        "application/json", "user:hunter22", "hunter22",         "url-password",          "query-secret",
        "flag-secret",      "/home/ann",     "env-secret-value", "Bearer ghp_0123456789", "eight-default",
    };
    for (size_t i = 0; i < CM_ARRAY_LEN(candidates); i++)
        if (cm_secrets_occur(cm_config_secrets(c), cm_str_of(candidates[i])))
            cm_buf_addf(out, "secret: %s\n", candidates[i]);
}

static void dump_settings(struct cm_buf *out, const cm_config *c)
{
    static const char *const actions[] = {"allow", "approve", "deny"};
    const struct cm_config_settings *s = cm_config_settings(c);
    const struct cm_limits *l = cm_config_limits(c), d = CM_LIMITS_DEFAULT;
    const struct cm_policy_rule *rules;
    size_t n = cm_config_policy(c, &rules);

    for (size_t i = 0; i < n; i++)
        cm_buf_addf(out, "policy: %s %s\n", rules[i].match, actions[rules[i].action]);
    if (memcmp(l, &d, sizeof d) != 0)
        cm_buf_addf(out, "limits: cpu %u wall %u memory %u subrequests %u result %llu\n", l->cpu_ms,
                    l->wall_ms, l->memory_mb, l->subrequests, (unsigned long long)l->result_bytes);
    if (s->store || !cm_z_eq(s->runtime, "default") || !cm_z_eq(s->isolation, "realm") || !s->jit)
        cm_buf_addf(out, "settings: store %s, runtime %s, isolation %s, jit %d, executions %u\n",
                    s->store ? s->store : "-", s->runtime, s->isolation, s->jit, s->max_executions);
}

static void dump_record(struct cm_buf *out, const cm_config *c)
{
    static const char *const asked[][2] = {{"crm", "get_person"}, {"crm", "set_person"}, {"my_crm", "x"}};
    const struct cm_config_settings *s = cm_config_settings(c);
    const struct cm_config_revert *reverts;
    size_t n = cm_config_reverts(c, &reverts);

    for (size_t i = 0; i < n; i++)
        cm_buf_addf(out, "revert: %s by %s . %s %s\n", reverts[i].method, reverts[i].connector,
                    reverts[i].call, reverts[i].args_json);
    for (size_t i = 0; cm_config_drops_any(c) && i < CM_ARRAY_LEN(asked); i++)
        cm_buf_addf(out, "drop of %s.%s: %u, completed %u\n", asked[i][0], asked[i][1],
                    cm_config_drops(c, asked[i][0], asked[i][1], false),
                    cm_config_drops(c, asked[i][0], asked[i][1], true));
    if (s->transform_max_bytes || s->transform_snippet)
        cm_buf_addf(out, "transform: %llu %s\n", (unsigned long long)s->transform_max_bytes,
                    s->transform_snippet ? s->transform_snippet : "-");
}

static void dump(struct cm_buf *out, const char *text)
{
    struct cm_config_lookup l = {.text = text, .environ = environ_of_cases, .cwd = "/project"};
    cm_auto(cm_config) c = NULL;
    struct cm_err err;
    const struct cm_config_entry *entries;
    const char *const *warnings;

    if (cm_config_load(&l, &c, &err) != CM_OK) {
        cm_buf_addf(out, "error %s: %s\n", cm_status_name(err.status), err.message);
        return;
    }
    size_t n = cm_config_entries(c, &entries);
    for (size_t i = 0; i < n; i++)
        dump_entry(out, &entries[i]);
    dump_fetch(out, c);
    dump_settings(out, c);
    dump_record(out, c);
    n = cm_config_warnings(c, &warnings);
    for (size_t i = 0; i < n; i++)
        cm_buf_addf(out, "warning: %s\n", warnings[i]);
    dump_secrets(out, c);
}

static void check_case(const char *name)
{
    cm_autofree char *input = case_path(name);
    cm_autofree char *expected_path = cm_asprintf("%.*s.expected", (int)(strlen(input) - 5), input);
    cm_autofree char *text = NULL, *expected = NULL;
    cm_autobuf out = CM_BUF_INIT(1 << 20);
    struct cm_err err;

    assert_int_equal(cm_read_file(input, 1 << 20, &text, NULL, &err), CM_OK);
    dump(&out, text);
    if (getenv("CM_UPDATE")) {
        cm_autoclose int fd = open(expected_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        assert_int_equal(cm_write_fd(fd, out.ptr, out.len, &err), CM_OK);
        return;
    }
    if (cm_read_file(expected_path, 1 << 20, &expected, NULL, &err) != CM_OK)
        fail_msg("%s", err.message);
    if (!cm_z_eq(cm_buf_str(&out).ptr, expected))
        fail_msg("%s: expected\n%s\n---- found\n%s", name, expected, cm_buf_str(&out).ptr);
}

static void every_case_file_reads_as_expected(void **state)
{
    cm_autofree char *dir = case_path("");
    DIR *d = opendir(dir);
    int n = 0;

    (void)state;
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        size_t len = strlen(e->d_name);
        if (len > 5 && cm_z_eq(e->d_name + len - 5, ".json")) {
            check_case(e->d_name);
            n++;
        }
    }
    closedir(d);
    assert_true(n >= 10);
}

/* ---- the arguments of a revert */

static const struct {
    const char *template, *args, *result; /* result "": not known */
    const char *want;                     /* or what the message says, behind "!" */
} fillings[] = {
    {"{\"n\":\"$result.number\",\"repo\":\"$args.repo\"}", "{\"repo\":\"a/b\"}", "{\"number\":7}",
     "{\"n\":7,\"repo\":\"a/b\"}"},
    {"\"$args\"", "{\"b\":1,\"a\":[true]}", "", "{\"b\":1,\"a\":[true]}"},
    {"{\"id\":\"$result[1][\\\"odd.key\\\"]\"}", "{}", "[0,{\"odd.key\":\"x\"}]", "{\"id\":\"x\"}"},
    {"{\"id\":\"$result\"}", "{}", "12345678901234567890123", "{\"id\":12345678901234567890123}"},
    {"{\"a\":\"$args.x?\",\"b\":[\"$args.x?\",1],\"c\":\"$result.y?\"}", "{}", "", "{\"b\":[null,1]}"},
    {"\"$args.x?\"", "{}", "", "{}"},
    {"{\"price\":\"$$5\",\"x\":null,\"y\":[false,1.5]}", "{}", "",
     "{\"price\":\"$5\",\"x\":null,\"y\":[false,1.5]}"},
    {"{\"id\":\"$result.id\"}", "{}", "", "!the result of the call is not known, and $result.id is needed"},
    {"{\"id\":\"$result.id\"}", "{}", "[1]", "!there is no $result.id in the call"},
    {"{\"id\":\"$args.id\"}", "{}", "{\"id\":1}", "!there is no $args.id in the call"},
};

static void the_arguments_of_a_revert_come_from_the_call_that_it_undoes(void **state)
{
    (void)state;
    for (size_t i = 0; i < CM_ARRAY_LEN(fillings); i++) {
        const struct cm_config_revert r = {.at = "here", .args_json = fillings[i].template};
        cm_autobuf out = CM_BUF_INIT(4096);
        struct cm_err err = {0};
        cm_status st =
            cm_config_revert_args(&r, cm_str_of(fillings[i].args), cm_str_of(fillings[i].result), &out, &err);

        if (fillings[i].want[0] == '!' ? st == CM_OK || !strstr(err.message, fillings[i].want + 1)
                                       : st != CM_OK || !cm_z_eq(cm_buf_str(&out).ptr, fillings[i].want))
            fail_msg("%s: %s %s", fillings[i].template, cm_buf_str(&out).ptr, err.message);
    }
}

static void a_revert_is_found_by_every_spelling_of_its_method(void **state)
{
    static const char text[] =
        "{\"mcpServers\":{\"my-hub\":{\"command\":\"x\"}},"
        "\"codemode\":{\"reverts\":{\"my-hub.add-item\":{\"call\":\"my-hub.remove-item\"}}}}";
    struct cm_config_lookup l = {.text = text, .environ = environ_of_cases, .cwd = "/project"};
    cm_auto(cm_config) c = NULL;
    struct cm_err err;

    (void)state;
    assert_int_equal(cm_config_load(&l, &c, &err), CM_OK);
    assert_non_null(cm_config_revert_of(c, "my_hub", "add_item", "add-item"));
    assert_non_null(cm_config_revert_of(c, "my_hub", "add_item", NULL));
    assert_null(cm_config_revert_of(c, "my_hub", "add_items", "add-items"));
    assert_null(cm_config_revert_of(c, "other", "add_item", "add-item"));
}

/* ---- looking up */

struct home {
    char root[64];
    char *env[3];
    const char *environ[4];
};

static void home_init(struct home *h)
{
    snprintf(h->root, sizeof h->root, "/tmp/cm-config-XXXXXX");
    assert_non_null(mkdtemp(h->root));
    h->env[0] = cm_asprintf("HOME=%s", h->root);
    h->env[1] = cm_asprintf("XDG_STATE_HOME=%s/state", h->root);
    h->env[2] = cm_asprintf("XDG_CONFIG_HOME=%s/config", h->root);
    for (int i = 0; i < 3; i++) {
        h->environ[i] = h->env[i];
        cm_autofree char *name = cm_memdup_z(h->env[i], strcspn(h->env[i], "="));
        assert_int_equal(setenv(name, h->env[i] + strlen(name) + 1, 1), 0);
    }
    h->environ[3] = NULL;
}

static char *home_write(struct home *h, const char *name, const char *text)
{
    char *path = cm_asprintf("%s/%s", h->root, name);
    cm_autofree char *dir = cm_memdup_z(path, (size_t)(strrchr(path, '/') - path));
    struct cm_err err;

    assert_int_equal(cm_make_dirs(dir, &err), CM_OK);
    cm_autoclose int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_int_equal(cm_write_fd(fd, text, strlen(text), &err), CM_OK);
    return path;
}

static void home_done(struct home *h)
{
    cm_autofree char *command = cm_asprintf("rm -rf '%s'", h->root);

    assert_int_equal(system(command), 0);
    for (int i = 0; i < 3; i++)
        free(h->env[i]);
}

static cm_status load_in(struct home *h, const char *path, cm_config **out, struct cm_err *err)
{
    struct cm_config_lookup l = {.path = path, .environ = h->environ, .cwd = h->root};

    return cm_config_load(&l, out, err);
}

static void a_file_in_the_working_directory_is_used_only_after_it_was_trusted(void **state)
{
    struct home h;
    struct cm_err err;
    cm_auto(cm_config) c = NULL;

    (void)state;
    home_init(&h);
    cm_autofree char *path =
        home_write(&h, "codemode.json", "{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}");
    assert_int_equal(load_in(&h, NULL, &c, &err), CM_E_DENIED);
    assert_non_null(strstr(err.message, "codemode check --trust"));
    assert_int_equal(cm_config_trust(path, &err), CM_OK);
    assert_int_equal(load_in(&h, NULL, &c, &err), CM_OK);
    assert_string_equal(cm_config_path(c), path);
    /* Trust is for this content only. */
    free(home_write(&h, "codemode.json", "{\"mcpServers\": {\"a\": {\"command\": \"y\"}}}"));
    cm_auto(cm_config) changed = NULL;
    assert_int_equal(load_in(&h, NULL, &changed, &err), CM_E_DENIED);
    /* Naming it is trusting it. */
    assert_int_equal(load_in(&h, "codemode.json", &changed, &err), CM_OK);
    home_done(&h);
}

static void files_are_looked_up_in_the_documented_order(void **state)
{
    struct home h;
    struct cm_err err;
    cm_auto(cm_config) none = NULL;
    cm_auto(cm_config) user = NULL;
    cm_auto(cm_config) dot = NULL;
    cm_auto(cm_config) ours = NULL;

    (void)state;
    home_init(&h);
    assert_int_equal(load_in(&h, NULL, &none, &err), CM_OK);
    assert_null(cm_config_path(none));
    cm_autofree char *last = home_write(&h, "config/codemode/config.json", "{}");
    assert_int_equal(load_in(&h, NULL, &user, &err), CM_OK);
    assert_string_equal(cm_config_path(user), last);
    cm_autofree char *mcp = home_write(&h, ".mcp.json", "{}");
    assert_int_equal(cm_config_trust(mcp, &err), CM_OK);
    assert_int_equal(load_in(&h, NULL, &dot, &err), CM_OK);
    assert_string_equal(cm_config_path(dot), mcp);
    cm_autofree char *first = home_write(&h, "codemode.json", "{ }");
    assert_int_equal(cm_config_trust(first, &err), CM_OK);
    assert_int_equal(load_in(&h, NULL, &ours, &err), CM_OK);
    assert_string_equal(cm_config_path(ours), first);
    home_done(&h);
}

static void a_named_file_that_is_missing_is_an_error_that_names_it(void **state)
{
    struct home h;
    struct cm_err err;
    cm_config *c = NULL;

    (void)state;
    home_init(&h);
    assert_int_equal(load_in(&h, "nowhere.json", &c, &err), CM_E_NOT_FOUND);
    assert_non_null(strstr(err.message, "nowhere.json"));
    home_done(&h);
}

static void paths_are_relative_to_the_file_and_not_to_the_working_directory(void **state)
{
    struct home h;
    struct cm_err err;
    cm_auto(cm_config) c = NULL;
    const struct cm_config_entry *e;

    (void)state;
    home_init(&h);
    free(home_write(&h, "sub/c.json", "{\"codemode\": {\"openapi\": {\"p\": {\"spec\": \"./p.yaml\"}}}}"));
    assert_int_equal(load_in(&h, "sub/c.json", &c, &err), CM_OK);
    assert_int_equal(cm_config_entries(c, &e), 1);
    cm_autofree char *expected = cm_asprintf("%s/sub/p.yaml", h.root);
    assert_string_equal(e->spec, expected);
    home_done(&h);
}

/* ---- policy and limits */

static void the_first_matching_rule_decides_in_every_spelling_of_a_name(void **state)
{
    static const char text[] =
        "{\"mcpServers\": {\"my-server\": {\"command\": \"x\"}}, \"codemode\": {\"policy\": ["
        "{\"match\": \"my-server.get-item*\", \"action\": \"deny\"},"
        "{\"match\": \"my_server.*\", \"action\": \"approve\"},"
        "{\"match\": \"*.delete_*\", \"action\": \"deny\"}]}}";
    struct cm_config_lookup l = {.text = text, .environ = environ_of_cases, .cwd = "/"};
    cm_auto(cm_config) c = NULL;
    struct cm_err err;
    size_t at = 99;

    (void)state;
    assert_int_equal(cm_config_load(&l, &c, &err), CM_OK);
    assert_int_equal(cm_config_policy_match(c, "my_server", "get_items", NULL, &at)->action, CM_POLICY_DENY);
    assert_int_equal(at, 0);
    assert_int_equal(cm_config_policy_match(c, "my_server", "delete_all", NULL, &at)->action,
                     CM_POLICY_APPROVE);
    assert_int_equal(cm_config_policy_match(c, "other", "delete_all", NULL, &at)->action, CM_POLICY_DENY);
    assert_int_equal(at, 2);
    assert_null(cm_config_policy_match(c, "other", "undelete", NULL, &at));
}

/** A rule `shop.delete` did not stop shop.delete_, which is what a tool called `delete` is in a program. */
static void a_rule_meets_names_that_mapping_changed(void **state)
{
    static const char text[] =
        "{\"codemode\": {\"policy\": [{\"match\": \"shop.delete\", \"action\": \"deny\"},"
        "{\"match\": \"shop.2*\", \"action\": \"deny\"},"
        "{\"match\": \"shop.then\", \"action\": \"deny\"},"
        "{\"match\": \"shop.#drop\", \"action\": \"deny\"}]}}";
    static const char *const denied[][2] = {
        {"delete_", NULL}, {"delete_", "delete"}, {"_2fa", NULL}, {"then_", NULL}, {"drop", "#drop"}};
    static const char *const free_to_run[] = {"drop", "deleted_", "_fa", "_", "then__"};
    struct cm_config_lookup l = {.text = text, .environ = environ_of_cases, .cwd = "/"};
    cm_auto(cm_config) c = NULL;
    struct cm_err err;

    (void)state;
    assert_int_equal(cm_config_load(&l, &c, &err), CM_OK);
    for (size_t i = 0; i < CM_ARRAY_LEN(denied); i++)
        if (!cm_config_policy_match(c, "shop", denied[i][0], denied[i][1], NULL))
            fail_msg("shop.%s runs", denied[i][0]);
    for (size_t i = 0; i < CM_ARRAY_LEN(free_to_run); i++)
        if (cm_config_policy_match(c, "shop", free_to_run[i], NULL, NULL))
            fail_msg("shop.%s is denied", free_to_run[i]);
}

static void limits_of_a_run_go_down_only(void **state)
{
    struct cm_limits l = CM_LIMITS_DEFAULT;
    struct cm_err err;

    (void)state;
    assert_int_equal(cm_limits_lower(&l, CM_STR("{\"cpuMs\": 100, \"resultBytes\": 1000}"), &err), CM_OK);
    assert_int_equal(l.cpu_ms, 100);
    assert_int_equal(l.result_bytes, 1000);
    assert_int_equal(cm_limits_lower(&l, CM_STR("{\"wallMs\": 50, \"cpuMs\": 101}"), &err), CM_E_INVALID);
    assert_non_null(strstr(err.message, "limits.cpuMs"));
    assert_int_equal(l.wall_ms, 60000); /* nothing of a refused set is taken */
    assert_int_equal(cm_limits_lower(&l, CM_STR("{\"cpuMS\": 50}"), &err), CM_E_INVALID);
    assert_non_null(strstr(err.message, "did you mean 'cpuMs'"));
    assert_int_equal(cm_limits_lower(&l, CM_STR("{\"cpuMs\": \"50\"}"), &err), CM_E_INVALID);
    assert_non_null(strstr(err.message, "is a string"));
    assert_int_equal(cm_limits_lower(&l, CM_STR("[]"), &err), CM_E_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_file_reads_as_expected),
        cmocka_unit_test(the_arguments_of_a_revert_come_from_the_call_that_it_undoes),
        cmocka_unit_test(a_revert_is_found_by_every_spelling_of_its_method),
        cmocka_unit_test(a_file_in_the_working_directory_is_used_only_after_it_was_trusted),
        cmocka_unit_test(files_are_looked_up_in_the_documented_order),
        cmocka_unit_test(a_named_file_that_is_missing_is_an_error_that_names_it),
        cmocka_unit_test(paths_are_relative_to_the_file_and_not_to_the_working_directory),
        cmocka_unit_test(the_first_matching_rule_decides_in_every_spelling_of_a_name),
        cmocka_unit_test(a_rule_meets_names_that_mapping_changed),
        cmocka_unit_test(limits_of_a_run_go_down_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
