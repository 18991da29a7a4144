/** Where the worker program is: the option, the environment, beside this program, where it was installed. */
#include "sandbox/internal.h"

#include <stdio.h>
#include <unistd.h>

#define WORKER_NAME "codemode-worker"

/** Places relative to the directory of this program; the last one is the build folder's layout. */
static const char *const beside[] = {WORKER_NAME, "../libexec/codemode/" WORKER_NAME,
                                     "../worker/" WORKER_NAME};

static bool is_there(struct cm_buf *tried, const char *path)
{
    if (access(path, X_OK) == 0)
        return true;
    cm_buf_addf(tried, "%s'%s'", tried->len ? ", " : "", path);
    return false;
}

static char *find_beside(struct cm_buf *tried)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

    if (n <= 0)
        return NULL;
    self[n] = '\0';
    char *slash = strrchr(self, '/');
    if (!slash)
        return NULL;
    *slash = '\0';
    for (size_t i = 0; i < CM_ARRAY_LEN(beside); i++) {
        cm_autofree char *path = cm_asprintf("%s/%s", self, beside[i]);
        if (is_there(tried, path))
            return cm_steal(&path);
    }
    return NULL;
}

cm_status cm_find__worker(const char *option, char **out, struct cm_err *err)
{
    cm_autobuf tried = CM_BUF_INIT(CM_ERR_MAX_BYTES);
    const char *env = getenv("CODEMODE_WORKER");
    const char *named = option ? option : env && *env ? env : NULL;

    /* A place that somebody named is meant: another program in its stead would be a surprise. */
    if (named) {
        if (!is_there(&tried, named))
            return cm_err_set(err, CM_E_NOT_FOUND,
                              "the sandbox's worker program '%s' (from %s) is not there or not executable",
                              named, option ? "the option" : "$CODEMODE_WORKER");
        *out = cm_strdup(named);
        return CM_OK;
    }
    char *path = find_beside(&tried);
    if (!path && is_there(&tried, CM_LIBEXECDIR "/" WORKER_NAME))
        path = cm_strdup(CM_LIBEXECDIR "/" WORKER_NAME);
    if (!path)
        return cm_err_set(
            err, CM_E_NOT_FOUND,
            "the sandbox's worker program was not found; tried %.*s. $CODEMODE_WORKER names another place",
            CM_STR_ARG(cm_buf_str(&tried)));
    *out = path;
    return CM_OK;
}
