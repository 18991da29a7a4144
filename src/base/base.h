/**
 * base: what every layer stands on - memory, strings, errors, descriptors, clock, random, names.
 *
 * It is not a framework: nothing here knows of JSON, sockets or scripts. Start with err.h and mem.h.
 * Invariants: no global state but the log level; no function prints; sizes decided by a peer go through
 * cm_try_malloc.
 */
#ifndef CM_BASE_BASE_H
#define CM_BASE_BASE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

#endif
