/* What is done before a program comes, so that it finds the engine's work done: once for all workers, before they are forked. */
#include "engine/internal.h"

#include "base/clock.h"

#define WARM_PASSES             40
#define WARM_WEB_PASSES         4 /* of them */
#define WARM_PARSER_RUNS        600
#define WARM_PARSER_US          400000
#define PASSES_AFTER_COLLECTION 3

static void ignore_call(void *user, uint32_t id, unsigned kind, struct cm_str connector, struct cm_str method,
                        struct cm_value args, struct cm_call_place at)
{
    (void)user, (void)id, (void)kind, (void)connector, (void)method, (void)args, (void)at;
}

static void ignore_step_end(void *user, uint32_t id, bool failed, struct cm_value value)
{
    (void)user, (void)id, (void)failed, (void)value;
}

static void ignore_cancel(void *user, uint32_t id)
{
    (void)user, (void)id;
}

static void ignore_log(void *user, unsigned level, struct cm_str text)
{
    (void)user, (void)level, (void)text;
}

/* What a typical program does: two calls, a loop, a log line, a regular expression, an object as result. */
static const char typical_program[] =
    "const rows = await demo.list({ owner: 'a', labels: ['x', 'y'], page: 1 });\n"
    "const more = await Promise.all([1, 2].map(page => demo.list({ page })));\n"
    "let total = 0;\n"
    "for (const row of rows) total += row.size ?? 0;\n"
    "console.log('rows', rows.length, { total, when: new Date().toISOString() });\n"
    "const names = rows.filter(r => r.size > 1 && !/^_/.test(r.name)).map(r => "
    "`${r.name}:${JSON.stringify(r)}`).sort();\n"
    "({ total, names, pages: more.length, at: Math.random() < 2 })";

/* What makes the engine know the web interfaces, which are compiled once for all realms. The tables of host names and the streams
 * are left out: they are large, and rarely used. */
static const char web_program[] =
    "const url = new URL('/a?b=c', 'https://a.example'), headers = new Headers({ accept: 'text/html' });\n"
    "const bytes = new TextEncoder().encode(url.searchParams.get('b')), form = new FormData();\n"
    "form.append('a', new Blob([bytes]));\n"
    "new AbortController().abort();\n"
    "const digest = await crypto.subtle.digest('SHA-256', bytes);\n"
    "({ text: new TextDecoder().decode(bytes), n: digest.byteLength, copy: structuredClone({ at: new Date() "
    "}),\n"
    "    accept: headers.get('accept'), base64: btoa('x'), data: await new Response('{}').json(), url })";

static cm_status warm_pass(cm_engine *e, const char *program, struct cm_err *err)
{
    static const struct cm_realm_host host = {ignore_call, ignore_step_end, ignore_log, ignore_cancel};
    struct cm_realm_opts opts = {
        .source = cm_str_of(program),
        .bind_json = CM_STR("{\"connectors\":[{\"name\":\"demo\",\"methods\":[\"list\",\"get\"]}]}"),
        .now_ms = 1700000000000,
        .host = &host,
    };
    struct cm_value rows = {CM_STR("[{\"name\":\"one\",\"size\":1},{\"name\":\"two\",\"size\":2}]"),
                            CM_STR("")};
    cm_auto(cm_realm) r = NULL;
    cm_status st = cm_realm_start(e, &opts, &r, err);

    for (uint32_t id = 1; st == CM_OK && cm_realm_state(r) == CM_REALM_WAITING; id++)
        st = cm_realm_deliver(r, id, false, false, rows, opts.now_ms + id, id, err);
    if (st == CM_OK && cm_realm_result(r)->failed)
        return cm_err_set(err, CM_E_INTERNAL, "a program of the warming failed: %.*s",
                          CM_STR_ARG(cm_realm_result(r)->meta_json));
    return st;
}

