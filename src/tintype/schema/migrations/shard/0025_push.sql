-- Browsers that want to be told, with the keys that they alone can read with.
CREATE TABLE push_subscriptions (
    id bigint PRIMARY KEY DEFAULT next_id(),
    account_id bigint NOT NULL,
    session_id text NOT NULL, -- it ends with its session
    endpoint text NOT NULL,
    public_key bytea NOT NULL,
    auth_secret bytea NOT NULL,
    device text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE UNIQUE INDEX push_subscriptions_once ON push_subscriptions (account_id, endpoint);
