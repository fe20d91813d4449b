-- End-to-end encrypted threads (MLS, RFC 9420): devices and their key packages with the person; the tree, commits and ciphertexts
-- with the thread.
ALTER TABLE threads ADD COLUMN is_encrypted boolean DEFAULT false NOT NULL;
ALTER TABLE threads ADD COLUMN group_number integer DEFAULT 0 NOT NULL; -- how many MLS groups the thread has had; the last is in use
ALTER TABLE threads ADD COLUMN epoch bigint DEFAULT 0 NOT NULL; -- of that group: one more with each commit

ALTER TABLE messages ADD COLUMN ciphertext bytea; -- of the kinds encrypted and encrypted_change, whose text is empty
ALTER TABLE messages ADD COLUMN epoch bigint;
ALTER TABLE messages ADD COLUMN sender_device_id bigint;

CREATE TABLE encryption_devices (
    id bigint NOT NULL PRIMARY KEY DEFAULT next_id(),
    account_id bigint NOT NULL,
    session_id bigint NOT NULL, -- the device goes when this session ends
    name text NOT NULL,
    signature_key bytea NOT NULL,
    seen_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX encryption_devices_of_account ON encryption_devices (account_id, id);
CREATE INDEX encryption_devices_by_age ON encryption_devices (seen_at);

-- Each is handed out once; the one of last resort stays until its device replaces it.
CREATE TABLE key_packages (
    id bigint NOT NULL PRIMARY KEY DEFAULT next_id(),
    account_id bigint NOT NULL,
    device_id bigint NOT NULL,
    content bytea NOT NULL,
    is_last_resort boolean NOT NULL,
    expires_at timestamptz NOT NULL
);

CREATE INDEX key_packages_of_device ON key_packages (device_id, is_last_resort, id);
CREATE INDEX key_packages_of_account ON key_packages (account_id);
CREATE INDEX key_packages_expiring ON key_packages (expires_at);

-- The leaves of the ratchet tree of a thread's group: which device is where.
CREATE TABLE thread_leaves (
    thread_id bigint NOT NULL,
    leaf_index integer NOT NULL,
    account_id bigint NOT NULL, -- 0: of somebody whose account was erased
    device_id bigint NOT NULL,
    signature_key bytea NOT NULL,
    added_epoch bigint NOT NULL, -- the device reads from this epoch on
    is_removed boolean NOT NULL DEFAULT false, -- the device is gone: the next commit removes the leaf
    PRIMARY KEY (thread_id, leaf_index)
);

CREATE UNIQUE INDEX thread_leaves_of_device ON thread_leaves (thread_id, device_id) WHERE device_id <> 0;

-- Commits in their order, one per epoch, each with the welcome for the devices that it adds.
CREATE TABLE thread_commits (
    thread_id bigint NOT NULL,
    group_number integer NOT NULL,
    epoch bigint NOT NULL, -- in which it was made; it begins the next one
    account_id bigint NOT NULL, -- 0: of somebody whose account was erased
    device_id bigint NOT NULL,
    number bigint NOT NULL, -- of the last message before it
    content bytea NOT NULL,
    proposals bytea[] NOT NULL, -- of others, which it takes up by reference
    welcome bytea,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (thread_id, group_number, epoch)
);

CREATE INDEX thread_commits_by_age ON thread_commits (created_at);

-- Removals that people proposed when they left: the next commit takes them up.
CREATE TABLE thread_proposals (
    thread_id bigint NOT NULL,
    leaf_index integer NOT NULL,
    epoch bigint NOT NULL,
    reference bytea NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (thread_id, leaf_index)
);
