/**
 * Fuzz targets: one for each parser, in fuzz_<name>.c, with its corpus in corpus/<name>/.
 *
 * A target takes any bytes, returns 0, and checks more than not crashing: what was accepted must survive a
 * round trip. In a plain or sanitizer build replay.c runs the corpus as a test; with -Dfuzz=true clang's
 * libFuzzer drives the same function.
 */
#ifndef CM_TESTS_FUZZ_H
#define CM_TESTS_FUZZ_H

#include "base/base.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/** One input. Borrowed; size may be 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** A property that must hold for every input; stays on in every build. */
#define CM_MUST(condition)                                                             \
    do {                                                                               \
        if (!(condition)) {                                                            \
            fprintf(stderr, "%s:%d: must hold: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                                   \
        }                                                                              \
    } while (0)

#endif
