#include "cli/table.h"

#include "base/utf8.h"
#include "cli/cli.h"

#include <stdint.h>
#include <stdio.h>
#include <time.h>

size_t cm_cli_decode(struct cm_str s, uint32_t *cp)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    size_t n = p[0] < 0x80 ? 1 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;

    *cp = n == 1 ? p[0] : p[0] & (0xFFu >> (n + 1));
    for (size_t i = 1; i < n; i++)
        *cp = *cp << 6 | (p[i] & 0x3Fu);
    return n;
}

/** Columns of a terminal. Close enough to UAX #11 for a table to stay straight; no locale is asked. */
static unsigned width_of(uint32_t cp)
{
    static const struct {
        uint32_t from, to;
        unsigned width;
    } ranges[] = {
        {0x0300, 0x036F, 0},   {0x1100, 0x115F, 2},   {0x200B, 0x200F, 0},   {0x2028, 0x202E, 0},
        {0x2066, 0x2069, 0},   {0x2E80, 0xA4CF, 2},   {0xAC00, 0xD7A3, 2},   {0xF900, 0xFAFF, 2},
        {0xFE00, 0xFE0F, 0},   {0xFE30, 0xFE6F, 2},   {0xFF00, 0xFF60, 2},   {0xFFE0, 0xFFE6, 2},
        {0x1F300, 0x1FAFF, 2}, {0x20000, 0x3FFFD, 2}, {0xE0000, 0xE0FFF, 0},
    };
    for (size_t i = 0; i < CM_ARRAY_LEN(ranges); i++)
        if (cp >= ranges[i].from && cp <= ranges[i].to)
            return ranges[i].width;
    return 1;
}

static bool is_invisible(uint32_t cp)
{
    /* Marks that turn the direction of a line can make arguments look like others. */
    return (cp >= 0x200B && cp <= 0x200F) || (cp >= 0x2028 && cp <= 0x202E) || (cp >= 0x2066 && cp <= 0x2069);
}

static unsigned whole_width(struct cm_str text)
{
    unsigned w = 0;
    uint32_t cp;

    for (size_t i = 0; i < text.len;) {
        i += cm_cli_decode(cm_str_mk(text.ptr + i, text.len - i), &cp);
        w += width_of(cp);
    }
    return w;
}

unsigned cm_cli_cut(struct cm_buf *out, struct cm_str text, unsigned width)
{
    size_t len = 0;
    cm_autofree char *valid = cm_utf8_repair(text, &len);
    bool cut = whole_width(cm_str_mk(valid, len)) > width;
    unsigned used = 0;
    uint32_t cp;

    if (width == 0)
        return 0;
    for (size_t i = 0, n; i < len; i += n) {
        n = cm_cli_decode(cm_str_mk(valid + i, len - i), &cp);
        if (used + width_of(cp) > width - cut)
            break;
        if (is_invisible(cp))
            continue;
        if (cp < 0x20 || (cp >= 0x7F && cp < 0xA0))
            cm_buf_add_char(out, ' ');
        else
            cm_buf_add(out, valid + i, n);
        used += width_of(cp);
    }
    if (cut)
        cm_buf_add_z(out, "\xE2\x80\xA6");
    return used + cut;
}

static void put_cell(struct cm_buf *line, const char *text, unsigned width, bool right, bool last)
{
    cm_autobuf cell = CM_BUF_INIT(4096);
    unsigned used = cm_cli_cut(&cell, cm_str_of(text ? text : ""), width);

    for (unsigned i = used; right && i < width; i++)
        cm_buf_add_char(line, ' ');
    cm_buf_add_str(line, cm_buf_str(&cell));
    for (unsigned i = used; !right && !last && i < width; i++)
        cm_buf_add_char(line, ' ');
}

static void put_row(const struct cm_column *columns, const unsigned *widths, size_t n,
                    const char *const *cells)
{
    cm_autobuf line = CM_BUF_INIT(65536);

    for (size_t i = 0; i < n; i++) {
        cm_buf_add_z(&line, "  ");
        put_cell(&line, cells ? cells[i] : columns[i].head, widths[i], columns[i].right, i + 1 == n);
    }
    while (line.len && line.ptr[line.len - 1] == ' ')
        line.len--;
    fwrite(line.ptr, 1, line.len, stdout);
    putchar('\n');
}

void cm_cli_table(const struct cm_column *columns, size_t n_columns, const char *const *cells, size_t n_rows)
{
    unsigned widths[CM_TABLE_MAX_COLUMNS] = {0};
    unsigned total = 0;
    size_t rest = n_columns;

    for (size_t c = 0; c < n_columns; c++) {
        widths[c] = whole_width(cm_str_of(columns[c].head));
        for (size_t r = 0; r < n_rows; r++) {
            const char *cell = cells[r * n_columns + c];
            unsigned w = cell ? whole_width(cm_str_mk(cell, cm_utf8_valid_prefix(cm_str_of(cell)))) : 0;
            widths[c] = w > widths[c] ? w : widths[c];
        }
        if (columns[c].rest)
            rest = c;
        else if (widths[c] > columns[c].max_width)
            widths[c] = columns[c].max_width;
        total += 2 + (columns[c].rest ? 0 : widths[c]);
    }
    if (rest < n_columns && widths[rest] > CM_CLI_WIDTH - total)
        widths[rest] = CM_CLI_WIDTH - total;
    put_row(columns, widths, n_columns, NULL);
    for (size_t r = 0; r < n_rows; r++)
        put_row(columns, widths, n_columns, cells + r * n_columns);
}

char *cm_cli_span(int64_t ms)
{
    if (ms < 1000)
        return cm_asprintf("%lld ms", (long long)(ms < 0 ? 0 : ms));
    if (ms < 120000)
        return cm_asprintf("%.1f s", (double)ms / 1000);
    if (ms < 7200000)
        return cm_asprintf("%lld min", (long long)(ms / 60000));
    if (ms < 2 * 86400000ll)
        return cm_asprintf("%lld h", (long long)(ms / 3600000));
    return cm_asprintf("%lld days", (long long)(ms / 86400000));
}

char *cm_cli_time(int64_t epoch_ms)
{
    time_t t = (time_t)(epoch_ms / 1000);
    struct tm tm;
    char text[32];

    if (!localtime_r(&t, &tm) || !strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm))
        return cm_strdup("");
    return cm_strdup(text);
}
