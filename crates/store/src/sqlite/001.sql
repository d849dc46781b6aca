-- A store of longhaul, version 1. Times are milliseconds, given by callers.

-- 'LHst'
PRAGMA application_id = 1279816564;

-- `number` orders runs by when they were made, and is what the other tables refer to.
CREATE TABLE run (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT    NOT NULL UNIQUE,
    workflow   TEXT    NOT NULL,
    status     TEXT    NOT NULL,
    summary    TEXT    NOT NULL,
    run_group  TEXT,
    parent     TEXT,
    last_seq   INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL
);
CREATE INDEX run_by_status ON run (status, number);
CREATE INDEX run_by_workflow ON run (workflow, number);
CREATE INDEX run_by_group ON run (run_group, number) WHERE run_group IS NOT NULL;
CREATE INDEX run_by_parent ON run (parent, number) WHERE parent IS NOT NULL;

-- `checksum` chains each event to the one before it.
CREATE TABLE event (
    run      INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    seq      INTEGER NOT NULL,
    id       BLOB    NOT NULL UNIQUE,
    at_ms    INTEGER NOT NULL,
    body     TEXT    NOT NULL,
    checksum BLOB    NOT NULL,
    PRIMARY KEY (run, seq)
) WITHOUT ROWID;

-- Few are open at a time, so whoever asks by worker or lease looks at all of them: an index would be written twice a step.
CREATE TABLE task (
    number         INTEGER PRIMARY KEY,
    run            INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    key            TEXT    NOT NULL,
    attempt        INTEGER NOT NULL,
    worker         TEXT,
    lease_until_ms INTEGER NOT NULL,
    labels         TEXT    NOT NULL,
    UNIQUE (run, key)
);
CREATE INDEX task_free ON task (number) WHERE worker IS NULL;

CREATE TABLE timer (
    run    INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    id     TEXT    NOT NULL,
    due_ms INTEGER NOT NULL,
    PRIMARY KEY (run, id)
) WITHOUT ROWID;
CREATE INDEX timer_by_due ON timer (due_ms);

-- What is in an inbox. AUTOINCREMENT: the id of a consumed message must not come back.
CREATE TABLE message (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    run    INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    source TEXT    NOT NULL,
    dedup  TEXT    NOT NULL,
    body   TEXT    NOT NULL,
    at_ms  INTEGER NOT NULL
);
CREATE INDEX message_by_run ON message (run, id);

-- What was ever posted. Outlives the messages and their runs.
CREATE TABLE posted (
    source TEXT NOT NULL,
    dedup  TEXT NOT NULL,
    PRIMARY KEY (source, dedup)
) WITHOUT ROWID;

CREATE TABLE blob (
    hash  BLOB NOT NULL UNIQUE,
    bytes BLOB NOT NULL
);

CREATE TABLE blob_ref (
    run  INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    hash BLOB    NOT NULL REFERENCES blob (hash),
    PRIMARY KEY (run, hash)
) WITHOUT ROWID;
CREATE INDEX blob_ref_by_hash ON blob_ref (hash);

CREATE TABLE snapshot (
    run   INTEGER PRIMARY KEY REFERENCES run (number) ON DELETE CASCADE,
    seq   INTEGER NOT NULL,
    bytes BLOB    NOT NULL
);
