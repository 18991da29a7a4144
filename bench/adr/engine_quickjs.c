/* QuickJS, from Debian 13's libquickjs. */
#include "engine.h"

#include <quickjs/quickjs.h>
#include <stdlib.h>
#include <string.h>

const char engine_name[] = "QuickJS";
static JSContext *ctx;

void engine_start(void)
{
    ctx = JS_NewContext(JS_NewRuntime());
}

double engine_eval(const char *code)
{
    JSValue v = JS_Eval(ctx, code, strlen(code), "bench.js", JS_EVAL_TYPE_GLOBAL);
    double d = 0;

    if (JS_IsException(v))
        abort();
    (void)JS_ToFloat64(ctx, &d, v);
    JS_FreeValue(ctx, v);
    return d;
}
