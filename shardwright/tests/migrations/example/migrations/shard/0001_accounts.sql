-- People, and how they may feel.
CREATE TYPE mood AS ENUM ('calm', 'loud');
CREATE DOMAIN username AS text CONSTRAINT username_shape CHECK (VALUE ~ '^[a-z0-9_]{1,30}$');

CREATE TABLE accounts (
    id bigint PRIMARY KEY DEFAULT next_id(),
    username username NOT NULL,
    mood mood DEFAULT 'calm',
    "order" integer NOT NULL DEFAULT 0,
    made_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (username)
);
COMMENT ON TABLE accounts IS 'One row per person; it''s the tenant.';
COMMENT ON COLUMN accounts.mood IS 'How they feel.';
