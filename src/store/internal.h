/** What the files of store share. */
#ifndef CM_STORE_INTERNAL_H
#define CM_STORE_INTERNAL_H

#include "store/store.h"

#include <sqlite3.h>

/** Every statement, one row: name and SQL. Prepared at first use and kept. */
#define CM_STORE_EXEC_COLUMNS                                                                           \
    "id, runtime, state, seed, connectors, created_at, updated_at, ended_at, passes, error, warnings, " \
    "code, input_json,"                                                                                 \
    " input_marks, result_json, result_marks, logs, limits, interruptions"
#define CM_STORE_EXEC_BRIEF                                                                             \
    "id, runtime, state, seed, connectors, created_at, updated_at, ended_at, passes, error, warnings, " \
    "substr(code, 1, 1000), NULL, NULL,"                                                                \
    " NULL, NULL, NULL, NULL, interruptions"
#define CM_STORE_CALL_COLUMNS                                                                          \
    "seq, kind, parent_seq, connector, method, args_json, args_marks, args_hash, decision, rule, "     \
    "method_flags, c.state,"                                                                           \
    " failed, outcome_json, outcome_marks, delivery, delivered_at, started_at, c.ended_at, line, col," \
    " decided_at, decided_by, reason, asked_json, asked_marks, asked_hash, c.code, reverted_at, "      \
    "revert_error, ordinal, revert_started_at, revert_by, dropped"
#define CM_STORE_LIVE " FROM executions WHERE id = ?1 AND state IN ('paused', 'running')"

