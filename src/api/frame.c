/** The line where a program failed, with a mark beneath its place: for people and models, who count badly. */
#include "api/internal.h"

#include <inttypes.h>
#include <stdio.h>

#define FRAME_MAX_BYTES 8192 /* the worker cuts a line to 160 characters; a record can hold anything */

/** Characters that terminals give two columns (East Asian wide, pictures), and those with none (what combines). */
static const struct span {
    uint32_t from, to;
    unsigned columns;
} spans[] = {
    {0x0300, 0x036f, 0},   {0x0483, 0x0489, 0},   {0x0591, 0x05bd, 0},   {0x064b, 0x065f, 0},
    {0x0e31, 0x0e31, 0},   {0x0e34, 0x0e3a, 0},   {0x1100, 0x115f, 2},   {0x1ab0, 0x1aff, 0},
    {0x1dc0, 0x1dff, 0},   {0x200b, 0x200f, 0},   {0x20d0, 0x20ff, 0},   {0x231a, 0x231b, 2},
    {0x2e80, 0x303e, 2},   {0x3041, 0xa4cf, 2},   {0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2},
    {0xfe00, 0xfe0f, 0},   {0xfe20, 0xfe2f, 0},   {0xfe30, 0xfe6f, 2},   {0xff00, 0xff60, 2},
    {0xffe0, 0xffe6, 2},   {0x1f300, 0x1f64f, 2}, {0x1f680, 0x1f6ff, 2}, {0x1f900, 0x1f9ff, 2},
    {0x20000, 0x3fffd, 2}, {0xe0100, 0xe01ef, 0},
};

static unsigned columns_of(uint32_t c)
{
    for (size_t i = 0; i < CM_ARRAY_LEN(spans); i++)
        if (c >= spans[i].from && c <= spans[i].to)
            return spans[i].columns;
    return 1;
}

/** The character at the front of valid UTF-8, and its length. */
static uint32_t first_char(struct cm_str s, size_t *len)
{
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    unsigned char lead = (unsigned char)s.ptr[0];
    size_t n = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    uint32_t c = lead & masks[n];

    for (size_t i = 1; i < n; i++)
        c = c << 6 | ((unsigned char)s.ptr[i] & 0x3f);
    *len = n;
    return c;
}

/** The source with what moves a cursor made visible; beneath it the blanks that its first `caret` characters take. */
static void add_line(struct cm_buf *line, struct cm_buf *mark, struct cm_str source, uint64_t caret)
{
    size_t len = 0;

    for (uint64_t n = 0; source.len > 0; n++, source.ptr += len, source.len -= len) {
        uint32_t c = first_char(source, &len);
        bool moves = c != '\t' && (c < 0x20 || (c >= 0x7f && c < 0xa0));

        if (moves)
            cm_buf_add_z(line, "\xef\xbf\xbd");
        else
            cm_buf_add(line, source.ptr, len);
        for (unsigned i = 0; n < caret && i < columns_of(c); i++)
            cm_buf_add_char(mark, c == '\t' ? '\t' : ' ');
    }
}

char *cm_api_frame(yyjson_val *error)
{
    struct cm_str source = cm_json_str(cm_json_get(error, "source"));
    yyjson_val *line = cm_json_get(error, "line"), *caret = cm_json_get(error, "caret");
    const char *module = cm_json_get_z(error, "module");
    cm_autobuf shown = CM_BUF_INIT(FRAME_MAX_BYTES), mark = CM_BUF_INIT(FRAME_MAX_BYTES);
    cm_autobuf out = CM_BUF_INIT(4 * FRAME_MAX_BYTES);
    char number[24];

    if (source.len == 0 || source.len > FRAME_MAX_BYTES / 4 || !yyjson_is_uint(line))
        return NULL;
    add_line(&shown, &mark, source, yyjson_get_uint(caret));
    (void)snprintf(number, sizeof(number), "%" PRIu64, yyjson_get_uint(line));
    if (module)
        cm_buf_addf(&out, "  in module %.200s\n", module);
    cm_buf_addf(&out, "  %s | ", number);
    cm_buf_add_str(&out, cm_buf_str(&shown));
    if (yyjson_is_uint(caret)) {
        cm_buf_addf(&out, "\n  %*s | ", (int)strlen(number), "");
        cm_buf_add_str(&out, cm_buf_str(&mark));
        cm_buf_add_char(&out, '^');
    }
    return cm_buf_check(&out, "the frame", NULL) == CM_OK ? cm_buf_take(&out, NULL) : NULL;
}
