/**
 * catalog: the index behind `codemode.search`, `codemode.describe`, `codemode tools` and `codemode types`.
 *
 * It looks at connectors that are READY and says by name which are not. It starts none; a method table that
 * changed is noticed at the next question. Scoring: reference
 * R5.1 without its quirks.
 */
#ifndef CM_CATALOG_CATALOG_H
#define CM_CATALOG_CATALOG_H

#include "base/base.h"
#include "connector/connector.h"

#define CM_SEARCH_MAX 50

typedef struct cm_catalog cm_catalog;

/** Borrows the connectors, in configuration order; they must outlive it. */
cm_catalog *cm_catalog_new(cm_connector *const *connectors, size_t n);
void cm_catalog_free(cm_catalog *c);
CM_DEFINE_AUTO(cm_catalog, cm_catalog_free)

/** A saved program as search and describe know it. */
struct cm_catalog_snippet {
    const char *name, *description;
    const char *connectors_json; /* names of those that it calls */
    struct cm_str code;
    struct cm_str input_schema; /* JSON; empty: any input */
};
/**
 * Say what snippets there are: each in turn, i from 0, then end with their number. Everything is copied; what is as it was costs no new
 * index.
 */
void cm_catalog_put_snippet(cm_catalog *c, size_t i, const struct cm_catalog_snippet *s);
void cm_catalog_end_snippets(cm_catalog *c, size_t n);

/**
 * Append
 * {"results":[{"path","connector","method","description","signature","requiresApproval"?,"kind":"method"|"snippet","score"}],"total",
 * "truncated","unavailable"?:[{connector,error}],"suggestions"?:[…]}. Best first, at most `limit` (0:
 * CM_SEARCH_MAX). An empty query lists everything in order. No hit is never a dead end: `suggestions` are the
 * nearest paths. `signature` is one line.
 */
void cm_catalog_search(cm_catalog *c, struct cm_str query, size_t limit, struct cm_buf *out);

/**
 * Append {"path","kind":"connector"|"method"|"snippet","description","requiresApproval"?,"types"}; `types` is
 * TypeScript, with the program of a snippet behind it. Accepts "connector", "connector.method", a snippet, a bare method name that is unique, also with () or an
 * `await` around it. CM_E_NOT_FOUND: nothing of that name; the message suggests the nearest.
 */
cm_status cm_catalog_describe(cm_catalog *c, struct cm_str target, struct cm_buf *out, struct cm_err *err);

/** Append the declarations of one path, or of every READY connector when path is empty: what `codemode types`
 * prints. */
cm_status cm_catalog_types(cm_catalog *c, struct cm_str path, struct cm_buf *out, struct cm_err *err);

/** Append BIND's JSON for the worker: {"connectors":[{"name","methods":[…]|null}]}, null for those not READY.
 */
void cm_catalog_bind(cm_catalog *c, struct cm_buf *out);

#endif
