/* ADR 2's figures for JSON: parse and write a 1 MB document with yyjson and with jansson, medians of 15. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <yyjson.h>

#define RUNS 15

static double now_ms(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void report(const char *name, double *parse, double *write)
{
    qsort(parse, RUNS, sizeof *parse, by_value);
    qsort(write, RUNS, sizeof *write, by_value);
    printf("%-8s parse %6.2f ms  write %6.2f ms\n", name, parse[RUNS / 2], write[RUNS / 2]);
}

static char *make_document(size_t *len)
{
    char *text = malloc(2u << 20);
    size_t n = 0;

    n += (size_t)sprintf(text + n, "[");
    for (int i = 0; n < (1u << 20); i++)
        n += (size_t)sprintf(
            text + n,
            "%s{\"id\":%d,\"name\":\"item number %d\",\"price\":%d.25,\"tags\":[\"a\",\"b\"],\"ok\":true}",
            i ? "," : "", i, i, i % 1000);
    n += (size_t)sprintf(text + n, "]");
    *len = n;
    return text;
}

int main(void)
{
    double parse[RUNS], write[RUNS];
    size_t len = 0;
    char *text = make_document(&len);

    printf("document of %zu bytes\n", len);
    for (int i = 0; i < RUNS; i++) {
        double t = now_ms();
        yyjson_doc *doc = yyjson_read(text, len, 0);
        parse[i] = now_ms() - t;
        t = now_ms();
        free(yyjson_write(doc, 0, NULL));
        write[i] = now_ms() - t;
        yyjson_doc_free(doc);
    }
    report("yyjson", parse, write);
    for (int i = 0; i < RUNS; i++) {
        double t = now_ms();
        json_t *doc = json_loadb(text, len, 0, NULL);
        parse[i] = now_ms() - t;
        t = now_ms();
        free(json_dumps(doc, JSON_COMPACT));
        write[i] = now_ms() - t;
        json_decref(doc);
    }
    report("jansson", parse, write);
    free(text);
    return 0;
}
