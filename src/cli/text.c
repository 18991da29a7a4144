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

/** U+0080 to U+009F, which terminals may take for controls, are C2 80 to C2 9F. */
static bool is_c1(const char *p, size_t left)
{
    return (unsigned char)p[0] == 0xC2 && left > 1 && (unsigned char)p[1] >= 0x80 &&
           (unsigned char)p[1] <= 0x9F;
}

void cm_cli_put_safe(void *stream, const char *text, size_t len)
{
    FILE *f = stream;

    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (is_c1(text + i, len - i)) {
            fprintf(f, "\\x%02x", (unsigned char)text[++i]);
        } else if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F) {
            fprintf(f, "\\x%02x", c);
        } else {
            putc(c, f);
        }
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
