/** What a configuration owns, its warnings, and the paths and variables it is read with. */
#include "config/internal.h"

#include "base/fd.h"

#include <stdarg.h>
#include <stdio.h>

void *cm_config__keep(cm_config *c, void *take_p)
{
    if (c->n_kept == c->cap_kept) {
        c->cap_kept = c->cap_kept ? c->cap_kept * 2 : 64;
        c->kept = cm_realloc(c->kept, c->cap_kept * sizeof *c->kept);
    }
    c->kept[c->n_kept++] = take_p;
    return take_p;
}

__attribute__((format(printf, 1, 0))) static char *format(const char *fmt, va_list ap)
{
    char *text = NULL;

    if (vasprintf(&text, fmt, ap) < 0)
        abort();
    return text;
}

char *cm_config__keepf(cm_config *c, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    char *text = format(fmt, ap);
    va_end(ap);
    return cm_config__keep(c, text);
}

void cm_config__warn(cm_config *c, const char *fmt, ...)
{
    va_list ap;

    if (c->n_warnings == CM_CONFIG__MAX_WARNINGS)
        return;
    va_start(ap, fmt);
    cm_autofree char *text = format(fmt, ap);
    va_end(ap);
    if (c->n_warnings % 16 == 0)
        c->warnings = cm_realloc(c->warnings, (c->n_warnings + 16) * sizeof *c->warnings);
    c->warnings[c->n_warnings] = c->n_warnings + 1 == CM_CONFIG__MAX_WARNINGS
                                     ? cm_config__keepf(c, "%s: more warnings are not shown", c->where)
                                     : cm_config__keepf(c, "%s: %s", c->where, text);
    c->n_warnings++;
}

const char *cm_config__getenv(const char *const *environ, struct cm_str name)
{
    for (; environ && *environ; environ++)
        if (strncmp(*environ, name.ptr, name.len) == 0 && (*environ)[name.len] == '=')
            return *environ + name.len + 1;
    return NULL;
}

static const char *absolute_dir(const char *const *environ, struct cm_str name)
{
    const char *dir = cm_config__getenv(environ, name);

    /* The XDG specification: a relative path here is invalid and ignored. */
    return dir && dir[0] == '/' ? dir : NULL;
}

const char *cm_config__path(cm_config *c, const char *path)
{
    const char *home = absolute_dir(c->environ, CM_STR("HOME"));

    if (path[0] == '/')
        return path;
    if (path[0] == '~' && path[1] == '/' && home)
        return cm_config__keepf(c, "%s%s", home, path + 1);
    while (path[0] == '.' && path[1] == '/')
        path += 2;
    return cm_config__keepf(c, "%s%s%s", c->dir, cm_z_eq(c->dir, "/") ? "" : "/", path);
}

cm_status cm_config__state_dir(const char *const *environ, bool make, char **out, struct cm_err *err)
{
    const char *state = absolute_dir(environ, CM_STR("XDG_STATE_HOME"));
    const char *home = absolute_dir(environ, CM_STR("HOME"));
    cm_autofree char *dir = NULL;

    if (state)
        dir = cm_asprintf("%s/codemode", state);
    else if (home)
        dir = cm_asprintf("%s/.local/state/codemode", home);
    else
        return cm_err_set(
            err, CM_E_CONFIG,
            "no place for state: neither XDG_STATE_HOME nor HOME is an absolute path; set one of them, "
            "or name a store (--store sqlite:PATH or --store memory:)");
    if (make) {
        cm_status st = cm_make_dirs(dir, err);
        if (st != CM_OK)
            return cm_err_prefix(err, "state directory");
    }
    *out = cm_steal(&dir);
    return CM_OK;
}
