/* Blocking work whose owner may have to wait for its end, e.g. because what it works on is about to be closed. */
#include "loop/internal.h"

#include "base/mem.h"

#include <errno.h>
#include <semaphore.h>

struct cm_job {
    uv_work_t uv;
    cm_work_fn run, done;
    void *user;
    sem_t ran;
};

static void job_run(uv_work_t *uv)
{
    cm_job *j = uv->data;

    j->run(j->user);
    (void)sem_post(&j->ran);
}

static void job_done(uv_work_t *uv, int status)
{
    cm_job *j = uv->data;

    (void)status;
    if (j->done)
        j->done(j->user);
    (void)sem_destroy(&j->ran);
    free(j);
}

cm_job *cm_job_start(cm_loop *l, cm_work_fn run, cm_work_fn done, void *user)
{
    cm_job *j = cm_new(cm_job);

    j->uv.data = j;
    j->run = run;
    j->done = done;
    j->user = user;
    if (sem_init(&j->ran, 0, 0) != 0 || uv_queue_work(&l->uv, &j->uv, job_run, job_done) != 0)
        abort(); /* only for a NULL function, or more semaphores than an int counts */
    return j;
}

void cm_job_end(cm_job *j)
{
    j->done = NULL;
    if (uv_cancel((uv_req_t *)&j->uv) == 0) { /* it waits behind others: here is as good a place */
        j->run(j->user);
        return;
    }
    while (sem_wait(&j->ran) != 0 && errno == EINTR)
        ;
}
