-- Version 2: several workers, each with labels. A program of version 1 claims nothing, so both work beside each other.

-- Tasks that nobody holds, by what they ask for and by run, so that a claim looks only at what it could take.
CREATE INDEX task_wanted ON task (labels, run, number) WHERE worker IS NULL;
-- How much of a run is running.
CREATE INDEX task_at_work ON task (run) WHERE worker IS NOT NULL;

-- Who says it is there. `labels` is a list in JSON.
CREATE TABLE worker (
    id       text COLLATE "C" NOT NULL PRIMARY KEY,
    name     text COLLATE "C" NOT NULL,
    host     text COLLATE "C" NOT NULL,
    labels   text COLLATE "C" NOT NULL,
    slots    bigint NOT NULL,
    version  text COLLATE "C" NOT NULL,
    since_ms bigint NOT NULL,
    seen_ms  bigint NOT NULL
) WITH (fillfactor = 50);

-- A table that is nearly empty one moment and full the next is never what its statistics say, so plans are not left to them: indexes are used.

-- What a claim may take, best first: of each run as much as it could take at most, of the 64 oldest runs for each list of labels.
CREATE FUNCTION wanted_1(the_labels jsonb, only_run bigint, most bigint)
RETURNS TABLE (number bigint, labels text) LANGUAGE sql STABLE SET enable_seqscan = off SET enable_bitmapscan = off AS $$
    WITH RECURSIVE asked (labels) AS (
        (SELECT task.labels FROM task WHERE worker IS NULL ORDER BY task.labels LIMIT 1)
        UNION ALL
        SELECT (SELECT task.labels FROM task WHERE worker IS NULL AND task.labels > asked.labels ORDER BY task.labels LIMIT 1)
        FROM asked WHERE asked.labels IS NOT NULL
    ), fitting AS MATERIALIZED (
        SELECT asked.labels FROM asked WHERE asked.labels IS NOT NULL AND asked.labels::jsonb <@ the_labels
    ), runs AS MATERIALIZED (
        SELECT fitting.labels, several.run FROM fitting CROSS JOIN LATERAL (
            WITH RECURSIVE one (run) AS (
                (SELECT task.run FROM task WHERE worker IS NULL AND task.labels = fitting.labels
                    AND task.run >= coalesce(only_run, 0) ORDER BY task.run LIMIT 1)
                UNION ALL
                SELECT (SELECT task.run FROM task WHERE worker IS NULL AND task.labels = fitting.labels
                    AND task.run > one.run ORDER BY task.run LIMIT 1)
                FROM one WHERE one.run IS NOT NULL AND only_run IS NULL
            )
            SELECT one.run FROM one WHERE one.run IS NOT NULL LIMIT 64
        ) AS several
        WHERE only_run IS NULL OR several.run = only_run
    ), candidates AS (
        SELECT few.number, few.run, runs.labels FROM runs CROSS JOIN LATERAL (
            SELECT task.number, task.run FROM task
            WHERE worker IS NULL AND task.labels = runs.labels AND task.run = runs.run
            ORDER BY task.number LIMIT most
        ) AS few
    ), held AS (
        SELECT distinct_runs.run, (SELECT count(*) FROM task WHERE task.run = distinct_runs.run AND worker IS NOT NULL) AS many
        FROM (SELECT DISTINCT run FROM runs) AS distinct_runs
    )
    SELECT candidates.number, candidates.labels FROM candidates JOIN held ON held.run = candidates.run
    ORDER BY held.many + row_number() OVER (PARTITION BY candidates.run ORDER BY candidates.number), candidates.number
$$;

-- See `Store::claim`. Tasks that others are about to take are passed over, not waited for. With caps, claims go one after
-- another, else two could each find room for one.
CREATE FUNCTION claim_2(
    the_worker text, the_labels jsonb, the_run text, until_ms bigint, most bigint, the_token bytea,
    all_max bigint, capped text[], capped_max bigint[]
) RETURNS SETOF task LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off AS $$
#variable_conflict use_column
DECLARE
    only_run bigint;
    has_caps boolean := all_max IS NOT NULL OR cardinality(capped) > 0;
    all_held bigint := 0;
    labels_held bigint[] := '{}';
    given bigint := 0;
    passed boolean := false;
    candidate record;
    one task;
