-- Version 2: several workers, each with labels.

-- Tasks that nobody holds, by what they ask for and by run, so that a claim looks only at what it could take.
DROP INDEX task_free;
CREATE INDEX task_free ON task (labels, run, number) WHERE worker IS NULL;

-- Who says it is there. `labels` is a list in JSON.
CREATE TABLE worker (
    id       TEXT    NOT NULL PRIMARY KEY,
    name     TEXT    NOT NULL,
    host     TEXT    NOT NULL,
    labels   TEXT    NOT NULL,
    slots    INTEGER NOT NULL,
    version  TEXT    NOT NULL,
    since_ms INTEGER NOT NULL,
    seen_ms  INTEGER NOT NULL
) WITHOUT ROWID;
