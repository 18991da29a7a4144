/*
 * A tool set: each call runs the tool's command once.
 *
 *   CODEMODE_EXECUTION_ID  in its environment: the execution that the call belongs to, the same when it goes on after a pause
 *   standard input   one JSON document: the arguments, or {"args": …, "result": …} for a revert
 *   standard output  the result: data where it is JSON, text where it is UTF-8 (one newline at its end is
 * dropped), bytes otherwise exit status      0, or the call fails with code "exit" and what the command wrote
 * to standard error
 *
 * A command is ended with its whole process group when its call is cancelled, takes too long or writes too
 * much. Whether it reads its input is its own affair: a closed pipe is no failure.
 */
#include "base/limits.h"
#include "base/utf8.h"
#include "connector/kinds.h"
#include "connector/table.h"

#include <unistd.h>

/* What a command may write: more would not fit into a record that a human can look at. */
#define OUTPUT_MAX_BYTES   (16u << 20)
#define MESSAGE_TAIL_BYTES 1000

struct tool {
    char *name;
    char *description;
    char **command;
    char **revert;
    char **env;
    char *cwd;
    char *input_schema;
    char *output_schema;
    unsigned flags;
    uint32_t timeout_ms;
};

struct toolset {
    struct cm_method_table table;
    size_t *tool_of; /* method -> index into tools */
    struct tool *tools;
    size_t n_tools;
    char *instructions;
    cm_loop *loop;
};

/* One running command. Owned by its call until that is finished or cancelled. */
struct run {
    cm_call *call;
    cm_child *child;
    const struct tool *tool;
    const char *program;
    struct cm_buf out;
    struct cm_buf errs; /* the tail of it */
};

/* ---- copies of the configuration ---- */

static void copy_tool(struct tool *to, const struct cm_toolset_tool *from)
{
    to->name = cm_strdup(from->name ? from->name : "");
    to->description = cm_strdup_null(from->description);
    to->command = cm_list_dup(from->command);
    to->revert = from->revert && from->revert[0] ? cm_list_dup(from->revert) : NULL;
    to->env = cm_list_dup(from->env);
    to->cwd = cm_strdup_null(from->cwd);
    to->input_schema = cm_strdup_null(from->input_schema);
    to->output_schema = cm_strdup_null(from->output_schema);
    to->flags = from->flags & ~(unsigned)CM_METHOD_HAS_REVERT;
    to->flags |= to->revert ? CM_METHOD_HAS_REVERT : 0;
    to->timeout_ms = from->timeout_ms;
}

static void tool_done(struct tool *t)
{
    free(t->name);
    free(t->description);
    cm_list_free(t->command);
    cm_list_free(t->revert);
    cm_list_free(t->env);
    free(t->cwd);
    free(t->input_schema);
    free(t->output_schema);
}

/* ---- the table ---- */

static cm_status add_tool(struct toolset *s, size_t i, struct cm_err *err)
{
    const struct tool *t = &s->tools[i];
    struct cm_method_spec spec = {.name = t->name,
                                  .description = t->description,
                                  .input_schema = t->input_schema,
                                  .output_schema = t->output_schema,
                                  .flags = t->flags,
                                  .timeout_ms = t->timeout_ms};

    if (!t->command[0] || !t->command[0][0])
        return cm_err_set(err, CM_E_INVALID,
                          "tool '%.80s': command is empty; an array like [\"wc\", \"-w\"] is expected",
                          t->name);
    cm_status st = cm_method_table_add(&s->table, &spec, err);
    if (st == CM_OK)
        s->tool_of[s->table.n - 1] = i;
    return st;
}

static bool is_there(const char *folder, size_t len, const char *program)
{
    cm_autofree char *path = cm_asprintf("%.*s%s%s", (int)len, folder, len ? "/" : "", program);

    return access(path, X_OK) == 0;
}

/* Whether the command's program can be found now. It may come later, so its tool is not left out; but who checks a configuration
 * should hear of it before a program does. */
static bool has_program(const struct tool *t)
{
    const char *program = t->command[0];
    const char *path = "/usr/local/bin:/usr/bin:/bin";

    if (program[0] == '/')
        return is_there("", 0, program);
    if (strchr(program, '/'))
        return is_there(t->cwd ? t->cwd : "", t->cwd ? strlen(t->cwd) : 0, program);
    for (size_t i = 0; t->env[i]; i++)
        if (strncmp(t->env[i], "PATH=", 5) == 0)
            path = t->env[i] + 5;
    for (const char *p = path;; p++) {
        size_t len = strcspn(p, ":");
        if (is_there(p, len, program))
            return true;
        p += len;
        if (!*p)
            return false;
    }
}