#define CM_STORE_SQL_MAP(X)                                                                                  \
    X(BEGIN, "BEGIN IMMEDIATE")                                                                              \
    X(COMMIT, "COMMIT")                                                                                      \
    X(ROLLBACK, "ROLLBACK")                                                                                  \
    X(MARK, "SAVEPOINT mark")                                                                                \
    X(BACK, "ROLLBACK TO mark")                                                                              \
    X(EXEC_INSERT,                                                                                           \
      "INSERT INTO executions(id, runtime, state, code, seed, connectors, input_json, input_marks,"          \
      " created_at, updated_at, ended_at, passes, owner, owner_pid, limits)"                                 \
      " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, 0, ?10, ?11, ?12, ?13)")                              \
    X(EXEC_FINISH,                                                                                           \
      "UPDATE executions SET state = ?2, result_json = ?3, result_marks = ?4, error = ?5, logs = ?6,"        \
      " warnings = ?7, updated_at = ?8, ended_at = ?9, passes = ?10, owner = ?11, owner_pid = ?12"           \
      " WHERE id = ?1 AND (?13 >> CASE state" CM_STORE_STATE_NUMBERS " ELSE 63 END) & 1")                    \
    X(EXEC_STATE, "SELECT state FROM executions WHERE id = ?1")                                              \
    X(EXEC_GET, "SELECT " CM_STORE_EXEC_COLUMNS " FROM executions WHERE id = ?1")                            \
    X(EXEC_LIST,                                                                                             \
      "SELECT " CM_STORE_EXEC_COLUMNS " FROM executions ORDER BY created_at DESC, serial DESC LIMIT ?1")     \
    X(EXEC_LIST_BRIEF,                                                                                       \
      "SELECT " CM_STORE_EXEC_BRIEF " FROM executions ORDER BY created_at DESC, serial DESC LIMIT ?1")       \
    X(EXEC_LIST_OF, "SELECT " CM_STORE_EXEC_COLUMNS " FROM executions WHERE runtime = ?2"                    \
                    " ORDER BY created_at DESC, serial DESC LIMIT ?1")                                       \
    X(EXEC_LIST_OF_BRIEF, "SELECT " CM_STORE_EXEC_BRIEF " FROM executions WHERE runtime = ?2"                \
                          " ORDER BY created_at DESC, serial DESC LIMIT ?1")                                 \
    X(EXEC_DELETE, "DELETE FROM executions WHERE id = ?1 AND state NOT IN ('running', 'paused')")            \
    X(PRUNABLE, "SELECT serial FROM executions WHERE runtime = ?1 AND state NOT IN ('running', 'paused')"    \
                " ORDER BY created_at DESC, serial DESC LIMIT ?3 OFFSET ?2")                                 \
    X(PRUNE, "DELETE FROM executions WHERE serial = ?1 AND state NOT IN ('running', 'paused')")              \
    X(OWNERS, "SELECT DISTINCT owner FROM executions WHERE state = 'running' AND owner IS NOT NULL")         \
    X(ORPHAN_CALLS, "UPDATE calls SET state = 'pending', decision = 'ask', decided_at = 0, rule = ?2"        \
                    " WHERE state = 'executing' AND kind = 0 AND (method_flags & 6) = 0 AND execution IN"    \
                    " (SELECT serial FROM executions WHERE state = 'running' AND owner IS ?1)")              \
    X(ORPHAN_EXECS,                                                                                          \
      "UPDATE executions SET state = 'paused', updated_at = ?2, owner = NULL, owner_pid = NULL,"             \
      " interruptions = interruptions + 1"                                                                   \
      " WHERE state = 'running' AND owner IS ?1")                                                            \
    X(INTERRUPTED,                                                                                           \
      "SELECT id, interruptions FROM executions WHERE state = 'paused' AND runtime = ?1 AND"                 \
      " interruptions BETWEEN ?2 AND ?3 AND NOT EXISTS (SELECT 1 FROM calls WHERE execution = serial"        \
      " AND calls.state = 'pending' AND decided_at = 0) ORDER BY created_at, serial")                        \
    X(CALL_INSERT,                                                                                           \
      "INSERT INTO calls(execution, seq, kind, parent_seq, connector, method, args_json, args_marks,"        \
      " args_hash, decision, rule, method_flags, state, failed, outcome_json, outcome_marks, delivery,"      \
      " delivered_at, started_at, ended_at, line, col, code, ordinal)"                                       \
      " SELECT serial, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19,"    \
      " ?20, ?21, ?22, ?23, ?24 FROM executions WHERE id = ?1 AND state = 'running'")                        \
    X(CALL_OUTCOME,                                                                                          \
      "UPDATE calls SET state = ?3, failed = ?4, outcome_json = ?5, outcome_marks = ?6, delivery = ?7,"      \
      " delivered_at = ?8, ended_at = ?9 WHERE execution = (SELECT serial FROM executions WHERE id = ?1"     \
      " AND state = 'running') AND seq = ?2 AND state IN ('executing', 'pending')")                          \
    X(CALL_APPROVE, "UPDATE calls SET decided_at = ?3, decided_by = ?4, reason = ?5,"                        \
                    " asked_json = CASE WHEN ?6 IS NULL THEN asked_json ELSE args_json END,"                 \
                    " asked_marks = CASE WHEN ?6 IS NULL THEN asked_marks ELSE args_marks END,"              \
                    " asked_hash = CASE WHEN ?6 IS NULL THEN asked_hash ELSE args_hash END,"                 \
                    " args_json = coalesce(?6, args_json), args_hash = coalesce(?8, args_hash),"             \
                    " args_marks = CASE WHEN ?6 IS NULL THEN args_marks ELSE ?7 END"                         \
                    " WHERE execution = (SELECT serial" CM_STORE_LIVE ") AND seq = ?2 AND state = 'pending'" \
                    " AND decided_at = 0")                                                                   \
    X(CALL_REJECT,                                                                                           \
      "UPDATE calls SET state = 'rejected', decided_at = ?3, decided_by = ?4, reason = ?5, failed = 1,"      \
      " outcome_json = ?6, outcome_marks = ?7, ended_at = ?3"                                                \
      " WHERE execution = (SELECT serial" CM_STORE_LIVE ") AND seq = ?2 AND state = 'pending'"               \
      " AND decided_at = 0")                                                                                 \
    X(CALL_START, "UPDATE calls SET state = 'executing', started_at = ?3 WHERE execution ="                  \
                  " (SELECT serial FROM executions WHERE id = ?1 AND state = 'running') AND seq = ?2"        \
                  " AND state = 'pending' AND decided_at <> 0")                                              \
    X(CALL_DELIVER, "UPDATE calls SET delivery = ?3, delivered_at = ?4 WHERE execution ="                    \
                    " (SELECT serial FROM executions WHERE id = ?1 AND state = 'running') AND seq = ?2"      \
                    " AND delivery = 0 AND outcome_json IS NOT NULL")                                        \
    X(CALL_ASK, "UPDATE calls SET state = 'pending', decision = 'ask', decided_at = 0, rule = ?3"            \
                " WHERE execution = (SELECT serial" CM_STORE_LIVE                                            \
                ") AND seq = ?2 AND state IN ('executing', 'unknown')")                                      \
    X(CALL_REVERT, "UPDATE calls SET state = CASE WHEN ?4 IS NULL THEN 'reverted' ELSE state END,"           \
                   " reverted_at = CASE WHEN ?4 IS NULL THEN ?3 ELSE reverted_at END, revert_error = ?4,"    \
                   " revert_started_at = CASE WHEN ?4 IS NULL THEN revert_started_at ELSE 0 END"             \
                   " WHERE execution = (SELECT serial FROM executions WHERE id = ?1 AND state <> 'running')" \
                   " AND seq = ?2 AND state NOT IN ('reverted', 'pending')"                                  \
                   " AND (state <> 'rejected' OR decision = 'ask')")                                         \
    X(REVERT_START, "UPDATE calls SET revert_started_at = ?3, revert_by = ?4, revert_error = NULL"           \
                    " WHERE execution = (SELECT serial FROM executions WHERE id = ?1"                        \
                    " AND state NOT IN ('running', 'paused')) AND seq = ?2 AND state <> 'reverted'"          \
                    " AND revert_started_at = ?5")                                                           \
    X(REVERT_UNSURE, "UPDATE calls SET revert_error = ?3 WHERE execution ="                                  \
                     " (SELECT serial FROM executions WHERE id = ?1 AND state <> 'running')"                 \
                     " AND seq = ?2 AND state <> 'reverted' AND revert_started_at <> 0")                     \
    X(EXEC_ROLLED_BACK, "UPDATE executions SET state = 'rolled_back', updated_at = ?2"                       \
                        " WHERE id = ?1 AND state NOT IN ('running', 'paused')")                             \
    X(CALL_DROP, "UPDATE calls SET dropped = dropped | ?3,"                                                  \
                 " args_json = CASE WHEN ?3 & 1 THEN NULL ELSE args_json END,"                               \
                 " args_marks = CASE WHEN ?3 & 1 THEN NULL ELSE args_marks END,"                             \
                 " asked_json = CASE WHEN ?3 & 1 THEN NULL ELSE asked_json END,"                             \
                 " asked_marks = CASE WHEN ?3 & 1 THEN NULL ELSE asked_marks END,"                           \
                 " outcome_json = CASE WHEN ?3 & 2 THEN NULL ELSE outcome_json END,"                         \
                 " outcome_marks = CASE WHEN ?3 & 2 THEN NULL ELSE outcome_marks END"                        \
                 " WHERE execution = (SELECT serial FROM executions WHERE id = ?1) AND seq = ?2")            \
    X(CALL_GET, "SELECT " CM_STORE_CALL_COLUMNS " FROM calls c JOIN executions e ON e.serial = c.execution"  \
                " WHERE e.id = ?1 AND c.seq = ?2")                                                           \
    X(EXEC_CLAIM, "UPDATE executions SET state = 'running', owner = ?2, owner_pid = ?3, updated_at = ?4,"    \
                  " ended_at = 0, passes = passes + 1, interruptions = interruptions * ?6"                   \
                  " WHERE id = ?1 AND (state = 'paused' OR (state = 'running' AND owner IS ?5))")            \
    X(EXEC_OWNER, "SELECT state, owner FROM executions WHERE id = ?1")                                       \
    X(PENDING,                                                                                               \
      "SELECT " CM_STORE_CALL_COLUMNS ", e.id FROM calls c JOIN executions e ON e.serial = c.execution"      \
      " WHERE c.state = 'pending' AND c.decided_at = 0 AND e.state IN ('paused', 'running')"                 \
      " AND (?1 IS NULL OR e.runtime = ?1) ORDER BY c.execution DESC, c.seq")                                \
    X(PENDING_OF,                                                                                            \
      "SELECT " CM_STORE_CALL_COLUMNS ", e.id FROM calls c JOIN executions e ON e.serial = c.execution"      \
      " WHERE c.state = 'pending' AND c.decided_at = 0 AND e.state IN ('paused', 'running')"                 \
      " AND (?1 IS NULL OR e.runtime = ?1) AND e.id = ?2 ORDER BY c.seq")                                    \
    X(STALE, "SELECT id FROM executions WHERE state = 'paused' AND updated_at < ?2"                          \
             " AND (?1 IS NULL OR runtime = ?1)")                                                            \
    X(EXEC_EXPIRE, "UPDATE executions SET state = 'expired', updated_at = ?3, ended_at = ?3, owner = NULL,"  \
                   " owner_pid = NULL, error = ?4 WHERE id = ?1 AND state = 'paused' AND updated_at < ?2")   \
    X(CALLS_WITHDRAW,                                                                                        \
      "UPDATE calls SET state = CASE WHEN decision = 'ask' THEN 'unknown' ELSE 'cancelled' END,"             \
      " ended_at = ?2 WHERE state = 'pending' AND execution ="                                               \
      " (SELECT serial FROM executions WHERE id = ?1)")                                                      \
    X(SNIPPET_SAVE,                                                                                          \
      "INSERT OR REPLACE INTO snippets(runtime, name, description, code, input_schema, connectors,"          \
      " execution, saved_at) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")                                        \
    X(SNIPPETS, "SELECT runtime, name, description, code, input_schema, connectors, execution, saved_at"     \
                " FROM snippets WHERE runtime = ?1 AND (?2 IS NULL OR name = ?2) ORDER BY name")             \
    X(SNIPPET_DELETE, "DELETE FROM snippets WHERE runtime = ?1 AND name = ?2")                               \
    X(CALLS_ABANDON,                                                                                         \
      "UPDATE calls SET state = CASE WHEN kind = 0 AND (method_flags & 6) = 0 THEN 'unknown' ELSE"           \
      " 'cancelled' END, ended_at = ?2 WHERE state = 'executing' AND execution ="                            \
      " (SELECT serial FROM executions WHERE id = ?1)")                                                      \
    X(CALLS_OF, "SELECT " CM_STORE_CALL_COLUMNS " FROM calls c JOIN executions e ON e.serial = c.execution"  \
                " WHERE e.id = ?1 ORDER BY seq")

