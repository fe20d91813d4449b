-- name: lock_author
-- What one author does happens one after another: posts of a day, pins and the count of posts are exact.
SELECT id FROM accounts WHERE id = :author_id AND status = 'active' FOR NO KEY UPDATE;

-- name: find_by_key
-- What an earlier request with this key has made, and of what.
SELECT id, body_hash FROM posts WHERE author_id = :author_id AND idempotency_key = :idempotency_key;

-- name: count_recent
-- How many posts of the last day there are, up to the limit, and in how many seconds the oldest of them has aged.
SELECT count(*) AS posts,
       ceil(extract(epoch FROM shardwright.id_time(min(recent.id)) + interval '24 hours' - now()))::int AS wait_s
FROM (
    SELECT id FROM posts
    WHERE author_id = :author_id AND id >= shardwright.min_id_at(now() - interval '24 hours')
    ORDER BY id DESC LIMIT :most
) AS recent;

-- name: publish
-- The post itself.
INSERT INTO posts (author_id, caption, spans, hashtags, mention_ids, place_id, place_name, lat, lon,
                   comments_enabled, hides_like_count, idempotency_key, body_hash)
VALUES (:author_id, :caption, :spans, :hashtags::text[], :mention_ids::bigint[], :place_id, :place_name, :lat, :lon,
        :comments_enabled, :hides_like_count, :idempotency_key, :body_hash)
RETURNING id;

-- name: take_media
-- Turns uploads into parts of a post; what is foreign, expired, failed or already posted is not returned.
-- A clip may be posted while it is still converted: it shows its poster until then.
UPDATE media SET post_id = :post_id, expires_at = NULL
WHERE id = ANY(:media_ids::bigint[]) AND account_id = :author_id AND post_id IS NULL AND expires_at > now()
      AND state IN ('ready', 'processing')
RETURNING id;

-- name: add_post_media
-- The pictures in their order.
INSERT INTO post_media (post_id, position, media_id, alt_text)
SELECT :post_id, item.position, item.media_id, item.alt_text
FROM unnest(:media_ids::bigint[], :alt_texts::text[]) WITH ORDINALITY AS item (media_id, alt_text, position);

-- name: add_tags
-- Who is in which picture.
INSERT INTO post_tags (post_id, position, account_id, x, y)
SELECT :post_id, tag.position, tag.account_id, tag.x, tag.y
FROM unnest(:positions::int[], :account_ids::bigint[], :xs::real[], :ys::real[]) AS tag (position, account_id, x, y);

-- name: count_posts
-- The author's count of posts that are shown, in the same transaction.
UPDATE accounts SET post_count = post_count + :delta::int WHERE id = :author_id;

-- name: gather_posts
-- Whole posts by id, each with its pictures as JSON, from as many shards as they live on; deleted ones are gone.
SELECT p.id, p.author_id, p.caption, p.spans, p.hashtags, p.mention_ids, p.place_id, p.place_name, p.lat, p.lon,
       p.comments_enabled, p.hides_like_count, p.edited_at, p.pinned_at IS NOT NULL AS is_pinned,
       p.archived_at IS NOT NULL AS is_archived, p.hidden_at IS NOT NULL AS is_hidden,
       (SELECT json_agg(json_build_object(
            'media_id', m.id, 'folder', m.folder, 'type', m.type, 'state', m.state, 'width', m.width, 'height', m.height,
            'placeholder', m.placeholder, 'duration_ms', m.duration_ms, 'has_hls', m.has_hls, 'alt_text', pm.alt_text,
            'tagged', coalesce((
                SELECT json_agg(json_build_object('account_id', t.account_id, 'x', t.x, 'y', t.y) ORDER BY t.account_id)
                FROM post_tags AS t WHERE t.post_id = pm.post_id AND t.position = pm.position
            ), '[]'::json)) ORDER BY pm.position)
        FROM post_media AS pm JOIN media AS m ON m.id = pm.media_id WHERE pm.post_id = p.id)::text AS media
FROM posts AS p WHERE p.id = ANY(:ids::bigint[]) AND p.deleted_at IS NULL;

-- name: gather_counts
-- The numbers of posts, from as many shards as they live on.
SELECT id, like_count, comment_count, like_batch, counted_id FROM posts WHERE id = ANY(:ids::bigint[]);

