/* Names of schemas: from the last word of their references, unique, and none that TypeScript's own library
 * declares. */
#include "schema/internal.h"

#include "base/names.h"

#include <ctype.h>

#define NAME_MAX_BYTES 64

/* Words that a type may not be called, sorted: predefined types, and what the libraries of ECMAScript and of
 * browsers declare. An OpenAPI description likes to call its schemas Error, Event, File or Request. */
static const char *const taken[] = {
    "Account",      "Animation",
    "AnyArray",     "Array",
    "ArrayBuffer",  "Attr",
    "Audio",        "Awaited",
    "BigInt",       "Blob",
    "Body",         "Boolean",
    "Buffer",       "Cache",
    "Capitalize",   "Clipboard",
    "Comment",      "Console",
    "Credential",   "Crypto",
    "DataView",     "Date",
    "Document",     "Element",
    "Error",        "Event",
    "Exclude",      "Extract",
    "File",         "FileList",
    "FileReader",   "FileSystem",
    "FormData",     "Function",
    "Gamepad",      "Generator",
    "Geolocation",  "Headers",
    "History",      "Image",
    "ImageData",    "Infinity",
    "InstanceType", "Intl",
    "Iterable",     "Iterator",
    "JSON",         "KeyframeEffect",
    "Location",     "Lock",
    "Map",          "Math",
    "MediaSource",  "MessageChannel",
    "MessageEvent", "NaN",
    "Navigator",    "Node",
    "NodeList",     "NonNullable",
    "Notification", "Number",
    "Object",       "Omit",
    "Option",       "Parameters",
    "Partial",      "Performance",
    "Permissions",  "Pick",
    "Plugin",       "Position",
    "Promise",      "PromiseLike",
    "PropertyKey",  "Proxy",
    "Range",        "RangeError",
    "Readonly",     "ReadonlyArray",
    "Record",       "ReferenceError",
    "Reflect",      "RegExp",
    "Report",       "Request",
    "Required",     "Response",
    "ReturnType",   "Screen",
    "Selection",    "Set",
    "SharedWorker", "Storage",
    "String",       "Symbol",
    "SyntaxError",  "Text",
    "ThisType",     "Touch",
    "TypeError",    "URL",
    "Uint8Array",   "Uncapitalize",
    "Uppercase",    "WeakMap",
    "WeakRef",      "WeakSet",
    "WebSocket",    "Window",
    "Worker",       "any",
    "as",           "asserts",
    "async",        "bigint",
    "boolean",      "constructor",
    "declare",      "get",
    "infer",        "intrinsic",
    "is",           "keyof",
    "module",       "namespace",
    "never",        "number",
    "object",       "of",
    "out",          "readonly",
    "require",      "satisfies",
    "set",          "string",
    "symbol",       "type",
    "undefined",    "unique",
    "unknown",      "using",
};

