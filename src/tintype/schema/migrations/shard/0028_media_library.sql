-- What the library knows of each picture or clip: what it is, how far it is, where its files lie.
ALTER TABLE media
    ADD COLUMN type text NOT NULL DEFAULT 'image', -- image, video
    ADD COLUMN state text NOT NULL DEFAULT 'ready', -- processing, ready, failed, lost, deleted
    ADD COLUMN kind text NOT NULL DEFAULT 'post', -- post, avatar, story: how long others may keep a copy
    ADD COLUMN tier text NOT NULL DEFAULT 'hot', -- hot, warm, cold: the store that holds the files
    ADD COLUMN placeholder text,
    ADD COLUMN duration_ms integer,
    ADD COLUMN has_hls boolean NOT NULL DEFAULT false,
    ADD COLUMN progress smallint NOT NULL DEFAULT 100,
    ADD COLUMN error text NOT NULL DEFAULT '',
    ADD COLUMN keeps_location boolean NOT NULL DEFAULT false,
    ADD COLUMN ends_at timestamptz, -- a story's end
    ADD COLUMN changed_at timestamptz NOT NULL DEFAULT now();

-- Uploads under way: the bytes up to `received_bytes` are safe in the store, as the parts named here.
CREATE TABLE media_uploads (
    id bigint PRIMARY KEY, -- becomes the id of the media
    account_id bigint NOT NULL,
    size_bytes bigint NOT NULL,
    received_bytes bigint NOT NULL DEFAULT 0,
    parts text[] NOT NULL DEFAULT '{}',
    wish text NOT NULL DEFAULT '{}', -- what the uploader asked for: an edit, a kind
    metadata text NOT NULL DEFAULT '',
    is_direct boolean NOT NULL DEFAULT false, -- straight into the store, by a presigned address
    is_finished boolean NOT NULL DEFAULT false,
    expires_at timestamptz NOT NULL
);

CREATE INDEX media_uploads_expiring ON media_uploads (expires_at);
CREATE INDEX media_uploads_of_account ON media_uploads (account_id);
