-- Leadership and the runs of scheduled work; used on the shard that the key "schedules" hashes to.
CREATE TABLE leases (
    name text PRIMARY KEY,
    holder text NOT NULL,
    expires_at timestamptz NOT NULL
);

CREATE TABLE schedules (
    name text PRIMARY KEY,
    started_at timestamptz NOT NULL,
    ended_at timestamptz,
    error text NOT NULL DEFAULT ''
);