-- name: page_of_author
-- What others may see of an author, newest first.
SELECT id FROM posts
WHERE author_id = :author_id AND id < :before
  AND archived_at IS NULL AND hidden_at IS NULL AND deleted_at IS NULL
ORDER BY id DESC LIMIT :limit;

-- name: page_of_profile hot
-- The grid of a profile: what is pinned (first page only), then the rest, newest first; and what the viewer likes of
-- it, which lies on the same shard.
SELECT p.id, p.pinned_at IS NOT NULL AS is_pinned,
       EXISTS (SELECT FROM likes AS l WHERE l.post_id = p.id AND l.account_id = :viewer_id::bigint) AS is_liked
FROM (
    (SELECT id, pinned_at FROM posts
     WHERE author_id = :author_id::bigint AND :is_first::boolean AND pinned_at IS NOT NULL
       AND archived_at IS NULL AND hidden_at IS NULL AND deleted_at IS NULL)
    UNION ALL
    (SELECT id, pinned_at FROM posts
     WHERE author_id = :author_id::bigint AND id < :before::bigint AND pinned_at IS NULL
       AND archived_at IS NULL AND hidden_at IS NULL AND deleted_at IS NULL
     ORDER BY id DESC LIMIT :limit::int)
) AS p ORDER BY p.pinned_at DESC NULLS LAST, p.id DESC LIMIT :limit::int;

-- name: page_archived
-- What an author has put away, newest first.
SELECT id FROM posts
WHERE author_id = :author_id AND id < :before AND archived_at IS NOT NULL AND deleted_at IS NULL
ORDER BY id DESC LIMIT :limit;

-- name: find_author
-- Whose post it is, deleted or not; decides whose lock to take before the post's own.
SELECT author_id FROM posts WHERE id = :post_id;

-- name: lock_post
-- How a post is now, kept so until the end of the transaction.
SELECT id, author_id, caption, spans, hashtags, mention_ids, place_id, place_name, lat, lon, comments_enabled,
       hides_like_count, pinned_at, archived_at, hidden_at, deleted_at
FROM posts WHERE id = :post_id AND deleted_at IS NULL FOR NO KEY UPDATE;

-- name: edit_post
-- New words, place and choices. The number orders this change among others of the post.
UPDATE posts SET caption = :caption, spans = :spans, hashtags = :hashtags::text[],
       mention_ids = :mention_ids::bigint[], place_id = :place_id, place_name = :place_name, lat = :lat, lon = :lon,
       comments_enabled = :comments_enabled, hides_like_count = :hides_like_count, edited_at = now()
WHERE id = :post_id RETURNING next_id() AS change_id;

-- name: list_post_media
-- The pictures of a post with their places in it.
SELECT media_id, position FROM post_media WHERE post_id = :post_id ORDER BY position;

-- name: edit_alt_text
-- What a picture shows, in words.
UPDATE post_media SET alt_text = :alt_text WHERE post_id = :post_id AND position = :position;

-- name: drop_tags
-- Nobody is in this picture, until new tags are added.
DELETE FROM post_tags WHERE post_id = :post_id AND position = :position;

-- name: list_tagged
-- Who is in the pictures of a post. Asked after the lock is had: a statement that waits for it sees what was before.
SELECT DISTINCT account_id FROM post_tags WHERE post_id = :post_id;

-- name: untag
-- Somebody does not want to be in the pictures.
DELETE FROM post_tags WHERE post_id = :post_id AND account_id = :account_id RETURNING position;

-- name: draw_change
-- The number that orders a change among others of the post, drawn under its lock.
SELECT next_id() AS change_id;

-- name: set_state
-- Where a post stands: shown, archived, hidden, deleted, pinned. The number orders this change among others of it.
UPDATE posts SET pinned_at = :pinned_at, archived_at = :archived_at, hidden_at = :hidden_at, deleted_at = :deleted_at
WHERE id = :post_id RETURNING next_id() AS change_id;

-- name: count_pinned
-- How many posts an author has pinned.
SELECT count(*) FROM posts WHERE author_id = :author_id AND pinned_at IS NOT NULL AND deleted_at IS NULL;

-- name: like
-- One row per (post, person): liking twice returns no row. The number is drawn after the row's lock is had, so that of
-- one person's changes the later has the larger.
INSERT INTO likes (post_id, account_id, liked_id)
SELECT id, :account_id, next_id() FROM posts WHERE id = :post_id AND deleted_at IS NULL
ON CONFLICT DO NOTHING RETURNING next_id() AS change_id;

