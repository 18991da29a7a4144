/** Texts for the tests of JSON and of values. */
#ifndef CM_TESTS_JSON_CASE_H
#define CM_TESTS_JSON_CASE_H

#include "base/fd.h"
#include "json/json.h"

#include <stdio.h>

#include "unit.h"

#define MAX ((size_t)1 << 20)

MAYBE_UNUSED static struct cm_str str(const char *z)
{
    return cm_str_of(z);
}

/* ---- data from files: lines of two columns ---- */

MAYBE_UNUSED static char *read_case(const char *name)
{
    const char *root = getenv("CM_SOURCE_ROOT");
    cm_autofree char *path = cm_asprintf("%s/tests/cases/json/%s", root ? root : ".", name);
    struct cm_err err = {0};
    char *text = NULL;

    if (cm_read_file(path, 16u << 20, &text, NULL, &err) != CM_OK)
        fail_msg("%s", err.message);
    return text;
}

/* Cuts the next line "left<TAB>right" out of *rest. */
MAYBE_UNUSED static bool next_case(char **rest, char **left, char **right)
{
    char *end = strchr(*rest, '\n');

    if (!end)
        return false;
    *end = '\0';
    *left = *rest;
    *right = strchr(*rest, '\t');
    assert_non_null(*right);
    *(*right)++ = '\0';
    *rest = end + 1;
    return true;
}

MAYBE_UNUSED static char *nested(size_t depth)
{
    char *text = cm_malloc(depth * 2 + 1);

    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    text[depth * 2] = '\0';
    return text;
}

#endif
