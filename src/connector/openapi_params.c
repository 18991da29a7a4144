/* What an operation takes: its parameters with their styles and names, and its body. */
#include "connector/openapi.h"

#include "base/limits.h"
#include "schema/schema.h"

#define REF_CHAIN_MAX 32
#define PARAMS_MAX    1000

static const char *const place_names[] = {
    [CM_OA_PATH] = "path", [CM_OA_QUERY] = "query", [CM_OA_HEADER] = "header", [CM_OA_COOKIE] = "cookie"};

static const struct {
    const char *name;
    enum cm_oa_style style;
    unsigned places; /* bits of enum cm_oa_place */
} styles[] = {
    {"form", CM_OA_FORM, 1u << CM_OA_QUERY | 1u << CM_OA_COOKIE},
    {"simple", CM_OA_SIMPLE, 1u << CM_OA_PATH | 1u << CM_OA_HEADER},
    {"label", CM_OA_LABEL, 1u << CM_OA_PATH},
    {"matrix", CM_OA_MATRIX, 1u << CM_OA_PATH},
    {"spaceDelimited", CM_OA_SPACE, 1u << CM_OA_QUERY},
    {"pipeDelimited", CM_OA_PIPE, 1u << CM_OA_QUERY},
    {"deepObject", CM_OA_DEEP, 1u << CM_OA_QUERY},
};

const char *cm_oa_place_name(enum cm_oa_place place)
{
    return place_names[place];
}

yyjson_val *cm_oa_or_nothing(yyjson_val *v)
{
    static yyjson_val nothing; /* of type none: an empty array and an empty object to every loop */

    return v ? v : &nothing;
}

yyjson_val *cm_oa_deref(yyjson_val *root, yyjson_val *node)
{
    for (int i = 0; i < REF_CHAIN_MAX; i++) {
        struct cm_str ref = cm_json_str(cm_json_get(node, "$ref"));
        if (!yyjson_is_obj(node))
            return NULL;
        if (!ref.ptr)
            return node;
        node = cm_schema_resolve(root, ref);
    }
    return NULL;
}

static size_t type_len(const char *type)
{
    size_t len = strcspn(type, ";");

    while (len && (type[len - 1] == ' ' || type[len - 1] == '\t'))
        len--;
    return len;
}

bool cm_oa_same_type(const char *a, const char *b)
{
    size_t len = type_len(a);

    return len == type_len(b) && strncasecmp(a, b, len) == 0;
}

bool cm_oa_is_json(const char *type)
{
    size_t len = type_len(type);

    return cm_oa_same_type(type, "application/json") || cm_oa_same_type(type, "text/json") ||
           (len > 5 && strncasecmp(type + len - 5, "+json", 5) == 0);
}

/* ---- parameters ---- */

static const char *ref_of(yyjson_val *node)
{
    const char *ref = cm_json_get_z(node, "$ref");

    return ref ? ref : "?";
}

static cm_status read_style(yyjson_val *node, struct cm_oa_param *p, struct cm_err *err)
{
    const char *name = cm_json_get_z(node, "style");
    yyjson_val *explode = cm_json_get(node, "explode");

    p->style = p->place == CM_OA_QUERY || p->place == CM_OA_COOKIE ? CM_OA_FORM : CM_OA_SIMPLE;
    for (size_t i = 0; name; i++) {
        if (i == CM_ARRAY_LEN(styles) ||
            (cm_z_eq(name, styles[i].name) && !(styles[i].places >> p->place & 1)))
            return cm_err_set(err, CM_E_INVALID,
                              "parameter '%s' has the style '%.40s', which does not exist for %s", p->name,
                              name, place_names[p->place]);
        if (cm_z_eq(name, styles[i].name)) {
            p->style = styles[i].style;
            break;
        }
    }
    p->explode =
        yyjson_is_bool(explode) ? yyjson_get_bool(explode) : p->style == CM_OA_FORM || p->style == CM_OA_DEEP;
    p->allow_reserved = p->place == CM_OA_QUERY && yyjson_is_true(cm_json_get(node, "allowReserved"));
    return CM_OK;
}

