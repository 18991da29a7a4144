/* Local references: RFC 6901 pointers in URI fragments, and questions about schemas that have to follow them.
 */
#include "schema/internal.h"

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* One token: percent-decoded, then ~1 and ~0. */
static void unescape(struct cm_str token, struct cm_buf *plain)
{
    cm_autobuf decoded = CM_BUF_INIT(token.len);

    for (size_t i = 0; i < token.len; i++) {
        int hi = token.ptr[i] == '%' && i + 2 < token.len ? hex_digit(token.ptr[i + 1]) : -1;
        int lo = hi >= 0 ? hex_digit(token.ptr[i + 2]) : -1;
        cm_buf_add_char(&decoded, lo >= 0 ? (char)(hi * 16 + lo) : token.ptr[i]);
        i += lo >= 0 ? 2 : 0;
    }
    struct cm_str s = cm_buf_str(&decoded);
    for (size_t i = 0; i < s.len; i++) {
        bool escaped = s.ptr[i] == '~' && i + 1 < s.len && (s.ptr[i + 1] == '0' || s.ptr[i + 1] == '1');
        cm_buf_add_char(plain, !escaped ? s.ptr[i] : s.ptr[i + 1] == '1' ? '/' : '~');
        i += escaped;
    }
}

static yyjson_val *step(yyjson_val *at, struct cm_str token)
{
    size_t index = 0;

    if (yyjson_is_obj(at))
        return yyjson_obj_getn(at, token.ptr, token.len);
    if (!yyjson_is_arr(at) || token.len == 0 || token.len > 9)
        return NULL;
    for (size_t i = 0; i < token.len; i++) {
        if (token.ptr[i] < '0' || token.ptr[i] > '9')
            return NULL;
        index = index * 10 + (size_t)(token.ptr[i] - '0');
    }
    return yyjson_arr_get(at, index);
}

static yyjson_val *walk(yyjson_val *root, struct cm_str pointer)
{
    yyjson_val *at = root;

    for (size_t i = 0; at && i < pointer.len;) {
        size_t from = i + 1, to = from;
        while (to < pointer.len && pointer.ptr[to] != '/')
            to++;
        cm_autobuf plain = CM_BUF_INIT(pointer.len);
        unescape(cm_str_mk(pointer.ptr + from, to - from), &plain);
        at = step(at, cm_buf_str(&plain));
        i = to;
    }
    return at;
}

yyjson_val *cm_schema_resolve(yyjson_val *root, struct cm_str ref)
{
    struct cm_str id = cm_json_str(cm_json_get(root, "$id"));

    /* A document may call itself by its own address. */
    if (id.len > 0 && cm_str_has_prefix(ref, id) && (ref.len == id.len || ref.ptr[id.len] == '#')) {
        if (ref.len == id.len)
            return root;
        ref = cm_str_mk(ref.ptr + id.len, ref.len - id.len);
    }
    if (ref.len == 0 || ref.ptr[0] != '#' || (ref.len > 1 && ref.ptr[1] != '/'))
        return NULL;
    return walk(root, cm_str_mk(ref.ptr + 1, ref.len - 1));
}

struct cm_str cm_schema__ref(yyjson_val *node)
{
    static const char *const keywords[] = {"$ref", "$dynamicRef", "$recursiveRef"};

    for (size_t i = 0; i < CM_ARRAY_LEN(keywords); i++) {
        struct cm_str ref = cm_json_str(cm_json_get(node, keywords[i]));
        if (ref.len > 0)
            return ref;
    }
    return (struct cm_str){NULL, 0};
}

/* The word that names the target: its last token that is no index and no keyword that holds schemas. */
static struct cm_str name_of(struct cm_str ref)
{
    size_t end = ref.len;

    while (end > 0) {
        size_t from = end;
        while (from > 0 && ref.ptr[from - 1] != '/' && ref.ptr[from - 1] != '#')
            from--;
        struct cm_str token = cm_str_mk(ref.ptr + from, end - from);
        bool index = strspn(token.ptr, "0123456789") >= token.len;
        if (token.len > 0 && !index && !cm_str_eq_z(token, "schema") && !cm_str_eq_z(token, "items"))
            return token;
        end = from > 0 ? from - 1 : 0;
    }
    return CM_STR("Root");
}

