/** Samples of the host while it works, what they must keep to, and the report. */
#include "load.h"

#include "base/fd.h"
#include "base/parse.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/*
 * Bounds. A program that waits for its turn costs its text and a record; what the host has beside that does not grow with time. A worker
 * has a socket and a pidfd; while one is replaced, two of each.
 */
#define RSS_MAX_KB        (256u << 10)
#define RSS_GROWTH_MAX_KB (16u << 10) /* from the first fifth of the time to its end */
#define FDS_PER_WORKER    4
#define FDS_BESIDE        48
#define WORKERS           64 /* the default */

uint64_t report_count_fds(void)
{
    DIR *d = opendir("/proc/self/fd");
    uint64_t n = 0;

    if (!d)
        load_fail("/proc/self/fd", "open it");
    while (readdir(d))
        n++;
    (void)closedir(d);
    return n - 3; /* itself, and the two dots */
}

static uint64_t count_children(long pid)
{
    cm_autofree char *path = cm_asprintf("/proc/%ld/task/%ld/children", pid, pid), *text = NULL;
    uint64_t n = 0;

    if (cm_read_file(path, 1u << 16, &text, NULL, NULL) != CM_OK)
        return 0;
    for (char *at = text, *end; *at; at = end) {
        long child = strtol(at, &end, 10);

        if (end == at)
            break;
        n += 1 + count_children(child);
    }
    return n;
}

uint64_t report_count_processes(void)
{
    return count_children(getpid());
}

static uint64_t rss_kb(void)
{
    cm_autofree char *text = NULL;
    const char *line;

    if (cm_read_file("/proc/self/status", 1u << 16, &text, NULL, NULL) != CM_OK)
        return 0;
    line = strstr(text, "\nVmRSS:");
    return line ? strtoull(line + strlen("\nVmRSS:"), NULL, 10) : 0;
}

static uint64_t count_good(const struct crowd *c)
{
    uint64_t n = 0;

    for (size_t i = 0; i < c->n_parties; i++)
        n += c->parties[i].good;
    return n;
}

void report_sample(struct crowd *c)
{
    if (c->n_samples == MAX_SAMPLES)
        return;
    c->samples[c->n_samples++] = (struct sample){.at_s = (load_now_ms() - c->start_ms) / 1000,
                                                 .rss_kb = rss_kb(),
                                                 .fds = report_count_fds(),
                                                 .workers = report_count_processes() - 1,
                                                 .good = count_good(c)};
}

/* ---- what must hold */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t n, double q)
{
    size_t rank = (size_t)ceil(q * (double)n);

    return n == 0 ? 0 : sorted[rank ? rank - 1 : 0];
}

/** How many of the others may begin while one of this runtime waits: each runtime gets a turn for each of its own, and workers that are there
 * already go on. */
static double share(const struct crowd *c, const struct party *p)
{
    return (double)(c->n_parties * (p->size + 1) + 2 * WORKERS);
}

static void check_party(struct crowd *c, struct party *p)
{
    qsort(p->waits_ms, p->n_waits, sizeof(double), by_size);
    qsort(p->waits_turns, p->n_waits, sizeof(double), by_size);
    if (quantile(p->waits_turns, p->n_waits, 1) > share(c, p))
        load_wrong(c, "%s: one program waited while %.0f others began; its share is %.0f", p->name,
                   quantile(p->waits_turns, p->n_waits, 1), share(c, p));
    if (p->good + p->hostile != p->started)
        load_wrong(c, "%s: %" PRIu64 " programs were started, %" PRIu64 " ended", p->name, p->started,
                   p->good + p->hostile);
}

static void check_samples(struct crowd *c)
{
    uint64_t early = 0, late = 0, fds = 0;
    double all_s = c->samples[c->n_samples - 1].at_s;

    for (size_t i = 0; i < c->n_samples; i++) {
        const struct sample *s = &c->samples[i];

        fds = s->fds > fds ? s->fds : fds;
        if (s->at_s <= all_s / 5)
            early = s->rss_kb > early ? s->rss_kb : early;
        else
            late = s->rss_kb > late ? s->rss_kb : late;
    }
    if (fds > c->fds_before + (uint64_t)FDS_PER_WORKER * WORKERS + FDS_BESIDE)
        load_wrong(c, "%" PRIu64 " descriptors were open at once", fds);
    if (!c->bounded)
        return;
    if (early > RSS_MAX_KB || late > RSS_MAX_KB)
        load_wrong(c, "the host had %" PRIu64 " KB resident", early > late ? early : late);
    if (all_s >= 30 && late > early + RSS_GROWTH_MAX_KB)
        load_wrong(c, "the host grew from %" PRIu64 " to %" PRIu64 " KB", early, late);
}

