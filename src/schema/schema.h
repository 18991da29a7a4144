/**
 * schema: JSON Schema (2020-12, draft-07, OpenAPI 3.0 and 3.1 dialects) as TypeScript declarations.
 *
 * It does not validate values and does no I/O. Hostile input: depth, size and reference chains are bounded;
 * whatever cannot be rendered becomes `unknown`, and nothing in a description, name or enum can close a
 * comment, a string or a declaration. Rules: reference R7, without its traps (R7.5).
 */
#ifndef CM_SCHEMA_SCHEMA_H
#define CM_SCHEMA_SCHEMA_H

#include "base/base.h"
#include "json/json.h"

/** The most text one type may take; beyond it the rest is `unknown`. */
#define CM_SCHEMA_TYPE_MAX_BYTES (256u << 10)

/**
 * Append the TypeScript type expression of `node` (no name, no trailing newline); references resolve against
 * `root`. Local references ("#/$defs/X", "#/components/schemas/X") are rendered inline, and `unknown` where
 * they recurse, unless `defs` is given: then what is more than a primitive is rendered by name, and its
 * declaration goes to `defs`, one `type X = …;` each. Names that `defs` holds already are not given again.
 * The maximum of `defs` bounds the declarations: past half of it the types that are left are declared as
 * `unknown`, with a comment that says so. node NULL gives `unknown`. indent: column of the line it starts on,
 * in levels of four spaces.
 */
void cm_schema_render_type(struct cm_buf *out, yyjson_val *root, yyjson_val *node, unsigned indent,
                           struct cm_buf *defs);

/** One member of a connector's declaration. All borrowed; schema nodes may be NULL. */
struct cm_schema_method {
    const char *name; /* identifier */
    const char *description;
    bool requires_approval;
    yyjson_val *in_root, *in_node;
    yyjson_val *out_root, *out_node;
};

/**
 * Append the doc comment and signature of one method, indented by one level:
 *
 *     (a doc comment:)
 *      * Create an issue.
 *      * @param input.title - The title       one line a described property
 *     create_issue(input: { … }): Promise<{ … }>;
 *
 * The input is optional (`input?:`) when nothing in it is required.
 */
void cm_schema_render_method(struct cm_buf *out, const struct cm_schema_method *m, struct cm_buf *defs);

/**
 * Append the signature on one line for readers of a list, without types inside types, around max_bytes long:
 *
 *     create_issue(input: { owner: string; title: string; body?: string; … }): Promise<Issue>
 */
void cm_schema_render_signature(struct cm_buf *out, const struct cm_schema_method *m, size_t max_bytes);

/**
 * Append `declare const NAME: {` members `};` preceded by the instructions as a comment and by the types they
 * mention. Names that `out` declares already, for another connector, are not given again.
 */
void cm_schema_render_connector(struct cm_buf *out, const char *name, const char *instructions,
                                const struct cm_schema_method *m, size_t n);

/** `type NAME = …;` and the types it needs, for a bare schema (`codemode types --schema`). name is mapped to
 * an identifier. */
cm_status cm_schema_render_named(struct cm_buf *out, const char *name, yyjson_val *root, struct cm_err *err);

/** Follow a local reference ("#", "#/a/b" with ~0 ~1 and percent-decoding) from root; NULL when it leads
 * nowhere. */
yyjson_val *cm_schema_resolve(yyjson_val *root, struct cm_str ref);

/**
 * Check canonical JSON arguments against an input schema, shallowly but usefully: object or not, required
 * members present, members known where additionalProperties is false, and for each the JSON type, enum and
 * const; recursing through local references, properties, items. What it does not understand it accepts.
 *
 * Errors: CM_E_INVALID, one sentence that names the member's path, what was wrong and what would be accepted.
 */
cm_status cm_schema_check(yyjson_val *root, yyjson_val *node, yyjson_val *value, struct cm_err *err);

/** Append the members that an object schema names, for an error: "id, name?". */
void cm_schema_write_accepted(struct cm_buf *out, yyjson_val *node);

#endif
