/**
 * For what has the engine in its own process, under sanitizers: the leak check cannot read the engine's own heap, so what is held only from
 * there (names, compiled code) looks lost. Where the engine lives to the end of the process (CM_KEEPS_ENGINE) nothing is checked. Else whole
 * call chains cost a little time and keep the exceptions to what only the engine makes: a string of ours that we forget is still found.
 */
#include "base/sanitize.h"

#if CM_SANITIZED
const char *__asan_default_options(void);
const char *__lsan_default_suppressions(void);

__attribute__((visibility("default"))) const char *__asan_default_options(void)
{
#ifdef CM_KEEPS_ENGINE
    return "detect_leaks=0";
#else
    return "fast_unwind_on_malloc=0:malloc_context_size=40";
#endif
}

__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void)
{
    /* JSC:: is the engine's inside. Strings that its C interface makes for us come from no function of it. */
    return "leak:JSC::\n"
           "leak:WTF::StringImpl::createStaticStringImpl\n"
           "leak:WTF::BitVector::resizeOutOfLine\n"
           "leak:WTF::AtomStringImpl::add\n";
}
#else
typedef int cm_nothing_here; /* a file is not empty */
#endif
