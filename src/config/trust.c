/**
 * Trust: a configuration in the working directory starts programs, so one found there is used only after its
 * user said so once.
 *
 * The record is an empty file in STATE/trust, named by the SHA-256 of the absolute path, one NUL and the
 * content: another path or another content is another name, and the content is never stored.
 */
#include "config/internal.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <unistd.h>

extern char **environ;

static char *record_path(const char *state, const char *path, struct cm_str content)
{
    struct sha256_ctx h;
    uint8_t digest[SHA256_DIGEST_SIZE];
    char hex[2 * SHA256_DIGEST_SIZE + 1];

    sha256_init(&h);
    sha256_update(&h, strlen(path) + 1, (const uint8_t *)path);
    sha256_update(&h, content.len, (const uint8_t *)content.ptr);
    sha256_digest(&h, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    return cm_asprintf("%s/trust/%s", state, hex);
}

cm_status cm_config__is_trusted(const char *const *env, const char *path, struct cm_str content, bool *out,
                                struct cm_err *err)
{
    cm_autofree char *state = NULL, *real = realpath(path, NULL);
    cm_status st = cm_config__state_dir(env, false, &state, err);

    if (st != CM_OK)
        return st;
    cm_autofree char *record = record_path(state, real ? real : path, content);
    *out = access(record, F_OK) == 0;
    return CM_OK;
}

cm_status cm_config_trust(const char *path, struct cm_err *err)
{
    cm_autofree char *state = NULL, *text = NULL, *real = realpath(path, NULL);
    size_t len = 0;
    cm_status st;

    if (!real)
        return cm_err_errno(err, errno, "trust '%s'", path);
    st = cm_read_file(real, CM_CONFIG_MAX_BYTES, &text, &len, err);
    if (st == CM_OK)
        st = cm_config_state_dir(&state, err);
    if (st != CM_OK)
        return st;
    cm_autofree char *dir = cm_asprintf("%s/trust", state);
    st = cm_make_dirs(dir, err);
    if (st != CM_OK)
        return st;
    cm_autofree char *record = record_path(state, real, cm_str_mk(text, len));
    cm_autoclose int fd = open(record, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return cm_err_errno(err, errno, "write '%s'", record);
    return CM_OK;
}

cm_status cm_config_state_dir(char **out, struct cm_err *err)
{
    return cm_config__state_dir((const char *const *)environ, true, out, err);
}
