
CREATE SCHEMA IF NOT EXISTS shardwright;

CREATE OR REPLACE FUNCTION shardwright.epoch_ms() RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN @epoch_ms@::bigint;

CREATE OR REPLACE FUNCTION shardwright.id_time(id bigint) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE WHEN id >= 2147483648
    THEN to_timestamp(((id >> 23) + @epoch_ms@) / 1000.0::double precision) END;

CREATE OR REPLACE FUNCTION shardwright.id_shard(id bigint) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE WHEN id < 2147483648 THEN 0 ELSE ((id >> 10) & 8191)::integer END;

CREATE OR REPLACE FUNCTION shardwright.id_sequence(id bigint) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (id & 1023)::integer;

-- Through a time zone and back, because only the part of a plain timestamp is immutable to PostgreSQL.
CREATE OR REPLACE FUNCTION shardwright.ms_at(moment timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE
    WHEN moment < to_timestamp(@epoch_ms@ / 1000.0::double precision) THEN -1
    WHEN moment >= to_timestamp((@epoch_ms@ + 1099511627776) / 1000.0::double precision) THEN 1099511627776
    ELSE floor(extract(epoch FROM moment AT TIME ZONE 'UTC') * 1000)::bigint - @epoch_ms@ END;

CREATE OR REPLACE FUNCTION shardwright.min_id_at(moment timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE shardwright.ms_at(moment)
    WHEN -1 THEN 0
    WHEN 1099511627776 THEN 9223372036854775807
    ELSE shardwright.ms_at(moment) << 23 END;

-- Returns the first of as many consecutive ticks as wanted, all of them above every tick handed out before.
-- One function for all shards, because a backend keeps a compiled copy of each it has called; few and plain
-- expressions and no PERFORM, because that would run each call as a query of its own.
CREATE OR REPLACE FUNCTION shardwright.reserve_ticks(
    shard integer, ids regclass, gate regclass, horizon regclass,
    clock_tick bigint, ahead bigint, wanted bigint, at_least bigint
) RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT
AS $function$
DECLARE
    last_tick bigint;
    limit_tick bigint;
    first_tick bigint;
    final_tick bigint;
    ignored bigint;
BEGIN
    BEGIN
        -- The lock comes first: CASE evaluates its subject before anything else.
        IF (CASE pg_advisory_xact_lock(1937205604, shard)::text WHEN '' THEN wanted = 1 AND at_least = 0
            AND width_bucket(pg_sequence_last_value(ids),
                ARRAY[clock_tick, coalesce(pg_sequence_last_value(gate), 0)]) = 1 END)
        THEN
            first_tick := nextval(ids);  -- somebody advanced it while we waited
        ELSE
            last_tick := CASE setval(gate, 0) WHEN 0 THEN pg_sequence_last_value(ids) END;
            limit_tick := pg_sequence_last_value(horizon) - 262144;
            first_tick := greatest(at_least, 263168, clock_tick,
                last_tick + CASE wanted WHEN 1 THEN 16384 ELSE 1 + current_setting('max_connections')::bigint + current_setting('max_worker_processes')::bigint + current_setting('max_wal_senders')::bigint END);
            final_tick := first_tick + wanted - 1;
            IF last_tick IS NULL OR final_tick > limit_tick OR wanted NOT BETWEEN 1 AND 1048576 THEN
                IF wanted NOT BETWEEN 1 AND 1048576 THEN
                    RAISE invalid_parameter_value USING MESSAGE = format('cannot make %s ids in one call', wanted),
                        HINT = 'Ask for 1 to 1048576.';
                END IF;
                IF current_setting('max_connections')::bigint + current_setting('max_worker_processes')::bigint + current_setting('max_wal_senders')::bigint >= 16384 THEN
                    RAISE configuration_limit_exceeded USING MESSAGE = 'ids are not safe with so many backends',
                        HINT = 'Keep max_connections and the other limits below 16384 together.';
                END IF;
                IF last_tick IS NULL AND limit_tick IS NOT NULL THEN  -- after a crash or a failover
                    first_tick := greatest(first_tick, clock_tick + ahead, limit_tick + 262144 + 1);
                    final_tick := first_tick + wanted - 1;
                END IF;
                IF final_tick > 1125899906580479 THEN
                    RAISE SQLSTATE 'SW002' USING
                        MESSAGE = format('shard %s has no ids left: the last millisecond of the layout is past', shard),
                        HINT = 'Check the clock of the server and the epoch of the layout.';
                END IF;
                limit_tick := least(final_tick + ahead, 1125899906580479);
                ignored := setval(horizon, limit_tick + 262144);
            END IF;
            ignored := CASE WHEN setval(ids, final_tick) IS NOT NULL THEN setval(gate, limit_tick) END;
        END IF;
        RAISE SQLSTATE 'SW009';
    EXCEPTION WHEN SQLSTATE 'SW009' THEN
        NULL;  -- the lock is gone with the subtransaction, what setval did is not
    END;
    RETURN first_tick;
END
$function$;
CREATE SCHEMA IF NOT EXISTS common;
CREATE TABLE IF NOT EXISTS shardwright.identity (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  directory_id uuid NOT NULL,
  server_name text NOT NULL
);
CREATE OR REPLACE FUNCTION shardwright.lookup_shard(key text, lookup_shards integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
  SELECT ((('x' || encode(substr(sha256(convert_to(key, 'UTF8')), 1, 4), 'hex'))::bit(32)::bigint
           % lookup_shards))::integer
$$;
DO $restrict$
DECLARE
  reader regrole;
BEGIN
  FOR reader IN
    SELECT DISTINCT a.grantee::regrole
    FROM pg_catalog.pg_class c CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
    WHERE c.oid = to_regclass('shardwright.identity') AND a.grantee NOT IN (0, c.relowner)
      AND a.privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE')
  LOOP
    EXECUTE format('REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON shardwright.identity FROM %s', reader);
  END LOOP;
END
$restrict$;

INSERT INTO shardwright.identity (directory_id, server_name) VALUES ('@directory_id@', '@server@');
