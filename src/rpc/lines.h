/**
 * Messages as lines (MCP 2025-11-25, "stdio"): UTF-8 text without a newline inside, ended by one.
 *
 * The reading half splits bytes; the writing half makes a line of a message. Neither knows a descriptor, so
 * that the same code serves a child's pipes and our own standard streams. A CR before the newline belongs to
 * it; blank lines are nothing.
 */
#ifndef CM_RPC_LINES_H
#define CM_RPC_LINES_H

#include "base/base.h"

/** Bytes shown of a line that was refused, from its start and from its end. */
#define CM_LINES_SHOWN_BYTES 256

typedef struct cm_lines cm_lines;

struct cm_lines_events {
    /** A line without its end; borrowed for the duration of the callback. Valid UTF-8, unless any_bytes. */
    void (*on_line)(void *user, struct cm_str line);
    /**
     * A line that is none: CM_E_LIMIT too long, CM_E_INVALID no UTF-8. head and tail are its first and last
     * CM_LINES_SHOWN_BYTES (any bytes; they overlap in a short line).
     */
    void (*on_bad)(void *user, struct cm_str head, struct cm_str tail, const struct cm_err *why);
    /** Do not refuse what is no UTF-8: cm_rpc repairs it, and an answer with one wrong byte is better than
     * none. */
    bool any_bytes;
};

/** max_bytes bounds one line; memory grows with what arrives, never ahead of it. */
cm_lines *cm_lines_new(size_t max_bytes, const struct cm_lines_events *ev, void *user);
/** Also from inside its own callback; none comes after it. */
void cm_lines_free(cm_lines *l);
CM_DEFINE_AUTO(cm_lines, cm_lines_free)
void cm_lines_feed(cm_lines *l, struct cm_str bytes);
/** The input ended: what is left counts as a line. */
void cm_lines_end(cm_lines *l);

/** Append message and a newline. A newline inside, which in JSON can only be white space, becomes a space. */
void cm_lines_format(struct cm_buf *out, struct cm_str message);

#endif
