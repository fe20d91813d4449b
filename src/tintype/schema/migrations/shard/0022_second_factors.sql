-- Proofs beyond the password: codes of an authenticator app, codes on paper, passkeys.
CREATE TABLE totp (
    account_id bigint PRIMARY KEY,
    secret bytea NOT NULL, -- encrypted
    confirmed_at timestamptz,
    last_step bigint NOT NULL DEFAULT 0 -- the newest code that was used: none is taken twice
);

CREATE TABLE recovery_codes (
    account_id bigint NOT NULL,
    code_hash bytea NOT NULL,
    used_at timestamptz,
    PRIMARY KEY (account_id, code_hash)
);

CREATE TABLE passkeys (
    account_id bigint NOT NULL,
    credential_id bytea NOT NULL,
    id bigint NOT NULL DEFAULT next_id(),
    public_key bytea NOT NULL,
    sign_count bigint NOT NULL,
    name text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz,
    PRIMARY KEY (account_id, credential_id)
);

-- Questions we asked and that may be answered once: by a passkey, or with a second factor. By hash of the question.
CREATE TABLE challenges (
    challenge text PRIMARY KEY,
    purpose text NOT NULL,
    account_id bigint, -- null: whoever answers it
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL
);

CREATE INDEX challenges_ending ON challenges (expires_at);
