-- The outbox is written once per event: rows are neither marked nor deleted one by one. What has been published is a
-- snapshot in outbox_position, and old rows go with their partition.
-- waive: breaks-previous-release because the new table has every column of the old one, and its name: older processes insert, claim and mark as before
ALTER TABLE outbox RENAME TO outbox_before;
ALTER TABLE outbox_before RENAME CONSTRAINT outbox_pkey TO outbox_before_pkey;

-- Which of four partitions a row goes to now: half an hour each, so each is used again after two hours.
CREATE FUNCTION outbox_slot() RETURNS smallint LANGUAGE sql STABLE
RETURN (floor(date_part('epoch', statement_timestamp()) / 1800)::bigint % 4)::smallint;

CREATE TABLE outbox (
    id bigint GENERATED ALWAYS AS IDENTITY,
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(), -- ids are not given out in the order of commits
    created_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    stream_seq bigint, -- written by relays of older releases alone
    slot smallint NOT NULL DEFAULT outbox_slot(),
    event text NOT NULL,
    payload bytea NOT NULL,
    request_id text NOT NULL DEFAULT '',
    PRIMARY KEY (xid, id, slot)
) PARTITION BY LIST (slot);

-- Their rows never change and are gone within two hours: nothing to vacuum.
CREATE TABLE outbox__0 PARTITION OF outbox FOR VALUES IN (0) WITH (autovacuum_vacuum_insert_threshold = -1);
CREATE TABLE outbox__1 PARTITION OF outbox FOR VALUES IN (1) WITH (autovacuum_vacuum_insert_threshold = -1);
CREATE TABLE outbox__2 PARTITION OF outbox FOR VALUES IN (2) WITH (autovacuum_vacuum_insert_threshold = -1);
CREATE TABLE outbox__3 PARTITION OF outbox FOR VALUES IN (3) WITH (autovacuum_vacuum_insert_threshold = -1);

INSERT INTO outbox (id, created_at, stream_seq, event, payload, request_id) OVERRIDING SYSTEM VALUE
SELECT id, created_at, stream_seq, event, payload, request_id FROM outbox_before;

-- Ids are dedupe ids: none is given out twice.
SELECT setval(pg_get_serial_sequence('outbox', 'id'), nextval(pg_get_serial_sequence('outbox_before', 'id')));

DROP TABLE outbox_before;

-- How far the outbox is published: everything that `done` sees is. While a window too large for one batch is being
-- published, `target` is its end and (last_xid, last_id) the last row that is.
CREATE TABLE outbox_position (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    done pg_snapshot NOT NULL DEFAULT '3:3:',
    target pg_snapshot,
    last_xid xid8 NOT NULL DEFAULT '0',
    last_id bigint NOT NULL DEFAULT 0,
    stream_seq bigint NOT NULL DEFAULT 0, -- the highest number that the stream has acknowledged
    incarnation text, -- of the stream that was filled
    cluster text -- the database cluster whose transactions the snapshots are about
) WITH (fillfactor = 20);

INSERT INTO outbox_position DEFAULT VALUES;

