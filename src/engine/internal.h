/** What the files of this folder share. */
#ifndef CM_ENGINE_INTERNAL_H
#define CM_ENGINE_INTERNAL_H

#include "engine/engine.h"

#include <JavaScriptCore/JavaScript.h>

/* Exported by the library, declared in its private headers only. */
JS_EXPORT void JSSynchronousGarbageCollectForDebugging(JSContextRef ctx);
JS_EXPORT void JSSynchronousEdenCollectForDebugging(JSContextRef ctx);
JS_EXPORT void JSRemoteInspectorSetInspectionEnabledByDefault(bool enabled);
JS_EXPORT void JSGlobalContextSetUnhandledRejectionCallback(JSGlobalContextRef ctx, JSObjectRef function,
                                                            JSValueRef *exception);

typedef struct OpaqueJSScript *JSScriptRef;
JS_EXPORT JSScriptRef JSScriptCreateReferencingImmortalASCIIText(JSContextGroupRef group, JSStringRef url,
                                                                 int line, const char *source, size_t length,
                                                                 JSStringRef *error, int *error_line);
JS_EXPORT JSValueRef JSScriptEvaluate(JSContextRef ctx, JSScriptRef script, JSValueRef self,
                                      JSValueRef *exception);
JS_EXPORT void JSScriptRelease(JSScriptRef script);

/** A script of ours, which is evaluated in many realms: script.c. Its text is ASCII, and lives as long as the program. */
struct cm_script {
    const char *text;
    JSScriptRef shared; /* NULL until it is known to be needed again */
    bool used;
};

struct cm_engine {
    JSContextGroupRef group;
    JSGlobalContextRef service; /* the parser's realm; no program runs in it */
    JSObjectRef normalize;      /* protected */
    JSObjectRef locate;         /* protected */
    JSObjectRef module;         /* protected */
    JSObjectRef snippet;        /* protected */
    struct cm_script prelude;
    JSStringRef prelude_url;
    JSStringRef program_url;
    bool types_loaded;     /* what takes types away, in the service realm */
    struct cm_script *web; /* of the web interfaces, by number */
    size_t n_web;
    JSStringRef web_url;
    JSClassRef send_class;   /* callable objects that carry their realm */
    JSObjectRef inert;       /* one of the service realm that carries none, and does nothing; protected */
    struct cm_buf bind_json; /* the connectors of the latest pass, which the next one most often has too */
    long pages_given_back;   /* minor faults when free pages were last given back */
    cm_realm *next;          /* prepared for the pass to come, or NULL */
    bool one_shot;           /* none is prepared */
};

/** Evaluate it in the realm, with `url` as its name for places: its value, or NULL and the exception. */
JSValueRef cm_script__evaluate(cm_engine *e, struct cm_script *s, JSContextRef ctx, JSStringRef url,
                               JSValueRef *exception);
void cm_script__done(struct cm_script *s);

/** Look where this process's stack ends, while /proc can be read. */
void cm_engine__find_stack(void);
/**
 * Run fn with stack_kb of stack for programs; 0, or where the end is not known: with all there is. Does not
 * nest.
 */
void cm_engine__on_stack(uint32_t stack_kb, void (*fn)(void *user), void *user);

/** Load what takes types away into the service realm. Errors: CM_E_INTERNAL. */
cm_status cm_engine__load_types(cm_engine *e, struct cm_err *err);

/** From this place of `run` on its line is so much longer than the author's. */
struct cm_shift {
    uint32_t line, column;
    int64_t length;
};

/** A normalised program. Strings are owned; error_json set means it does not parse. */
struct cm_program {
    JSStringRef text; /* as shown */
    JSStringRef run;  /* as evaluated */
    JSStringRef map;
    JSStringRef warnings;    /* JSON array of texts, or empty */
    int line;                /* number of run's first line in the author's text */
    struct cm_shift *shifts; /* of `map`, once they were asked for */
    size_t n_shifts;
    bool has_shifts;
    char *error_json;
};

void cm_program_done(struct cm_program *p);
/**
 * Line and column, in the author's text, of the innermost frame of the program in a stack of the engine's; at is left as it is where there
 * is none. The stack may be any text.
 */