void report_check(struct crowd *c)
{
    for (size_t i = 0; i < c->n_parties; i++)
        check_party(c, &c->parties[i]);
    check_samples(c);
}

/* ---- as text and as JSON */

/** The last sample before that time. */
static const struct sample *sample_at(const struct crowd *c, double at_s)
{
    const struct sample *found = &c->samples[0];

    for (size_t i = 0; i < c->n_samples && c->samples[i].at_s <= at_s; i++)
        found = &c->samples[i];
    return found;
}

void report_text(struct crowd *c)
{
    double s = (c->all_ms - c->start_ms) / 1000;
    uint64_t good = 0, hostile = 0;
    struct timespec cpu;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    printf("runtime           at once  good  hostile  approved   wait ms p50      p95      max   others p50  "
           " max\n");
    for (size_t i = 0; i < c->n_parties; i++) {
        const struct party *p = &c->parties[i];

        good += p->good;
        hostile += p->hostile;
        printf("%-16s %8u %5" PRIu64 " %8" PRIu64 " %9" PRIu64 "  %12.0f %8.0f %8.0f  %11.0f %5.0f\n",
               p->name, p->size, p->good, p->hostile, p->approved, quantile(p->waits_ms, p->n_waits, 0.5),
               quantile(p->waits_ms, p->n_waits, 0.95), quantile(p->waits_ms, p->n_waits, 1),
               quantile(p->waits_turns, p->n_waits, 0.5), quantile(p->waits_turns, p->n_waits, 1));
    }
    printf("%zu accepted in %.0f ms; %" PRIu64 " good and %" PRIu64
           " hostile programs in %.1f s, %.1f a second; host CPU %.2f ms each\n",
           c->n_jobs, c->accepted_ms - c->start_ms, good, hostile, s, (double)(good + hostile) / s,
           ((double)cpu.tv_sec * 1e3 + (double)cpu.tv_nsec / 1e6) / (double)(good + hostile));
    printf("     s   host KB  descriptors  workers   good\n");
    for (int i = 0; i <= 5; i++) {
        const struct sample *at = sample_at(c, i < 5 ? s * i / 5 : s + 1);

        printf("%6.1f %9" PRIu64 " %12" PRIu64 " %8" PRIu64 " %6" PRIu64 "\n", at->at_s, at->rss_kb, at->fds,
               at->workers, at->good);
    }
}

void report_json(struct crowd *c)
{
    printf("{\"acceptedMs\":%.1f,\"seconds\":%.3f,\"wrong\":%" PRIu64 ",\"runtimes\":[",
           c->accepted_ms - c->start_ms, (c->all_ms - c->start_ms) / 1000, c->wrong);
    for (size_t i = 0; i < c->n_parties; i++) {
        const struct party *p = &c->parties[i];

        printf("%s{\"name\":\"%s\",\"size\":%u,\"good\":%" PRIu64 ",\"hostile\":%" PRIu64
               ",\"approved\":%" PRIu64 ",\"waits\":%zu,\"waitMs\":[%.1f,%.1f,%.1f],\"others\":[%.0f,%.0f]}",
               i ? "," : "", p->name, p->size, p->good, p->hostile, p->approved, p->n_waits,
               quantile(p->waits_ms, p->n_waits, 0.5), quantile(p->waits_ms, p->n_waits, 0.95),
               quantile(p->waits_ms, p->n_waits, 1), quantile(p->waits_turns, p->n_waits, 0.5),
               quantile(p->waits_turns, p->n_waits, 1));
    }
    printf("],\"samples\":[");
    for (size_t i = 0; i < c->n_samples; i++)
        printf("%s{\"s\":%.1f,\"rssKb\":%" PRIu64 ",\"descriptors\":%" PRIu64 ",\"workers\":%" PRIu64
               ",\"good\":%" PRIu64 "}",
               i ? "," : "", c->samples[i].at_s, c->samples[i].rss_kb, c->samples[i].fds,
               c->samples[i].workers, c->samples[i].good);
    printf("]}\n");
}
