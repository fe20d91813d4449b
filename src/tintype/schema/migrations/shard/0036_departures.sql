-- Somebody's wish to leave, with them; it may be taken back until the work begins.
CREATE TABLE departures (
    account_id bigint PRIMARY KEY,
    requested_at timestamptz NOT NULL DEFAULT now(),
    due_at timestamptz NOT NULL,
    started_at timestamptz,
    touched_at timestamptz NOT NULL DEFAULT now(),
    room text NOT NULL DEFAULT '', -- where the work is
    erased bigint NOT NULL DEFAULT 0
);

CREATE INDEX departures_due ON departures (due_at);

-- The proof that somebody left and that nothing was kept; the id alone says nothing about a person.
CREATE TABLE departed (
    account_id bigint PRIMARY KEY,
    departed_at timestamptz NOT NULL DEFAULT now(),
    erased bigint NOT NULL
);
