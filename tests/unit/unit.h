/** What every unit test includes last: cmocka needs three headers before it, in this order. */
#ifndef CM_TESTS_UNIT_H
#define CM_TESTS_UNIT_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#endif