/** The number of each execution state in a mask, for EXEC_FINISH; checked against the enum when the store
 * opens. */
#define CM_STORE_STATE_NUMBERS                                                                      \
    " WHEN 'running' THEN 0 WHEN 'paused' THEN 1 WHEN 'completed' THEN 2 WHEN 'error' THEN 3 WHEN " \
    "'rejected' THEN 4"                                                                             \
    " WHEN 'rolled_back' THEN 5 WHEN 'cancelled' THEN 6 WHEN 'expired' THEN 7"

enum cm_store_sql {
#define CM_STORE_SQL_ENUM_(name, sql) CM_SQL_##name,
    CM_STORE_SQL_MAP(CM_STORE_SQL_ENUM_)
#undef CM_STORE_SQL_ENUM_
        CM_SQL_COUNT_
};

#define CM_STORE_BUSY_MS 5000 /* longer than any write of ours takes; a dead process leaves no lock behind */

struct cm_store {
    sqlite3 *db;
    sqlite3_stmt *stmts[CM_SQL_COUNT_];
    char *path;                /* NULL: memory */
    char *file;                /* the same without links, for another thread; NULL: not deferred yet */
    bool in_group;             /* a transaction is open */
    bool marked;               /* and has a mark to go back to */
    unsigned losses;           /* groups that could not be committed */
    struct cm_err error, loss; /* the newest error; the one that lost the newest lost group */
    char *owner;               /* name of our lock; NULL until the first execution */
    int owner_fd;              /* holds the lock; -1 */
    int log_fd;        /* the log, for whoever waits for it on another thread; -1: not asked for yet */
    int log_pages;     /* as of the newest commit, while deferred */
    int64_t log_ahead; /* bytes of it that are there to be overwritten; 0: not known */
    bool deferred;     /* who opened it waits for the disk elsewhere */
};

