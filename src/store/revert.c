/* Undoing and forgetting: the intent and the outcome of a revert, and what is taken out of a record afterwards. */
#include "store/internal.h"

cm_status cm_store_call_revert_start(cm_store *s, const char *id, uint32_t seq, int64_t at, int64_t expected,
                                     const char *by, struct cm_err *err)
{
    size_t changed = 0;
    cm_status st = CM_STORE_WRITE(s, CM_SQL_REVERT_START, &changed, err, CM_A_Z(id), CM_A_INT(seq),
                                  CM_A_INT(at), CM_A_Z(by), CM_A_INT(expected));

    if (st == CM_OK && changed == 0)
        st = cm_store__call_not(s, id, seq, "reverted", err);
    return cm_store__settle(s, st, err);
}

cm_status cm_store_call_revert(cm_store *s, const char *id, uint32_t seq, int64_t at, const char *error,
                               struct cm_err *err)
{
    size_t changed = 0;
    cm_status st = CM_STORE_WRITE(s, CM_SQL_CALL_REVERT, &changed, err, CM_A_Z(id), CM_A_INT(seq),
                                  CM_A_INT(at), CM_A_Z(error));

    return st == CM_OK && changed == 0 ? cm_store__call_not(s, id, seq, "reverted", err) : st;
}

cm_status cm_store_call_revert_unsure(cm_store *s, const char *id, uint32_t seq, const char *error,
                                      struct cm_err *err)
{
    size_t changed = 0;
    cm_status st =
        CM_STORE_WRITE(s, CM_SQL_REVERT_UNSURE, &changed, err, CM_A_Z(id), CM_A_INT(seq), CM_A_Z(error));

    return st == CM_OK && changed == 0 ? cm_store__call_not(s, id, seq, "reverted", err) : st;
}

cm_status cm_store_rolled_back(cm_store *s, const char *id, int64_t at, struct cm_err *err)
{
    size_t changed = 0;
    cm_status st = CM_STORE_WRITE(s, CM_SQL_EXEC_ROLLED_BACK, &changed, err, CM_A_Z(id), CM_A_INT(at));

    if (st == CM_OK && changed == 0)
        st = cm_store__not_in_state(s, id, "rolled back", err);
    return cm_store__settle(s, st, err);
}

cm_status cm_store_call_drop(cm_store *s, const char *id, uint32_t seq, unsigned parts, struct cm_err *err)
{
    return CM_STORE_WRITE(s, CM_SQL_CALL_DROP, NULL, err, CM_A_Z(id), CM_A_INT(seq), CM_A_INT(parts));
}
