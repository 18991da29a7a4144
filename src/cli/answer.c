#include "cli/answer.h"

int cm_cli_answer(const struct cm_cli *cli, char *take_json, cm_cli_print_fn print)
{
    cm_auto(yyjson_doc) doc = NULL;
    struct cm_err err;

    if (cli->json)
        return cm_cli_print_text(take_json);
    cm_status st = cm_json_parse(cm_str_of(take_json), CM_JSON_BIGNUM, &doc, &err);
    cm_text_free(take_json);
    return st == CM_OK ? print(yyjson_doc_get_root(doc)) : cm_cli_fail(&err);
}
