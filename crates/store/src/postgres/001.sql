-- A store of longhaul in PostgreSQL, version 1. Times are milliseconds, given by callers.
--
-- The six writes are functions: a caller that is stopped in the middle of one holds no lock while others wait, because
-- there is no middle on its side. Their names carry a number. A version that changes one adds the next
-- number and leaves the old one, so that programs of both versions work beside each other.

-- `number` orders runs by when they were made, and is what the other tables refer to. Numbers become visible in order: see `append_1`.
CREATE TABLE run (
    number     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id         text COLLATE "C" NOT NULL UNIQUE,
    workflow   text COLLATE "C" NOT NULL,
    status     text COLLATE "C" NOT NULL,
    summary    bytea NOT NULL,
    run_group  text COLLATE "C",
    parent     text COLLATE "C",
    last_seq   bigint NOT NULL,
    created_ms bigint NOT NULL,
    updated_ms bigint NOT NULL
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX run_by_status ON run (status, number);
CREATE INDEX run_by_workflow ON run (workflow, number);
CREATE INDEX run_by_group ON run (run_group, number) WHERE run_group IS NOT NULL;
CREATE INDEX run_by_parent ON run (parent, number) WHERE parent IS NOT NULL;

-- Bodies are bytes, because text cannot hold every character here. `checksum` is of run, seq and content.
CREATE TABLE event (
    run      bigint NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    seq      bigint NOT NULL,
    id       bytea  NOT NULL UNIQUE,
    at_ms    bigint NOT NULL,
    body     bytea  NOT NULL,
    checksum bytea  NOT NULL,
    PRIMARY KEY (run, seq)
);

-- `claim` names the call that took the task, so that one whose answer was lost can be asked again.
CREATE TABLE task (
    number         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run            bigint NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    key            text COLLATE "C" NOT NULL,
    attempt        bigint NOT NULL,
    worker         text COLLATE "C",
    lease_until_ms bigint NOT NULL,
    labels         text COLLATE "C" NOT NULL,
    claim          bytea,
    UNIQUE (run, key)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
CREATE INDEX task_free ON task (number) WHERE worker IS NULL;
CREATE INDEX task_held ON task (worker) WHERE worker IS NOT NULL;

CREATE TABLE timer (
    run    bigint NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    id     text COLLATE "C" NOT NULL,
    due_ms bigint NOT NULL,
    PRIMARY KEY (run, id)
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX timer_by_due ON timer (due_ms);

-- What is in an inbox.
CREATE TABLE message (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run    bigint NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    source text COLLATE "C" NOT NULL,
    dedup  text COLLATE "C" NOT NULL,
    body   bytea  NOT NULL,
    at_ms  bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX message_by_run ON message (run, id);

-- What was ever posted. Outlives the messages and their runs. `token` names the call that posted it.
CREATE TABLE posted (
    source text COLLATE "C" NOT NULL,
    dedup  text COLLATE "C" NOT NULL,
    token  bytea NOT NULL,
    PRIMARY KEY (source, dedup)
);

CREATE TABLE blob (
    hash  bytea NOT NULL PRIMARY KEY,
    bytes bytea NOT NULL
);

CREATE TABLE blob_ref (
    run  bigint NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    hash bytea  NOT NULL REFERENCES blob (hash),
    PRIMARY KEY (run, hash)
);
CREATE INDEX blob_ref_by_hash ON blob_ref (hash);

CREATE TABLE snapshot (
    run   bigint NOT NULL PRIMARY KEY REFERENCES run (number) ON DELETE CASCADE,
    seq   bigint NOT NULL,
    bytes bytea  NOT NULL
);

-- Moves with every write; whoever polls looks at this alone. The first number counts as taken, so that the second is a change.
CREATE SEQUENCE change;
SELECT nextval('change');

-- See `Store::append`. What is refused at first sight is answered, and nothing was written. What is refused late is raised, which undoes
-- all of it: LH001 exists, LH002 fenced, LH003 moved on.
CREATE FUNCTION append_1(
    the_run text, expected bigint,
    event_ids bytea[], event_ats bigint[], event_bodies bytea[], event_sums bytea[],
    head text[], head_summary bytea,
    timers_cleared text[], timer_ids text[], timer_dues bigint[],
    end_keys text[], end_attempts bigint[], end_workers text[],
    task_keys text[], task_attempts bigint[], task_workers text[], task_leases bigint[], task_labels text[],
    consumed bigint[], blob_hashes bytea[], blob_bytes bytea[]
) RETURNS TABLE (outcome text, seq bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    the_number bigint;
    the_last bigint;
    written bigint;
    events bigint := cardinality(event_ids);
BEGIN
    SELECT number, last_seq INTO the_number, the_last FROM run WHERE id = the_run FOR NO KEY UPDATE;
    IF the_number IS NULL AND expected <> 0 THEN
        RETURN QUERY SELECT 'unknown', 0::bigint;
        RETURN;
    END IF;
    IF the_number IS NULL THEN
        -- One maker at a time: a number that becomes visible after a greater one would let two runs of a group in.
        PERFORM pg_advisory_xact_lock('run'::regclass::oid::bigint);
        SELECT number, last_seq INTO the_number, the_last FROM run WHERE id = the_run FOR NO KEY UPDATE;
    END IF;
    IF the_number IS NULL THEN
        INSERT INTO run (id, workflow, status, summary, last_seq, created_ms, updated_ms)
            VALUES (the_run, '', '', '', 0, event_ats[1], event_ats[1]) RETURNING number INTO the_number;
    ELSIF the_last <> expected THEN
        RETURN QUERY SELECT CASE
            WHEN event_ids = ARRAY(SELECT id FROM event WHERE run = the_number AND seq > expected AND seq <= expected + events ORDER BY seq)
                THEN 'applied'
            WHEN expected = 0 THEN 'exists'
            ELSE 'conflict'
        END, the_last;
        RETURN;
    END IF;

    INSERT INTO event (run, seq, id, at_ms, body, checksum)
        SELECT the_number, expected + place, one_id, one_at, one_body, one_sum
        FROM unnest(event_ids, event_ats, event_bodies, event_sums) WITH ORDINALITY
            AS one (one_id, one_at, one_body, one_sum, place)
        ON CONFLICT (id) DO NOTHING;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written <> events THEN
        RAISE EXCEPTION USING ERRCODE = 'LH001', MESSAGE = 'an event of this id exists';
    END IF;

    -- The fence: another attempt, another holder, or none of this key is refused.
    FOR at IN 1 .. cardinality(end_keys) LOOP
        DELETE FROM task
            WHERE run = the_number AND key = end_keys[at] AND attempt = end_attempts[at]
                AND (end_workers[at] IS NULL OR worker = end_workers[at]);
        IF NOT FOUND THEN
            RAISE EXCEPTION USING ERRCODE = 'LH002', MESSAGE = end_keys[at];
        END IF;
    END LOOP;

    IF cardinality(task_keys) > 0 THEN
        INSERT INTO task (run, key, attempt, worker, lease_until_ms, labels)
            SELECT the_number, one_key, one_attempt, one_worker, one_lease, one_labels
            FROM unnest(task_keys, task_attempts, task_workers, task_leases, task_labels) WITH ORDINALITY
                AS one (one_key, one_attempt, one_worker, one_lease, one_labels, place)
            ORDER BY place
            ON CONFLICT (run, key) DO NOTHING;
        GET DIAGNOSTICS written = ROW_COUNT;
        IF written <> cardinality(task_keys) THEN
            RAISE EXCEPTION USING ERRCODE = 'LH001', MESSAGE = 'a task of this key is open';
        END IF;
    END IF;

    IF cardinality(consumed) > 0 THEN
        DELETE FROM message WHERE id = ANY (consumed) AND run = the_number;
        GET DIAGNOSTICS written = ROW_COUNT;
        IF written <> cardinality(consumed) THEN
            RAISE EXCEPTION USING ERRCODE = 'LH003', MESSAGE = expected::text;
        END IF;
    END IF;

    IF cardinality(timers_cleared) > 0 THEN
        DELETE FROM timer WHERE run = the_number AND id = ANY (timers_cleared);
    END IF;
    IF cardinality(timer_ids) > 0 THEN
        INSERT INTO timer (run, id, due_ms)
            SELECT the_number, one_id, one_due FROM unnest(timer_ids, timer_dues) AS one (one_id, one_due)
            ON CONFLICT (run, id) DO UPDATE SET due_ms = excluded.due_ms;
    END IF;

    IF cardinality(blob_hashes) > 0 THEN
        INSERT INTO blob (hash, bytes)
            SELECT one_hash, one_bytes FROM unnest(blob_hashes, blob_bytes) AS one (one_hash, one_bytes)
            ON CONFLICT (hash) DO NOTHING;
        INSERT INTO blob_ref (run, hash)
            SELECT the_number, one_hash FROM unnest(blob_hashes) AS one (one_hash)
            ON CONFLICT (run, hash) DO NOTHING;
    END IF;

    IF head IS NULL THEN
        UPDATE run SET last_seq = expected + events, updated_ms = event_ats[events] WHERE number = the_number;
    ELSE
        UPDATE run SET last_seq = expected + events, updated_ms = event_ats[events], summary = head_summary,
                workflow = head[1], status = head[2], run_group = head[3], parent = head[4]
            WHERE number = the_number;
    END IF;
    PERFORM nextval('change');
    RETURN QUERY SELECT 'done', expected + events;
END
$$;

-- See `Store::post`. LH004: there is no such run, and nothing is remembered.
CREATE FUNCTION post_1(the_run text, the_source text, the_dedup text, the_body bytea, the_at bigint, the_token bytea)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    the_number bigint;
BEGIN
    INSERT INTO posted (source, dedup, token) VALUES (the_source, the_dedup, the_token)
        ON CONFLICT (source, dedup) DO NOTHING;
    IF NOT FOUND THEN
        -- The same call once more: its answer had been lost.
        IF EXISTS (SELECT FROM posted WHERE source = the_source AND dedup = the_dedup AND token = the_token) THEN
            RETURN 'new';
        END IF;
        RETURN 'duplicate';
    END IF;
    SELECT number INTO the_number FROM run WHERE id = the_run FOR KEY SHARE;
    IF the_number IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'LH004', MESSAGE = 'there is no such run';
    END IF;
    INSERT INTO message (run, source, dedup, body, at_ms) VALUES (the_number, the_source, the_dedup, the_body, the_at);
    PERFORM nextval('change');
    RETURN 'new';
END
$$;

-- See `Store::renew`.
CREATE FUNCTION renew_1(the_worker text, until_ms bigint) RETURNS SETOF task LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY UPDATE task SET lease_until_ms = until_ms WHERE worker = the_worker RETURNING task.*;
    IF FOUND THEN
        PERFORM nextval('change');
    END IF;
END
$$;

-- See `Store::save_snapshot`. Answers whether it was kept. LH004: there is no such run; LH005: it has not come so far.
CREATE FUNCTION save_snapshot_1(the_run text, the_seq bigint, the_bytes bytea) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    the_number bigint;
    the_last bigint;
BEGIN
    SELECT number, last_seq INTO the_number, the_last FROM run WHERE id = the_run FOR KEY SHARE;
    IF the_number IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'LH004', MESSAGE = 'there is no such run';
    END IF;
    IF the_seq > the_last THEN
        RAISE EXCEPTION USING ERRCODE = 'LH005', MESSAGE = 'a snapshot is of a seq that the run has reached';
    END IF;
    INSERT INTO snapshot (run, seq, bytes) VALUES (the_number, the_seq, the_bytes)
        ON CONFLICT (run) DO UPDATE SET seq = excluded.seq, bytes = excluded.bytes WHERE snapshot.seq <= excluded.seq;
    IF FOUND THEN
        PERFORM nextval('change');
        RETURN true;
    END IF;
    RETURN false;
END
$$;

-- See `Store::remove`. The tables delete what refers to the run.
CREATE FUNCTION remove_1(the_run text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    the_number bigint;
    hashes bytea[];
BEGIN
    SELECT number INTO the_number FROM run WHERE id = the_run FOR UPDATE;
    IF the_number IS NULL THEN
        RETURN false;
    END IF;
    hashes := ARRAY(SELECT hash FROM blob_ref WHERE run = the_number ORDER BY hash);
    DELETE FROM run WHERE number = the_number;
    DELETE FROM blob WHERE hash = ANY (hashes) AND NOT EXISTS (SELECT FROM blob_ref WHERE blob_ref.hash = blob.hash);
    PERFORM nextval('change');
    RETURN true;
END
$$;
