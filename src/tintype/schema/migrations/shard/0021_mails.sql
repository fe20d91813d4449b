-- Mails to be sent, and the single-use secrets in them, as hashes. The secret itself is made again when it is sent.
CREATE TABLE mails (
    token_hash bytea PRIMARY KEY,
    account_id bigint NOT NULL,
    kind text NOT NULL, -- confirm_email, reset_password, password_changed, email_changed
    address text NOT NULL,
    nonce text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    sent_at timestamptz,
    used_at timestamptz
);

CREATE INDEX mails_of_account ON mails (account_id);
CREATE INDEX mails_ending ON mails (expires_at);