/* As long as programs are that models write, with most of the forms that stand in them. The parser alone gets to see it. */
static const char long_program[] =
    "// What is open, by label.\n"
    "const owner = 'acme', repos = ['web', 'api', 'infra'], limit = { page: 5, size: 100 };\n"
    "async function listAll(repo, { state = 'open', ...rest } = {}) {\n"
    "  const all = [];\n"
    "  for (let page = 1; page <= limit.page; page++) {\n"
    "    const batch = await github.list_issues({ owner, repo, state, page, per_page: limit.size, ...rest "
    "});\n"
    "    all.push(...batch);\n"
    "    if (batch.length < limit.size) break;\n"
    "  }\n"
    "  return { repo, all };\n"
    "}\n"
    "const pages = await Promise.all(repos.map(async (repo) => listAll(repo, { sort: 'created' })));\n"
    "const byLabel = new Map(), seen = new Set();\n"
    "let oldest = null, failed = 0;\n"
    "for (const { repo, all } of pages) {\n"
    "  for (const issue of all) {\n"
    "    if (issue.pull_request || seen.has(issue.id)) continue;\n"
    "    seen.add(issue.id);\n"
    "    const age = (Date.now() - new Date(issue.created_at).getTime()) / 86400000;\n"
    "    if (!oldest || age > oldest.age) oldest = { repo, number: issue.number, title: issue.title, age };\n"
    "    for (const { name } of issue.labels ?? []) {\n"
    "      const entry = byLabel.get(name) ?? { count: 0, repos: new Set(), who: {} };\n"
    "      entry.count += 1;\n"
    "      entry.repos.add(repo);\n"
    "      const who = issue.assignee?.login ?? 'nobody';\n"
    "      entry.who[who] = (entry.who[who] ?? 0) + 1;\n"
    "      byLabel.set(name, entry);\n"
    "    }\n"
    "  }\n"
    "}\n"
    "const rows = [...byLabel].map(([label, { count, repos: in_, who }]) => ({\n"
    "  label, count, repos: [...in_].sort(),\n"
    "  busiest: Object.entries(who).sort((a, b) => b[1] - a[1]).slice(0, 3).map(([name, n]) => `${name} "
    "(${n})`),\n"
    "})).sort((a, b) => b.count - a.count || a.label.localeCompare(b.label));\n"
    "try {\n"
    "  if (rows.some((r) => /urgent|p0/i.test(r.label) && r.count > 10)) {\n"
    "    await slack.post_message({ channel: '#alerts', text: `Too many: ${rows.length}, "
    "${JSON.stringify(rows[0])}` });\n"
    "  } else if (typeof oldest === 'object' && oldest !== null) {\n"
    "    console.warn('oldest', oldest.number, oldest?.title ?? '');\n"
    "  }\n"
    "} catch (error) {\n"
    "  failed++;\n"
    "  console.error(`not posted: ${error.message}`);\n"
    "}\n"
    "return { rows: rows.slice(0, 20), oldest, failed, total: pages.reduce((n, p) => n + p.all.length, 0) "
    "};\n";

/* The engine compiles what it has run often; done here, it is done once for all workers, and not while programs wait. */
static void warm_parser(cm_engine *e)
{
    int64_t end_us = cm_mono_us() + WARM_PARSER_US;

    for (unsigned i = 0; i < WARM_PARSER_RUNS && cm_mono_us() < end_us; i++) {
        /* Some are cut and do not parse, some have types: these have paths of their own. */
        static const char typed[] =
            "interface Row { id: number; name?: string } const first = (rows: Row[]): Row => rows[0]!; ";
        const char *program = i % 2 ? long_program : typical_program;
        int len = (int)strlen(program) - (i % 5 == 4 ? 8 : 0);
        cm_autofree char *source = cm_asprintf("%s%.*s// %u", i % 8 == 7 ? typed : "", len, program, i);
        cm_autofree char *text = NULL;

        (void)cm_engine_normalize(e, cm_str_of(source), CM_STR(""), &text, NULL, NULL, NULL);
    }
}

/* A realm without the connectors of our own programs: any first program can take it. */
static void prepare_any(cm_engine *e)
{
    cm_buf_clear(&e->bind_json);
    cm_engine_prepare_realm(e);
}

cm_status cm_engine_warm(cm_engine *e, struct cm_err *err)
{
    for (int i = 0; i < WARM_PASSES; i++) {
        cm_status st = warm_pass(e, i < WARM_WEB_PASSES ? web_program : typical_program, err);

        if (st != CM_OK)
            return st;
    }
    warm_parser(e);
    cm_engine_collect(e);
    /*
     * A collection leaves every block of the heap to be swept, and every cache of the engine empty. What the first passes after it do
     * about that is done here, in pages that the workers share; in each of them it would be 0.7 MB more.
     */
    for (int i = 0; i < PASSES_AFTER_COLLECTION; i++) {
        cm_status st = warm_pass(e, typical_program, err);

        if (st != CM_OK)
            return st;
    }
    prepare_any(e);
    return CM_OK;
}

cm_status cm_engine_self_test(cm_engine *e, struct cm_err *err)
{
    cm_status st = warm_pass(e, typical_program, err);

    if (st != CM_OK)
        return cm_err_prefix(err, "self-test");
    prepare_any(e);
    return CM_OK;
}

void cm_engine_touch(cm_engine *e)
{
    static const char program[] =
        "const rows = await demo.list({ labels: ['x'], page: 1 });\n"
        "for (const row of rows) { if (/^a/.test(row.name)) console.log(`${row.name}`); }\n"
        "({ names: rows.map(r => r.name) })";
    cm_autofree char *text = NULL;

    (void)cm_engine_normalize(e, cm_str_of(program), CM_STR(""), &text, NULL, NULL, NULL);
}
