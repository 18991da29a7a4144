/*
 * From a file to one document.
 *
 * References to other files are made local: each such file becomes a member of "x-codemode-files" in the
 * document, and references are rewritten to point there, so that all that comes after knows of one document
 * only. Files outside the description's folder (after links were followed) and addresses on the network are
 * not read: such a reference stays, leads nowhere, and the operation that needs it is left out by name.
 */
#include "connector/openapi.h"

#include "base/fd.h"
#include "base/limits.h"
#include "connector/yaml.h"

#include <limits.h>
#include <stdio.h>

#define FILES_KEY "x-codemode-files"
#define FILES_MAX 256

struct file {
    char *path; /* real path */
    char *key;  /* relative to the folder */
    yyjson_mut_val *root;
};

struct bundle {
    char *folder; /* real path, with a slash at its end */
    yyjson_mut_doc *doc;
    struct file *files; /* [0] is the description itself */
    size_t n;
    size_t bytes; /* read so far */
};

static cm_status parse_text(const char *path, struct cm_str text, yyjson_doc **out, struct cm_err *err)
{
    const char *dot = strrchr(path, '.');
    bool yaml_name = dot && (cm_z_eq(dot, ".yaml") || cm_z_eq(dot, ".yml"));
    size_t at = 0;

    if (text.len >= 3 && memcmp(text.ptr, "\xef\xbb\xbf", 3) == 0)
        text = cm_str_mk(text.ptr + 3, text.len - 3);
    while (at < text.len && strchr(" \t\r\n", text.ptr[at]))
        at++;
    if (at < text.len && text.ptr[at] == '{') {
        cm_status st = cm_json_parse(text, CM_JSON_STRICT, out, err);
        if (st == CM_OK || !yaml_name)
            return st;
    }
    return cm_yaml_parse(text, out, err);
}

static cm_status read_one(const char *path, size_t max, size_t *bytes, yyjson_doc **out, struct cm_err *err)
{
    cm_autofree char *text = NULL;
    size_t len = 0;
    cm_status st = cm_read_file(path, max, &text, &len, err);

    if (st != CM_OK)
        return st;
    *bytes = len;
    st = parse_text(path, cm_str_mk(text, len), out, err);
    return st == CM_OK ? CM_OK : cm_err_prefix(err, "'%s'", path);
}

/* ---- other files ---- */

static bool is_other_file(struct cm_str ref)
{
    return ref.len > 0 && ref.ptr[0] != '#' && ref.ptr[0] != '/' && !memmem(ref.ptr, ref.len, "://", 3);
}

