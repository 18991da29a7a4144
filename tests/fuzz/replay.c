/* Runs a target over files and over the files of folders: the corpus as a regression test, a crash file by
 * hand. */
#include "fuzz.h"

#include "base/fd.h"

#include <dirent.h>
#include <sys/stat.h>

#define INPUT_MAX_BYTES (1U << 20) /* libFuzzer's inputs are smaller (tools/fuzz) */

static int n_inputs;

static void replay_file(const char *path)
{
    cm_autofree char *text = NULL;
    struct cm_err err = {0};
    size_t len = 0;

    if (cm_read_file(path, INPUT_MAX_BYTES, &text, &len, &err) != CM_OK) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    /* A copy of exactly its size, so that AddressSanitizer sees the first byte read too many. */
    cm_autofree uint8_t *exact = cm_malloc(len ? len : 1);
    memcpy(exact, text, len);
    fprintf(stderr, "%s\n", path);
    CM_MUST(LLVMFuzzerTestOneInput(exact, len) == 0);
    n_inputs++;
}

static void replay_folder(const char *path)
{
    DIR *dir = opendir(path);

    CM_MUST(dir != NULL);
    for (const struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        char file[4096];
        if (e->d_name[0] == '.')
            continue;
        CM_MUST(snprintf(file, sizeof file, "%s/%s", path, e->d_name) < (int)sizeof file);
        replay_file(file);
    }
    (void)closedir(dir);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct stat st;
        CM_MUST(stat(argv[i], &st) == 0);
        if (S_ISDIR(st.st_mode))
            replay_folder(argv[i]);
        else
            replay_file(argv[i]);
    }
    (void)printf("%d inputs\n", n_inputs);
    return n_inputs > 0 ? 0 : 1;
}
