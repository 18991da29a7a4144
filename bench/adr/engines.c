/*
 * ADR 1's table: each program runs in children forked from one warmed VM; wall and CPU time of the child,
 * medians. Build it twice, with engine_jsc.c and with engine_quickjs.c (docs/adr/0001-engine.md has the
 * lines).
 */
#include "engine.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUNS 15

struct program {
    const char *name;
    const char *code;
};

static const struct program programs[] = {
    {"fork, 1+1, exit", "1+1"},
    {"sort and JSON of 100,000 objects",
     "(()=>{const a=[];let s=1;for(let "
     "i=0;i<100000;i++){s=(s*16807)%2147483647;a.push({id:s,name:'n'+s,tags:['a','b']})}"
     "a.sort((x,y)=>x.id-y.id);return JSON.parse(JSON.stringify(a)).length})()"},
    {"10 million additions", "(()=>{let n=0;for(let i=0;i<10000000;i++)n+=i;return n})()"},
    {"300 fills of a 100,000-element array", "(()=>{let n=0;for(let k=0;k<300;k++){const a=[];for(let "
                                             "i=0;i<100000;i++)a[i]=i;n+=a.length}return n})()"},
    {"fib(27)", "(()=>{function fib(n){return n<2?n:fib(n-1)+fib(n-2)}return fib(27)})()"},
};

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

static double median(double *v)
{
    qsort(v, RUNS, sizeof *v, by_value);
    return v[RUNS / 2];
}

static void measure(const struct program *p)
{
    double wall[RUNS], cpu[RUNS];
    long rss = 0;

    for (int i = 0; i < RUNS; i++) {
        struct rusage ru = {0};
        int status = 0;
        double t = now_ms();
        pid_t pid = fork();
        if (pid == 0)
            _exit(engine_eval(p->code) > 0 ? 0 : 1);
        (void)wait4(pid, &status, 0, &ru);
        wall[i] = now_ms() - t;
        cpu[i] = (double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1e3 +
                 (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1e3;
        rss = ru.ru_maxrss;
        if (status != 0) {
            printf("%-40s failed\n", p->name);
            return;
        }
    }
    printf("%-40s %8.1f ms wall %8.1f ms CPU %6ld KB\n", p->name, median(wall), median(cpu), rss);
}

int main(void)
{
    engine_start();
    for (int i = 0; i < 300; i++)
        (void)engine_eval(
            "(()=>{const o={a:[1,2,{b:'x'}]};return JSON.parse(JSON.stringify(o)).a.length})()");
    printf("%s\n", engine_name);
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        measure(&programs[i]);
    return 0;
}