yyjson_val *cm_schema__target(yyjson_val *root, struct cm_str ref, struct cm_str *last_token)
{
    yyjson_val *target = NULL;

    for (int i = 0; i < CM_SCHEMA_REF_CHAIN_MAX; i++) {
        target = cm_schema_resolve(root, ref);
        if (!yyjson_is_obj(target) && !yyjson_is_bool(target))
            return NULL;
        if (last_token)
            *last_token = name_of(ref);
        struct cm_str next = cm_schema__ref(target);
        if (!next.ptr || yyjson_obj_size(target) > 1)
            return target;
        ref = next;
    }
    return NULL;
}

bool cm_schema__is_trivial(yyjson_val *node)
{
    static const char *const telling[] = {"$ref",
                                          "anyOf",
                                          "oneOf",
                                          "allOf",
                                          "enum",
                                          "const",
                                          "items",
                                          "properties",
                                          "prefixItems",
                                          "additionalProperties",
                                          "$dynamicRef",
                                          "$recursiveRef",
                                          "patternProperties"};

    if (!yyjson_is_obj(node))
        return true;
    for (size_t i = 0; i < CM_ARRAY_LEN(telling); i++)
        if (cm_json_get(node, telling[i]))
            return false;
    return true;
}

struct search {
    yyjson_val *root;
    const yyjson_val *goal;
    unsigned left;
};

static bool reaches(struct search *s, yyjson_val *node, unsigned depth)
{
    static const char *const combinators[] = {"allOf", "anyOf", "oneOf"};
    yyjson_val *member;
    size_t i, max;

    if (node == s->goal)
        return true;
    if (!yyjson_is_obj(node))
        return false;
    /* Out of patience: to claim a circle costs one `unknown`, to deny one could cost the whole declaration.
     */
    if (s->left == 0 || depth > CM_SCHEMA_REF_CHAIN_MAX)
        return true;
    s->left--;
    struct cm_str ref = cm_schema__ref(node);
    yyjson_val *target = ref.ptr ? cm_schema_resolve(s->root, ref) : NULL;
    if (target && reaches(s, target, depth + 1))
        return true;
    for (size_t k = 0; k < CM_ARRAY_LEN(combinators); k++) {
        yyjson_arr_foreach(cm_json_get(node, combinators[k]), i, max, member)
        {
            if (reaches(s, member, depth + 1))
                return true;
        }
    }
    return false;
}

bool cm_schema__is_circular(yyjson_val *root, yyjson_val *node, const yyjson_val *goal)
{
    struct search s = {.root = root, .goal = goal, .left = 2000};

    return reaches(&s, node, 0);
}

bool cm_schema__has_string(yyjson_val *array, struct cm_str name)
{
    yyjson_val *item;
    size_t i, max;

    yyjson_arr_foreach(array, i, max, item)
    {
        if (cm_str_eq(cm_json_str(item), name) && yyjson_is_str(item))
            return true;
        if (i == CM_SCHEMA_PROPERTIES_MAX * 4)
            break;
    }
    return false;
}

bool cm_schema__is_nullable(yyjson_val *node)
{
    return yyjson_is_true(cm_json_get(node, "nullable")) || yyjson_is_true(cm_json_get(node, "x-nullable"));
}

static bool members_need_input(yyjson_val *root, yyjson_val *members, bool all, unsigned depth)
{
    yyjson_val *member;
    size_t i, max, n = 0;

    yyjson_arr_foreach(members, i, max, member)
    {
        n += cm_schema__needs_input(root, member, depth + 1);
        if (i == 64)
            break;
    }
    return all ? n > 0 && n == yyjson_arr_size(members) : n > 0;
}

bool cm_schema__needs_input(yyjson_val *root, yyjson_val *node, unsigned depth)
{
    yyjson_val *type = cm_json_get(node, "type");
    struct cm_str ref = cm_schema__ref(node);

    if (!yyjson_is_obj(node) || depth > 8)
        return false;
    if (yyjson_arr_size(cm_json_get(node, "required")) > 0)
        return true;
    if ((yyjson_is_str(type) && !cm_str_eq_z(cm_json_str(type), "object")) ||
        (yyjson_is_arr(type) && !cm_schema__has_string(type, CM_STR("object"))))
        return true;
    if (ref.ptr && cm_schema__needs_input(root, cm_schema__target(root, ref, NULL), depth + 1))
        return true;
    return members_need_input(root, cm_json_get(node, "allOf"), false, depth) ||
           members_need_input(root, cm_json_get(node, "anyOf"), true, depth) ||
           members_need_input(root, cm_json_get(node, "oneOf"), true, depth);
}
