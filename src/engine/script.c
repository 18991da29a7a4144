/*
 * Scripts of ours that every realm evaluates. The engine finds the bytecode of a text it has seen by the text's hash, but each
 * JSEvaluateScript copies the text first, hashes the copy, and keeps it for as long as the realm lives: 50 us and 56 KB for the
 * prelude. A JSScript refers to the text where it stands in this program, and is hashed once.
 *
 * Making one parses the text. So it is made at the second use: a process that makes one realm only does not pay for it, and
 * the bytecode of the first use is found by the later ones, since the texts are the same.
 */
#include "engine/internal.h"

JSValueRef cm_script__evaluate(cm_engine *e, struct cm_script *s, JSContextRef ctx, JSStringRef url,
                               JSValueRef *exception)
{
    cm_autojs text = NULL;

    if (s->used && !s->shared)
        s->shared = JSScriptCreateReferencingImmortalASCIIText(e->group, url, 1, s->text, strlen(s->text),
                                                               NULL, NULL);
    s->used = true;
    if (s->shared)
        return JSScriptEvaluate(ctx, s->shared, NULL, exception);
    text = JSStringCreateWithUTF8CString(s->text); /* also where there was no stack left for parsing it */
    return JSEvaluateScript(ctx, text, NULL, url, 1, exception);
}

void cm_script__done(struct cm_script *s)
{
    if (s->shared)
        JSScriptRelease(s->shared);
    s->shared = NULL;
}
