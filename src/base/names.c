#include "base/names.h"

#include "base/buf.h"
#include "base/mem.h"

#define NAME_CUT 64

/* ECMA-262, 12.7.2 ReservedWord, the strict and future words, and the ES3 words that older models avoid
 * (R4.2). */
static const char *const reserved[] = {
    "abstract", "arguments",  "await",        "boolean",   "break",    "byte",     "case",       "catch",
    "char",     "class",      "const",        "continue",  "debugger", "default",  "delete",     "do",
    "double",   "else",       "enum",         "eval",      "export",   "extends",  "false",      "final",
    "finally",  "float",      "for",          "function",  "goto",     "if",       "implements", "import",
    "in",       "instanceof", "int",          "interface", "let",      "long",     "native",     "new",
    "null",     "package",    "private",      "protected", "public",   "return",   "short",      "static",
    "super",    "switch",     "synchronized", "this",      "throw",    "throws",   "transient",  "true",
    "try",      "typeof",     "undefined",    "var",       "void",     "volatile", "while",      "with",
    "yield",
};

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool cm_name_is_reserved(struct cm_str name)
{
    for (size_t i = 0; i < CM_ARRAY_LEN(reserved); i++)
        if (cm_str_eq_z(name, reserved[i]))
            return true;
    return false;
}

bool cm_name_is_identifier(struct cm_str name)
{
    if (name.len == 0 || is_digit(name.ptr[0]) || cm_name_is_reserved(name))
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (!is_word_char(name.ptr[i]))
            return false;
    return true;
}

/* White space of ECMAScript outside of ASCII, as UTF-8. */
static const char *const wide_spaces[] = {
    "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006", "\u2007",
    "\u2008", "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000", "\ufeff",
};

/** Bytes of what separates words at the front of `name`, 0 when nothing does. */
static size_t separator_bytes(struct cm_str name)
{
    if (name.ptr[0] != '\0' && strchr("-./: \t\r\n\v\f", name.ptr[0]))
        return 1;
    for (size_t i = 0; i < CM_ARRAY_LEN(wide_spaces); i++) {
        size_t n = strlen(wide_spaces[i]);
        if (name.len >= n && memcmp(name.ptr, wide_spaces[i], n) == 0)
            return n;
    }
    return 0;
}

char *cm_name_to_identifier(struct cm_str name)
{
    struct cm_buf b = CM_BUF_INIT(name.len + 3);

    for (size_t i = 0; i < name.len; i++) {
        size_t separator = separator_bytes(cm_str_mk(name.ptr + i, name.len - i));
        char c = separator ? '_' : name.ptr[i];
        i += separator ? separator - 1 : 0;
        if (!is_word_char(c))
            continue;
        if (b.len == 0 && is_digit(c))
            cm_buf_add_char(&b, '_');
        cm_buf_add_char(&b, c);
    }
    if (b.len == 0)
        cm_buf_add_char(&b, '_');
    if (cm_name_is_reserved(cm_buf_str(&b)))
        cm_buf_add_char(&b, '_');
    return cm_buf_take(&b, NULL);
}

/* What the language itself asks an object for: `await github` for `then`, JSON.stringify for `toJSON`, and what
 * every object has from its prototype. */
static const char *const asked_for[] = {
    "then",
    "toJSON",
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
    "__proto__",
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
};

char *cm_name_to_method(struct cm_str name)
{
    cm_autofree char *identifier = cm_name_to_identifier(name);

    for (size_t i = 0; i < CM_ARRAY_LEN(asked_for); i++)
        if (strcmp(identifier, asked_for[i]) == 0)
            return cm_asprintf("%s_", identifier);
    return cm_steal(&identifier);
}

static char fold(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
    unsigned m = a < b ? a : b;
    return m < c ? m : c;
}

unsigned cm_name_distance(struct cm_str a, struct cm_str b)
{
    unsigned rows[3][NAME_CUT + 1];
    size_t na = a.len < NAME_CUT ? a.len : NAME_CUT;
    size_t nb = b.len < NAME_CUT ? b.len : NAME_CUT;
    unsigned *prev2 = rows[0], *prev = rows[1], *cur = rows[2];

    for (size_t j = 0; j <= nb; j++)
        prev[j] = (unsigned)j;
    for (size_t i = 1; i <= na; i++) {
        cur[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            unsigned cost = fold(a.ptr[i - 1]) == fold(b.ptr[j - 1]) ? 0 : 1;
            cur[j] = min3(prev[j] + 1, cur[j - 1] + 1, prev[j - 1] + cost);
            if (i > 1 && j > 1 && fold(a.ptr[i - 1]) == fold(b.ptr[j - 2]) &&
                fold(a.ptr[i - 2]) == fold(b.ptr[j - 1]) && prev2[j - 2] + 1 < cur[j])
                cur[j] = prev2[j - 2] + 1;
        }
        unsigned *spare = prev2;
        prev2 = prev;
        prev = cur;
        cur = spare;
    }
    return prev[nb];
}
