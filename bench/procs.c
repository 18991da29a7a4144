/** What the kernel says of processes (proc(5)). A process that is gone has nothing. */
#include "driver.h"

#include "base/fd.h"
#include "base/parse.h"

#include <stdio.h>
#include <unistd.h>

static char *read_of(pid_t pid, const char *what)
{
    cm_autofree char *path = cm_asprintf("/proc/%d/%s", (int)pid, what);
    char *text = NULL;

    return cm_read_file(path, 1u << 16, &text, NULL, NULL) == CM_OK ? text : NULL;
}

/** The number behind the blanks there, and *end behind it; -1: there is none. */
static int64_t number_at(const char *at, const char **end)
{
    const char *digits = at + strspn(at, " \t");
    size_t len = strspn(digits, "0123456789");
    int64_t n = -1;

    *end = digits + len;
    return cm_parse_i64(cm_str_mk(digits, len), &n, NULL) == CM_OK ? n : -1;
}

size_t procs_below(pid_t root, pid_t *out, size_t max)
{
    size_t n = 0, looked = 0;
    pid_t at = root;

    for (;;) {
        cm_autofree char *what = cm_asprintf("task/%d/children", (int)at);
        cm_autofree char *text = read_of(at, what);
        const char *next = text;

        for (int64_t pid; next && (pid = number_at(next, &next)) > 0;)
            if (n < max)
                out[n++] = (pid_t)pid;
        if (looked == n)
            return n;
        at = out[looked++];
    }
}

static uint64_t kb_of(pid_t pid, const char *file, const char *key)
{
    cm_autofree char *text = read_of(pid, file);
    const char *line = text ? strstr(text, key) : NULL, *end;

    return line ? (uint64_t)number_at(line + strlen(key), &end) : 0;
}

uint64_t procs_rss_kb(pid_t pid)
{
    return kb_of(pid, "status", "\nVmRSS:");
}

uint64_t procs_most_rss_kb(pid_t pid)
{
    return kb_of(pid, "status", "\nVmHWM:");
}

uint64_t procs_pss_kb(pid_t pid)
{
    return kb_of(pid, "smaps_rollup", "\nPss:");
}

/** Of children that it has waited for, which the kernel counts in ticks. */
static double children_cpu_ms(pid_t pid)
{
    cm_autofree char *text = read_of(pid, "stat");
    const char *at = text ? strrchr(text, ')') : NULL, *end; /* a name may have anything in it */
    double ms = 0;

    /* Behind the name: state is the first word, cutime and cstime are the 14th and 15th. */
    for (int word = 0; at && word < 15; word++) {
        at = strchr(at + 1, ' ');
        if (at && word >= 13)
            ms += (double)number_at(at, &end) * 1000 / (double)sysconf(_SC_CLK_TCK);
    }
    return ms;
}

double procs_cpu_ms(pid_t pid)
{
    cm_autofree char *text = read_of(pid, "schedstat");
    const char *end;

    return text ? (double)number_at(text, &end) / 1e6 + children_cpu_ms(pid) : 0;
}