static bool any_other_file(yyjson_doc *doc)
{
    yyjson_val *v = yyjson_doc_get_root(doc);
    yyjson_val *end = v + yyjson_doc_get_val_count(doc);

    /* yyjson stores a key directly before its value; a value that happens to be "$ref" only costs a second
     * look. */
    for (; v + 1 < end; v++)
        if (yyjson_equals_strn(v, "$ref", 4) && is_other_file(cm_json_str(v + 1)))
            return true;
    return false;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* The real path of what a reference names, seen from the file that holds it; NULL when it is not in the
 * folder. */
static char *locate(const struct bundle *b, const struct file *from, struct cm_str name)
{
    cm_autobuf path = CM_BUF_INIT(PATH_MAX);
    const char *slash = strrchr(from->path, '/');

    cm_buf_add(&path, from->path, (size_t)(slash - from->path) + 1);
    for (size_t i = 0; i < name.len; i++) {
        int hi = name.ptr[i] == '%' && i + 2 < name.len ? hex_digit(name.ptr[i + 1]) : -1;
        int lo = hi >= 0 ? hex_digit(name.ptr[i + 2]) : -1;
        char c = lo >= 0 ? (char)(hi * 16 + lo) : name.ptr[i];
        if (c == '\0')
            return NULL;
        cm_buf_add_char(&path, c);
        i += lo >= 0 ? 2 : 0;
    }
    if (path.failed)
        return NULL;
    char *real = realpath(path.ptr, NULL);
    if (real && strncmp(real, b->folder, strlen(b->folder)) != 0) {
        free(real);
        return NULL;
    }
    return real;
}

/* The file of a real path, read if it is new; NULL when it cannot be used. */
static const struct file *get_file(struct bundle *b, const char *real)
{
    cm_auto(yyjson_doc) doc = NULL;
    size_t len = 0;

    for (size_t i = 0; i < b->n; i++)
        if (cm_z_eq(b->files[i].path, real))
            return b->files[i].root ? &b->files[i] : NULL;
    if (b->n == FILES_MAX || b->bytes >= CM_SPEC_MAX_BYTES)
        return NULL;
    struct file f = {.path = cm_strdup(real), .key = cm_strdup(real + strlen(b->folder))};
    if (read_one(real, CM_SPEC_MAX_BYTES - b->bytes, &len, &doc, NULL) == CM_OK) {
        f.root = yyjson_val_mut_copy(b->doc, yyjson_doc_get_root(doc));
        b->bytes += len;
    }
    b->files = cm_realloc(b->files, (b->n + 1) * sizeof *b->files);
    b->files[b->n] = f;
    return f.root ? &b->files[b->n++] : (b->n++, NULL);
}

/* "#/x-codemode-files/<key>" and what stands behind the reference's own '#'. */
static void write_local(struct cm_buf *out, const char *key, struct cm_str fragment)
{
    cm_buf_add_z(out, "#");
    if (key) {
        cm_buf_add_z(out, "/" FILES_KEY "/");
        for (; *key; key++) {
            if (*key == '~' || *key == '/')
                cm_buf_add_z(out, *key == '~' ? "~0" : "~1");
            else if (*key == '%')
                cm_buf_add_z(out, "%25");
            else
                cm_buf_add_char(out, *key);
        }
    }
    cm_buf_add_str(out, fragment);
}

static void rewrite_ref(struct bundle *b, size_t from, yyjson_mut_val *v)
{
    struct cm_str ref = {yyjson_mut_get_str(v), yyjson_mut_get_len(v)};
    const char *hash = memchr(ref.ptr, '#', ref.len);
    struct cm_str name = {ref.ptr, hash ? (size_t)(hash - ref.ptr) : ref.len};
    struct cm_str fragment = {hash ? hash + 1 : "", hash ? ref.len - name.len - 1 : 0};
    cm_autobuf local = CM_BUF_INIT(1 << 16);

    if (is_other_file(ref)) {
        cm_autofree char *real = locate(b, &b->files[from], name);
        const struct file *target = real ? get_file(b, real) : NULL;
        if (!target)
            return;
        write_local(&local, target == b->files ? NULL : target->key, fragment);
    } else if (name.len == 0 && from > 0) {
        write_local(&local, b->files[from].key, fragment);
    } else {
        return;
    }
    const char *text = yyjson_mut_get_str(yyjson_mut_strncpy(b->doc, local.ptr, local.len));
    if (text && !local.failed)
        yyjson_mut_set_strn(v, text, local.len);
}

/* Depth is bounded by CM_VALUE_MAX_DEPTH, since the files were parsed. */
static void rewrite(struct bundle *b, size_t from, yyjson_mut_val *v)
{
    size_t i, max;
    yyjson_mut_val *key, *val;

    if (yyjson_mut_is_obj(v)) {
        yyjson_mut_obj_foreach(v, i, max, key, val)
        {
            if (yyjson_mut_equals_str(key, "$ref") && yyjson_mut_is_str(val))
                rewrite_ref(b, from, val);
            else
                rewrite(b, from, val);
        }
    } else if (yyjson_mut_is_arr(v)) {
        yyjson_mut_arr_foreach(v, i, max, val)
        {
            rewrite(b, from, val);
        }
    }
}

static yyjson_doc *join(struct bundle *b)
{
    yyjson_mut_val *root = b->files[0].root;
    yyjson_mut_val *files = yyjson_mut_obj(b->doc);

    /* Rewriting a file may find more of them. */
    for (size_t i = 0; i < b->n; i++)
        if (b->files[i].root)
            rewrite(b, i, b->files[i].root);
    for (size_t i = 1; i < b->n; i++)
        if (b->files[i].root)
            (void)yyjson_mut_obj_add(files, yyjson_mut_strcpy(b->doc, b->files[i].key), b->files[i].root);
    (void)yyjson_mut_obj_add_val(b->doc, root, FILES_KEY, files);
    yyjson_mut_doc_set_root(b->doc, root);
    return yyjson_mut_doc_imut_copy(b->doc, NULL);
}

static cm_status inline_files(const char *path, size_t bytes, yyjson_doc **doc, struct cm_err *err)
{
    struct bundle b = {.bytes = bytes, .n = 1, .files = cm_calloc(1, sizeof *b.files)};
    yyjson_doc *joined = NULL;
    char *real = realpath(path, NULL);

    b.files[0].path = real ? real : cm_strdup(path);
    const char *slash = strrchr(b.files[0].path, '/');
    b.folder = slash ? cm_memdup_z(b.files[0].path, (size_t)(slash - b.files[0].path) + 1) : NULL;
    b.doc = yyjson_mut_doc_new(NULL);
    b.files[0].root = b.doc ? yyjson_val_mut_copy(b.doc, yyjson_doc_get_root(*doc)) : NULL;
    if (b.folder && yyjson_mut_is_obj(b.files[0].root))
        joined = join(&b);
    for (size_t i = 0; i < b.n; i++) {
        free(b.files[i].path);
        free(b.files[i].key);
    }
    free(b.files);
    free(b.folder);
    yyjson_mut_doc_free(b.doc);
    if (!joined)
        return cm_err_set(err, CM_E_NOMEM, "out of memory while reading the files '%s' refers to", path);
    yyjson_doc_free(*doc);
    *doc = joined;
    return CM_OK;
}

cm_status cm_oa_load(const char *path, yyjson_doc **out, struct cm_err *err)
{
    cm_auto(yyjson_doc) doc = NULL;
    size_t bytes = 0;
    cm_status st = read_one(path, CM_SPEC_MAX_BYTES, &bytes, &doc, err);

    if (st == CM_OK && yyjson_is_obj(yyjson_doc_get_root(doc)) && any_other_file(doc))
        st = inline_files(path, bytes, &doc, err);
    if (st != CM_OK)
        return st;
    *out = cm_steal(&doc);
    return CM_OK;
}