-- name: unlike
-- Unliking twice returns no row.
DELETE FROM likes WHERE post_id = :post_id AND account_id = :account_id RETURNING next_id() AS change_id;

-- name: like_and_count
-- The same with the count, which moves with the row it counts. The second number tells which of two readings is newer.
WITH liked AS (
    INSERT INTO likes (post_id, account_id, liked_id)
    SELECT id, :account_id, next_id() FROM posts WHERE id = :post_id AND deleted_at IS NULL
    ON CONFLICT DO NOTHING RETURNING post_id, next_id() AS change_id
)
UPDATE posts AS p SET like_count = p.like_count + 1, counted_id = next_id() FROM liked WHERE p.id = liked.post_id
RETURNING liked.change_id, p.like_count, p.comment_count, p.like_batch, p.counted_id;

-- name: unlike_and_count
-- Likewise.
WITH unliked AS (
    DELETE FROM likes WHERE post_id = :post_id AND account_id = :account_id
    RETURNING post_id, next_id() AS change_id
)
UPDATE posts AS p SET like_count = p.like_count - 1, counted_id = next_id() FROM unliked WHERE p.id = unliked.post_id
RETURNING unliked.change_id, p.like_count, p.comment_count, p.like_batch, p.counted_id;

-- name: count_comments
-- Visible comments, moved by the transaction that changes them.
UPDATE posts SET comment_count = comment_count + :delta::int WHERE id = :post_id;

-- name: fold_likes
-- Adds a batch of buffered likes to the counts that do not hold it yet.
UPDATE posts AS p SET like_count = p.like_count + change.delta, like_batch = :batch
FROM unnest(:post_ids::bigint[], :deltas::int[]) AS change (post_id, delta)
WHERE p.id = change.post_id AND p.like_batch < :batch;

-- name: page_likers
-- Who liked a post, the latest first.
SELECT account_id, liked_id FROM likes WHERE post_id = :post_id AND liked_id < :before
ORDER BY liked_id DESC LIMIT :limit;

-- name: mirror_like
-- What a person likes, on their own shard. The newest change wins, however often and in whatever order they arrive;
-- nothing comes back for one who has left.
INSERT INTO own_likes (account_id, post_id, change_id, is_active)
SELECT a.id, :post_id, :change_id, :is_active FROM accounts AS a WHERE a.id = :account_id
ON CONFLICT (account_id, post_id) DO UPDATE SET change_id = excluded.change_id, is_active = excluded.is_active
WHERE own_likes.change_id < excluded.change_id;

-- name: which_liked hot
-- Those of the posts that a viewer likes, all from the viewer's own shard.
SELECT post_id FROM own_likes
WHERE account_id = :account_id::bigint AND post_id = ANY(:post_ids::bigint[]) AND is_active;

-- name: page_own_likes
-- What a person likes, the latest first.
SELECT post_id, change_id FROM own_likes
WHERE account_id = :account_id AND is_active AND change_id < :before
ORDER BY change_id DESC LIMIT :limit;

-- name: mirror_tag
-- The posts a person is in, on their own shard. The newest change wins.
INSERT INTO tagged_in (account_id, post_id, change_id, is_active)
SELECT a.id, :post_id, :change_id, :is_active FROM accounts AS a WHERE a.id = :account_id
ON CONFLICT (account_id, post_id) DO UPDATE SET change_id = excluded.change_id, is_active = excluded.is_active
WHERE tagged_in.change_id < excluded.change_id;

-- name: page_tagged_in
-- The posts a person is in, newest first.
SELECT post_id FROM tagged_in
WHERE account_id = :account_id AND is_active AND post_id < :before
ORDER BY post_id DESC LIMIT :limit;

-- name: list_purgeable
-- Posts deleted long enough ago.
SELECT id, author_id FROM posts WHERE deleted_at < now() - make_interval(days => :days::int)
ORDER BY deleted_at LIMIT :limit;

-- name: purge_likes
-- Likes of a post that goes for good.
DELETE FROM likes WHERE post_id = :post_id;

-- name: purge_tags
-- Tags of a post that goes for good.
DELETE FROM post_tags WHERE post_id = :post_id;

-- name: purge_post_media
-- Its pictures, whose ids the media room is told.
DELETE FROM post_media WHERE post_id = :post_id RETURNING media_id;

-- name: purge_post
-- The post itself, if it is still there.
DELETE FROM posts WHERE id = :post_id RETURNING id;

