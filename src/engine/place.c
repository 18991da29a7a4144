/* Where in the author's text something failed: asked of the service realm, which parses the text once more. */
#include "engine/internal.h"

/*
 * Called from inside of a program's stack. Only texts go in and one text comes out, so no object of the service realm comes within
 * reach of the program, not even an exception: that is dropped, and a place the realm could not find is no failure of the pass. What it
 * costs is time and memory of the program's own worker, under the program's limits.
 */
JSStringRef cm_engine__locate(cm_engine *e, const struct cm_program *p, JSStringRef source, JSStringRef asked)
{
    JSContextRef ctx = e->service;
    JSValueRef args[5], v;

    args[0] = JSValueMakeString(ctx, asked);
    args[1] = JSValueMakeString(ctx, p->run);
    args[2] = JSValueMakeString(ctx, p->map);
    args[3] = JSValueMakeNumber(ctx, p->line);
    args[4] = JSValueMakeString(ctx, source);
    v = JSObjectCallAsFunction(ctx, e->locate, NULL, CM_ARRAY_LEN(args), args, NULL);
    return v ? JSValueToStringCopy(ctx, v, NULL) : NULL;
}