static void read_content(yyjson_val *node, struct cm_oa_param *p)
{
    size_t i, max;
    yyjson_val *type, *media;

    p->schema = cm_json_get(node, "schema");
    if (p->schema)
        return;
    yyjson_obj_foreach(cm_oa_or_nothing(cm_json_get(node, "content")), i, max, type, media)
    {
        p->as_json = cm_oa_is_json(yyjson_get_str(type));
        p->schema = cm_json_get(media, "schema");
        return;
    }
}

static cm_status read_param(yyjson_val *root, yyjson_val *raw, struct cm_oa_param *p, struct cm_err *err)
{
    yyjson_val *node = cm_oa_deref(root, raw);
    const char *name = cm_json_get_z(node, "name");
    const char *in = cm_json_get_z(node, "in");
    size_t place = 0;

    if (!node)
        return cm_err_set(err, CM_E_INVALID, "a parameter refers to '%.200s', which leads nowhere",
                          ref_of(raw));
    if (!name || !*name || strlen(name) > CM_NAME_MAX_BYTES || strcspn(name, "\r\n") < strlen(name))
        return cm_err_set(err, CM_E_INVALID, "a parameter has no name that can be used");
    while (place < CM_ARRAY_LEN(place_names) && !(in && cm_z_eq(in, place_names[place])))
        place++;
    if (place == CM_ARRAY_LEN(place_names))
        return cm_err_set(err, CM_E_INVALID,
                          "parameter '%s' is in '%.40s'; path, query, header or cookie is expected", name,
                          in ? in : "");
    p->name = name;
    p->place = (enum cm_oa_place)place;
    p->node = node;
    p->required = p->place == CM_OA_PATH || yyjson_is_true(cm_json_get(node, "required"));
    read_content(node, p);
    return read_style(node, p, err);
}

static struct cm_oa_param *same_param(struct cm_oa_op *op, const struct cm_oa_param *p)
{
    for (size_t i = 0; i < op->n_params; i++)
        if (op->params[i].place == p->place &&
            (p->place == CM_OA_HEADER ? strcasecmp(op->params[i].name, p->name) == 0
                                      : cm_z_eq(op->params[i].name, p->name)))
            return &op->params[i];
    return NULL;
}

static void add_param(struct cm_oa_op *op, struct cm_oa_param p)
{
    struct cm_oa_param *other = same_param(op, &p);

    if (other) {
        *other = p; /* the operation's own stands instead of the path's */
        return;
    }
    op->params = cm_realloc(op->params, (op->n_params + 1) * sizeof *op->params);
    op->params[op->n_params++] = p;
}

/* Whether "{name}" stands in the path. */
static bool in_template(const char *path, const char *name)
{
    size_t len = strlen(name);

    for (const char *p = path; (p = strchr(p, '{')); p++)
        if (strncmp(p + 1, name, len) == 0 && p[1 + len] == '}')
            return true;
    return false;
}

static cm_status read_params(struct cm_oa *oa, struct cm_oa_op *op, const struct cm_oa_options *options,
                             yyjson_val *list, struct cm_err *err)
{
    size_t i, max;
    yyjson_val *raw;

    if (yyjson_arr_size(list) > PARAMS_MAX)
        return cm_err_set(err, CM_E_LIMIT, "it has more than %d parameters", PARAMS_MAX);
    yyjson_arr_foreach(cm_oa_or_nothing(list), i, max, raw)
    {
        struct cm_oa_param p = {0};
        cm_status st = read_param(oa->root, raw, &p, err);
        if (st != CM_OK)
            return st;
        if (cm_oa_is_ours(oa->root, options, p.place, p.name) ||
            (p.place == CM_OA_PATH && !in_template(op->path, p.name)))
            continue;
        add_param(op, p);
    }
    return CM_OK;
}

/* A name in the path that no parameter describes is a string. */
static cm_status complete_path(struct cm_oa_op *op, struct cm_err *err)
{
    for (const char *p = op->path; (p = strchr(p, '{'));) {
        size_t len = strcspn(p + 1, "}");
        if (!p[1 + len] || !len)
            return cm_err_set(err, CM_E_INVALID, "the braces of its path do not match");
        if (op->n_params > PARAMS_MAX)
            return cm_err_set(err, CM_E_LIMIT, "it has more than %d parameters", PARAMS_MAX);
        bool known = false;
        for (size_t i = 0; i < op->n_params; i++)
            known = known || (op->params[i].place == CM_OA_PATH &&
                              strncmp(op->params[i].name, p + 1, len) == 0 && !op->params[i].name[len]);
        if (!known) {
            struct cm_oa_param made = {.place = CM_OA_PATH, .style = CM_OA_SIMPLE, .required = true};
            made.own_name = cm_memdup_z(p + 1, len);
            made.name = made.own_name;
            add_param(op, made);
        }
        p += len + 2;
    }
    return CM_OK;
}

