/* The VM and its service realm. */
#include "engine/internal.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/sanitize.h"
#include "bundle.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#define GIVE_BACK_PAGES 1024 /* 4 MB first touched since the last time */

/*
 * The engine prints a warning when the first VM is made, because we switched the cage off; on our standard
 * error it would be noise at every start. Later ones are made in locked-down workers, where there is no
 * standard error and no call to redirect it.
 */
static JSContextGroupRef create_group_quietly(void)
{
    static bool warned;

    if (warned)
        return JSContextGroupCreate();
    warned = true;
    int saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    JSContextGroupRef group;

    if (saved >= 0 && null >= 0)
        (void)dup2(null, STDERR_FILENO);
    group = JSContextGroupCreate();
    if (saved >= 0) {
        (void)dup2(saved, STDERR_FILENO);
        (void)close(saved);
    }
    if (null >= 0)
        (void)close(null);
    return group;
}

/*
 * The engine catches memory faults for purposes that are switched off here (WebAssembly). Its handler asks for the default one by a
 * system call that a locked-down worker does not have, and the fault would be reported as that call. Faults keep their own name.
 */
static void restore_fault_signals(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT};

    for (size_t i = 0; i < CM_ARRAY_LEN(faults); i++)
        (void)signal(faults[i], SIG_DFL);
}

static JSObjectRef get_function(JSContextRef ctx, JSObjectRef from, const char *name)
{
    cm_autojs key = JSStringCreateWithUTF8CString(name);
    JSValueRef v = JSObjectGetProperty(ctx, from, key, NULL);

    return v && JSValueIsObject(ctx, v) ? JSValueToObject(ctx, v, NULL) : NULL;
}

/**
 * The allocator reserves 32 or 64 MB when a kind of memory is first used, and again when it is first used in earnest,
 * and what it reserves counts for a limit on data at once: a program with two thousand small buffers would meet a limit of 64 MB that
 * it had hardly touched. Made here, once for all workers, these reservations are part of every worker's start. With fewer than three
 * thousand the second one comes in a worker, within its first runs, which then is taken for one that has outgrown its start.
 */
static void make_reservations(JSContextRef ctx)
{
    static bool made;
    cm_autojs source = JSStringCreateWithUTF8CString("for (let i = 0, a = []; i < 3000; i++) a.push(new "
                                                     "ArrayBuffer(64), new Uint8Array(64).subarray(1));");

    if (!made)
        (void)JSEvaluateScript(ctx, source, NULL, NULL, 1, NULL);
    made = true;
}

static cm_status load_service(cm_engine *e, struct cm_err *err)
{
    cm_autojs source = JSStringCreateWithUTF8CString(cm_service_js);
    cm_autojs url = JSStringCreateWithUTF8CString("codemode:service");
    JSValueRef exception = NULL;

    e->service = JSGlobalContextCreateInGroup(e->group, NULL);
    if (!JSEvaluateScript(e->service, source, NULL, url, 1, &exception))
        return cm_js__fail(e->service, exception, "the service bundle", err);
    e->normalize = get_function(e->service, JSContextGetGlobalObject(e->service), "normalize");
    e->locate = get_function(e->service, JSContextGetGlobalObject(e->service), "locate");
    e->module = get_function(e->service, JSContextGetGlobalObject(e->service), "module");
    e->snippet = get_function(e->service, JSContextGetGlobalObject(e->service), "snippet");
    if (!e->normalize || !e->locate || !e->module || !e->snippet)
        return cm_err_set(err, CM_E_INTERNAL,
                          "the service bundle lacks normalize, locate, module or snippet");
    JSValueProtect(e->service, e->normalize);
    JSValueProtect(e->service, e->locate);
    JSValueProtect(e->service, e->module);
    JSValueProtect(e->service, e->snippet);
    make_reservations(e->service);
    return CM_OK;
}

