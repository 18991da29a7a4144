/** A store in a folder of its own, made for each test and removed after it. */
#ifndef CM_TESTS_STORE_WORLD_H
#define CM_TESTS_STORE_WORLD_H

#include "store/store.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#ifndef STORE_NAME
#define STORE_NAME "codemode.db" /* a file may have another; it is made where it is not there */
#endif

static char dir[] = "/tmp/cm-store-XXXXXX";
static char where[128]; /* as the store is named */
MAYBE_UNUSED static const char *path = where + sizeof("sqlite:") - 1;

static int set_up(void **state)
{
    (void)state;
    (void)snprintf(dir, sizeof dir, "/tmp/cm-store-XXXXXX");
    assert_non_null(mkdtemp(dir));
    (void)snprintf(where, sizeof where, "sqlite:%s/" STORE_NAME, dir);
    return 0;
}

/** Also what a test took the rights of. */
static int tear_down(void **state)
{
    cm_autofree char *cmd = cm_asprintf("chmod -R u+rwX '%s' && rm -r '%s'", dir, dir);

    (void)state;
    return system(cmd);
}

static void ok(cm_status st, const struct cm_err *err)
{
    if (st != CM_OK)
        fail_msg("%s", err->message);
}

static cm_store *open_store(void)
{
    cm_store *s = NULL;
    struct cm_err err = {0};

    ok(cm_store_open(where, &s, &err), &err);
    return s;
}

/** Run fn with a store in a child that then dies by SIGKILL, as a crashed host does. */
MAYBE_UNUSED static void in_a_process_that_is_killed(void (*fn)(cm_store *s))
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        fn(open_store());
        (void)raise(SIGKILL);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

#endif
