-- no-transaction
-- waive: mixed-no-transaction because columns without a default are added at once, and IF NOT EXISTS lets it be repeated
-- A post's own time where it is not the time in its id (NULL: that one), and what names the imported item that a post was
-- made of, once per author. Walls are ordered by the own time; feeds, which are ordered by ids, leave imported posts out,
-- and so have an index without them. The topics of a post list it by its own time, too.
ALTER TABLE posts
    ADD COLUMN IF NOT EXISTS posted_at timestamptz,
    ADD COLUMN IF NOT EXISTS import_key text;

ALTER TABLE topic_posts ADD COLUMN IF NOT EXISTS posted_at timestamptz;

ALTER TABLE topics ADD COLUMN IF NOT EXISTS trimmed_at timestamptz;

CREATE UNIQUE INDEX CONCURRENTLY posts_imported ON posts (author_id, import_key) WHERE import_key IS NOT NULL;

CREATE INDEX CONCURRENTLY posts_wall ON posts (author_id, (coalesce(posted_at, shardwright.id_time(id))) DESC, id DESC)
    WHERE archived_at IS NULL AND hidden_at IS NULL AND deleted_at IS NULL;

CREATE INDEX CONCURRENTLY posts_archive ON posts (author_id, (coalesce(posted_at, shardwright.id_time(id))) DESC, id DESC)
    WHERE archived_at IS NOT NULL;

CREATE INDEX CONCURRENTLY posts_fed ON posts (author_id, id DESC)
    WHERE import_key IS NULL AND archived_at IS NULL AND hidden_at IS NULL AND deleted_at IS NULL;

CREATE INDEX CONCURRENTLY topic_posts_newest ON topic_posts
    (topic, (coalesce(posted_at, shardwright.id_time(post_id))) DESC, post_id DESC);

DROP INDEX CONCURRENTLY IF EXISTS posts_shown;

DROP INDEX CONCURRENTLY IF EXISTS posts_archived;
