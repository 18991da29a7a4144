/* The normaliser in the engine that it runs in: whatever text comes, it is answered with a program that the engine can read as one
 * function, and which is its own normal form, or with an error that has a message and a place. The engine is not instrumented, so
 * the fuzzer is led by the dictionary and the corpus alone; fuzz_texts.mjs makes better programs and looks more closely. */
#include "engine/internal.h"
#include "fuzz.h"
#include "json/json.h"

#include "base/utf8.h"

static cm_engine *engine(void)
{
    static cm_engine *e; /* made once: 20 ms */

    if (!e) {
        cm_engine_prepare_process(false);
        CM_MUST(cm_engine_new(&(struct cm_engine_opts){0}, &e, NULL) == CM_OK);
    }
    return e;
}

static uint64_t count_lines(struct cm_str text)
{
    uint64_t n = 1;

    for (size_t i = 0; i < text.len; i++) {
        bool separator = i + 2 < text.len && memcmp(text.ptr + i, "\xE2\x80", 2) == 0 &&
                         ((unsigned char)text.ptr[i + 2] & 0xFE) == 0xA8;
        bool cr = text.ptr[i] == '\r' && !(i + 1 < text.len && text.ptr[i + 1] == '\n');
        n += text.ptr[i] == '\n' || cr || separator;
    }
    return n;
}

static void error_teaches(struct cm_str source, const char *meta)
{
    cm_auto(yyjson_doc) doc = NULL;

    CM_MUST(cm_json_parse(cm_str_of(meta), CM_JSON_STRICT, &doc, NULL) == CM_OK);
    yyjson_val *error = cm_json_get(yyjson_doc_get_root(doc), "error");
    uint64_t line = yyjson_get_uint(cm_json_get(error, "line"));
    CM_MUST(cm_json_str(cm_json_get(error, "message")).len > 0);
    CM_MUST(cm_json_get_z(error, "name") && cm_json_get_z(error, "code"));
    CM_MUST(line >= 1 && line <= count_lines(source));
    CM_MUST(yyjson_get_uint(cm_json_get(error, "column")) >= 1);
}

/* Evaluating `run` makes a function, and calls none. */
static void is_one_function(cm_engine *e, const struct cm_program *p)
{
    JSValueRef exception = NULL;

    if (!JSCheckScriptSyntax(e->service, p->run, NULL, 1, &exception))
        return; /* the engine refuses a few texts that the parser takes; then nothing of it runs */
    JSValueRef v = JSEvaluateScript(e->service, p->run, NULL, NULL, 1, &exception);
    CM_MUST(v && JSValueIsObject(e->service, v));
    CM_MUST(JSObjectIsFunction(e->service, JSValueToObject(e->service, v, NULL)));
}

/* A line in a text of the program that looks like a fence: what is shown would be read as what stands around it. */
static bool has_fence(struct cm_str s)
{
    size_t run = 0;
    char before = '\n'; /* what the run of equal marks follows, blanks left out */

    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];

        run = (c == '`' || c == '~') && (before == '\n' || (run > 0 && before == c)) ? run + 1 : 0;
        if (run == 3)
            return true;
        if (c == '\r')
            before = '\n';
        else if (c != ' ' && c != '\t')
            before = c;
    }
    return false;
}

static void is_normal_form(cm_engine *e, struct cm_str shown)
{
    cm_autofree char *again = NULL;
    size_t len = 0;

    if (has_fence(shown))
        return;
    CM_MUST(cm_engine_normalize(e, shown, CM_STR(""), &again, &len, NULL, NULL) == CM_OK);
    CM_MUST(cm_str_eq(cm_str_mk(again, len), shown));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct cm_str bind = CM_STR("{\"connectors\":[{\"name\":\"demo\",\"methods\":[\"echo\"]}]}");
    static unsigned n_runs;
    cm_engine *e = engine();
    size_t len = 0;
    /* As the host has it: text that came in is UTF-8. */
    cm_autofree char *text = cm_utf8_repair(cm_str_mk(data, size), &len);
    struct cm_program p __attribute__((cleanup(cm_program_done))) = {0};
    cm_autojs source = cm_js__string(cm_str_mk(text, len));

    CM_MUST(cm_engine__normalize(e, source, (n_runs & 1) != 0, bind, &p, NULL) == CM_OK);
    if (p.error_json) {
        error_teaches(cm_str_mk(text, len), p.error_json);
        return 0;
    }
    cm_autofree char *shown = cm_js__text_of(p.text, &len);
    is_one_function(e, &p);
    is_normal_form(e, cm_str_mk(shown, len));
    if (++n_runs % 1000 == 0)
        cm_engine_collect(e);
    return 0;
}
