/** The three calls that both engines are measured through. */
#ifndef CM_BENCH_ENGINE_H
#define CM_BENCH_ENGINE_H

/** Make the VM; no helper thread may be left, so that it survives fork. */
void engine_start(void);
/** Evaluate and return the result as a number; aborts on an exception. */
double engine_eval(const char *code);
extern const char engine_name[];

#endif