static void toolset_start(void *self, cm_connector *c)
{
    struct toolset *s = self;

    cm_method_table_done(&s->table);
    for (size_t i = 0; i < s->n_tools; i++) {
        struct cm_err err;
        if (add_tool(s, i, &err) != CM_OK)
            cm_connector__warn(c, "%s; it is left out", err.message);
        else if (!has_program(&s->tools[i]))
            cm_connector__warn(c, "tool '%.80s': there is no program '%.200s' (yet)", s->tools[i].name,
                               s->tools[i].command[0]);
    }
    cm_connector__ready(c);
}

static size_t toolset_methods(void *self, const struct cm_method **out)
{
    struct toolset *s = self;

    *out = s->table.methods;
    return s->table.n;
}

static void toolset_schemas(void *self, size_t i, struct cm_schema_ref *input, struct cm_schema_ref *output)
{
    struct toolset *s = self;

    cm_method_table_schemas(&s->table, i, input, output);
}

static const char *toolset_instructions(void *self)
{
    struct toolset *s = self;

    return s->instructions;
}

/* ---- running ---- */

static void run_free(struct run *r)
{
    cm_child_free(r->child);
    cm_buf_done(&r->out);
    cm_buf_done(&r->errs);
    free(r);
}

/* Ends the command first: what the caller does on hearing of the failure must not meet a command that still
 * runs. */
static void fail_run(struct run *r, const char *code, const char *text)
{
    cm_call *call = r->call;

    run_free(r);
    cm_call__fail(call, code, CM_STR(""), "%s", text);
}

static void on_stdout(void *user, struct cm_str bytes)
{
    struct run *r = user;

    cm_buf_add_str(&r->out, bytes);
    if (!r->out.failed)
        return;
    cm_autofree char *text =
        cm_asprintf("%s: the command wrote more than %u bytes; make it print less, or to a file",
                    cm_call__method(r->call), OUTPUT_MAX_BYTES);
    fail_run(r, "limit", text);
}

static void on_stderr(void *user, struct cm_str bytes)
{
    struct run *r = user;

    if (bytes.len > CM_STDERR_KEEP_BYTES)
        bytes = cm_str_mk(bytes.ptr + bytes.len - CM_STDERR_KEEP_BYTES, CM_STDERR_KEEP_BYTES);
    size_t over = r->errs.len + bytes.len;
    if (over > CM_STDERR_KEEP_BYTES)
        cm_buf_drop_front(&r->errs, over - CM_STDERR_KEEP_BYTES);
    cm_buf_add_str(&r->errs, bytes);
}

static struct cm_str trimmed(struct cm_str s)
{
    while (s.len && strchr(" \t\r\n", s.ptr[s.len - 1]))
        s.len--;
    return s;
}

/* The end of a text, not cut within a character. */
static struct cm_str tail_of(struct cm_str s, size_t max)
{
    if (s.len <= max)
        return s;
    s = cm_str_mk(s.ptr + s.len - max, max);
    while (s.len && ((unsigned char)s.ptr[0] & 0xc0) == 0x80)
        s = cm_str_mk(s.ptr + 1, s.len - 1);
    return s;
}

static void fail_with_exit(struct run *r, int exit_code, int signal)
{
    cm_call *call = r->call;
    cm_autobuf fields = CM_BUF_INIT((size_t)CM_STDERR_KEEP_BYTES * 8);
    struct cm_str said = trimmed(cm_buf_str(r->errs.len ? &r->errs : &r->out));
    cm_autofree char *shown = NULL;

    said = tail_of(said, CM_STDERR_KEEP_BYTES);
    struct cm_str brief = tail_of(said, MESSAGE_TAIL_BYTES);
    shown = cm_utf8_repair(brief, NULL);
    cm_buf_addf(&fields, signal ? "{\"signal\":%d,\"stderr\":" : "{\"exitCode\":%d,\"stderr\":",
                signal ? signal : exit_code);
    cm_json_write_string(&fields, tail_of(cm_buf_str(&r->errs), CM_STDERR_KEEP_BYTES));
    cm_buf_add_char(&fields, '}');
    cm_autofree char *program = cm_strdup(r->program);
    run_free(r);
    if (signal)
        cm_call__fail(call, "exit", cm_buf_str(&fields), "%s: '%s' was ended by signal %d%s%s",
                      cm_call__method(call), program, signal, shown[0] ? ": " : "", shown);
    else
        cm_call__fail(call, "exit", cm_buf_str(&fields), "%s: '%s' ended with status %d%s%s",
                      cm_call__method(call), program, exit_code, shown[0] ? ": " : "", shown);
}

static void finish_with_output(cm_call *call, struct cm_str out)
{
    cm_autovalue v = {0};

    if (cm_value_from_json(out, OUTPUT_MAX_BYTES, &v, NULL) == CM_OK) {
        cm_call__finish(call, cm_value_view(&v));
        return;
    }
    if (cm_utf8_valid_prefix(out) < out.len) {
        cm_call__finish_bytes(call, out);
        return;
    }
    if (out.len && out.ptr[out.len - 1] == '\n')
        out.len--;
    if (out.len && out.ptr[out.len - 1] == '\r')
        out.len--;
    v = cm_value_from_text(out);
    cm_call__finish(call, cm_value_view(&v));
}

