-- no-transaction
-- The lists that pages are read from: what is shown, archived, pinned, what waits to be purged, who liked last.
CREATE INDEX CONCURRENTLY posts_shown ON posts (author_id, id DESC)
WHERE archived_at IS NULL AND hidden_at IS NULL AND deleted_at IS NULL;

CREATE INDEX CONCURRENTLY posts_archived ON posts (author_id, id DESC) WHERE archived_at IS NOT NULL;

CREATE INDEX CONCURRENTLY posts_pinned ON posts (author_id) WHERE pinned_at IS NOT NULL;

CREATE INDEX CONCURRENTLY posts_deleted ON posts (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE INDEX CONCURRENTLY likes_newest ON likes (post_id, liked_id DESC);