BEGIN
    -- The same call once more: its answer had been lost.
    RETURN QUERY SELECT * FROM task WHERE worker = the_worker AND claim = the_token;
    IF FOUND OR most <= 0 OR NOT EXISTS (SELECT FROM task WHERE worker IS NULL) THEN
        RETURN;
    END IF;
    IF the_run IS NOT NULL THEN
        SELECT number INTO only_run FROM run WHERE id = the_run;
        IF only_run IS NULL THEN
            RETURN;
        END IF;
    END IF;
    IF has_caps THEN
        PERFORM pg_advisory_xact_lock('task'::regclass::oid::bigint);
        SELECT count(*) INTO all_held FROM task WHERE worker IS NOT NULL;
        labels_held := ARRAY(
            SELECT (SELECT count(*) FROM task WHERE worker IS NOT NULL AND labels::jsonb ? label)
            FROM unnest(capped) WITH ORDINALITY AS each (label, place) ORDER BY place);
    END IF;
    FOR candidate IN SELECT number, labels FROM wanted_1(the_labels, only_run, most) LOOP
        EXIT WHEN given >= most OR all_held >= all_max;
        CONTINUE WHEN EXISTS (
            SELECT FROM unnest(capped, capped_max, labels_held) AS each (label, max, held)
            WHERE candidate.labels::jsonb ? label AND held >= max);
        UPDATE task SET worker = the_worker, lease_until_ms = until_ms, claim = the_token
            WHERE worker IS NULL AND number = (
                SELECT number FROM task WHERE number = candidate.number AND worker IS NULL FOR UPDATE SKIP LOCKED)
            RETURNING * INTO one;
        IF one.number IS NULL THEN
            passed := true;
            CONTINUE;
        END IF;
        RETURN NEXT one;
        given := given + 1;
        all_held := all_held + 1;
        labels_held := ARRAY(
            SELECT held + (candidate.labels::jsonb ? label)::int
            FROM unnest(capped, labels_held) WITH ORDINALITY AS each (label, held, place) ORDER BY place);
    END LOOP;
    -- Others were at the same tasks: what they leave is better than nothing.
    IF passed AND NOT has_caps AND given < most THEN
        FOR one IN
            UPDATE task SET worker = the_worker, lease_until_ms = until_ms, claim = the_token
            WHERE worker IS NULL AND number = ANY (ARRAY(
                SELECT number FROM task
                WHERE worker IS NULL AND labels::jsonb <@ the_labels AND (only_run IS NULL OR run = only_run)
                ORDER BY number LIMIT most - given FOR UPDATE SKIP LOCKED))
            RETURNING *
        LOOP
            RETURN NEXT one;
            given := given + 1;
        END LOOP;
    END IF;
    IF given > 0 THEN
        PERFORM nextval('change');
    END IF;
END
$$;

-- See `Store::greet`. Nobody need hear of it.
CREATE FUNCTION greet_1(
    the_id text, the_name text, the_host text, the_labels text, the_slots bigint, the_version text,
    the_since bigint, the_seen bigint, silent bigint
) RETURNS void LANGUAGE sql AS $$
    DELETE FROM worker WHERE seen_ms <= silent;
    INSERT INTO worker (id, name, host, labels, slots, version, since_ms, seen_ms)
        VALUES (the_id, the_name, the_host, the_labels, the_slots, the_version, the_since, the_seen)
        ON CONFLICT (id) DO UPDATE SET name = excluded.name, host = excluded.host, labels = excluded.labels,
            slots = excluded.slots, version = excluded.version, since_ms = excluded.since_ms, seen_ms = excluded.seen_ms;
$$;