static bool arg_taken(const struct cm_oa_op *op, const char *arg)
{
    if (op->body != CM_OA_BODY_NONE && cm_z_eq(arg, "body"))
        return true;
    for (size_t i = 0; i < op->n_params; i++)
        if (op->params[i].arg && cm_z_eq(op->params[i].arg, arg))
            return true;
    return false;
}

static void name_args(struct cm_oa_op *op)
{
    for (size_t place = 0; place < CM_ARRAY_LEN(place_names); place++)
        for (size_t i = 0; i < op->n_params; i++) {
            struct cm_oa_param *p = &op->params[i];
            if (p->place != (enum cm_oa_place)place)
                continue;
            char *arg = cm_strdup(p->name);
            bool is_body = cm_z_eq(arg, "body");
            while (arg_taken(op, arg)) {
                char *longer =
                    is_body ? cm_asprintf("%s_", arg) : cm_asprintf("%s_%s", arg, place_names[place]);
                free(arg);
                arg = longer;
            }
            p->arg = arg;
        }
}

/* ---- body ---- */

/* Lower is better. */
static int rank_media(const char *type, enum cm_oa_body *body)
{
    *body = CM_OA_BODY_JSON;
    if (cm_oa_same_type(type, "application/json"))
        return 0;
    if (cm_oa_is_json(type))
        return 1;
    if (cm_oa_same_type(type, "*/*") || cm_oa_same_type(type, "application/*"))
        return 2;
    *body = CM_OA_BODY_FORM;
    if (cm_oa_same_type(type, "application/x-www-form-urlencoded"))
        return 3;
    *body = CM_OA_BODY_RAW;
    if (strncasecmp(type, "multipart/", 10) == 0 || strcspn(type, "\r\n") < strlen(type))
        return -1;
    return strncasecmp(type, "text/", 5) == 0 ? 4 : 5;
}

static cm_status read_body(struct cm_oa *oa, struct cm_oa_op *op, struct cm_err *err)
{
    yyjson_val *raw = cm_json_get(op->node, "requestBody");
    yyjson_val *node = raw ? cm_oa_deref(oa->root, raw) : NULL;
    yyjson_val *content = cm_oa_or_nothing(cm_json_get(node, "content"));
    yyjson_val *type, *media;
    size_t i, max;
    int best = -1;

    if (!raw)
        return CM_OK;
    if (!node)
        return cm_err_set(err, CM_E_INVALID, "its body refers to '%.200s', which leads nowhere", ref_of(raw));
    yyjson_obj_foreach(content, i, max, type, media)
    {
        enum cm_oa_body kind = CM_OA_BODY_NONE;
        int rank = rank_media(yyjson_get_str(type), &kind);
        if (rank < 0 || (best >= 0 && rank >= best))
            continue;
        best = rank;
        op->body = kind;
        op->body_type = rank == 2 ? "application/json" : yyjson_get_str(type);
        op->body_schema = cm_json_get(media, "schema");
    }
    op->body_node = node;
    op->body_required = yyjson_is_true(cm_json_get(node, "required"));
    if (best < 0 && yyjson_obj_size(content) > 0) {
        yyjson_val *first = unsafe_yyjson_get_first(content);
        return cm_err_set(
            err, CM_E_INVALID,
            "its body is '%.80s'; JSON, application/x-www-form-urlencoded, text and bytes can be sent",
            yyjson_get_str(first));
    }
    return CM_OK;
}

cm_status cm_oa__read_input(struct cm_oa *oa, struct cm_oa_op *op, yyjson_val *item,
                            const struct cm_oa_options *options, struct cm_err *err)
{
    cm_status st = read_params(oa, op, options, cm_json_get(item, "parameters"), err);

    if (st == CM_OK)
        st = read_params(oa, op, options, cm_json_get(op->node, "parameters"), err);
    if (st == CM_OK)
        st = complete_path(op, err);
    if (st == CM_OK)
        st = read_body(oa, op, err);
    if (st == CM_OK)
        name_args(op);
    return st;
}
