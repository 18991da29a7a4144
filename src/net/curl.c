/* Front page: curl.h. */
#include "net/curl.h"

#include <dlfcn.h>
#include <pthread.h>

#define SONAME "libcurl.so.4" /* its interface has kept this number since 2006 */

struct cm_curl cm_curl;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char *fault; /* why it is not loaded; NULL: it is */

/** As wide as every member: POSIX lets the address of a function be stored as one of an object. */
struct row {
    const char *name;
    void **to;
};

static void load(void)
{
    static const struct row rows[] = {
#define ROW_(name) {"curl_" #name, (void **)(void *)&cm_curl.name},
        CM_CURL_MAP(ROW_)
#undef ROW_
    };
    void *library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);

    for (size_t i = 0; library && i < CM_ARRAY_LEN(rows); i++) {
        *rows[i].to = dlsym(library, rows[i].name);
        if (!*rows[i].to)
            library = NULL;
    }
    if (!library) {
        const char *why = dlerror();
        fault = cm_strdup(why ? why : SONAME ": not found");
    }
}

cm_status cm_curl__load(struct cm_err *err)
{
    (void)pthread_once(&once, load);
    if (fault)
        return cm_err_set(err, CM_E_UNAVAILABLE,
                          "HTTP needs libcurl, which cannot be loaded: %s. Install it (Debian: libcurl4)",
                          fault);
    return CM_OK;
}
