/** Every limit in one place: the ceilings that no setting lifts. Defaults that a user may change stand in
 * struct cm_limits. */
#ifndef CM_BASE_LIMITS_H
#define CM_BASE_LIMITS_H

#include <stdint.h>

#define CM_CONFIG_MAX_BYTES  (4u << 20)  /* a configuration file; hundreds of servers fit */
#define CM_MODULES_MAX_BYTES (1u << 20)  /* all modules of a configuration; each pass is sent their texts */
#define CM_SPEC_MAX_BYTES    (64u << 20) /* an OpenAPI description; the largest public ones have 37 MB */
#define CM_FRAME_MAX_BYTES   (64u << 20) /* ceiling of one frame between host and worker */
#define CM_VALUE_MAX_DEPTH   512         /* nesting of any value; bounds the C stack of each walk over it */
#define CM_RPC_MAX_BYTES     (64u << 20) /* one JSON-RPC message */
#define CM_STDERR_KEEP_BYTES 8192        /* tail of a child's standard error kept for messages */
#define CM_METHODS_MAX       20000       /* methods of one connector */
#define CM_FETCH_BYTES       (4u << 20) /* body of one response to `fetch`, unless its place says otherwise */
#define CM_FETCH_MAX_BYTES   (32u << 20) /* what it may say; base64 of it fits into a frame */
#define CM_NAME_MAX_BYTES    256         /* a connector or method name on the wire */

/** Settings of `limits` in the configuration (design, section 7). Zero is not a value here: cm_limits_default
 * fills all. */
struct cm_limits {
    uint32_t cpu_ms;  /* CPU of one pass; kernel timer of the host */
    uint32_t wall_ms; /* time in which the program itself runs; stops while a call or a human is pending */
    uint32_t deadline_ms;     /* one pass from start to end, waiting included */
    uint32_t unawaited_ms;    /* what calls that the program did not await get after its end */
    uint32_t memory_mb;       /* data over the worker's start */
    uint32_t stack_kb;        /* the program's stack */
    uint32_t subrequests;     /* connector calls of one execution */
    uint32_t calls_in_flight; /* unanswered host calls */
    uint32_t timers;          /* unanswered timers */
    uint64_t source_bytes;    /* program text */
    uint64_t arg_bytes;       /* canonical argument bytes of one call */
    uint64_t result_bytes;    /* result shown to the model; the record keeps it whole */
    uint64_t log_bytes;       /* console output kept of one pass */
    uint64_t frame_bytes;     /* one frame from the worker */
};

#define CM_LIMITS_DEFAULT                        \
    ((struct cm_limits){.cpu_ms = 5000,          \
                        .wall_ms = 60000,        \
                        .deadline_ms = 600000,   \
                        .unawaited_ms = 30000,   \
                        .memory_mb = 128,        \
                        .stack_kb = 1024,        \
                        .subrequests = 200,      \
                        .calls_in_flight = 32,   \
                        .timers = 100,           \
                        .source_bytes = 1000000, \
                        .arg_bytes = 4u << 20,   \
                        .result_bytes = 1000000, \
                        .log_bytes = 65536,      \
                        .frame_bytes = 16u << 20})

#endif
