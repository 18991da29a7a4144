/** Reading programs, writing results and complaints. Nothing but <codemode.h> of the project. */
#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** A program beyond this is refused by every limit anyway; reading on would only fill memory. */
#define PROGRAM_MAX_BYTES (64u << 20)

/**
 * The bytes of what must not reach a terminal at the start of p, 0 where it may: C0 and DEL; U+0080 to U+009F,
 * which terminals may take for controls; and the marks that turn the direction of a line (U+202A to U+202E,
 * U+2066 to U+2069), with which arguments look like others.
 */
static size_t control_at(const char *p, size_t left)
{
    unsigned char a = (unsigned char)p[0];
    unsigned char b = left > 1 ? (unsigned char)p[1] : 0;
    unsigned char c = left > 2 ? (unsigned char)p[2] : 0;

    if ((a < 0x20 && a != '\n' && a != '\t') || a == 0x7F)
        return 1;
    if (a == 0xC2 && b >= 0x80 && b <= 0x9F)
        return 2;
    if (a == 0xE2 && ((b == 0x80 && c >= 0xAA && c <= 0xAE) || (b == 0x81 && c >= 0xA6 && c <= 0xA9)))
        return 3;
    return 0;
}

void cm_cli_put_safe(void *stream, const char *text, size_t len)
{
    FILE *f = stream;

    for (size_t i = 0, n; i < len; i += n ? n : 1) {
        const unsigned char *p = (const unsigned char *)text + i;
        n = control_at(text + i, len - i);
        if (n == 3)
            fprintf(f, "\\u%04x", 0x2000u | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu));
        else if (n)
            fprintf(f, "\\x%02x", p[n - 1]);
        else
            putc(*p, f);
    }
}

void cm_cli_complain(const char *fmt, ...)
{
    char text[CM_ERR_MAX_BYTES + 256];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fputs("codemode: ", stderr);
    cm_cli_put_safe(stderr, text, strlen(text));
    putc('\n', stderr);
}

int cm_cli_fail(const struct cm_err *err)
{
    cm_cli_complain("%s", err->message);
    return cm_status_exit(err->status);
}

cm_ctx *cm_cli_open(const struct cm_cli *cli, int *status)
{
    const char *note;
    cm_ctx *ctx = NULL;
    struct cm_err err;
    cm_status st = cm_open(&cli->options, &ctx, &err);

    for (size_t i = 0; st == CM_OK && (note = cm_config_note(ctx, i)) != NULL; i++)
        cm_cli_complain("warning: %s", note);
    if (st == CM_OK)
        return ctx;
    *status = cm_cli_fail(&err);
    /* Whatever keeps it from opening because of what was asked for is the user's to put right. */
    if (st == CM_E_NOT_FOUND || st == CM_E_DENIED)
        *status = CM_CLI_USAGE;
    return NULL;
}

bool cm_cli_put_result(const char *text, size_t len)
{
    /* What a pipe or a file gets is the result as it is; a terminal would obey what a server put into it. */
    if (isatty(STDOUT_FILENO))
        cm_cli_put_safe(stdout, text, len);
    else
        fwrite(text, 1, len, stdout);
    if (len == 0 || text[len - 1] != '\n')
        putchar('\n');
    if (fflush(stdout) == 0)
        return true;
    cm_cli_complain("standard output: %s", strerror(errno));
    return false;
}

int cm_cli_print_text(char *take_text)
{
    bool ok = cm_cli_put_result(take_text, strlen(take_text));

    cm_text_free(take_text);
    return ok ? CM_CLI_OK : CM_CLI_FAILED;
}

static char *read_stream(FILE *f, const char *name, size_t *len)
{
    size_t cap = 1u << 16, n = 0;
    char *text = malloc(cap);

    while (text) {
        size_t got = fread(text + n, 1, cap - n - 1, f);
        n += got;
        if (got == 0)
            break;
        if (cap - n > 1)
            continue;
        char *more = cap < PROGRAM_MAX_BYTES ? realloc(text, cap * 2) : NULL;
        if (!more) {
            cm_cli_complain("'%s': has more than %u bytes", name, PROGRAM_MAX_BYTES);
            free(text);
            return NULL;
        }
        text = more;
        cap *= 2;
    }
    if (text && ferror(f)) {
        cm_cli_complain("'%s': %s", name, strerror(errno));
        free(text);
        return NULL;
    }
    if (text)
        text[n] = '\0';
    *len = n;
    return text;
}

char *cm_cli_program(const struct cm_cli *cli, const char *file, const char *code, size_t *len, int *status)
{
    FILE *f = stdin;
    char *text;

    *status = CM_CLI_USAGE;
    if (code && file) {
        cm_cli_usage(cli, "-e CODE and '%s' are two programs; give one", file);
        return NULL;
    }
    if (code) {
        *len = strlen(code);
        return strdup(code);
    }
    if (!file && isatty(STDIN_FILENO)) {
        cm_cli_usage(cli, "no program was given: FILE, - for standard input, or -e CODE");
        return NULL;
    }
    if (file && strcmp(file, "-") != 0)
        f = fopen(file, "re");
    if (!f) {
        cm_cli_complain("'%s': %s", file, strerror(errno));
        return NULL;
    }
    text = read_stream(f, file ? file : "-", len);
    if (f != stdin)
        fclose(f);
    return text;
}
