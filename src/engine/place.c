/*
 * Where in the author's text something is: what failed is asked of the service realm, which parses the text once more; where a call was
 * issued is read here, for each call.
 */
#include "engine/internal.h"

#include "json/json.h"

/*
 * Called from inside of a program's stack. Only texts go in and one text comes out, so no object of the service realm comes within
 * reach of the program, not even an exception: that is dropped, and a place the realm could not find is no failure of the pass. What it
 * costs is time and memory of the program's own worker, under the program's limits.
 */
JSStringRef cm_engine__locate(cm_engine *e, const struct cm_program *p, JSStringRef source, JSStringRef asked)
{
    JSContextRef ctx = e->service;
    JSValueRef args[5], v;

    args[0] = JSValueMakeString(ctx, asked);
    args[1] = JSValueMakeString(ctx, p->run);
    args[2] = JSValueMakeString(ctx, p->map);
    args[3] = JSValueMakeNumber(ctx, p->line);
    args[4] = JSValueMakeString(ctx, source);
    v = JSObjectCallAsFunction(ctx, e->locate, NULL, CM_ARRAY_LEN(args), args, NULL);
    return v ? JSValueToStringCopy(ctx, v, NULL) : NULL;
}

/* ---- the place of a call ---- */

/** How many rows of places a map may have; more are of a text that no place in is worth the memory. */
#define SHIFTS_MAX 100000

/** The map is JSON of ours: [[line, column, length], …]. */
static void read_shifts(struct cm_program *p)
{
    size_t len = 0;
    cm_autofree char *text = p->map ? cm_js__text_of(p->map, &len) : NULL;
    cm_auto(yyjson_doc) doc = NULL;
    yyjson_val *row;
    size_t i, max;

    p->has_shifts = true;
    if (len == 0 || cm_json_parse(cm_str_mk(text, len), CM_JSON_STRICT, &doc, NULL) != CM_OK)
        return;
    yyjson_val *rows = yyjson_doc_get_root(doc);
    size_t n = yyjson_arr_size(rows);
    p->shifts = n > 0 && n <= SHIFTS_MAX ? cm_try_malloc(n * sizeof *p->shifts) : NULL;
    if (!p->shifts)
        return;
    yyjson_arr_foreach(rows, i, max, row)
    {
        p->shifts[p->n_shifts++] = (struct cm_shift){
            .line = (uint32_t)yyjson_get_uint(yyjson_arr_get(row, 0)),
            .column = (uint32_t)yyjson_get_uint(yyjson_arr_get(row, 1)),
            .length = yyjson_get_sint(yyjson_arr_get(row, 2)),
        };
    }
}

static uint32_t original_column(struct cm_program *p, uint32_t line, uint32_t column)
{
    int64_t shift = 0;

    if (!p->has_shifts)
        read_shifts(p);
    for (size_t i = 0; i < p->n_shifts; i++)
        if (p->shifts[i].line == line && column > p->shifts[i].column)
            shift += p->shifts[i].length;
    return (int64_t)column - shift > 0 ? (uint32_t)((int64_t)column - shift) : 1;
}

/** A decimal number at *at, which is moved behind it; 0 for one that is no position. */
static uint32_t digits(struct cm_str text, size_t *at)
{
    uint64_t n = 0;

    for (; *at < text.len && text.ptr[*at] >= '0' && text.ptr[*at] <= '9'; ++*at)
        n = n > UINT32_MAX ? n : n * 10 + (uint64_t)(text.ptr[*at] - '0');
    return n > UINT32_MAX ? 0 : (uint32_t)n;
}

void cm_program__place(struct cm_program *p, struct cm_str stack, struct cm_call_place *at)
{
    static const struct cm_str url = CM_STR("program.js:");
    const char *end = stack.ptr + stack.len;

    for (const char *from = stack.ptr, *found;
         (found = memmem(from, (size_t)(end - from), url.ptr, url.len)) != NULL; from = found + 1) {
        size_t pos = (size_t)(found - stack.ptr) + url.len;
        uint32_t line = digits(stack, &pos);
        bool has_column = pos < stack.len && stack.ptr[pos] == ':';
        pos += has_column;
        uint32_t column = has_column ? digits(stack, &pos) : 0;
        bool begins = found == stack.ptr || found[-1] == '@' || found[-1] == '\n';

        /* A function may be called like a place; the engine puts its own behind an @, at the end of the line. */
        if (!begins || !has_column || (pos != stack.len && stack.ptr[pos] != '\n'))
            continue;
        at->line = line;
        at->column = original_column(p, line, column);
        return;
    }
}
