/**
 * The tables, and how an older file becomes a current one. Each row of `cm_store_migrations` moves the schema
 * one version up; a row that was released is never edited. PRAGMA user_version holds the version, PRAGMA
 * application_id says that the file is ours.
 *
 *   executions  one program with a durable identity; `serial` is what calls refer to
 *   calls       what the program asked of the host, every kind, in the order of issue; `delivery` is the
 * order of the answers; `asked` are the arguments as the program gave them where a human sent others
 *   snippets    programs that somebody kept, by name
 *
 * Values are two texts (json/value.h): the canonical JSON and its marks. Times are epoch milliseconds.
 * `owner` names the lock of the process that runs the execution (owner.c), or has paused it and may hold its worker;
 * it is NULL otherwise.
 * Everything a replay compares or gives back is here: canonical bytes and their hash, seed, decision and
 * rule, outcome, delivery and the clock at it, the step a call belongs to.
 */
#ifndef CM_STORE_SCHEMA_SQL_H
#define CM_STORE_SCHEMA_SQL_H

#define CM_STORE_APPLICATION_ID 0x636d6f64 /* "cmod" */

static const char *const cm_store_migrations[] = {
    /* 0 → 1 */
    "CREATE TABLE executions("
    " serial INTEGER PRIMARY KEY,"
    " id TEXT NOT NULL UNIQUE,"
    " runtime TEXT NOT NULL,"
    " state TEXT NOT NULL,"
    " code TEXT NOT NULL,"
    " seed BLOB NOT NULL,"
    " connectors TEXT NOT NULL,"
    " input_json TEXT, input_marks TEXT,"
    " result_json TEXT, result_marks TEXT,"
    " error TEXT, logs TEXT, warnings TEXT,"
    " created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, ended_at INTEGER NOT NULL,"
    " passes INTEGER NOT NULL,"
    " owner TEXT, owner_pid INTEGER);"
    "CREATE INDEX executions_by_runtime ON executions(runtime, created_at);"
    "CREATE INDEX executions_by_age ON executions(created_at);"
    "CREATE INDEX executions_live ON executions(state) WHERE state IN ('running', 'paused');"
    "CREATE TABLE calls("
    " execution INTEGER NOT NULL REFERENCES executions(serial) ON DELETE CASCADE,"
    " seq INTEGER NOT NULL,"
    " kind INTEGER NOT NULL,"
    " parent_seq INTEGER NOT NULL,"
    " connector TEXT NOT NULL, method TEXT NOT NULL,"
    " args_json TEXT, args_marks TEXT, args_hash TEXT NOT NULL,"
    " decision TEXT NOT NULL, rule TEXT NOT NULL,"
    " method_flags INTEGER NOT NULL,"
    " state TEXT NOT NULL,"
    " failed INTEGER NOT NULL,"
    " outcome_json TEXT, outcome_marks TEXT,"
    " delivery INTEGER NOT NULL, delivered_at INTEGER NOT NULL,"
    " started_at INTEGER NOT NULL, ended_at INTEGER NOT NULL,"
    " line INTEGER NOT NULL, col INTEGER NOT NULL,"
    " PRIMARY KEY(execution, seq)) WITHOUT ROWID;"
    "CREATE INDEX calls_pending ON calls(state) WHERE state = 'pending';",
    /* 1 → 2 */
    "ALTER TABLE executions ADD COLUMN limits TEXT;"
    "ALTER TABLE calls ADD COLUMN decided_at INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE calls ADD COLUMN decided_by TEXT;"
    "ALTER TABLE calls ADD COLUMN reason TEXT;"
    "ALTER TABLE calls ADD COLUMN asked_json TEXT;"
    "ALTER TABLE calls ADD COLUMN asked_marks TEXT;"
    "ALTER TABLE calls ADD COLUMN asked_hash TEXT;"
    "ALTER TABLE calls ADD COLUMN code TEXT;"
    "ALTER TABLE calls ADD COLUMN reverted_at INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE calls ADD COLUMN revert_error TEXT;"
    "ALTER TABLE calls ADD COLUMN ordinal INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE calls ADD COLUMN revert_started_at INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE calls ADD COLUMN revert_by TEXT;"
    "ALTER TABLE calls ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0;"
    "CREATE TABLE snippets("
    " runtime TEXT NOT NULL, name TEXT NOT NULL,"
    " description TEXT NOT NULL, code TEXT NOT NULL,"
    " input_schema TEXT, connectors TEXT NOT NULL,"
    " execution TEXT NOT NULL, saved_at INTEGER NOT NULL,"
    " PRIMARY KEY(runtime, name)) WITHOUT ROWID;"
    /* Each holds only what its question is about, and is chosen only by a query that says these very words. */
    "DROP INDEX executions_live;"
    "CREATE INDEX executions_running ON executions(owner) WHERE state = 'running';"
    "CREATE INDEX executions_paused ON executions(updated_at) WHERE state = 'paused';"
    "CREATE INDEX executions_ended ON executions(runtime, created_at)"
    " WHERE state NOT IN ('running', 'paused');",
    /* 2 → 3: how often its process died under it since somebody last let it go on */
    "ALTER TABLE executions ADD COLUMN interruptions INTEGER NOT NULL DEFAULT 0;",
};

#endif
