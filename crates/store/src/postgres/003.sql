-- Version 3: a fleet that has nothing to do costs next to nothing. Programs of version 2 work beside it.

-- See `Store::glance`: all that a worker asks as long as nothing happens. The number of changes goes with it, so that nobody asks for that alone.
-- Tables that are full one moment and empty the next are looked into by their indexes, whatever statistics say.
CREATE FUNCTION glance_1(OUT changes bigint, OUT mail boolean, OUT next_due bigint, OUT unheld boolean, OUT newest text)
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
    SELECT (SELECT last_value FROM change),
        (SELECT id FROM message ORDER BY id LIMIT 1) IS NOT NULL,
        (SELECT due_ms FROM timer ORDER BY due_ms LIMIT 1),
        (SELECT number FROM task WHERE worker IS NULL ORDER BY number LIMIT 1) IS NOT NULL,
        (SELECT id FROM run ORDER BY number DESC LIMIT 1)
    INTO changes, mail, next_due, unheld, newest;
END
$$;

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
