/** The programs of a folder (tests/cases/load/README.md). */
#include "load.h"

#include "base/fd.h"

#include <dirent.h>
#include <inttypes.h>

#define MARK "__N__"

/** The rest of the line "// key: " among the comments at the head, owned by the caller, or NULL. */
static char *head_line(const char *code, const char *key)
{
    cm_autofree char *mark = cm_asprintf("// %s: ", key);

    for (const char *line = code; strncmp(line, "//", 2) == 0; line = strchr(line, '\n') + 1)
        if (strncmp(line, mark, strlen(mark)) == 0)
            return cm_memdup_z(line + strlen(mark), strcspn(line, "\n") - strlen(mark));
    return NULL;
}

static int is_program(const struct dirent *d)
{
    size_t len = strlen(d->d_name);

    return len > 3 && cm_z_eq(d->d_name + len - 3, ".js");
}

static struct program read_one(const char *folder, const char *name)
{
    cm_autofree char *path = cm_asprintf("%s/%s", folder, name);
    struct program p = {.name = cm_strdup(name)};
    struct cm_err err = {0};

    if (cm_read_file(path, 1u << 20, &p.code, NULL, &err) != CM_OK)
        load_fail(path, err.message);
    p.result = head_line(p.code, "result");
    p.ends = head_line(p.code, "ends");
    if (!p.result == !p.ends || !strstr(p.code, MARK))
        load_fail(path, "expected a line '// result: …' or '// ends: …' at its head, and " MARK " in it");
    return p;
}

static void free_one(struct program *p)
{
    free(p->name);
    free(p->code);
    free(p->result);
    free(p->ends);
}

static int good_first(const void *a, const void *b)
{
    const struct program *x = a, *y = b;

    return x->ends && !y->ends ? 1 : !x->ends && y->ends ? -1 : strcmp(x->name, y->name);
}

void programs_read(struct programs *p, const char *folder, bool memory)
{
    struct dirent **names = NULL;
    int n = scandir(folder, &names, is_program, alphasort);

    if (n <= 0)
        load_fail(folder, "it has no programs; programs=FOLDER names another");
    p->all = cm_calloc((size_t)n, sizeof *p->all);
    for (int i = 0; i < n; i++) {
        struct program one = read_one(folder, names[i]->d_name);
        cm_autofree char *needs = head_line(one.code, "needs");

        free(names[i]);
        if (needs && !memory) {
            free_one(&one);
            continue;
        }
        p->n_good += one.result != NULL;
        p->all[p->n++] = one;
    }
    free(names);
    qsort(p->all, p->n, sizeof *p->all, good_first);
    if (p->n_good == 0 || p->n_good == p->n)
        load_fail(folder, "expected programs with a result, and hostile ones");
}

void programs_free(struct programs *p)
{
    for (size_t i = 0; i < p->n; i++)
        free_one(&p->all[i]);
    free(p->all);
}

char *programs_fill(const char *text, uint64_t n)
{
    cm_autobuf b = CM_BUF_INIT(1u << 21);

    for (const char *mark; (mark = strstr(text, MARK)) != NULL; text = mark + strlen(MARK)) {
        cm_buf_add(&b, text, (size_t)(mark - text));
        cm_buf_addf(&b, "%" PRIu64, n);
    }
    cm_buf_add_z(&b, text);
    return cm_buf_take(&b, NULL);
}

bool programs_may_end(const char *ends, const char *name)
{
    size_t len = strlen(name);

    for (const char *at = ends; at; at = strchr(at, '|')) {
        at += *at == '|';
        if (strncmp(at, name, len) == 0 && (at[len] == '|' || at[len] == '\0'))
            return true;
    }
    return false;
}
