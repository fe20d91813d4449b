-- With the sender: files that their device has encrypted, in the object store, for one message each.
CREATE TABLE encrypted_attachments (
    id bigint NOT NULL PRIMARY KEY DEFAULT next_id(),
    account_id bigint NOT NULL,
    path text NOT NULL,
    size_bytes bigint NOT NULL,
    thread_id bigint, -- null until a message takes it
    local_id text,
    is_sent boolean NOT NULL DEFAULT false,
    is_deleted boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX encrypted_attachments_of_account ON encrypted_attachments (account_id, id);
CREATE INDEX encrypted_attachments_unsettled ON encrypted_attachments (created_at) WHERE is_deleted OR NOT is_sent;

-- With the person: the backup of what their devices have read, encrypted under a key that only a passphrase opens.
CREATE TABLE encryption_backups (
    account_id bigint NOT NULL PRIMARY KEY,
    version bigint NOT NULL, -- grows when the key is replaced; parts belong to one version
    header bytea NOT NULL, -- how the key is derived from the passphrase, and the wrapped key
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE encryption_backup_parts (
    account_id bigint NOT NULL,
    name text NOT NULL,
    backup_version bigint NOT NULL,
    version bigint NOT NULL, -- grows with each write: two devices that write at once notice
    content bytea NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, name)
);