/* A tenth of a realm's programs have types, and the others need not pay for what takes them away. */
cm_status cm_engine__load_types(cm_engine *e, struct cm_err *err)
{
    cm_autojs url = JSStringCreateWithUTF8CString("codemode:types");
    cm_autojs source = JSStringCreateWithUTF8CString(cm_types_js);
    JSValueRef exception = NULL;

    if (!JSEvaluateScript(e->service, source, NULL, url, 1, &exception))
        return cm_js__fail(e->service, exception, "the bundle that takes types away", err);
    e->types_loaded = true;
    return CM_OK;
}

cm_status cm_engine_new(const struct cm_engine_opts *opts, cm_engine **out, struct cm_err *err)
{
    cm_auto(cm_engine) e = cm_new(cm_engine);
    cm_status st;

    /* The JIT is a setting of the process: cm_engine_prepare_process. */
    e->one_shot = opts->one_shot;
    e->bind_json = CM_BUF_INIT(CM_FRAME_MAX_BYTES);
    /* Nobody looks into a sandbox; and a realm that could be inspected is announced each time one is made. */
    JSRemoteInspectorSetInspectionEnabledByDefault(false);
    e->group = create_group_quietly();
    e->prelude.text = cm_prelude_js;
    e->prelude_url = JSStringCreateWithUTF8CString("codemode:prelude");
    e->program_url = JSStringCreateWithUTF8CString("program.js");
    e->web_url = JSStringCreateWithUTF8CString("codemode:web");
    e->n_web = CM_ARRAY_LEN(cm_web_js);
    e->web = cm_calloc(e->n_web, sizeof(*e->web));
    for (size_t i = 0; i < e->n_web; i++)
        e->web[i].text = cm_web_js[i];
    st = load_service(e, err);
    if (!CM_SANITIZED) /* whose reports need the handler of its own */
        restore_fault_signals();
    if (st != CM_OK)
        return st;
    *out = cm_steal(&e);
    return CM_OK;
}

void cm_engine_free(cm_engine *e)
{
    JSStringRef strings[] = {e ? e->prelude_url : NULL, e ? e->program_url : NULL, e ? e->web_url : NULL};

    if (!e)
        return;
    cm_realm_free(e->next);
    cm_buf_done(&e->bind_json);
    for (size_t i = 0; i < CM_ARRAY_LEN(strings); i++) {
        if (strings[i])
            JSStringRelease(strings[i]);
    }
    cm_script__done(&e->prelude);
    for (size_t i = 0; i < e->n_web; i++)
        cm_script__done(&e->web[i]);
    free(e->web);
    if (e->send_class)
        JSClassRelease(e->send_class);
    if (e->inert)
        JSValueUnprotect(e->service, e->inert);
    if (e->normalize)
        JSValueUnprotect(e->service, e->normalize);
    if (e->locate)
        JSValueUnprotect(e->service, e->locate);
    if (e->module)
        JSValueUnprotect(e->service, e->module);
    if (e->snippet)
        JSValueUnprotect(e->service, e->snippet);
    if (e->service)
        JSGlobalContextRelease(e->service);
    if (e->group)
        JSContextGroupRelease(e->group);
    free(e);
}

static long pages_touched(void)
{
    struct rusage u;

    return getrusage(RUSAGE_SELF, &u) == 0 ? u.ru_minflt : 0;
}

void cm_engine_collect(cm_engine *e)
{
    static void (*give_back)(void);
    static bool looked;
    long pages;

    if (!looked) {
        *(void **)&give_back = dlsym(RTLD_DEFAULT, "_ZN3WTF27releaseFastMallocFreeMemoryEv");
        looked = true;
    }
    JSSynchronousGarbageCollectForDebugging(e->service);
    /* Touching a page again costs more than keeping it, so little is kept. */
    pages = pages_touched();
    if (give_back && pages - e->pages_given_back > GIVE_BACK_PAGES) {
        give_back();
        e->pages_given_back = pages;
    }
}

void cm_engine_collect_young(cm_engine *e)
{
    JSSynchronousEdenCollectForDebugging(e->service);
}
