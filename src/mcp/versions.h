/** The protocol revisions of MCP that both of our ends speak, newest first. What we use of them (lifecycle,
 * tools, ping, cancellation, progress) reads alike in all. */
#ifndef CM_MCP_VERSIONS_H
#define CM_MCP_VERSIONS_H

#include "base/base.h"

#define CM_MCP_VERSIONS_TEXT "2025-11-25, 2025-06-18, 2025-03-26 and 2024-11-05"

static inline bool cm_mcp_version_is_known(struct cm_str version)
{
    static const char *const known[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};

    for (size_t i = 0; i < CM_ARRAY_LEN(known); i++)
        if (cm_str_eq_z(version, known[i]))
            return true;
    return false;
}

#endif
