-- What a post says and allows beyond its caption, and the states it can be in.
ALTER TABLE posts
    ADD COLUMN spans text NOT NULL DEFAULT '[]', -- JSON: where hashtags and mentions stand in the caption
    ADD COLUMN hashtags text[] NOT NULL DEFAULT '{}', -- case-folded
    ADD COLUMN mention_ids bigint[] NOT NULL DEFAULT '{}',
    ADD COLUMN place_id text,
    ADD COLUMN place_name text,
    ADD COLUMN lat double precision,
    ADD COLUMN lon double precision,
    ADD COLUMN comments_enabled boolean NOT NULL DEFAULT true,
    ADD COLUMN hides_like_count boolean NOT NULL DEFAULT false,
    ADD COLUMN edited_at timestamptz,
    ADD COLUMN pinned_at timestamptz,
    ADD COLUMN archived_at timestamptz,
    ADD COLUMN hidden_at timestamptz, -- by a moderator
    ADD COLUMN deleted_at timestamptz, -- purged some weeks later
    ADD COLUMN like_batch bigint NOT NULL DEFAULT 0, -- the last batch of buffered likes that the count holds
    ADD COLUMN counted_id bigint NOT NULL DEFAULT 0, -- drawn when the count of likes last moved with a like
    ADD COLUMN body_hash bytea; -- of the request that an idempotency key came with
