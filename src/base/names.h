/** Names as JavaScript identifiers, and the nearest name to a typing error. */
#ifndef CM_BASE_NAMES_H
#define CM_BASE_NAMES_H

#include "base/str.h"

/**
 * The JavaScript identifier for an upstream name: '-', '.', '/', ':' and white space become '_', other
 * characters outside [A-Za-z0-9_$] go, a leading digit gets '_' before it, a reserved word '_' behind it;
 * nothing left is "_". The result is owned by the caller. Rules: reference R4.2, except that '/' and ':'
 * separate words here.
 */
char *cm_name_to_identifier(struct cm_str name);
/** The same for a method of a connector: a name that JavaScript itself asks an object for (`then`, `toJSON`,
 * `constructor` …) gets '_' behind it as well, since a program could not call it. */
char *cm_name_to_method(struct cm_str name);
/** Whether it is an identifier ([A-Za-z_$][A-Za-z0-9_$]*) that is no reserved word. */
bool cm_name_is_identifier(struct cm_str name);
/** Whether it is a word that JavaScript reserves, or that may not be bound in strict code. */
bool cm_name_is_reserved(struct cm_str name);
/** Edit distance with adjacent transpositions, ignoring ASCII case; names are cut at 64 bytes. For "did you
 * mean". */
unsigned cm_name_distance(struct cm_str a, struct cm_str b);

#endif