-- Earlier positions: when the stream has lost its tail, publishing resumes from the last one before the loss.
CREATE TABLE outbox_checkpoints (
    stream_seq bigint PRIMARY KEY,
    done pg_snapshot NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- The next rows to publish, in the order of transactions. A transaction that stays open delays nobody: it is in the
-- snapshot's list, and its rows are found by that. The plan is kept while partitions grow from nothing, hence no sequential
-- scans.
CREATE FUNCTION read_outbox(batch integer)
RETURNS TABLE (id bigint, xid xid8, event text, payload bytea, request_id text, until pg_snapshot)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    pos common.outbox_position;
    window_end pg_snapshot;
    first_new xid8;
    open_then xid8[];
BEGIN
    SELECT * INTO STRICT pos FROM common.outbox_position;
    window_end := coalesce(pos.target, pg_current_snapshot());
    first_new := pg_snapshot_xmax(pos.done);
    open_then := ARRAY(SELECT pg_snapshot_xip(pos.done));
    RETURN QUERY
        SELECT o.id, o.xid, o.event, o.payload, o.request_id, window_end FROM (
            (SELECT o.id, o.xid, o.event, o.payload, o.request_id FROM common.outbox AS o
             WHERE o.xid = ANY (open_then) AND (o.xid, o.id) > (pos.last_xid, pos.last_id)
               AND o.stream_seq IS NULL AND pg_visible_in_snapshot(o.xid, window_end)
             ORDER BY o.xid, o.id LIMIT batch)
            UNION ALL
            (SELECT o.id, o.xid, o.event, o.payload, o.request_id FROM common.outbox AS o
             WHERE o.xid >= first_new AND (o.xid, o.id) > (pos.last_xid, pos.last_id)
               AND o.stream_seq IS NULL AND pg_visible_in_snapshot(o.xid, window_end)
             ORDER BY o.xid, o.id LIMIT batch)
        ) AS o ORDER BY o.xid, o.id LIMIT batch;
END
$$;

-- How many committed events are not published yet.
CREATE FUNCTION count_waiting_events() RETURNS bigint LANGUAGE sql STABLE
RETURN (
    SELECT count(*) FROM outbox AS o, outbox_position AS p
    WHERE o.stream_seq IS NULL AND NOT pg_visible_in_snapshot(o.xid, p.done)
      AND NOT (p.target IS NOT NULL AND pg_visible_in_snapshot(o.xid, p.target)
               AND (o.xid, o.id) <= (p.last_xid, p.last_id))
);

-- Empties partitions whose rows are all published and older than the retention, and deletes such rows one by one where
-- a partition also has younger ones; returns how many, at most a batch. Whoever holds a partition is not waited for long.
CREATE FUNCTION sweep_outbox(keep_s double precision, batch integer) RETURNS integer LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '500ms' AS $$
DECLARE
    published pg_snapshot;
    before timestamptz := now() - make_interval(secs => keep_s);
    part text;
    first_at timestamptz;
    last_at timestamptz;
    is_waiting boolean;
    swept integer := 0;
    deleted integer;
BEGIN
    IF NOT has_table_privilege(session_user, 'common.outbox', 'DELETE') THEN
        RAISE insufficient_privilege USING MESSAGE = format('%s may not delete events', session_user);
    END IF;
    -- Locked: no relay decides meanwhile that rows have to be published again.
    SELECT done INTO STRICT published FROM common.outbox_position FOR UPDATE;
    DELETE FROM common.outbox_checkpoints WHERE created_at < before;
    FOR slot IN 0 .. 3 LOOP
        part := format('common.outbox__%s', slot);
        EXECUTE format('SELECT created_at FROM %s ORDER BY xid, id LIMIT 1', part) INTO first_at;
        CONTINUE WHEN first_at IS NULL OR first_at >= before;
        EXECUTE format('SELECT created_at FROM %s ORDER BY xid DESC, id DESC LIMIT 1', part) INTO last_at;
        IF last_at < before AND slot <> common.outbox_slot() THEN
            BEGIN
                EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', part);
                EXECUTE format('SELECT EXISTS (SELECT FROM %1$s WHERE stream_seq IS NULL AND xid >= pg_snapshot_xmax($1)) '
                               'OR EXISTS (SELECT FROM %1$s WHERE stream_seq IS NULL '
                               'AND xid = ANY (ARRAY(SELECT pg_snapshot_xip($1))))', part)
                    INTO is_waiting USING published;
                IF NOT is_waiting THEN
                    EXECUTE format('TRUNCATE %s', part);
                    CONTINUE;
                END IF;
            EXCEPTION WHEN lock_not_available THEN
                CONTINUE;
            END;
        END IF;
        EXECUTE format('DELETE FROM %1$s WHERE (xid, id, slot) IN (SELECT xid, id, slot FROM %1$s '
                       'WHERE created_at < $1 AND (stream_seq IS NOT NULL OR pg_visible_in_snapshot(xid, $2)) '
                       'ORDER BY xid, id LIMIT $3)', part)
            USING before, published, batch - swept;
        GET DIAGNOSTICS deleted = ROW_COUNT;
        swept := swept + deleted;
        EXIT WHEN swept >= batch;
    END LOOP;
    RETURN swept;
END
$$;

REVOKE EXECUTE ON FUNCTION sweep_outbox(double precision, integer) FROM PUBLIC;
