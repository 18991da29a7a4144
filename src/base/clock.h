/** The two clocks. Wall time in epoch milliseconds for records, monotonic milliseconds for time limits. */
#ifndef CM_BASE_CLOCK_H
#define CM_BASE_CLOCK_H

#include <stdint.h>

int64_t cm_now_ms(void);
int64_t cm_mono_ms(void);
int64_t cm_mono_us(void);

#endif
