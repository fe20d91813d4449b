CREATE SCHEMA @schema@;

CREATE UNLOGGED SEQUENCE @schema@.ids MINVALUE 0 MAXVALUE 1125899906842623;
CREATE UNLOGGED SEQUENCE @schema@.ids_gate MINVALUE 0 MAXVALUE 1125899906842623;
CREATE SEQUENCE @schema@.ids_horizon MINVALUE 0 MAXVALUE 1125899906842623;

CREATE FUNCTION @schema@.reserve_ticks(wanted bigint, at_least bigint DEFAULT 0) RETURNS bigint
LANGUAGE sql VOLATILE
RETURN shardwright.reserve_ticks(@number@, '@schema@.ids', '@schema@.ids_gate', '@schema@.ids_horizon', ((floor(date_part('epoch', pg_catalog.clock_timestamp()) * 1000)::bigint - @epoch_ms@) << 10), 5120000, wanted, at_least);

-- One expression, so that PostgreSQL puts it into the calling statement instead of calling it. The tick is
-- evaluated once: `overlay` pushes the shard's bits in between those of the time and those of the sequence.
-- `width_bucket` compares one reading of the sequence with both bounds, the clock and the gate; an empty or
-- closed gate counts as 0 and an empty sequence gives null: either way there is no draw.
CREATE FUNCTION @schema@.next_id() RETURNS bigint
LANGUAGE sql VOLATILE
RETURN overlay(
    (CASE WHEN width_bucket(pg_sequence_last_value('@schema@.ids'),
            ARRAY[((floor(date_part('epoch', pg_catalog.clock_timestamp()) * 1000)::bigint - @epoch_ms@) << 10), coalesce(pg_sequence_last_value('@schema@.ids_gate'), 0)]) = 1
        THEN nextval('@schema@.ids')
        ELSE shardwright.reserve_ticks(@number@, '@schema@.ids', '@schema@.ids_gate', '@schema@.ids_horizon', ((floor(date_part('epoch', pg_catalog.clock_timestamp()) * 1000)::bigint - @epoch_ms@) << 10), 5120000, 1, 0) END)::bit(50)
    PLACING B'@shard_bits@' FROM 41 FOR 0)::bigint;

CREATE FUNCTION @schema@.next_ids(wanted integer) RETURNS SETOF bigint
LANGUAGE sql VOLATILE STRICT ROWS 1000
BEGIN ATOMIC
    SELECT ((tick >> 10) << 23) | @shard_field@ | (tick & 1023)
    FROM @schema@.reserve_ticks(wanted) AS first_tick, generate_series(first_tick, first_tick + wanted - 1) AS tick;
END;

CREATE OR REPLACE FUNCTION @schema@.guard() RETURNS trigger LANGUAGE plpgsql AS $guard$
BEGIN
  RETURN NULL;
END
$guard$;

CREATE TABLE @schema@.posts (
  id bigint PRIMARY KEY DEFAULT @schema@.next_id(),
  author_id bigint NOT NULL,
  caption text NOT NULL
);
CREATE TRIGGER shardwright_guard BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON @schema@.posts
FOR EACH STATEMENT EXECUTE FUNCTION @schema@.guard();
