-- A session has a name for its owner, a time it was last used and proved, and, when a program holds it, scopes.
ALTER TABLE sessions
    ADD COLUMN id bigint,
    ADD COLUMN name text NOT NULL DEFAULT '',
    ADD COLUMN scopes text[], -- null: a session made by signing in, which may do everything
    ADD COLUMN last_seen_at timestamptz NOT NULL DEFAULT now(),
    ADD COLUMN renewed_at timestamptz NOT NULL DEFAULT now(),
    ADD COLUMN proved_at timestamptz, -- when its holder last proved who they are
    ADD COLUMN is_replaced boolean NOT NULL DEFAULT false; -- exchanged for a newer token, valid for a moment more

ALTER TABLE sessions ALTER COLUMN id SET DEFAULT next_id();

UPDATE sessions SET id = next_id() WHERE id IS NULL;
