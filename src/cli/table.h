/** Tables for people: columns that fit CM_CLI_WIDTH, whatever stands in them. */
#ifndef CM_CLI_TABLE_H
#define CM_CLI_TABLE_H

#include "base/base.h"

#include <stdint.h>

#define CM_TABLE_MAX_COLUMNS 6

/** How wide a column may become. The one with `rest` gets what the others leave. */
struct cm_column {
    const char *head;
    unsigned max_width;
    bool rest;
    bool right; /* aligned */
};

/** The first character of valid UTF-8: how many bytes it has, and its code point. */
size_t cm_cli_decode(struct cm_str s, uint32_t *cp);
/**
 * Append text on one line in at most `width` columns of a terminal: white space and controls become a blank,
 * what is cut ends in "…". Gives the columns used.
 */
unsigned cm_cli_cut(struct cm_buf *out, struct cm_str text, unsigned width);

/** Print n_rows rows of n_columns cells (cells[row * n_columns + column]; NULL is empty), indented by two,
 * with their heads. */
void cm_cli_table(const struct cm_column *columns, size_t n_columns, const char *const *cells, size_t n_rows);

/** "12 ms", "3.4 s", "5 min", "2 h", "3 days": a span for people. Owned by the caller. */
char *cm_cli_span(int64_t ms);
/** "2026-11-30 13:52:43" in local time. Owned by the caller. */
char *cm_cli_time(int64_t epoch_ms);

#endif
