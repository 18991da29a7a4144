/*
 * What an operation takes and gives, as schemas: made on demand, since most of thousands of operations are
 * never looked at.
 *
 * The input is a new object whose members are the parameters' schemas, copied; their references still point
 * into the description, which therefore is the root of both.
 */
#include "connector/openapi.h"

static yyjson_mut_val *param_schema(yyjson_mut_doc *doc, const struct cm_oa_param *p)
{
    yyjson_val *text = cm_json_get(p->node, "description");
    yyjson_mut_val *schema =
        yyjson_is_obj(p->schema) ? yyjson_val_mut_copy(doc, p->schema) : yyjson_mut_obj(doc);

    if (!p->node)
        (void)yyjson_mut_obj_add_str(doc, schema, "type", "string");
    if (yyjson_is_str(text) && !cm_json_get(p->schema, "description"))
        (void)yyjson_mut_obj_add_val(doc, schema, "description", yyjson_val_mut_copy(doc, text));
    return schema;
}

static yyjson_mut_val *body_schema(yyjson_mut_doc *doc, const struct cm_oa_op *op)
{
    yyjson_val *text = cm_json_get(op->body_node, "description");
    yyjson_mut_val *schema = NULL;

    if (op->body == CM_OA_BODY_RAW) {
        schema = yyjson_mut_obj(doc);
        (void)yyjson_mut_obj_add_str(doc, schema, "type", "string");
        if (strncasecmp(op->body_type, "text/", 5) != 0)
            (void)yyjson_mut_obj_add_str(doc, schema, "format", "binary");
    } else {
        schema =
            yyjson_is_obj(op->body_schema) ? yyjson_val_mut_copy(doc, op->body_schema) : yyjson_mut_obj(doc);
    }
    if (yyjson_is_str(text) && !cm_json_get(op->body_schema, "description"))
        (void)yyjson_mut_obj_add_val(doc, schema, "description", yyjson_val_mut_copy(doc, text));
    return schema;
}

static yyjson_doc *make_input(const struct cm_oa_op *op)
{
    cm_auto(yyjson_mut_doc) doc = yyjson_mut_doc_new(NULL);

    if (!doc)
        return NULL;
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_val *properties = yyjson_mut_obj(doc);
    yyjson_mut_val *required = yyjson_mut_arr(doc);
    yyjson_mut_doc_set_root(doc, root);
    for (size_t i = 0; i < op->n_params; i++) {
        const struct cm_oa_param *p = &op->params[i];
        (void)yyjson_mut_obj_add_val(doc, properties, p->arg, param_schema(doc, p));
        if (p->required)
            (void)yyjson_mut_arr_add_str(doc, required, p->arg);
    }
    if (op->body != CM_OA_BODY_NONE) {
        (void)yyjson_mut_obj_add_val(doc, properties, "body", body_schema(doc, op));
        if (op->body_required)
            (void)yyjson_mut_arr_add_str(doc, required, "body");
    }
    (void)yyjson_mut_obj_add_str(doc, root, "type", "object");
    (void)yyjson_mut_obj_add_val(doc, root, "properties", properties);
    if (yyjson_mut_arr_size(required))
        (void)yyjson_mut_obj_add_val(doc, root, "required", required);
    (void)yyjson_mut_obj_add_bool(doc, root, "additionalProperties", false);
    return yyjson_mut_doc_imut_copy(doc, NULL);
}

/* The first of 200, 201, any other 2xx, 2XX, default. */
static yyjson_val *success_response(yyjson_val *root, yyjson_val *op)
{
    static const char *const first[] = {"200", "201"};
    static const char *const last[] = {"2XX", "2xx", "default"};
    yyjson_val *responses = cm_oa_or_nothing(cm_json_get(op, "responses"));
    yyjson_val *key, *val;
    size_t i, max;

    for (i = 0; i < CM_ARRAY_LEN(first); i++)
        if (cm_json_get(responses, first[i]))
            return cm_oa_deref(root, cm_json_get(responses, first[i]));
    yyjson_obj_foreach(responses, i, max, key, val)
    {
        struct cm_str code = cm_json_str(key);
        if (code.len == 3 && code.ptr[0] == '2' && code.ptr[1] >= '0' && code.ptr[1] <= '9')
            return cm_oa_deref(root, val);
    }
    for (i = 0; i < CM_ARRAY_LEN(last); i++)
        if (cm_json_get(responses, last[i]))
            return cm_oa_deref(root, cm_json_get(responses, last[i]));
    return NULL;
}

static yyjson_val *output_schema(const struct cm_oa *oa, const struct cm_oa_op *op)
{
    yyjson_val *content = cm_oa_or_nothing(cm_json_get(success_response(oa->root, op->node), "content"));
    yyjson_val *type, *media;
    size_t i, max;

    yyjson_obj_foreach(content, i, max, type, media)
    {
        const char *name = yyjson_get_str(type);
        if (cm_oa_is_json(name) || cm_oa_same_type(name, "*/*"))
            return cm_json_get(media, "schema");
    }
    yyjson_obj_foreach(content, i, max, type, media)
    {
        if (strncasecmp(yyjson_get_str(type), "text/", 5) == 0)
            return cm_json_get(media, "schema");
    }
    return NULL;
}

void cm_oa_schemas(struct cm_oa *oa, size_t i, struct cm_schema_ref *input, struct cm_schema_ref *output)
{
    struct cm_oa_op *op = &oa->ops[i];

    if (!op->input)
        op->input = make_input(op);
    *input = (struct cm_schema_ref){oa->root, yyjson_doc_get_root(op->input)};
    *output = (struct cm_schema_ref){oa->root, output_schema(oa, op)};
}
