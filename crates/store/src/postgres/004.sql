-- Version 4: logins. A login is a role of the database with which a machine does its work, and nothing else: it takes tasks, and tells
-- what became of those that it holds. Programs that know no logins work beside those that do.
--
-- A login writes to no table. It calls the functions whose names begin with `scoped_`: they act with the rights of their owner, hold the call
-- against who asks (`session_user`, which nobody can change), and then do what the others do. What it tells is a message; the
-- journal is written by those who own it. It reads the runs of which it holds a task, and nothing of the others.

-- Functions that act with the rights of their owner find names here, and never first in what the caller made for a moment.
DO $$ BEGIN EXECUTE format('SET LOCAL search_path = %I, pg_temp', current_schema()); END $$;

-- `labels` is a list in JSON of what it may take; without one it may take everything.
CREATE TABLE login (
    name     text COLLATE "C" NOT NULL PRIMARY KEY,
    role     name NOT NULL UNIQUE,
    labels   jsonb,
    since_ms bigint NOT NULL
);

-- The login of a worker: the end of its id, after `:@`.
CREATE FUNCTION login_of_1(the_worker text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT substring(the_worker FROM ':@([^:@]+)$')
$$;

-- The login that asks; none for those who own the tables.
CREATE FUNCTION login_1() RETURNS text LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT name FROM login WHERE role = session_user
$$;

-- The runs of which the login that asks holds a task.
CREATE FUNCTION held_runs_1() RETURNS SETOF bigint LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT DISTINCT run FROM task WHERE worker IS NOT NULL AND login_of_1(worker) = login_1()
$$;

-- Whether one of these runs refers to a blob.
CREATE FUNCTION held_blob_1(the_hash bytea) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT EXISTS (SELECT FROM blob_ref WHERE hash = the_hash AND run IN (SELECT held_runs_1()))
$$;

-- Owners are not held to these. The secret of a question is a blob of 64 bytes, and nothing else that a run refers to is so short.
ALTER TABLE run ENABLE ROW LEVEL SECURITY;
ALTER TABLE event ENABLE ROW LEVEL SECURITY;
ALTER TABLE task ENABLE ROW LEVEL SECURITY;
ALTER TABLE blob ENABLE ROW LEVEL SECURITY;
ALTER TABLE snapshot ENABLE ROW LEVEL SECURITY;
CREATE POLICY no_login ON run USING ((SELECT login_1()) IS NULL);
CREATE POLICY no_login ON event USING ((SELECT login_1()) IS NULL);
CREATE POLICY no_login ON task USING ((SELECT login_1()) IS NULL);
CREATE POLICY no_login ON blob USING ((SELECT login_1()) IS NULL);
CREATE POLICY no_login ON snapshot USING ((SELECT login_1()) IS NULL);
CREATE POLICY held ON run FOR SELECT USING (number = ANY (ARRAY(SELECT held_runs_1())));
CREATE POLICY held ON event FOR SELECT USING (run = ANY (ARRAY(SELECT held_runs_1())));
CREATE POLICY held ON task FOR SELECT USING (login_of_1(worker) = (SELECT login_1()));
CREATE POLICY held ON blob FOR SELECT USING (octet_length(bytes) > 64 AND held_blob_1(hash));
CREATE POLICY held ON snapshot FOR SELECT USING (run = ANY (ARRAY(SELECT held_runs_1())));

-- The login that asks, if the worker is one of its own; else LH006.
CREATE FUNCTION scoped_as_1(the_worker text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    own text := login_1();
BEGIN
    IF own IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'LH006', MESSAGE = 'this is for logins';
    END IF;
    IF login_of_1(the_worker) IS DISTINCT FROM own THEN
        RAISE EXCEPTION USING ERRCODE = 'LH006', MESSAGE = format('`%s` is no worker of the login `%s`', the_worker, own);
    END IF;
    RETURN own;
END
$$;

-- No login keeps a task for longer than ten minutes without a word.
CREATE FUNCTION scoped_until_1(until_ms bigint) RETURNS bigint LANGUAGE sql AS $$
    SELECT least(until_ms, (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 600000)
$$;

-- Of some labels, those by which the login that asks may take tasks. Those that count agents or name projects are no matter of trust; what waits for
-- a machine is not for somebody who only says to be it, while another worker is there.
CREATE FUNCTION scoped_labels_1(the_labels jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT coalesce(jsonb_agg(label), '[]') FROM jsonb_array_elements_text(the_labels) AS label WHERE CASE
        WHEN starts_with(label, 'host:') THEN NOT EXISTS (
            SELECT FROM worker WHERE host = substr(label, 6) AND login_of_1(id) IS DISTINCT FROM login_1())
        ELSE (SELECT labels IS NULL OR labels ? label OR label ~ '^(agent|project):' FROM login WHERE name = login_1())
    END
$$;

-- As `claim_2`.
CREATE FUNCTION scoped_claim_1(
    the_worker text, the_labels jsonb, until_ms bigint, most bigint, the_token bytea,
    all_max bigint, capped text[], capped_max bigint[]
) RETURNS TABLE (run text, key text, attempt bigint, worker text, lease_until_ms bigint, labels text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
BEGIN
    PERFORM scoped_as_1(the_worker);
    RETURN QUERY SELECT run.id, task.key, task.attempt, task.worker, task.lease_until_ms, task.labels
        FROM claim_2(the_worker, scoped_labels_1(the_labels), NULL, scoped_until_1(until_ms), most, the_token, all_max, capped, capped_max)
            AS task JOIN run ON run.number = task.run ORDER BY task.number;
END
$$;

-- As `renew_1`.
CREATE FUNCTION scoped_renew_1(the_worker text, until_ms bigint)
RETURNS TABLE (run text, key text, attempt bigint, worker text, lease_until_ms bigint, labels text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
BEGIN
    PERFORM scoped_as_1(the_worker);
    RETURN QUERY SELECT run.id, task.key, task.attempt, task.worker, task.lease_until_ms, task.labels
        FROM renew_1(the_worker, scoped_until_1(until_ms)) AS task JOIN run ON run.number = task.run ORDER BY task.number;
END
$$;

-- What an earlier life of a worker held is this one's from now on. Who asks is looked at by the last line, which undoes the others.
CREATE FUNCTION scoped_inherit_1(the_worker text, from_worker text, until_ms bigint)
RETURNS TABLE (run text, key text, attempt bigint, worker text, lease_until_ms bigint, labels text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
BEGIN
    PERFORM scoped_as_1(from_worker);
    UPDATE task SET worker = the_worker WHERE worker = from_worker;
    RETURN QUERY SELECT * FROM scoped_renew_1(the_worker, until_ms);
END
$$;

-- As `greet_2`, with the labels that it may have. Nobody is forgotten: that is for those who own the tables.
CREATE FUNCTION scoped_greet_1(
    the_id text, the_name text, the_host text, the_labels text, the_slots bigint, the_version text, the_since bigint, the_seen bigint
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM scoped_as_1(the_id);
    PERFORM greet_2(the_id, the_name, the_host, scoped_labels_1(the_labels::jsonb)::text, the_slots, the_version, the_since,
        scoped_until_1(the_seen), 0);
END
$$;

-- A worker goes.
CREATE FUNCTION scoped_dismiss_1(the_worker text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM scoped_as_1(the_worker);
    DELETE FROM worker WHERE id = the_worker;
END
$$;

-- Tells the run of a task what became of it, if the worker holds it at this attempt: else LH002. What is told is a text inside of the
-- message, which says by itself who tells it about what: whatever the text is, the message is a report.
CREATE FUNCTION scoped_report_1(
    the_worker text, the_run text, the_key text, the_attempt bigint, the_text text, the_at bigint, the_token bytea
) RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    own text := scoped_as_1(the_worker);
BEGIN
    IF octet_length(the_text) > 16777216 THEN
        RAISE EXCEPTION USING ERRCODE = 'LH006', MESSAGE = 'a login reports 16 MiB at most';
    END IF;
    PERFORM FROM task WHERE key = the_key AND attempt = the_attempt AND worker = the_worker
        AND run = (SELECT number FROM run WHERE id = the_run) FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'LH002', MESSAGE = the_key;
    END IF;
    RETURN post_1(the_run, 'login:' || own, encode(the_token, 'hex'), convert_to(json_build_object('message', 'report', 'login', own,
        'worker', the_worker, 'key', the_key, 'attempt', the_attempt, 'event', the_text)::text, 'UTF8'), the_at, the_token);
END
$$;

-- Makes a login of a role. Its rights are given one by one, and all of them are here.
CREATE FUNCTION admit_1(the_name text, the_role name, the_labels jsonb, the_since bigint) RETURNS void
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF pg_has_role(the_role, (SELECT tableowner FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'login'), 'MEMBER') THEN
        RAISE EXCEPTION USING ERRCODE = 'LH006', MESSAGE = format('the role `%s` owns the tables; a login is a role that owns nothing', the_role);
    END IF;
    INSERT INTO login (name, role, labels, since_ms) VALUES (the_name, the_role, the_labels, the_since);
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), the_role);
    EXECUTE format('GRANT SELECT ON schema_version, run, event, task, blob, snapshot, change TO %I', the_role);
    EXECUTE format('GRANT EXECUTE ON FUNCTION scoped_claim_1, scoped_renew_1, scoped_inherit_1, scoped_greet_1, scoped_dismiss_1,
        scoped_report_1 TO %I', the_role);
END
$$;

-- Takes everything from a login. What it holds is free when its lease ends. Answers its role.
CREATE FUNCTION expel_1(the_name text) RETURNS name LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    the_role name;
BEGIN
    DELETE FROM login WHERE name = the_name RETURNING role INTO the_role;
    IF the_role IS NOT NULL AND to_regrole(quote_ident(the_role)) IS NOT NULL THEN
        EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA %I FROM %I', current_schema(), the_role);
        EXECUTE format('REVOKE ALL ON ALL SEQUENCES IN SCHEMA %I FROM %I', current_schema(), the_role);
        EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA %I FROM %I', current_schema(), the_role);
        EXECUTE format('REVOKE ALL ON SCHEMA %I FROM %I', current_schema(), the_role);
    END IF;
    RETURN the_role;
END
$$;

-- Nobody calls what is not meant for everybody. Those to whom the tables were given by hand continue as before.
DO $$
DECLARE
    other name;
BEGIN
    EXECUTE format('REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA %I FROM PUBLIC', current_schema());
    FOR other IN SELECT DISTINCT grantee FROM information_schema.role_table_grants
        WHERE table_schema = current_schema() AND table_name = 'run' AND privilege_type = 'INSERT' AND grantee NOT IN (current_user, 'PUBLIC')
    LOOP
        EXECUTE format('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA %I TO %I', current_schema(), other);
    END LOOP;
END
$$;
-- Whoever reads a table asks these.
GRANT EXECUTE ON FUNCTION login_of_1, login_1, held_runs_1, held_blob_1 TO PUBLIC;
