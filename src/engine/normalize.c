/* From the text that was sent to a program that can run: asked of the service realm. */
#include "engine/internal.h"

void cm_program_done(struct cm_program *p)
{
    cm_js__release(&p->text);
    cm_js__release(&p->run);
    cm_js__release(&p->map);
    cm_js__release(&p->warnings);
    free(p->error_json);
    free(p->shifts);
}

static JSValueRef get_member(JSContextRef ctx, JSObjectRef from, const char *name)
{
    cm_autojs key = JSStringCreateWithUTF8CString(name);
    JSValueRef v = JSObjectGetProperty(ctx, from, key, NULL);

    return v && !JSValueIsUndefined(ctx, v) ? v : NULL;
}

static JSStringRef get_text(JSContextRef ctx, JSObjectRef from, const char *name)
{
    JSValueRef v = get_member(ctx, from, name);

    return v ? JSValueToStringCopy(ctx, v, NULL) : JSStringCreateWithUTF8CString("");
}

static cm_status ask(cm_engine *e, JSObjectRef function, const JSValueRef args[3], JSObjectRef *out,
                     struct cm_err *err)
{
    JSContextRef ctx = e->service;
    JSValueRef exception = NULL;
    JSValueRef v = JSObjectCallAsFunction(ctx, function, NULL, 3, args, &exception);

    if (!v)
        return cm_js__fail(ctx, exception, "normalising the program", err);
    *out = JSValueToObject(ctx, v, NULL);
    return CM_OK;
}

/* What the service realm's function makes of a text, with the part that knows types where that is needed. */
static cm_status make(cm_engine *e, JSObjectRef function, const JSValueRef args[3], struct cm_program *out,
                      JSObjectRef *object, struct cm_err *err)
{
    JSContextRef ctx = e->service;
    JSObjectRef made = NULL;
    JSValueRef error;
    size_t len = 0;
    cm_status st = ask(e, function, args, &made, err);

    if (st == CM_OK && !e->types_loaded && get_member(ctx, made, "types")) {
        st = cm_engine__load_types(e, err);
        if (st == CM_OK)
            st = ask(e, function, args, &made, err);
    }
    if (st != CM_OK)
        return st;
    *object = made;
    error = get_member(ctx, made, "error");
    if (error) {
        out->error_json = cm_js__text(ctx, error, &len);
        return out->error_json ? CM_OK
                               : cm_err_set(err, CM_E_NOMEM, "normalising the program: out of memory");
    }
    out->text = get_text(ctx, made, "text");
    out->run = get_text(ctx, made, "run");
    out->map = get_text(ctx, made, "map");
    out->warnings = get_text(ctx, made, "warnings");
    out->line = (int)JSValueToNumber(ctx, get_member(ctx, made, "line"), NULL);
    return CM_OK;
}

cm_status cm_engine__normalize(cm_engine *e, JSStringRef source, bool has_input, struct cm_str bind_json,
                               struct cm_program *out, struct cm_err *err)
{
    JSObjectRef made = NULL;
    JSValueRef args[3];

    args[0] = JSValueMakeString(e->service, source);
    args[1] = JSValueMakeBoolean(e->service, has_input);
    args[2] = cm_js__value(e->service, bind_json);
    return make(e, e->normalize, args, out, &made, err);
}

/* Called from inside of a program's stack, like cm_engine__module: texts go in, a text comes back. */
cm_status cm_engine__snippet(cm_engine *e, JSStringRef name, JSStringRef code, struct cm_program *out,
                             JSStringRef *url, struct cm_err *err)
{
    JSObjectRef made = NULL;
    JSValueRef args[3];
    cm_status st;

    args[0] = JSValueMakeString(e->service, name);
    args[1] = JSValueMakeString(e->service, code);
    args[2] = cm_js__value(e->service, cm_buf_str(&e->bind_json));
    st = make(e, e->snippet, args, out, &made, err);
    if (st == CM_OK && !out->error_json)
        *url = get_text(e->service, made, "place");
    return st;
}

/* DONE's meta with the warnings, if there are any. */
static cm_status warnings_meta(const struct cm_program *p, char **meta_json, struct cm_err *err)
{
    size_t len = 0;
    cm_autofree char *warnings = cm_js__text_of(p->warnings, &len);

    if (!warnings)
        return cm_err_set(err, CM_E_NOMEM, "normalising the program: out of memory");
    if (len > 0)
        *meta_json = cm_asprintf("{\"warnings\":%s}", warnings);
    return CM_OK;
}

cm_status cm_engine_normalize(cm_engine *e, struct cm_str source, struct cm_str bind_json, char **out,
                              size_t *len, char **meta_json, struct cm_err *err)
{
    cm_autojs text = cm_js__string(source);
    struct cm_program p __attribute__((cleanup(cm_program_done))) = {0};
    cm_status st = cm_engine__normalize(e, text, false, bind_json, &p, err);
    cm_autofree char *shown = NULL;
    size_t n = 0;

    if (st != CM_OK)
        return st;
    if (p.error_json) {
        st = cm_err_set(err, CM_E_INVALID, "the program does not parse: %s", p.error_json);
        if (meta_json)
            *meta_json = cm_steal(&p.error_json);
        return st;
    }
    shown = cm_js__text_of(p.text, &n);
    if (!shown)
        return cm_err_set(err, CM_E_NOMEM, "normalising the program: out of memory");
    if (meta_json)
        st = warnings_meta(&p, meta_json, err);
    if (st != CM_OK)
        return st;
    *out = cm_steal(&shown);
    if (len)
        *len = n;
    return CM_OK;
}
