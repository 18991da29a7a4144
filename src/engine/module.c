/* Modules of the configuration: the service realm makes functions of their texts (js/service/modules.js). */
#include "engine/internal.h"

static JSValueRef get_member(JSContextRef ctx, JSObjectRef from, const char *name)
{
    cm_autojs key = JSStringCreateWithUTF8CString(name);
    JSValueRef v = JSObjectGetProperty(ctx, from, key, NULL);

    return v && !JSValueIsUndefined(ctx, v) ? v : NULL;
}

/* The name for places: "module:NAME". */
static JSStringRef url_of(JSStringRef name)
{
    size_t len = 0;
    cm_autofree char *text = cm_js__text_of(name, &len);
    cm_autofree char *url = text ? cm_asprintf("module:%s", text) : NULL;

    return url ? cm_js__string(cm_str_of(url)) : NULL;
}

/*
 * Called from inside of a program's stack, like cm_engine__locate: what comes back to the program is a text, or a script that is
 * evaluated in its own realm.
 */
bool cm_engine__module(cm_engine *e, JSStringRef name, struct cm_program *out, JSStringRef *url)
{
    JSContextRef ctx = e->service;
    JSValueRef arg = JSValueMakeString(ctx, name), error;
    JSValueRef v = JSObjectCallAsFunction(ctx, e->module, NULL, 1, &arg, NULL);
    JSObjectRef made = v && JSValueIsObject(ctx, v) ? JSValueToObject(ctx, v, NULL) : NULL;
    size_t len = 0;

    if (!made)
        return false;
    error = get_member(ctx, made, "error");
    if (error) {
        out->error_json = cm_js__text(ctx, error, &len);
        return out->error_json != NULL;
    }
    out->run = JSValueToStringCopy(ctx, get_member(ctx, made, "run"), NULL);
    out->line = 1;
    *url = url_of(name);
    return out->run && *url;
}
