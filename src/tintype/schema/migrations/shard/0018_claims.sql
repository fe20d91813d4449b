-- What only one account may have besides its username: an address, a number, the look of a verified name.
-- A claim lives where its key's hash puts it and counts for as long as the account itself agrees with it.
CREATE TABLE claims (
    key text PRIMARY KEY, -- kind:hash
    account_id bigint NOT NULL,
    claimed_at timestamptz NOT NULL DEFAULT now()
);

-- A name somebody gave up stays theirs for a while, so that nobody can step into their shoes.
CREATE TABLE former_usernames (
    account_id bigint NOT NULL,
    username text NOT NULL,
    kept_until timestamptz NOT NULL,
    PRIMARY KEY (account_id, username)
);

CREATE INDEX former_usernames_ending ON former_usernames (kept_until);
