/**
 * Programs for the played sandbox (fake_pass.h): a worker that runs a script of one statement a line, in place of JavaScript in an engine.
 * What it does is a function of its text, seed, clock and answers alone, as in a realm. To be included by one test file.
 *
 *     NAME = METHOD ARGS      issue world.METHOD with these arguments; nobody waits yet
 *     NAME = step BODY        codemode.step, whose function is the script under "step BODY"; it sees its surroundings' names
 *     NAME = run SNIPPET      codemode.run; the snippet is a script of its own, with a program
 *     NAME = timer MS | search TEXT | describe TEXT
 *     await NAME…             all of them; the first that failed is thrown (Promise.all)
 *     settle NAME…            all of them, failed or not
 *     race NAME…              one of them, failed or not
 *     give-up NAME            what it has no answer to it has failed with; what comes then is not looked at
 *     if NAME ok|failed STATEMENT
 *     log TEXT · throw TEXT · return TEXT
 *
 * In ARGS and TEXT $NAME is the answer, $clock the time that the program sees and $draw what it would draw now. Answers are read one at a
 * time; whatever can go on goes on, in the order in which it was started, before the next is read.
 */
#ifndef CM_TESTS_SCRIPTED_H
#define CM_TESTS_SCRIPTED_H

#include "base/base.h"
#include "json/json.h"

#include "fake_pass.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#define SCRIPT_CALLS_MAX   64
#define SCRIPT_STRANDS_MAX 16
#define SCRIPT_TEXT_MAX    2048

/** A call by the name that the script gave it. */
struct script_call {
    char name[24], step[24]; /* step: the body of a step's function */
    uint32_t id;
    bool settled, failed;
    bool awaited; /* it was given up, and the host owes its answer */
    char *json;
};

/** The program, the function of a step, or a snippet. */
struct strand {
    const char *text; /* where its steps are */
    const char *at;   /* the line to run next; NULL: it has ended */
    int outer;        /* whose names it sees besides its own; -1 */
    uint32_t step;    /* 0: the program */
};

struct script {
    cm_pass *pass;
    char *texts[SCRIPT_STRANDS_MAX]; /* its own, and those of snippets */
    size_t n_texts;
    struct script_call calls[SCRIPT_CALLS_MAX];
    int owners[SCRIPT_CALLS_MAX]; /* which strand issued it */
    size_t n_calls;
    struct strand strands[SCRIPT_STRANDS_MAX];
    size_t n_strands;
    size_t n_read; /* deliveries */
    int64_t clock;
    uint32_t draw;
    bool ended, failed;
    char *result;
};

static struct script script;