static void on_end(void *user, int exit_code, int signal)
{
    struct run *r = user;

    if (signal || exit_code) {
        fail_with_exit(r, exit_code, signal);
        return;
    }
    cm_call *call = r->call;
    cm_autobuf out = r->out;
    r->out = (struct cm_buf){0};
    run_free(r);
    finish_with_output(call, cm_buf_str(&out));
}

static const struct cm_child_events child_events = {
    .on_stdout = on_stdout,
    .on_stderr = on_stderr,
    .on_exit = on_end,
};

/** The list with one more; only the list is the caller's. */
static const char **with_variable(const char *const *env, const char *pair)
{
    size_t n = 0;

    while (env[n])
        n++;
    const char **list = cm_calloc(n + 2, sizeof *list);
    memcpy(list, env, n * sizeof *list);
    list[n] = pair;
    return list;
}

static void begin(struct toolset *s, const struct tool *t, char **command, struct cm_str input, cm_call *call)
{
    struct run *r = cm_new(struct run);
    cm_autofree char *execution = cm_asprintf("CODEMODE_EXECUTION_ID=%s", cm_call__execution(call));
    cm_autofree const char **env = with_variable((const char *const *)t->env, execution);
    struct cm_child_spec spec = {
        .argv = (const char *const *)command, .env = env, .cwd = t->cwd, .stderr_events = true};
    struct cm_err err;

    r->call = call;
    r->tool = t;
    r->program = command[0];
    r->out = CM_BUF_INIT(OUTPUT_MAX_BYTES);
    r->errs = CM_BUF_INIT(CM_STDERR_KEEP_BYTES);
    if (cm_child_spawn(s->loop, &spec, &child_events, r, &r->child, &err) != CM_OK) {
        fail_run(r, "spawn", err.message);
        return;
    }
    cm_call__set_state(call, r);
    /* It may have ended, or closed its input, already: then its exit status says what there is to say. */
    (void)cm_child_write(r->child, input, NULL);
    cm_child_close_stdin(r->child);
}

static void toolset_call(void *self, size_t i, struct cm_value args, cm_call *call)
{
    struct toolset *s = self;
    const struct tool *t = &s->tools[s->tool_of[i]];
    cm_autobuf json = CM_BUF_INIT((size_t)CM_FRAME_MAX_BYTES);
    struct cm_err err;

    if (cm_value_to_tool_json(args, &json, &err) != CM_OK) {
        cm_call__fail(call, "arguments", CM_STR(""), "%s", err.message);
        return;
    }
    begin(s, t, t->command, cm_buf_str(&json), call);
}

static void toolset_revert(void *self, size_t i, struct cm_value args, struct cm_value result, cm_call *call)
{
    struct toolset *s = self;
    const struct tool *t = &s->tools[s->tool_of[i]];
    cm_autobuf json = CM_BUF_INIT(2 * (size_t)CM_FRAME_MAX_BYTES);
    struct cm_err err;

    if (cm_connector__revert_json(args, result, &json, &err) != CM_OK) {
        cm_call__fail(call, "arguments", CM_STR(""), "%s", err.message);
        return;
    }
    begin(s, t, t->revert, cm_buf_str(&json), call);
}

static void toolset_cancel(void *self, cm_call *call)
{
    struct run *r = cm_call__state(call);

    (void)self;
    if (r)
        run_free(r);
}

static void toolset_free(void *self)
{
    struct toolset *s = self;

    cm_method_table_done(&s->table);
    for (size_t i = 0; i < s->n_tools; i++)
        tool_done(&s->tools[i]);
    free(s->tools);
    free(s->tool_of);
    free(s->instructions);
    free(s);
}

static const struct cm_connector_ops toolset_ops = {
    .kind = "toolset",
    .start = toolset_start,
    .methods = toolset_methods,
    .schemas = toolset_schemas,
    .instructions = toolset_instructions,
    .call = toolset_call,
    .revert = toolset_revert,
    .cancel = toolset_cancel,
    .free = toolset_free,
};

cm_connector *cm_connector_toolset(cm_loop *loop, const struct cm_connector_base *base,
                                   const struct cm_toolset_spec *spec)
{
    struct toolset *s = cm_new(struct toolset);

    s->loop = loop;
    s->instructions = cm_strdup_null(spec->instructions);
    s->n_tools = spec->n_tools;
    s->tools = cm_calloc(spec->n_tools + 1, sizeof *s->tools);
    s->tool_of = cm_calloc(spec->n_tools + 1, sizeof *s->tool_of);
    for (size_t i = 0; i < spec->n_tools; i++)
        copy_tool(&s->tools[i], &spec->tools[i]);
    return cm_connector_new(loop, &toolset_ops, s, base->name, base->origin, base->start_timeout_ms,
                            base->timeout_ms, base->secrets);
}
