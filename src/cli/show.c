#include "cli/show.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "cli/table.h"

#include <stdio.h>

/* ---- nothing hidden */

/**
 * What has no width, no visible form or the look of a plain space. Unicode's default-ignorable characters, controls, separators and
 * format characters; written down here so that what an approver sees depends on no library's tables.
 */
static bool is_hidden(uint32_t cp)
{
    static const struct {
        uint32_t from, to;
    } ranges[] = {{0x00, 0x09},       {0x0B, 0x1F},       {0x7F, 0xA0},       {0xAD, 0xAD},
                  {0x34F, 0x34F},     {0x600, 0x605},     {0x61C, 0x61C},     {0x6DD, 0x6DD},
                  {0x70F, 0x70F},     {0x890, 0x891},     {0x8E2, 0x8E2},     {0x115F, 0x1160},
                  {0x1680, 0x1680},   {0x17B4, 0x17B5},   {0x180B, 0x180F},   {0x2000, 0x200F},
                  {0x2028, 0x202F},   {0x205F, 0x206F},   {0x2800, 0x2800},   {0x3000, 0x3000},
                  {0x3164, 0x3164},   {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},
                  {0xFFF0, 0xFFFB},   {0x110BD, 0x110BD}, {0x110CD, 0x110CD}, {0x13430, 0x1343F},
                  {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}, {0xF0000, 0x10FFFF}};

    for (size_t i = 0; i < CM_ARRAY_LEN(ranges); i++)
        if (cp >= ranges[i].from && cp <= ranges[i].to)
            return true;
    return false;
}

static void put_escape(FILE *f, uint32_t cp)
{
    if (cp >= 0x10000)
        fprintf(f, "\\u%04x\\u%04x", 0xD800u + ((cp - 0x10000) >> 10), 0xDC00u + ((cp - 0x10000) & 0x3FFu));
    else
        fprintf(f, "\\u%04x", cp);
}

void cm_cli_put_json(void *stream, struct cm_str json)
{
    FILE *f = stream;
    size_t len = 0;
    cm_autofree char *valid = cm_utf8_repair(json, &len);

    for (size_t i = 0, n; i < len; i += n) {
        uint32_t cp;

        n = cm_cli_decode(cm_str_mk(valid + i, len - i), &cp);
        if (is_hidden(cp))
            put_escape(f, cp);
        else
            fwrite(valid + i, 1, n, f);
    }
}

/* ---- one after the other, whole */

static const char *text_of(yyjson_val *v, const char *key)
{
    const char *z = cm_json_get_z(v, key);

    return z ? z : "";
}

static unsigned long long seq_of(yyjson_val *call)
{
    return (unsigned long long)yyjson_get_uint(cm_json_get(call, "seq"));
}

static void put_indented(FILE *f, struct cm_str text)
{
    while (text.len) {
        const char *end = memchr(text.ptr, '\n', text.len);
        size_t len = end ? (size_t)(end - text.ptr) : text.len, used = end ? len + 1 : len;

        fputs("  ", f);
        cm_cli_put_json(f, cm_str_mk(text.ptr, len));
        putc('\n', f);
        text = cm_str_mk(text.ptr + used, text.len - used);
    }
}

/** A name on one line, whatever stands in it. */
static void put_name(FILE *f, yyjson_val *name)
{
    struct cm_str text = cm_json_str(name);

    for (size_t i = 0, n; i < text.len; i += n) {
        n = text.ptr[i] == '\n' ? 1 : strcspn(text.ptr + i, "\n");
        n = n ? n : 1;
        if (text.ptr[i] == '\n')
            fputs("\\n", f);
        else
            cm_cli_put_json(f, cm_str_mk(text.ptr + i, n));
    }
}

static void put_member(FILE *f, yyjson_val *call, const char *key, const char *heading)
{
    yyjson_val *text = cm_json_get(call, key);

    if (!yyjson_get_len(text))
        return;
    fprintf(f, "  %s  ", heading);
    put_name(f, text);
    putc('\n', f);
}

void cm_cli_show_call(void *stream, yyjson_val *call)
{
    FILE *f = stream;
    cm_autobuf args = CM_BUF_INIT(256u << 20);
    yyjson_val *v = cm_json_get(call, "args");

    fprintf(f, "call %llu  ", seq_of(call));
    put_name(f, cm_json_get(call, "connector"));
    putc('.', f);
    put_name(f, cm_json_get(call, "method"));
    putc('\n', f);
    put_member(f, call, "rule", "rule");
    put_member(f, call, "reason", "note");
    put_member(f, call, "argsHash", "hash");
    if (!v)
        return;
    cm_json_write_pretty(&args, v);
    put_indented(f, cm_buf_str(&args));
}

void cm_cli_show_calls(void *stream, yyjson_val *pending)
{
    yyjson_val *call;
    size_t i, max;

    yyjson_arr_foreach(pending, i, max, call)
    {
        if (i)
            putc('\n', stream);
        cm_cli_show_call(stream, call);
    }
}

/* ---- tables */

static const struct cm_column columns[] = {
    {.head = "#", .max_width = 5, .right = true},
    {.head = "CALL", .max_width = 32},
    {.head = "ARGUMENTS", .rest = true},
};

static void fill(yyjson_val *call, char **cells)
{
    cm_autobuf args = CM_BUF_INIT(256u << 20);

    cells[0] = cm_asprintf("%llu", seq_of(call));
    cells[1] = cm_asprintf("%s.%s", text_of(call, "connector"), text_of(call, "method"));
    if (cm_json_get(call, "args"))
        cm_json_write(&args, cm_json_get(call, "args"));
    cells[2] = cm_buf_take(&args, NULL);
}

/** How many calls from i on are of one execution. */
static size_t run_from(yyjson_val *pending, size_t i)
{
    const char *id = text_of(yyjson_arr_get(pending, i), "executionId");
    size_t n = 1;

    while (cm_z_eq(id, text_of(yyjson_arr_get(pending, i + n), "executionId")) && *id)
        n++;
    return n;
}

static void list_execution(yyjson_val *pending, size_t from, size_t n)
{
    yyjson_val *first = yyjson_arr_get(pending, from);
    int64_t since = (int64_t)yyjson_get_uint(cm_json_get(first, "createdAt"));
    cm_autofree char *age = cm_cli_span(cm_now_ms() - since);
    cm_autofree char **cells = cm_calloc(n * CM_ARRAY_LEN(columns), sizeof *cells);

    printf("%s  %s\n", text_of(first, "executionId"), since ? age : "");
    for (size_t i = 0; i < n; i++)
        fill(yyjson_arr_get(pending, from + i), cells + i * CM_ARRAY_LEN(columns));
    cm_cli_table(columns, CM_ARRAY_LEN(columns), (const char *const *)cells, n);
    for (size_t i = 0; i < n * CM_ARRAY_LEN(columns); i++)
        free(cells[i]);
}

void cm_cli_list_calls(yyjson_val *pending)
{
    size_t max = yyjson_arr_size(pending);

    for (size_t i = 0, n; i < max; i += n) {
        n = run_from(pending, i);
        list_execution(pending, i, n);
    }
}