void cm_program__place(struct cm_program *p, struct cm_str stack, struct cm_call_place *at);
/** CM_E_INTERNAL only: a program that does not parse is a program with error_json. */
cm_status cm_engine__normalize(cm_engine *e, JSStringRef source, bool has_input, struct cm_str bind_json,
                               struct cm_program *out, struct cm_err *err);

/** Places of the engine as the author's: a JSON text for one, js/service/locate.js has both. NULL: not known. JSStringRelease it. */
JSStringRef cm_engine__locate(cm_engine *e, const struct cm_program *p, JSStringRef source,
                              JSStringRef asked);

/**
 * A module of the configuration that the latest normalised program was bound with, as it is evaluated: run and line of *out, and the
 * name for places in *url (JSStringRelease it); error_json of *out is a sentence where it does not parse. False: there is none.
 */
bool cm_engine__module(cm_engine *e, JSStringRef name, struct cm_program *out, JSStringRef *url);
/**
 * A snippet that the program of the latest binding runs, as it is evaluated, with the name for places in *url (JSStringRelease it).
 * `code` is its text as the host gave it; error_json of *out is DONE's meta where it does not parse.
 */
cm_status cm_engine__snippet(cm_engine *e, JSStringRef name, JSStringRef code, struct cm_program *out,
                             JSStringRef *url, struct cm_err *err);

/* ---- one pass: realm.c drives it, send.c answers it ---- */

/* enum cm_call_kind of the wire, which this layer may not include. */
#define KIND_TOOL  0
#define KIND_STEP  1
#define KIND_TIMER 4
#define KIND_RUN   5
#define KIND_COUNT 6

enum call_state { CALL_NONE, CALL_OUTSTANDING, CALL_STEP_RUNS, CALL_CANCELLED, CALL_SETTLED };

struct call {
    uint8_t kind;
    uint8_t state;
};

struct cm_realm {
    cm_engine *e;
    JSGlobalContextRef ctx;
    JSObjectRef control;
    JSObjectRef send;
    const struct cm_realm_host *host;
    void *user;
    struct call *calls; /* by id - 1 */
    uint32_t n_calls;
    uint32_t cap_calls;
    uint32_t n_outstanding; /* answers that the host owes */
    uint32_t n_timers;      /* those of timers among them */
    uint32_t n_steps;       /* steps whose function runs */
    uint32_t stack_kb;      /* what the program may use of the stack */
    JSStringRef source;     /* the program as submitted, and as it runs: for places in it */
    struct cm_program program;
    bool bound;   /* its globals are those of the engine's bind_json */
    bool settled; /* the program's promise has settled */
    bool failed;  /* it was rejected */
    bool done;    /* the result stands; what the program still does is nobody's business */
    struct cm_realm_result result;
    char *json, *marks, *meta; /* what result borrows */
};

/** The realm's one way out, a function that carries it. Without its realm (freed) or after the result it does nothing. */
JSValueRef cm_realm__on_send(JSContextRef ctx, JSObjectRef function, JSObjectRef self, size_t n,
                             const JSValueRef args[], JSValueRef *exception);

/** A realm with its prelude, not yet bound to a pass. */
cm_status cm_realm__new(cm_engine *e, cm_realm **out, struct cm_err *err);

/** An engine string of UTF-8 (invalid bytes become U+FFFD); JSStringRelease it. */
JSStringRef cm_js__string(struct cm_str s);
/** UTF-8 of a value's string form, owned and NUL-terminated; NULL when it has none or memory is short. */
char *cm_js__text(JSContextRef ctx, JSValueRef v, size_t *len);
char *cm_js__text_of(JSStringRef s, size_t *len);
/** A string value; the empty text for NULL. */
JSValueRef cm_js__value(JSContextRef ctx, struct cm_str s);
/** Fill err from an exception: CM_E_INTERNAL, "<what>: <exception's text>". */
cm_status cm_js__fail(JSContextRef ctx, JSValueRef exception, const char *what, struct cm_err *err);

static inline void cm_js__release(JSStringRef *s)
{
    if (*s)
        JSStringRelease(*s);
}
/** Released when it leaves scope. */
#define cm_autojs __attribute__((cleanup(cm_js__release))) JSStringRef

#endif
