/* JavaScriptCore, as the worker uses it: no helper threads, no cage. */
#include "engine.h"

#include <JavaScriptCore/JavaScript.h>
#include <dlfcn.h>
#include <stdlib.h>

const char engine_name[] = "JavaScriptCore";
static JSGlobalContextRef ctx;

void engine_start(void)
{
    (void)setenv("JSC_useConcurrentGC", "0", 1);
    (void)setenv("JSC_numberOfGCMarkers", "1", 1);
    (void)setenv("JSC_useConcurrentJIT", "0", 1);
    (void)setenv("GIGACAGE_ENABLED", "0", 1);
    void (*disable_scavenger)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "_ZN3WTF20fastDisableScavengerEv");
    if (disable_scavenger)
        disable_scavenger();
    ctx = JSGlobalContextCreate(NULL);
}

double engine_eval(const char *code)
{
    JSValueRef exception = NULL;
    JSStringRef text = JSStringCreateWithUTF8CString(code);
    JSValueRef v = JSEvaluateScript(ctx, text, NULL, NULL, 1, &exception);

    JSStringRelease(text);
    if (exception)
        abort();
    return JSValueToNumber(ctx, v, NULL);
}
