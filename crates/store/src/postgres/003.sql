-- Version 3: a fleet that has nothing to do costs next to nothing. Programs of version 2 work beside it.

-- See `Store::greet`. What is lost of it with the power is said again in a few seconds, so nobody waits for the disk.
CREATE FUNCTION greet_2(
    the_id text, the_name text, the_host text, the_labels text, the_slots bigint, the_version text,
    the_since bigint, the_seen bigint, silent bigint
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    DELETE FROM worker WHERE seen_ms <= silent;
    UPDATE worker SET name = the_name, host = the_host, labels = the_labels, slots = the_slots, version = the_version,
            since_ms = the_since, seen_ms = the_seen
        WHERE id = the_id;
    IF NOT FOUND THEN
        INSERT INTO worker (id, name, host, labels, slots, version, since_ms, seen_ms)
            VALUES (the_id, the_name, the_host, the_labels, the_slots, the_version, the_since, the_seen)
            ON CONFLICT (id) DO NOTHING;
    END IF;
END
$$;

-- Every write takes hold of the row of its run before it touches what belongs to it, so that the tables need not look for that row
-- once more with each event and each task. What a run leaves is deleted with it, as before.
LOCK TABLE run IN ACCESS EXCLUSIVE MODE;
ALTER TABLE event DROP CONSTRAINT event_run_fkey;
ALTER TABLE task DROP CONSTRAINT task_run_fkey;
ALTER TABLE timer DROP CONSTRAINT timer_run_fkey;
ALTER TABLE message DROP CONSTRAINT message_run_fkey;
ALTER TABLE blob_ref DROP CONSTRAINT blob_ref_run_fkey;
ALTER TABLE snapshot DROP CONSTRAINT snapshot_run_fkey;
CREATE FUNCTION forget_1() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM event WHERE run = OLD.number;
    DELETE FROM task WHERE run = OLD.number;
    DELETE FROM timer WHERE run = OLD.number;
    DELETE FROM message WHERE run = OLD.number;
    DELETE FROM blob_ref WHERE run = OLD.number;
    DELETE FROM snapshot WHERE run = OLD.number;
    RETURN NULL;
END
$$;
CREATE TRIGGER forget AFTER DELETE ON run FOR EACH ROW EXECUTE FUNCTION forget_1();

-- How much of a run is running is found by its keys.
DROP INDEX task_at_work;

-- See `Store::append`; like `append_1`, with fewer statements. An id or a key that is taken breaks its index (23505), which undoes all of it.
CREATE FUNCTION append_2(
    the_run text, expected bigint,
    event_ids bytea[], event_ats bigint[], event_bodies bytea[], event_sums bytea[],
    head text[], head_summary bytea,
    timers_cleared text[], timer_ids text[], timer_dues bigint[],
    end_keys text[], end_attempts bigint[], end_workers text[],
    task_keys text[], task_attempts bigint[], task_workers text[], task_leases bigint[], task_labels text[],
    consumed bigint[], blob_hashes bytea[], blob_bytes bytea[],
    OUT outcome text, OUT seq bigint
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    the_number bigint;
    the_last bigint;
    written bigint;
    events int := cardinality(event_ids);
BEGIN
    -- Most often the run is where the caller takes it to be: then this finds it, takes hold of it and moves it.
    UPDATE run SET last_seq = expected + events, updated_ms = event_ats[events],
            summary = CASE WHEN head IS NULL THEN summary ELSE head_summary END,
            workflow = CASE WHEN head IS NULL THEN workflow ELSE head[1] END,
            status = CASE WHEN head IS NULL THEN status ELSE head[2] END,
            run_group = CASE WHEN head IS NULL THEN run_group ELSE head[3] END,
            parent = CASE WHEN head IS NULL THEN parent ELSE head[4] END
        WHERE id = the_run AND last_seq = expected AND expected > 0
        RETURNING number INTO the_number;
    IF the_number IS NULL THEN
        SELECT number, last_seq INTO the_number, the_last FROM run WHERE id = the_run FOR NO KEY UPDATE;
        IF the_number IS NULL AND expected <> 0 THEN
            outcome := 'unknown';
            seq := 0;
            RETURN;
        END IF;
        IF the_number IS NULL THEN
            -- One maker at a time: a number that becomes visible after a greater one would let two runs of a group in.
            PERFORM pg_advisory_xact_lock('run'::regclass::oid::bigint);
            SELECT number, last_seq INTO the_number, the_last FROM run WHERE id = the_run FOR NO KEY UPDATE;
        END IF;
        IF the_number IS NULL THEN
            INSERT INTO run (id, workflow, status, summary, run_group, parent, last_seq, created_ms, updated_ms)
                VALUES (the_run, coalesce(head[1], ''), coalesce(head[2], ''), coalesce(head_summary, ''), head[3], head[4],
                    events, event_ats[1], event_ats[events])
                RETURNING number INTO the_number;
        ELSIF the_last = expected THEN
            -- It came there between the two statements. Once more, and the first one finds it.
            RAISE EXCEPTION USING ERRCODE = 'serialization_failure', MESSAGE = 'the run has just come there';
        ELSE
            outcome := CASE
                WHEN event_ids = ARRAY(SELECT id FROM event WHERE run = the_number AND seq > expected AND seq <= expected + events ORDER BY seq)
                    THEN 'applied'
                WHEN expected = 0 THEN 'exists'
                ELSE 'conflict'
            END;
            seq := the_last;
            RETURN;
        END IF;
    END IF;

    INSERT INTO event (run, seq, id, at_ms, body, checksum)
        SELECT the_number, expected + place, one_id, one_at, one_body, one_sum
        FROM unnest(event_ids, event_ats, event_bodies, event_sums) WITH ORDINALITY
            AS one (one_id, one_at, one_body, one_sum, place);

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
            FROM unnest(task_keys, task_attempts, task_workers, task_leases, task_labels)
                AS one (one_key, one_attempt, one_worker, one_lease, one_labels);
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

    PERFORM nextval('change');
    outcome := 'done';
    seq := expected + events;
END
$$;
