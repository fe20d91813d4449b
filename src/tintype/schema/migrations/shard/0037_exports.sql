-- Archives of everything that is a person's, with the one who asked.
CREATE TABLE exports (
    id bigint PRIMARY KEY DEFAULT next_id(),
    account_id bigint NOT NULL,
    state text NOT NULL DEFAULT 'waiting', -- waiting, running, ready, failed
    room text NOT NULL DEFAULT '', -- where the work is
    records bigint NOT NULL DEFAULT 0,
    path text NOT NULL DEFAULT '', -- in the object store
    size_bytes bigint NOT NULL DEFAULT 0,
    touched_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL
);

CREATE UNIQUE INDEX exports_one_at_a_time ON exports (account_id) WHERE state IN ('waiting', 'running');
CREATE INDEX exports_of_account ON exports (account_id, id DESC);
CREATE INDEX exports_expiring ON exports (expires_at);
