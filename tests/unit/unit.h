/** What every unit test includes last: cmocka needs three headers before it, in this order. */
#ifndef CM_TESTS_UNIT_H
#define CM_TESTS_UNIT_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

/** For what a header of helpers has and not each of its files needs. */
#define MAYBE_UNUSED __attribute__((unused))

#endif