/** One parameter of a statement. */
struct cm_sql_arg {
    enum { CM_ARG_NULL, CM_ARG_INT, CM_ARG_TEXT, CM_ARG_BLOB } type;
    int64_t n;
    struct cm_str s;
};
#define CM_A_INT(v)       ((struct cm_sql_arg){.type = CM_ARG_INT, .n = (int64_t)(v)})
#define CM_A_TEXT(v)      ((struct cm_sql_arg){.type = CM_ARG_TEXT, .s = (v)})
#define CM_A_Z(v)         cm_store__z(v)
#define CM_A_OPT(v)       cm_store__opt(v)
#define CM_A_BLOB(p, len) ((struct cm_sql_arg){.type = CM_ARG_BLOB, .s = {(const char *)(p), (len)}})
#define CM_A_NULL         ((struct cm_sql_arg){.type = CM_ARG_NULL})

/** NULL gives SQL's NULL. */
struct cm_sql_arg cm_store__z(const char *z);
/** Empty gives SQL's NULL. */
struct cm_sql_arg cm_store__opt(struct cm_str s);

/** The statement with its parameters bound (borrowed by it until the reset); step it, then cm_store__reset.
 */
cm_status cm_store__bind(cm_store *s, enum cm_store_sql which, const struct cm_sql_arg *args, size_t n,
                         sqlite3_stmt **out, struct cm_err *err);
