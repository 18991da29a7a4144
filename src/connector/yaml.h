/** YAML as a JSON document: what an OpenAPI description may be written in. libfyaml stays inside yaml.c. */
#ifndef CM_CONNECTOR_YAML_H
#define CM_CONNECTOR_YAML_H

#include "json/json.h"

/**
 * Parse the first document of YAML 1.2 text (core schema: only unquoted scalars become null, booleans and
 * numbers; `<<` merges). Aliases are copied; a document that grows beyond CM_SPEC_MAX_BYTES by them is
 * refused, so that a few lines cannot fill the memory.
 *
 * Errors: CM_E_INVALID  with line and column; also an alias to an unknown anchor or to what surrounds it, a
 * key that is no scalar CM_E_LIMIT    too large or too deep Blocks: for about a second with the largest
 * documents.     Source: YAML 1.2.2, section 10.3.
 */
cm_status cm_yaml_parse(struct cm_str text, yyjson_doc **out, struct cm_err *err);

#endif
