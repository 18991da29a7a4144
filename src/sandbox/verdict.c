/** The sentence for each way to end: which limit, its value, and what to do. A model reads these and must be
 * able to go on. */
#include "sandbox/internal.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

struct verdict_row {
    enum cm_pass_end_kind kind;
    const char *code;
    size_t limit;     /* offset of the limit in struct cm_limits that %llu stands for; NO_LIMIT none */
    const char *text; /* "%1" is the limit's value, "%2" the detail */
};

#define LIMIT(member) offsetof(struct cm_limits, member)
#define NO_LIMIT      SIZE_MAX

static const struct verdict_row rows[CM_END_COUNT_] = {
    [CM_END_CPU] = {CM_PASS_LIMIT, "cpu_limit", LIMIT(cpu_ms),
                    "The program used its %1 ms of CPU time (limits.cpuMs). The clock stands still between "
                    "calls, so a loop that "
                    "waits for time to pass never ends: await a timer instead. Otherwise do less in one run, "
                    "or in smaller steps."},
    [CM_END_WALL] = {CM_PASS_LIMIT, "wall_limit", LIMIT(wall_ms),
                     "The program itself ran for %1 ms (limits.wallMs), time spent waiting for calls not "
                     "counted. Do less in one run."},
    [CM_END_DEADLINE] = {CM_PASS_LIMIT, "deadline", LIMIT(deadline_ms),
                         "The run did not end within %1 ms, waiting for calls included "
                         "(limits.deadlineMs).%2 Make fewer or faster "
                         "calls in one run."},
    [CM_END_MEMORY] = {CM_PASS_LIMIT, "memory_limit", LIMIT(memory_mb),
                       "The program needed more than its %1 MB of memory (limits.memoryMb). Work on the data "
                       "in parts, keep only what "
                       "the result needs, and do not build strings or arrays without bound."},
    [CM_END_STACK] =
        {CM_PASS_LIMIT, "stack_limit", LIMIT(stack_kb),
         "The program called itself more deeply than its %1 KB of stack allow (limits.stackKb). If the "
         "recursion is meant to end, its end is never reached; otherwise use a loop with a list of what is "
         "still to do."},
    [CM_END_CALLS] = {CM_PASS_LIMIT, "calls_in_flight_limit", LIMIT(calls_in_flight),
                      "The program had more than %1 calls unanswered at once (limits.callsInFlight). Await "
                      "them in batches of at most "
                      "%1: slice the list and use Promise.all on each slice."},
    [CM_END_TIMERS] = {CM_PASS_LIMIT, "timers_limit", LIMIT(timers),
                       "The program had more than %1 timers running at once (limits.timers). Await or clear "
                       "some before starting more."},
    [CM_END_FRAME] = {CM_PASS_LIMIT, "frame_limit", LIMIT(frame_bytes),
                      "One value that left or entered the program (an argument, a result or a console line) "
                      "was larger than %1 bytes "
                      "(limits.frameBytes)%2. Select the fields that are needed, or pass the data in parts."},
    [CM_END_CRASHED] = {CM_PASS_CRASHED, "crashed", NO_LIMIT,
                        "The sandbox process ended unexpectedly (%2). The program was stopped; the next run "
                        "gets a fresh process. If it "
                        "happens again, one large string, array or regular expression is the likely cause: "
                        "work in smaller parts."},
    [CM_END_PROTOCOL] =
        {CM_PASS_PROTOCOL, "protocol", NO_LIMIT,
         "The sandbox process broke the protocol (%2) and was ended. The next run gets a fresh process."},
    [CM_END_CANCELLED] = {CM_PASS_CANCELLED, "cancelled", NO_LIMIT, "The run was cancelled.%2"},
    [CM_END_NO_WORKER] = {CM_PASS_FAILED, "no_worker", NO_LIMIT, "No sandbox process could be started: %2"},
    [CM_END_EVICTED] = {CM_PASS_EVICTED, "evicted", NO_LIMIT,
                        "The sandbox process that was kept for this run was needed for another. The run goes "
                        "on from its record."},
};

static unsigned long long limit_value(const struct cm_limits *l, size_t offset)
{
    const char *at = (const char *)l + offset;

    if (offset >= offsetof(struct cm_limits, source_bytes))
        return *(const uint64_t *)(const void *)at;
    return *(const uint32_t *)(const void *)at;
}

void cm_verdict__make(struct cm_verdict *v, enum cm_end_code code, const struct cm_limits *limits,
                      const char *detail)
{
    const struct verdict_row *row = &rows[code];
    cm_autobuf b = CM_BUF_INIT(CM_ERR_MAX_BYTES);

    for (const char *p = row->text; *p; p++) {
        if (p[0] == '%' && p[1] == '1') {
            cm_buf_addf(&b, "%llu", limit_value(limits, row->limit));
            p++;
        } else if (p[0] == '%' && p[1] == '2') {
            cm_buf_add_z(&b, detail ? detail : "");
            p++;
        } else {
            cm_buf_add_char(&b, *p);
        }
    }
    cm_verdict__done(v);
    v->kind = row->kind;
    v->code = cm_strdup(row->code);
    v->message = cm_buf_take(&b, NULL);
}

void cm_verdict__done(struct cm_verdict *v)
{
    free(v->code);
    free(v->message);
    *v = (struct cm_verdict){.kind = v->kind};
}

const char *cm_verdict__exit_text(const struct cm_control_msg *m, char *buf, size_t size)
{
    static const char *const layers[] = {
#define LAYER_TEXT_(name, text) text,
        CM_LAYER_MAP(LAYER_TEXT_)
#undef LAYER_TEXT_
    };
    int layer = m->exit_status - CM_EXIT_LOCKDOWN;

    if (m->exit_code != CLD_EXITED)
        (void)snprintf(buf, size, "signal %d, %s%s", m->exit_status, strsignal(m->exit_status),
                       m->exit_status == SIGSYS ? ": it made a system call that no program needs" : "");
    else if (m->exit_status == CM_EXIT_SELF_TEST)
        (void)snprintf(buf, size, "its self-test under lock-down failed");
    else if (layer >= 0 && layer < CM_LAYER_COUNT_)
        (void)snprintf(buf, size, "the lock-down step '%s' failed, and no program runs without it",
                       layers[layer]);
    else
        (void)snprintf(buf, size, "exit status %d", m->exit_status);
    return buf;
}
