/**
 * What stands in a store, for tests that have killed those who wrote it: `store_check FILE` prints
 * {"integrity": "ok", "executions": [{id, state, owner, interruptions}], "calls": [{id, seq, kind, connector, method, args, decision, state, decided}]}
 * as SQLite itself reads it, without the store's code. What lies beside the file is taken into account, and left as it is.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static const char all[] =
    "SELECT json_object("
    " 'integrity', (SELECT group_concat(integrity_check, '; ') FROM pragma_integrity_check),"
    " 'foreign', (SELECT count(*) FROM pragma_foreign_key_check),"
    " 'executions', (SELECT json_group_array(json_object('id', id, 'state', state, 'owner', owner,"
    "   'interruptions', interruptions))"
    "   FROM (SELECT * FROM executions ORDER BY serial)),"
    " 'calls', (SELECT json_group_array(json_object('id', e.id, 'seq', seq, 'kind', kind, 'connector', "
    "connector,"
    "   'method', method, 'args', args_json, 'decision', decision, 'state', c.state, 'decided', decided_at))"
    "   FROM calls c JOIN executions e ON e.serial = c.execution))";

int main(int argc, char **argv)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *q = NULL;
    int status = 1;

    if (argc != 2) {
        (void)fprintf(stderr, "usage: store_check FILE\n");
        return 2;
    }
    if (sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
        sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL) == SQLITE_OK &&
        sqlite3_busy_timeout(db, 5000) == SQLITE_OK &&
        sqlite3_prepare_v2(db, all, -1, &q, NULL) == SQLITE_OK && sqlite3_step(q) == SQLITE_ROW) {
        (void)printf("%s\n", (const char *)sqlite3_column_text(q, 0));
        status = 0;
    } else {
        (void)fprintf(stderr, "%s: %s\n", argv[1], sqlite3_errmsg(db));
    }
    (void)sqlite3_finalize(q);
    (void)sqlite3_close(db);
    return status;
}
