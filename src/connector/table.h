/** The method table of the kinds whose tools are described one by one: tool sets and callbacks. Owns all of
 * its text. */
#ifndef CM_CONNECTOR_TABLE_H
#define CM_CONNECTOR_TABLE_H

#include "connector/connector.h"
#include "connector/namemap.h"

/** Zero-initialise. */
struct cm_method_table {
    struct cm_method *methods;
    struct cm_method_docs {
        yyjson_doc *input;
        yyjson_doc *output; /* NULL: none known */
    } * docs;
    size_t n;
    size_t cap;
    struct cm_namemap index;
};

/** One tool as configured; text borrowed, NULL where it may be absent. */
struct cm_method_spec {
    const char *name;
    const char *description;   /* may be NULL */
    const char *input_schema;  /* JSON text; NULL: any object */
    const char *output_schema; /* JSON text or NULL */
    unsigned flags;
    uint32_t timeout_ms;
};

void cm_method_table_done(struct cm_method_table *t);
/**
 * Add a method under the identifier of its name.
 *
 * Errors: CM_E_CONFLICT  the identifier is taken; names both tools
 *         CM_E_INVALID   a schema is no JSON object, no name, or flags that cannot go together
 *         CM_E_LIMIT     more than CM_METHODS_MAX
 */
cm_status cm_method_table_add(struct cm_method_table *t, const struct cm_method_spec *spec,
                              struct cm_err *err);
void cm_method_table_schemas(const struct cm_method_table *t, size_t i, struct cm_schema_ref *input,
                             struct cm_schema_ref *output);

#endif
