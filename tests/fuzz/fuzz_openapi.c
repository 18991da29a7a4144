/* An OpenAPI description, JSON or YAML, as anyone could write it. Whatever it holds, no two operations have one
 * name, every name is an identifier, schemas are made for all of them, and no arguments give a request whose
 * path leaves the operation's or whose header has more than one line. */
#include "base/names.h"
#include "connector/openapi.h"
#include "connector/yaml.h"
#include "fuzz.h"

#define OPS_TRIED 50

static void check_request(const struct cm_oa_request *rq)
{
    size_t len = strcspn(rq->url, "?");

    for (size_t i = 0; i < rq->n_headers; i++)
        CM_MUST(strcspn(rq->headers[i], "\r\n") == strlen(rq->headers[i]));
    CM_MUST(strncmp(rq->url, "http://h/", 9) == 0);
    CM_MUST(strcspn(rq->url, "\r\n #") == strlen(rq->url));
    CM_MUST(!memmem(rq->url + 8, len - 8, "/../", 4) && !memmem(rq->url + 8, len - 8, "/./", 3));
    CM_MUST(len < 3 || memcmp(rq->url + len - 3, "/..", 3) != 0);
}

/* All arguments with one value each time: text, paths that want out, lines that want to end, containers. */
static void try_arguments(struct cm_oa *oa, size_t i, const struct cm_oa_options *options)
{
    static const char *const values[] = {"\"x\"", "\"..\"",        "\"a/../b\"",     "\"a\\r\\nb\"", "1",
                                         "true",  "[\"a\",\".\"]", "{\"..\":\"b\"}", "null",         "\"\"",
                                         "[]"};
    const struct cm_oa_op *op = &oa->ops[i];

    for (size_t k = 0; k < CM_ARRAY_LEN(values); k++) {
        cm_autobuf args = CM_BUF_INIT(1 << 20);
        struct cm_oa_request rq = {0};
        cm_buf_add_z(&args, "{");
        for (size_t p = 0; p < op->n_params; p++) {
            cm_json_write_string(&args, cm_str_of(op->params[p].arg));
            cm_buf_addf(&args, ":%s,", values[k]);
        }
        cm_buf_addf(&args, "%s}", op->body == CM_OA_BODY_NONE ? "\"\":null" : "\"body\":{\"a\":[1,null]}");
        if (op->body == CM_OA_BODY_NONE) {
            args.len -= strlen("\"\":null}") + (op->n_params ? 1 : 0);
            cm_buf_add_char(&args, '}');
        }
        if (cm_oa_request(oa, i, options, (struct cm_value){cm_buf_str(&args), {NULL, 0}}, &rq, NULL) !=
            CM_OK)
            continue;
        check_request(&rq);
        cm_oa_request_done(&rq);
    }
}

static void check_table(yyjson_doc *take_doc)
{
    static const struct cm_pair auth[] = {{"a", "secret:secret"}, {"b", "token"}};
    const struct cm_oa_options options = {.base_url = "http://h/", .auth = auth, .n_auth = 2};
    cm_auto_oa oa = NULL;

    if (cm_oa_new(take_doc, &options, &oa, NULL) != CM_OK)
        return;
    for (size_t i = 0; i < oa->n_ops; i++) {
        CM_MUST(cm_name_is_identifier(cm_str_of(oa->ops[i].name)));
        CM_MUST(cm_namemap_get(&oa->index, cm_str_of(oa->ops[i].name)) == (long)i);
    }
    for (size_t i = 0; i < oa->n_ops && i < OPS_TRIED; i++) {
        struct cm_schema_ref input, output;
        cm_oa_schemas(oa, i, &input, &output);
        CM_MUST(yyjson_is_obj(input.node));
        try_arguments(oa, i, &options);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cm_str text = {(const char *)data, size};
    yyjson_doc *doc = NULL;

    if (size > 1u << 20)
        return 0;
    if (cm_json_parse(text, CM_JSON_STRICT, &doc, NULL) == CM_OK)
        check_table(doc);
    doc = NULL;
    if (cm_yaml_parse(text, &doc, NULL) == CM_OK)
        check_table(doc);
    return 0;
}