/** The script or the host did what neither may; does not return. The includer's. */
_Noreturn static void bad(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static void script_forget(void)
{
    for (size_t i = 0; i < script.n_calls; i++)
        free(script.calls[i].json);
    for (size_t i = 0; i < script.n_texts; i++)
        free(script.texts[i]);
    free(script.result);
    script = (struct script){0};
}

/* ---- text ---- */

static const char *line_end(const char *p)
{
    return p + strcspn(p, "\n");
}

/** The first line of a section: of the program, or of "step NAME". */
static const char *section(const char *text, const char *step)
{
    const char *p = text;

    while (*p) {
        const char *end = line_end(p);
        bool body = isspace((unsigned char)*p) || p == end;

        if (!body && (step ? strncmp(p, "step ", 5) == 0 && (size_t)(end - p - 5) == strlen(step) &&
                                 strncmp(p + 5, step, strlen(step)) == 0
                           : strncmp(p, "program", 7) == 0))
            return *end ? end + 1 : end;
        p = *end ? end + 1 : end;
    }
    bad("the script has no %s", step ? step : "program");
}

static struct script_call *find_call(const char *name, size_t len, int strand)
{
    for (int s = strand; s >= 0; s = script.strands[s].outer)
        for (size_t i = script.n_calls; i-- > 0;)
            if (script.owners[i] == s && strlen(script.calls[i].name) == len &&
                strncmp(script.calls[i].name, name, len) == 0)
                return &script.calls[i];
    return NULL; /* a branch that was not taken would have made it */
}

static const char *answer_of(const char *name, size_t len, int strand)
{
    const struct script_call *c = find_call(name, len, strand);

    return c && c->json ? c->json : "null";
}

/** What Math.random() would give: of the seed and the number of the delivery. */
static unsigned drawn(void)
{
    unsigned h = script.draw * 2654435761u;

    for (size_t i = 0; i < sizeof script.pass->seed; i++)
        h = (h ^ script.pass->seed[i]) * 16777619u;
    return h % 1000000;
}

/** Text with what its names stand for. */
static void fill_in(const char *p, const char *end, int strand, struct cm_buf *out)
{
    while (p < end) {
        size_t len = 0;

        if (*p != '$') {
            cm_buf_add_char(out, *p++);
            continue;
        }
        while (p + 1 + len < end && (isalnum((unsigned char)p[1 + len]) || p[1 + len] == '_'))
            len++;
        if (len == 5 && strncmp(p + 1, "clock", 5) == 0)
            cm_buf_addf(out, "%" PRId64, script.clock);
        else if (len == 4 && strncmp(p + 1, "draw", 4) == 0)
            cm_buf_addf(out, "%u", drawn());
        else
            cm_buf_add_z(out, answer_of(p + 1, len, strand));
        p += 1 + len;
    }
    if (out->failed) /* a worker would end of it */
        abort();
}

/* ---- statements ---- */

/** Whether nothing more may be sent: the host has ended it. */
static bool is_over(void)
{
    return !fake || fake->killed;
}

static void end_strand(int i, bool failed, const char *json)
{
    struct strand *s = &script.strands[i];

    s->at = NULL;
    if (s->step) {
        fake->ev.on_step_end(fake->user, fake, s->step, failed,
                             (struct cm_value){cm_str_of(json), cm_str_of(failed ? "{\"\":\"error\"}" : "")});
        return;
    }
    script.ended = true;
    script.failed = failed;
    script.result = cm_strdup(json);
}

static void issue(int strand, const char *name, size_t len, const char *p, const char *end)
{
    static const struct {
        const char *word;
        enum cm_call_kind kind;
    } kinds[] = {{"step ", CM_CALL_STEP},
                 {"run ", CM_CALL_RUN},
                 {"timer ", CM_CALL_TIMER},
                 {"search ", CM_CALL_SEARCH},
                 {"describe ", CM_CALL_DESCRIBE}};
    cm_autobuf args = CM_BUF_INIT(1u << 16);
    struct script_call *c = &script.calls[script.n_calls];
    enum cm_call_kind kind = CM_CALL_TOOL;
    char method[32] = "";
    size_t word = strcspn(p, " \n");

    if (script.n_calls == SCRIPT_CALLS_MAX)
        bad("the script makes too many calls");
    for (size_t i = 0; i < CM_ARRAY_LEN(kinds); i++)
        if (strncmp(p, kinds[i].word, strlen(kinds[i].word)) == 0)
            kind = kinds[i].kind;
    *c = (struct script_call){.id = fake->last_id + 1};
    (void)snprintf(c->name, sizeof c->name, "%.*s", (int)len, name);
    fill_in(p + word + (p[word] == ' '), end, strand, &args);
    (void)snprintf(method, sizeof method, "%.*s", (int)word, p);
    if (kind == CM_CALL_STEP || kind == CM_CALL_RUN) {
        (void)snprintf(c->step, sizeof c->step, "%s", cm_buf_str(&args).ptr);
        (void)snprintf(method, sizeof method, "%s", c->step);
        cm_buf_clear(&args);
        cm_buf_addf(&args, kind == CM_CALL_STEP ? "null" : "[\"%s\"]", c->step);
    }
    script.owners[script.n_calls++] = strand;
    fake_step = script.strands[strand].step;
    (void)fake_call(kind, kind == CM_CALL_TOOL ? "world" : "",
                    kind == CM_CALL_TOOL || c->step[0] ? method : "", cm_buf_str(&args).ptr);
    fake_step = 0;
}

static void give_up(struct script_call *c)
{
    if (!c || c->settled)
        return;
    c->settled = c->failed = c->awaited = true;
    c->json = cm_strdup("{\"message\":\"aborted\",\"name\":\"AbortError\"}");
    fake->ev.on_cancel(fake->user, fake, c->id);
}

enum await_kind { AWAIT_ALL, AWAIT_SETTLED, AWAIT_ONE };

/** False: it waits. */
static bool await_calls(int strand, enum await_kind how, const char *p, const char *end)
{
    size_t n = 0, settled = 0;

    while (p < end) {
        size_t len = strcspn(p, " \n");
        struct script_call *c = find_call(p, len, strand);

        n += c != NULL;
        settled += c && c->settled;
        if (how == AWAIT_ALL && c && c->settled && c->failed) {
            end_strand(strand, true, c->json);
            return true;
        }
        p += len + (p[len] == ' ');
    }
    return how == AWAIT_ONE ? settled > 0 || n == 0 : settled == n;
}

/** Run one statement. False: it waits, and comes again. */
static bool run_statement(int strand, const char *p, const char *end)
{
    cm_autobuf text = CM_BUF_INIT(1u << 16);
    size_t word = strcspn(p, " \n");
    const char *rest = p + word + (p[word] == ' ');

    if (strncmp(rest, "= ", 2) == 0) {
        issue(strand, p, word, rest + 2, end);
        return true;
    }
    if (strncmp(p, "await ", 6) == 0)
        return await_calls(strand, AWAIT_ALL, rest, end);
    if (strncmp(p, "settle ", 7) == 0)
        return await_calls(strand, AWAIT_SETTLED, rest, end);
    if (strncmp(p, "race ", 5) == 0)
        return await_calls(strand, AWAIT_ONE, rest, end);
    if (strncmp(p, "give-up ", 8) == 0) {
        give_up(find_call(rest, strcspn(rest, " \n"), strand));
        return true;
    }
    if (strncmp(p, "if ", 3) == 0) {
        size_t len = strcspn(rest, " ");
        const struct script_call *c = find_call(rest, len, strand);
        const char *is = rest + len + 1, *then = is + strcspn(is, " ") + 1;

        return !c || !c->settled || strncmp(is, c->failed ? "failed " : "ok ", c->failed ? 7 : 3) != 0 ||
               run_statement(strand, then, end);
    }
    fill_in(rest, end, strand, &text);
    if (strncmp(p, "log ", 4) == 0)
        fake->ev.on_log(fake->user, fake, CM_LOG_LOG, cm_buf_str(&text));
    else if (strncmp(p, "return ", 7) == 0)
        end_strand(strand, false, cm_buf_str(&text).ptr);
    else if (strncmp(p, "throw ", 6) == 0) {
        cm_autofree char *error =
            cm_asprintf("{\"message\":\"%s\",\"name\":\"Error\"}", cm_buf_str(&text).ptr);

        end_strand(strand, true, error);
    } else {
        bad("the script says '%.*s'", (int)(end - p), p);
    }
    return true;
}

/** Run a strand until it waits or ends. */
static void run_strand(int i)
{
    while (!is_over() && script.strands[i].at) {
        const char *p = script.strands[i].at, *end = line_end(p);

        while (p < end && *p == ' ')
            p++;
        if (!isspace((unsigned char)*script.strands[i].at)) {
            end_strand(i, false, "null"); /* the next section, or the end: it ran off */
            return;
        }
        if (p < end && !run_statement(i, p, end))
            return;
        if (script.strands[i].at)
            script.strands[i].at = *end ? end + 1 : end;
    }
}

static void run_strands(void)
{
    for (size_t i = 0; i < script.n_strands && !is_over(); i++)
        run_strand((int)i);
}

static void start_strand(const char *text, const char *step, int outer, uint32_t id)
{
    if (script.n_strands == SCRIPT_STRANDS_MAX)
        bad("the script runs too many steps");
    script.strands[script.n_strands++] =
        (struct strand){.text = text, .at = section(text, step), .outer = outer, .step = id};
}

/** The text of a snippet, the first of a list. */
static const char *snippet_text(const char *json)
{
    cm_auto(yyjson_doc) doc = NULL;
    struct cm_str code = {0};

    if (cm_json_parse(cm_str_of(json), CM_JSON_STRICT, &doc, NULL) == CM_E_NOMEM)
        abort();
    code = cm_json_str(yyjson_arr_get_first(yyjson_doc_get_root(doc)));
    if (!code.len || script.n_texts == SCRIPT_STRANDS_MAX)
        bad("a snippet came as %s", json);
    return script.texts[script.n_texts++] = cm_memdup_z(code.ptr, code.len);
}

/* ---- the worker ---- */

static void read_delivery(const struct fake_delivery *d)
{
    script.clock = d->now;
    script.draw = d->draw;
    for (size_t i = 0; i < script.n_calls; i++) {
        struct script_call *c = &script.calls[i];

        if (c->id != d->id)
            continue;
        if (c->awaited) {
            c->awaited = false;
            return;
        }
        if (c->settled)
            bad("call %u was answered twice", d->id);
        if (d->execute) {
            if (d->json[0])
                start_strand(snippet_text(d->json), NULL, -1, c->id);
            else
                start_strand(script.strands[script.owners[i]].text, c->step, script.owners[i], c->id);
            return;
        }
        c->settled = true;
        c->failed = d->failed;
        c->json = cm_strdup(d->json[0] ? d->json : "null");
        return;
    }
    bad("call %u was answered, which was not made", d->id);
}

static uint32_t n_unanswered(void)
{
    uint32_t n = 0;

    for (size_t i = 0; i < script.n_calls; i++)
        n += !script.calls[i].settled || script.calls[i].awaited;
    return n;
}

/** It stands still, or has ended: say so. */
static void tell_host(void)
{
    if (is_over() || fake->n_got > script.n_read)
        return;
    if (script.ended && (n_unanswered() == 0 || fake->finished)) {
        cm_autofree char *json = cm_steal(&script.result);
        cm_autofree char *meta =
            cm_asprintf("{\"error\":%s}", script.failed ? json : "{\"name\":\"Error\",\"message\":\"\"}");
        bool failed = script.failed;

        script_forget();
        if (failed)
            fake_throw(meta);
        else
            fake_done(json, "", "{}");
        return;
    }
    if (script.ended)
        fake->ev.on_ended(fake->user, fake, script.failed);
    fake->n_turns++;
    if (!is_over())
        fake->ev.on_wait(fake->user, fake, n_unanswered());
}

/** Let the worker do what it can. False: there is nothing for it to do. */
static bool script_turn(void)
{
    bool finish = fake && fake->finished && script.pass == fake && script.ended;

    if (!fake)
        return false;
    if (fake->killed) {
        if (script.pass == fake)
            script_forget();
        fake_sweep();
        return true;
    }
    if (script.pass != fake) {
        script_forget();
        script = (struct script){
            .pass = fake, .texts = {cm_strdup(fake->source)}, .n_texts = 1, .clock = fake->started_at};
        start_strand(script.texts[0], NULL, -1, 0);
        run_strands();
        tell_host();
        return true;
    }
    if (script.n_read == fake->n_got && !finish)
        return false;
    while (!is_over() && script.n_read < fake->n_got) {
        read_delivery(&fake->got[script.n_read++]);
        run_strands();
    }
    tell_host();
    return true;
}

#endif
