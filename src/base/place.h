/** Where in a program a call was issued: what its worker says, its wire carries and the record keeps. */
#ifndef CM_BASE_PLACE_H
#define CM_BASE_PLACE_H

#include <stdint.h>

/** Where a call was issued. */
struct cm_call_place {
    uint32_t line, column; /* 1-based; 0 unknown */
    uint32_t step;         /* id of the STEP call whose function issued it; 0: the program itself */
};

#endif
