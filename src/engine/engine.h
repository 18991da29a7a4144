/**
 * engine: the JavaScript engine behind a narrow door. JavaScriptCore stays inside this folder.
 *
 * One cm_engine is one VM with its service realm (parser, prelude sources). A cm_realm is one pass: a fresh
 * global object with its own intrinsics, whose only way out is struct cm_realm_host. It is not a scheduler:
 * the caller reads outcomes and delivers them one at a time; each delivery settles one promise, drains the
 * microtasks and returns.
 *
 * Invariants: only text crosses between service realm and pass realm; host functions are dead after
 * cm_realm_free; nothing of a finished pass can run again; no helper thread exists after cm_engine_new
 * (checked by the caller through /proc/self/task).
 */
#ifndef CM_ENGINE_ENGINE_H
#define CM_ENGINE_ENGINE_H

#include "base/base.h"
#include "base/place.h"
#include "json/value.h"

#include <stdint.h>

typedef struct cm_engine cm_engine;
typedef struct cm_realm cm_realm;

struct cm_engine_opts {
    bool no_jit;
    bool one_shot; /* one pass is to come: make no realm ahead of it */
};

/**
 * What the engine itself needs of a thread's stack beside a pass: the parser's work, which goes on above it.
 */
#define CM_ENGINE_STACK_OWN_BYTES (256u << 10)
/**
 * The stack (RLIMIT_STACK) of a process whose passes may use stack_kb. Set it before the first call below.
 */
size_t cm_engine_stack_bytes(uint32_t stack_kb);

/** Set the engine's environment options and disable its helper threads. Call once, first thing in main,
 * before cm_engine_new. */
void cm_engine_prepare_process(bool no_jit);
/**
 * Take away what the engine reserved for itself beyond an ordinary program's need: everything after the first
 * 32 MB of its address space for object shapes, which is writable from the start and would escape a limit on
 * data. Call in each worker after cm_engine_new.
 *
 * Reads /proc/self/maps. Errors: CM_E_UNAVAILABLE it cannot be read, or no such reservation was found;
 * nothing was changed.
 */
cm_status cm_engine_cap_reservations(struct cm_err *err);
/** Whether the address is in what was taken away there: an engine that touches it has met its bound. */
bool cm_engine_is_capped(const void *address);
/** Create the VM and load the service realm. Errors: CM_E_INTERNAL with the exception's text (a broken
 * bundle). */
cm_status cm_engine_new(const struct cm_engine_opts *opts, cm_engine **out, struct cm_err *err);
void cm_engine_free(cm_engine *e);
CM_DEFINE_AUTO(cm_engine, cm_engine_free)
/** Run the parser and a typical pass until they are compiled, then collect garbage. Blocks for 0.2 to 0.5 s.
 */
cm_status cm_engine_warm(cm_engine *e, struct cm_err *err);
/** One quick pass that does what a real one does, after lock-down. */
cm_status cm_engine_self_test(cm_engine *e, struct cm_err *err);
/**
 * In a process forked from a warmed one: write where the parser writes, so that its pages are copied before a program waits for
 * that. Two thirds of a first pass's page faults.
 */
void cm_engine_touch(cm_engine *e);
/** Collect garbage; when much memory was touched since the last time, give freed pages back. Costs 2 ms, and touches every page of the heap. */
void cm_engine_collect(cm_engine *e);
/**
 * Collect what was made since the last collection. A tenth of the cost, and pages that nothing was made in are left alone: after
 * fork they stay shared. What an earlier collection found in use, and is not any more, stays for cm_engine_collect.
 */
void cm_engine_collect_young(cm_engine *e);
/** Prepare the realm that the next pass will take, while idle; nothing where none is to come. */
void cm_engine_prepare_realm(cm_engine *e);

/** What a program can reach. Called on the one thread, synchronously, from inside the program's own stack.
 * Must not re-enter. */
struct cm_realm_host {
    /** A call was issued. `kind` is enum cm_call_kind of the wire; id is dense from 1. */
    void (*call)(void *user, uint32_t id, unsigned kind, struct cm_str connector, struct cm_str method,
                 struct cm_value args, struct cm_call_place at);
    /** A step's function has returned (or thrown, failed = true: the value is an error). */
    void (*step_end)(void *user, uint32_t id, bool failed, struct cm_value value);
    void (*log)(void *user, unsigned level, struct cm_str text);
    /** A timer was cleared before its outcome was delivered: none is awaited, and one that comes does nothing. */
    void (*cancel)(void *user, uint32_t id);
};

struct cm_realm_opts {
    struct cm_str source;    /* the program as submitted */
    struct cm_str bind_json; /* BIND's JSON: connectors and their methods */
    struct cm_value input;   /* absent unless given */
    uint8_t seed[16];
    int64_t now_ms;    /* where the clock stands */
    uint32_t stack_kb; /* of the stack, for the program; at most what the process was started with. 0: all */
    const struct cm_realm_host *host;
    void *user;
};

enum cm_realm_state {
    CM_REALM_WAITING, /* microtasks drained, at least one call outstanding */
    CM_REALM_DONE,    /* completed or failed; read the result */
};

/** What a finished pass left. Owned by the realm, valid until cm_realm_free. meta_json is DONE's meta of the
 * wire. */
struct cm_realm_result {
    bool failed;
    struct cm_value value; /* failed: the error's fields, an object, or absent */
    struct cm_str meta_json;
};

/**
 * Normalise, check and start a program, and drain. A program that does not parse, throws, or awaits what can
 * never settle is a DONE realm with `failed`, not a status. Errors: CM_E_INTERNAL only.
 */
cm_status cm_realm_start(cm_engine *e, const struct cm_realm_opts *opts, cm_realm **out, struct cm_err *err);
enum cm_realm_state cm_realm_state(const cm_realm *r);
/**
 * Settle one outstanding call and drain. `execute`: a step without record, its function runs now. The clock
 * moves to now_ms and randomness is reseeded from (seed, draw). An id that is not
 * outstanding is CM_E_PROTOCOL.
 */
cm_status cm_realm_deliver(cm_realm *r, uint32_t id, bool failed, bool execute, struct cm_value value,
                           int64_t now_ms, uint32_t draw, struct cm_err *err);
/**
 * Whether the program of a waiting realm has ended, and only calls that it did not await are outstanding;
 * `failed`: by an error. They go on, and with them whatever awaits them, until all are settled or cm_realm_finish.
 */
bool cm_realm_has_ended(const cm_realm *r, bool *failed);
/** End a realm whose program has ended with what stands now. */
cm_status cm_realm_finish(cm_realm *r, struct cm_err *err);
const struct cm_realm_result *cm_realm_result(const cm_realm *r);
void cm_realm_free(cm_realm *r);
CM_DEFINE_AUTO(cm_realm, cm_realm_free)

/** The program text as it would run with the connectors and modules of bind_json (BIND's, may be empty). A syntax error is CM_E_INVALID. *meta_json (owned) is DONE's meta of either,
 * and stays as it was where that is empty. */
cm_status cm_engine_normalize(cm_engine *e, struct cm_str source, struct cm_str bind_json, char **out,
                              size_t *len, char **meta_json, struct cm_err *err);

#endif
