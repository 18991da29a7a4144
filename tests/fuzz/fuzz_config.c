/* The configuration: whatever stands in the file, it is read or refused with a sentence; every entry that is on has what its kind
 * needs, names are identifiers and unique, and matching a policy ends. */
#include "base/names.h"
#include "config/config.h"
#include "fuzz.h"

static const char *const environ_of_fuzz[] = {"HOME=/h", "PATH=/bin", "A=alpha-value",
                                              "SECRET_KEY=0123456789", NULL};

static void entry_is_whole(const struct cm_config_entry *e)
{
    CM_MUST(cm_name_is_identifier(cm_str_of(e->name)) && !cm_z_eq(e->name, "codemode"));
    CM_MUST(!cm_config_is_global(e->name));
    if (e->error) {
        CM_MUST(*e->error);
        return;
    }
    switch (e->kind) {
    case CM_ENTRY_MCP_STDIO:
        CM_MUST(e->argv && e->argv[0] && *e->argv[0] && e->env && e->cwd && e->cwd[0] == '/');
        break;
    case CM_ENTRY_MCP_HTTP:
        CM_MUST(e->url);
        break;
    case CM_ENTRY_OPENAPI:
        CM_MUST(e->spec && e->spec[0] == '/');
        break;
    case CM_ENTRY_TOOLSET:
        for (size_t i = 0; i < e->n_tools; i++)
            CM_MUST(e->tools[i].command && e->tools[i].command[0] && e->tools[i].env);
        break;
    }
    for (size_t i = 0; i < e->n_headers; i++)
        CM_MUST(*e->headers[i].name && !strpbrk(e->headers[i].value, "\r\n"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cm_autofree char *text = cm_memdup_z(data, size);
    struct cm_config_lookup lookup = {.text = text, .environ = environ_of_fuzz, .cwd = "/w"};
    struct cm_limits limits = CM_LIMITS_DEFAULT;
    cm_auto(cm_config) c = NULL;
    struct cm_err err = {0};
    const struct cm_config_entry *entries;

    (void)cm_limits_lower(&limits, cm_str_mk(data, size), &err);
    if (cm_config_load(&lookup, &c, &err) != CM_OK) {
        CM_MUST(err.status == CM_E_CONFIG && err.message[0] != '\0');
        return 0;
    }
    size_t n = cm_config_entries(c, &entries);
    for (size_t i = 0; i < n; i++) {
        entry_is_whole(&entries[i]);
        for (size_t j = 0; j < i; j++)
            CM_MUST(!cm_z_eq(entries[i].name, entries[j].name));
        (void)cm_config_policy_match(c, entries[i].name, "get_item", "get-item", NULL);
    }
    return 0;
}
