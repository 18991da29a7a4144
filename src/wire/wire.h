/**
 * wire: the frames between host and worker, and nothing else. Both sides link it; neither trusts the other's
 * lengths.
 *
 * The host treats a worker as hostile: a frame is checked (type known, allowed in this state, length within
 * the limit of its type, parts adding up) before anything is allocated for it; anything else ends the worker.
 *
 * Header, 12 bytes, little endian:
 *
 *   offset 0  u32  payload bytes (0 to the limit of the type)
 *          4  u8   type
 *          5  u8   flags
 *          6  u16  zero
 *          8  u32  id: the call's for CALL, STEP, OUTCOME; otherwise 0
 *
 * A payload is a sequence of parts, each u32 length + bytes, exactly as many as the type has.
 *
 *   type            from    parts                                                   allowed in state   next state
 *   HELLO     0x01  both    version "4"                                             starting           ready
 *   BIND      0x02  host    runtime,                                                ready, idle        same
 *                           json: {"connectors":[{"name","methods":[..]|null}],
 *                           "fetch":true where a program's own requests are on}
 *   RUN       0x03  host    meta json, source, input json, input marks              ready, idle        running
 *   OUTCOME   0x04  host    now (u64 epoch ms) and draw (u32), json, marks                         running, waiting   running
 *                           flags: ERROR the value is an error; EXECUTE a step or a snippet has no record: run it
 *   FINISH    0x05  host    none: the program has ended, end with what stands       running, waiting   running
 *   DROP      0x06  host    none: the program is wanted no more, no DONE comes      waiting            done
 *   CALL      0x81  worker  kind (u8), connector, method, args json, args marks,    running            running
 *                           place (u32 line, u32 column; 1-based, 0 unknown; u32 id of the step)
 *   STEP      0x82  worker  json, marks; flag ERROR: it threw; id = its CALL        running            running
 *   LOG       0x83  worker  level (u8), text                                        running            running
 *   WAIT      0x84  worker  none: nothing can go on before an OUTCOME               running            waiting
 *                           flags: ENDED the program has ended, and calls of its own are unanswered; ERROR it failed
 *   DONE      0x85  worker  result json, result marks, meta json; flag ERROR        running            done
 *   CANCEL    0x87  worker  none; id = its CALL: a timer, or a connector's call      running            running
 *   IDLE      0x86  worker  none: collected garbage, next realm prepared            done               idle
 *
 * The first BIND gives a worker to a runtime for good: one that names another runtime, and a RUN before any, end it.
 *
 * RUN's meta: {"seed": 32 hex digits, "now": epoch ms, "stackKb": the program's stack, "mode": "run" |
 * "normalize", "name": text for positions}. DONE's meta: {"error": {name, message, code?, line?, column?,
 * module?, source?, caret?, stack?}, "warnings": [text …]}; `error` with flag ERROR; the result is then what the error has besides (own fields, cause,
 * errors), an object, or empty. With mode "normalize" the result of
 * DONE is the program text as it would run, a string. CALL kinds: enum cm_call_kind. Ids are dense from 1
 * in each pass, in the order of issue. For SEARCH, DESCRIBE and TIMER the connector is empty and the
 * arguments are the one value passed (query, path, milliseconds); for STEP the method is its name. For RUN the
 * method is the name of the snippet, the arguments are [name] or [name, input]; EXECUTE brings [code] or
 * [code, input] with the same marks, and what its function gives ends it as a STEP frame ends a step. After
 * CANCEL of a timer no OUTCOME is awaited for that id; one that was on its way is delivered and does nothing. A
 * connector's call that its program gave up (TOOL) is stopped, and its OUTCOME says how it ended. After a WAIT
 * with ENDED the host goes on delivering, until DONE comes or it sends FINISH, which DONE answers. OUTCOME's
 * draw reseeds what the program draws (Math.random, crypto): the number of the delivery, or another for the
 * start of a step's function. CALL's step is the call in whose function it was issued, 0 for none. A worker
 * never sends while it has nothing to say, and the host never sends OUTCOME for an id that is not
 * outstanding.
 */
#ifndef CM_WIRE_WIRE_H
#define CM_WIRE_WIRE_H

#include "base/base.h"
#include "base/place.h"
#include "json/value.h"

#include <stdint.h>

#define CM_WIRE_VERSION      "4"
#define CM_WIRE_HEADER_BYTES 12
#define CM_WIRE_PARTS_MAX    6

enum cm_frame_type {
    CM_FRAME_HELLO = 0x01,
    CM_FRAME_BIND = 0x02,
    CM_FRAME_RUN = 0x03,
    CM_FRAME_OUTCOME = 0x04,
    CM_FRAME_FINISH = 0x05,
    CM_FRAME_DROP = 0x06,
    CM_FRAME_CALL = 0x81,
    CM_FRAME_STEP = 0x82,
    CM_FRAME_LOG = 0x83,
    CM_FRAME_WAIT = 0x84,
    CM_FRAME_DONE = 0x85,
    CM_FRAME_IDLE = 0x86,
    CM_FRAME_CANCEL = 0x87,
};

enum cm_frame_flag {
    CM_FRAME_ERROR = 1,
    CM_FRAME_EXECUTE = 2,
    CM_FRAME_ENDED = 4,
};

enum cm_call_kind {
    CM_CALL_TOOL = 0,   /* a connector's method: logged, counted */
    CM_CALL_STEP = 1,   /* codemode.step: logged; answered with the record or EXECUTE */
    CM_CALL_SEARCH = 2, /* recorded for replay, not in `calls` */
    CM_CALL_DESCRIBE = 3,
    CM_CALL_TIMER = 4,
    CM_CALL_RUN = 5, /* codemode.run: a snippet, a step whose function is stored code */
    CM_CALL_KIND_COUNT_,
};

enum cm_log_level {
    CM_LOG_LOG = 0,
    CM_LOG_INFO = 1,
    CM_LOG_WARN = 2,
    CM_LOG_ERROR = 3,
    CM_LOG_DEBUG = 4,
    CM_LOG_LEVEL_COUNT_
};

/** A decoded frame. The parts borrow from the buffer it was decoded from. */
struct cm_frame {
    enum cm_frame_type type;
    uint8_t flags;
    uint32_t id;
    size_t n_parts;
    struct cm_str parts[CM_WIRE_PARTS_MAX];
};

/**
 * Look at the front of [p, p+len). CM_OK with *used > 0: a whole frame stands in *out. CM_OK with *used == 0:
 * more bytes are needed. CM_E_PROTOCOL: the peer broke the format, with the reason; CM_E_LIMIT: longer than
 * max_bytes.
 */
cm_status cm_wire_decode(const char *p, size_t len, size_t max_bytes, struct cm_frame *out, size_t *used,
                         struct cm_err *err);

/** Append one frame; the number of parts must be that of its type (asserted). */
void cm_wire_encode(struct cm_buf *out, enum cm_frame_type type, uint8_t flags, uint32_t id,
                    const struct cm_str *parts, size_t n_parts);

/** How many parts a type has; -1 for an unknown type. */
int cm_wire_part_count(unsigned type);

/** Whether it is a type that a worker (true) or a host (false) sends. */
bool cm_wire_is_from_worker(unsigned type);

uint32_t cm_wire_get_u32(const char *p);
uint64_t cm_wire_get_u64(const char *p);
void cm_wire_put_u32(char *p, uint32_t v);
void cm_wire_put_u64(char *p, uint64_t v);

#endif
