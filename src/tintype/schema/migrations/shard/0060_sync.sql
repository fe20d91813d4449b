-- The update log of a person, on their own shard: what their clients must hear of, numbered without gaps.
CREATE TABLE sync_positions (
    account_id bigint PRIMARY KEY,
    seq bigint NOT NULL -- the number of the latest update; the row's lock numbers updates in the order of their commits
);

CREATE TABLE sync_updates (
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    key text NOT NULL, -- what makes a repeated append add nothing
    kind text NOT NULL,
    payload text NOT NULL, -- JSON
    people bigint[] NOT NULL, -- others whom key or payload names: redacted when one of them is erased
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, seq)
);

CREATE UNIQUE INDEX sync_updates_by_key ON sync_updates (account_id, key);
CREATE INDEX sync_updates_naming ON sync_updates USING gin (people);
CREATE INDEX sync_updates_by_age ON sync_updates (created_at);
