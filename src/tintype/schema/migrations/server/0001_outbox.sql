-- The outbox: once per server, outside the shards, so that idle shards cost nothing to poll.
CREATE TABLE outbox (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event text NOT NULL,
    payload bytea NOT NULL,
    request_id text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now(),
    stream_seq bigint -- where JetStream put it; null while it waits
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1);

CREATE INDEX outbox_waiting ON outbox (id) WHERE stream_seq IS NULL;

-- Names this outbox in dedupe ids, and remembers which incarnation of the stream it has filled.
CREATE TABLE outbox_source (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    source uuid NOT NULL DEFAULT gen_random_uuid(),
    incarnation text
);

INSERT INTO outbox_source DEFAULT VALUES;