-- name: sweep_own_likes
-- Likes taken back long ago: no event about them can still be on its way.
DELETE FROM own_likes WHERE (account_id, post_id) IN (
    SELECT account_id, post_id FROM own_likes
    WHERE NOT is_active AND change_id < shardwright.min_id_at(now() - interval '30 days') LIMIT :limit
);

-- name: sweep_tagged_in
-- Tags removed long ago, likewise.
DELETE FROM tagged_in WHERE (account_id, post_id) IN (
    SELECT account_id, post_id FROM tagged_in
    WHERE NOT is_active AND change_id < shardwright.min_id_at(now() - interval '30 days') LIMIT :limit
);

-- name: page_of_all
-- Everything an author has here but what is deleted, oldest first, for an export.
SELECT id FROM posts WHERE author_id = :author_id AND id > :after AND deleted_at IS NULL ORDER BY id LIMIT :limit;

-- name: list_erasable
-- Some posts of one who leaves, in whatever state.
SELECT id FROM posts WHERE author_id = :author_id ORDER BY id LIMIT :limit;

-- name: list_own_likes
-- Some likes of one who leaves, taken back or not.
SELECT post_id, is_active FROM own_likes WHERE account_id = :account_id ORDER BY post_id LIMIT :limit;

-- name: forget_own_likes
-- They are gone where they counted; now their traces go.
DELETE FROM own_likes WHERE account_id = :account_id AND post_id = ANY(:post_ids::bigint[]);

-- name: list_tagged_in
-- Some posts that one who leaves is in.
SELECT post_id FROM tagged_in WHERE account_id = :account_id ORDER BY post_id LIMIT :limit;

-- name: forget_tagged_in
-- Likewise.
DELETE FROM tagged_in WHERE account_id = :account_id AND post_id = ANY(:post_ids::bigint[]);

-- name: count_left
-- What is left of one who leaves, on their own shard: it leads to whatever is left elsewhere.
SELECT (SELECT count(*) FROM posts WHERE author_id = :account_id)
     + (SELECT count(*) FROM own_likes WHERE account_id = :account_id)
     + (SELECT count(*) FROM tagged_in WHERE account_id = :account_id) AS left_over;

-- name: scan_likes
-- Stored and counted likes, a slice at a time.
SELECT p.id, p.like_count AS stored, (SELECT count(*) FROM likes AS l WHERE l.post_id = p.id) AS counted
FROM posts AS p WHERE p.id > :after ORDER BY p.id LIMIT :limit;

-- name: lock_counted_post
-- Likes that move the count wait for this lock too.
SELECT id FROM posts WHERE id = :id FOR NO KEY UPDATE;

-- name: recount_likes
-- The rows themselves.
SELECT count(*) FROM likes WHERE post_id = :id;

-- name: store_likes
-- What the recount said.
UPDATE posts SET like_count = :count::int WHERE id = :id;

-- name: scan_posts
-- Stored and counted posts of each author, a slice at a time.
SELECT a.id, a.post_count AS stored,
       (SELECT count(*) FROM posts AS p WHERE p.author_id = a.id
          AND p.archived_at IS NULL AND p.hidden_at IS NULL AND p.deleted_at IS NULL) AS counted
FROM accounts AS a WHERE a.id > :after ORDER BY a.id LIMIT :limit;

-- name: lock_counted_author
-- Posts that move the count wait for this lock too.
SELECT id FROM accounts WHERE id = :id FOR NO KEY UPDATE;

-- name: recount_posts
-- The rows themselves.
SELECT count(*) FROM posts
WHERE author_id = :id AND archived_at IS NULL AND hidden_at IS NULL AND deleted_at IS NULL;

-- name: store_posts
-- What the recount said.
UPDATE accounts SET post_count = :count::int WHERE id = :id;

-- name: gather_posts_of_media
-- The posts that show these pictures or clips.
SELECT DISTINCT post_id FROM media WHERE id = ANY(:ids::bigint[]) AND post_id IS NOT NULL;

-- name: list_popular
-- Posts of the last days that others may see, those with the most reactions first.
SELECT id, like_count + 2 * comment_count AS reactions FROM posts
WHERE id >= shardwright.min_id_at(now() - make_interval(days => :days::int))
  AND archived_at IS NULL AND hidden_at IS NULL AND deleted_at IS NULL
ORDER BY reactions DESC, id DESC LIMIT :limit;