void cm_store__reset(sqlite3_stmt *st);
/** Bind, run to the end, reset. *changed (may be NULL) is the number of rows it changed. */
cm_status cm_store__run(cm_store *s, enum cm_store_sql which, const struct cm_sql_arg *args, size_t n,
                        size_t *changed, struct cm_err *err);
#define CM_STORE_RUN(s, which, changed, err, ...)                                                        \
    cm_store__run(s, which, (const struct cm_sql_arg[]){__VA_ARGS__},                                    \
                  sizeof((const struct cm_sql_arg[]){__VA_ARGS__}) / sizeof(struct cm_sql_arg), changed, \
                  err)
/** The database's own words for what failed, with what we were doing; full disk and busy are named as such.
 */
cm_status cm_store__error(cm_store *s, int rc, const char *what, struct cm_err *err);
/** Open the group's transaction unless it is open. */
cm_status cm_store__begin(cm_store *s, struct cm_err *err);
/** In the open group, before it is committed: have its log written to beyond its end (disk.c). Never fails. */
void cm_store__write_ahead(cm_store *s);
/** Undo the open group after a failure; its records are lost and counted as such. */
void cm_store__lose(cm_store *s);

/** After a failed write: where the database has given up the whole group, its records are lost. */
cm_status cm_store__failed(cm_store *s, cm_status st);
/**
 * The end of a write that stands alone: it is on the disk, or in the open group where whoever opened the store sees to that (cm_store_defer);
 * or it failed and keeps nobody else from writing. Returns st, or the sync's failure.
 */
cm_status cm_store__settle(cm_store *s, cm_status st, struct cm_err *err);
/** A write of one statement within the group. */
#define CM_STORE_WRITE(s, which, changed, err, ...)                  \
    ({                                                               \
        cm_status st_ = cm_store__begin(s, err);                     \
        if (st_ == CM_OK)                                            \
            st_ = CM_STORE_RUN(s, which, changed, err, __VA_ARGS__); \
        st_ == CM_OK ? CM_OK : cm_store__failed(s, st_);             \
    })
/** CM_E_CONFLICT "execution 'x' is <state>: it cannot be <what>", or CM_E_NOT_FOUND. */
cm_status cm_store__not_in_state(cm_store *s, const char *id, const char *what, struct cm_err *err);
/** The same of a call: what it is, or that there is none. */
cm_status cm_store__call_not(cm_store *s, const char *id, uint32_t seq, const char *what, struct cm_err *err);
/** Whether the process of that name is gone; its lock file is then removed. */
bool cm_store__is_dead(const cm_store *s, const char *owner);

/** Take the lock that says "this process is alive" (once). */
cm_status cm_store__own(cm_store *s, struct cm_err *err);
void cm_store__disown(cm_store *s);
/** Remove the lock files and sockets of processes that are gone. */
void cm_store__sweep(const cm_store *s);

#endif