static int compare_words(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool cm_schema__name_is_taken(const char *name)
{
    return bsearch(&name, taken, CM_ARRAY_LEN(taken), sizeof *taken, compare_words) != NULL;
}

char *cm_schema__type_name(struct cm_str word)
{
    cm_autofree char *plain = cm_memdup_z(word.ptr, word.len > 256 ? 256 : word.len);
    char out[NAME_MAX_BYTES + 2];
    size_t n = 0;
    bool upper = true;

    /* Escapes of a reference separate words like any other sign. */
    for (char *p = plain; *p; p++) {
        if (*p == '%' && isxdigit((unsigned char)p[1]) && isxdigit((unsigned char)p[2]))
            memset(p, '_', 3);
        else if (*p == '~' && p[1])
            memset(p, '_', 2);
    }
    cm_autofree char *id = cm_name_to_identifier(cm_str_of(plain));
    for (const char *p = id; *p && n < NAME_MAX_BYTES; p++) {
        if (*p == '_') {
            upper = true;
            continue;
        }
        /* A digit cannot begin a name, and one behind a dropped '_' would join another digit. */
        if (isdigit((unsigned char)*p) && upper)
            out[n++] = '_';
        out[n++] = upper ? (char)toupper((unsigned char)*p) : *p;
        upper = false;
    }
    if (n == 0)
        out[n++] = 'T';
    out[n] = '\0';
    return cm_schema__name_is_taken(out) ? cm_asprintf("%s_", out) : cm_strdup(out);
}

static size_t hash_bytes(const void *p, size_t len)
{
    const unsigned char *b = p;
    uint64_t h = 14695981039346656037ULL;

    for (size_t i = 0; i < len; i++)
        h = (h ^ b[i]) * 1099511628211ULL;
    return (size_t)(h ^ (h >> 29));
}

static size_t hash_node(const yyjson_val *node)
{
    uintptr_t address = (uintptr_t)node;

    return hash_bytes(&address, sizeof address);
}

static struct cm_schema__def *find_node(struct cm_schema__ctx *c, const yyjson_val *node)
{
    for (size_t i = hash_node(node); c->slots && c->by_node[i & (c->slots - 1)]; i++) {
        struct cm_schema__def *d = &c->v[c->by_node[i & (c->slots - 1)] - 1];
        if (d->node == node)
            return d;
    }
    return NULL;
}

static bool has_name(struct cm_schema__ctx *c, const char *name)
{
    for (size_t i = hash_bytes(name, strlen(name)); c->slots && c->by_name[i & (c->slots - 1)]; i++)
        if (strcmp(c->v[c->by_name[i & (c->slots - 1)] - 1].name, name) == 0)
            return true;
    return false;
}

static void put(size_t *table, size_t slots, size_t hash, size_t index)
{
    while (table[hash & (slots - 1)])
        hash++;
    table[hash & (slots - 1)] = index + 1;
}

static void rehash(struct cm_schema__ctx *c)
{
    c->slots = c->slots ? c->slots * 2 : 64;
    free(c->by_node);
    free(c->by_name);
    c->by_node = cm_calloc(c->slots, sizeof *c->by_node);
    c->by_name = cm_calloc(c->slots, sizeof *c->by_name);
    for (size_t i = 0; i < c->n; i++) {
        if (c->v[i].node)
            put(c->by_node, c->slots, hash_node(c->v[i].node), i);
        put(c->by_name, c->slots, hash_bytes(c->v[i].name, strlen(c->v[i].name)), i);
    }
}

static struct cm_schema__def *add(struct cm_schema__ctx *c, yyjson_val *root, yyjson_val *node,
                                  char *take_name)
{
    if (c->n == c->cap) {
        c->cap = c->cap ? c->cap * 2 : 16;
        c->v = cm_realloc(c->v, c->cap * sizeof *c->v);
    }
    c->v[c->n] = (struct cm_schema__def){.root = root, .node = node, .name = take_name};
    c->n++;
    if (c->n * 2 > c->slots) {
        rehash(c);
    } else {
        if (node)
            put(c->by_node, c->slots, hash_node(node), c->n - 1);
        put(c->by_name, c->slots, hash_bytes(take_name, strlen(take_name)), c->n - 1);
    }
    return &c->v[c->n - 1];
}

static char *make_unique(struct cm_schema__ctx *c, char *take_name)
{
    cm_autofree char *name = take_name;

    if (!has_name(c, name))
        return cm_steal(&name);
    /* Names that are all alike (nothing of "日本" is left) must not be counted through from 2 each time. */
    for (size_t i = 2;; i = i < 10 || i > c->n ? i + 1 : c->n + 1) {
        cm_autofree char *other =
            cm_asprintf("%s%s%zu", name, isdigit((unsigned char)name[strlen(name) - 1]) ? "_" : "", i);
        if (!has_name(c, other))
            return cm_steal(&other);
    }
}

const char *cm_schema__def_name(struct cm_schema__ctx *c, yyjson_val *root, yyjson_val *node,
                                struct cm_str hint)
{
    struct cm_schema__def *d = find_node(c, node);

    return d ? d->name : add(c, root, node, make_unique(c, cm_schema__type_name(hint)))->name;
}

const char *cm_schema__def_own(struct cm_schema__ctx *c, yyjson_val *root, yyjson_val *node, const char *name)
{
    cm_autofree char *id = cm_name_to_identifier(cm_str_of(name));
    char *usable = cm_schema__name_is_taken(id) ? cm_asprintf("%s_", id) : cm_steal(&id);
    struct cm_schema__def *d = add(c, root, node, make_unique(c, usable));

    d->declared = true;
    return d->name;
}

/* Names that a buffer declares already, from an earlier call. */
void cm_schema__note_declared(struct cm_schema__ctx *c, struct cm_str text)
{
    static const char start[] = "type ";
    size_t skip = sizeof start - 1;

    for (size_t i = 0; i + skip < text.len; i++) {
        bool line = i == 0 || text.ptr[i - 1] == '\n';
        if (!line || memcmp(text.ptr + i, start, skip) != 0)
            continue;
        size_t end = i + skip;
        while (end < text.len && text.ptr[end] != ' ')
            end++;
        add(c, NULL, NULL, cm_memdup_z(text.ptr + i + skip, end - i - skip))->declared = true;
    }
}

void cm_schema__ctx_init(struct cm_schema__ctx *c, struct cm_buf *defs)
{
    *c = (struct cm_schema__ctx){.defs = defs};
    if (defs)
        cm_schema__note_declared(c, cm_buf_str(defs));
}

void cm_schema__ctx_done(struct cm_schema__ctx *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->v[i].name);
    free(c->v);
    free(c->by_node);
    free(c->by_name);
    *c = (struct cm_schema__ctx){0};
}
