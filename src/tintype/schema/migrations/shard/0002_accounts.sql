-- Accounts live where they were placed; a username lives where its hash puts it and points to its account.
CREATE TABLE accounts (
    id bigint PRIMARY KEY DEFAULT next_id(),
    username text NOT NULL,
    full_name text NOT NULL DEFAULT '',
    is_private boolean NOT NULL DEFAULT false,
    is_verified boolean NOT NULL DEFAULT false,
    password_hash text NOT NULL,
    post_count integer NOT NULL DEFAULT 0,
    follower_count integer NOT NULL DEFAULT 0,
    following_count integer NOT NULL DEFAULT 0
);

CREATE TABLE usernames (
    username text PRIMARY KEY,
    account_id bigint NOT NULL,
    claimed_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE sessions (
    token_hash bytea PRIMARY KEY,
    account_id bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL
);

CREATE INDEX sessions_of_account ON sessions (account_id);
