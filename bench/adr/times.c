/*
 * Whole commands, timed in turn: times ROUNDS 'COMMAND' 'COMMAND' …  Each is run by the shell's rules for words without quotes. Of each
 * the median of wall and of CPU time and of page faults, all processes that it leaves behind included: they become our children.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WALL, CPU, FAULTS, FIGURES };

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static pid_t start(const char *command)
{
    pid_t pid = fork();
    char *words[64] = {NULL};
    char *text = strdup(command);
    size_t n = 0;

    if (pid != 0) {
        free(text);
        return pid;
    }
    for (char *w = strtok(text, " "); w && n < 63; w = strtok(NULL, " ")) /* allowed: our own command line */
        words[n++] = w;
    dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
    execvp(words[0], words);
    _exit(127);
}

static void time_once(const char *command, double out[FIGURES])
{
    double start_ms = now_ms();
    pid_t pid = start(command);
    struct rusage u;
    int status;

    out[CPU] = out[FAULTS] = 0;
    for (pid_t p = wait4(-1, &status, 0, &u); p > 0; p = wait4(-1, &status, 0, &u)) {
        out[CPU] += (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
                    (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
        out[FAULTS] += (double)u.ru_minflt;
        if (p == pid)
            out[WALL] = now_ms() - start_ms;
        if (p == pid && status != 0)
            fprintf(stderr, "%s: status %x\n", command, status);
    }
}

int main(int argc, char **argv)
{
    int rounds = argc > 2 ? atoi(argv[1]) : 0; /* allowed: our own command line */
    int n = argc - 2;

    if (rounds < 1)
        return fprintf(stderr, "usage: times ROUNDS 'COMMAND'...\n"), 2;
    double *all = calloc((size_t)(n * rounds * FIGURES), sizeof *all);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    for (int r = -1; r < rounds; r++) /* the first fills the page cache and is not counted */
        for (int c = 0; c < n; c++) {
            double once[FIGURES] = {0};
            time_once(argv[2 + c], once);
            for (int f = 0; r >= 0 && f < FIGURES; f++)
                all[(c * FIGURES + f) * rounds + r] = once[f];
        }
    for (int c = 0; c < n; c++) {
        double *figures = &all[c * FIGURES * rounds];
        for (int f = 0; f < FIGURES; f++)
            qsort(&figures[f * rounds], (size_t)rounds, sizeof(double), by_size);
        printf("%7.1f ms (at least %.1f), CPU %6.1f ms, %5.0f faults  %s\n",
               figures[WALL * rounds + rounds / 2], figures[WALL * rounds],
               figures[CPU * rounds + rounds / 2], figures[FAULTS * rounds + rounds / 2], argv[2 + c]);
    }
    free(all);
    return 0;
}
