-- name: take_media
-- Turns uploads into parts of a post; what is foreign, expired or already posted is not returned.
UPDATE media SET post_id = :post_id, expires_at = NULL
WHERE id = ANY(:media_ids::bigint[]) AND account_id = :author_id AND post_id IS NULL AND expires_at > now()
RETURNING id;

-- name: publish
-- A repeated idempotency key returns no row: the first request has made the post already.
INSERT INTO posts (author_id, caption, idempotency_key) VALUES (:author_id, :caption, :idempotency_key)
ON CONFLICT (author_id, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
RETURNING id;

-- name: find_by_key
-- What an earlier request with this key has made.
SELECT id FROM posts WHERE author_id = :author_id AND idempotency_key = :idempotency_key;

-- name: add_post_media
-- The pictures in their order.
INSERT INTO post_media (post_id, position, media_id, alt_text)
SELECT :post_id, item.position, item.media_id, item.alt_text
FROM unnest(:media_ids::bigint[], :alt_texts::text[]) WITH ORDINALITY AS item (media_id, alt_text, position);

-- name: count_post
-- The author's count, in the same transaction.
UPDATE accounts SET post_count = post_count + 1 WHERE id = :author_id;

-- name: gather_posts
-- Whole posts by id, each with its pictures as JSON, from as many shards as they live on.
SELECT p.id, p.author_id, p.caption, p.like_count, p.comment_count,
       (SELECT json_agg(json_build_object('media_id', m.id, 'folder', m.folder, 'width', m.width, 'height', m.height,
                                          'alt_text', pm.alt_text) ORDER BY pm.position)
        FROM post_media AS pm JOIN media AS m ON m.id = pm.media_id WHERE pm.post_id = p.id)::text AS media,
       EXISTS (SELECT 1 FROM likes AS l WHERE l.post_id = p.id AND l.account_id = :viewer_id::bigint) AS viewer_has_liked
FROM posts AS p WHERE p.id = ANY(:ids::bigint[]);

-- name: page_of_author
-- Newest first, a page at a time.
SELECT id FROM posts WHERE author_id = :author_id AND id < :before ORDER BY id DESC LIMIT :limit;

-- name: gather_recent
-- The newest posts of many authors, for a timeline that must be built from nothing.
SELECT recent.id
FROM unnest(:ids::bigint[]) AS author (id)
CROSS JOIN LATERAL (
    SELECT p.id FROM posts AS p WHERE p.author_id = author.id ORDER BY p.id DESC LIMIT :limit_each::int
) AS recent;

-- name: like
-- One row per (post, person): liking twice returns no row.
INSERT INTO likes (post_id, account_id) SELECT id, :account_id FROM posts WHERE id = :post_id
ON CONFLICT DO NOTHING RETURNING post_id;

-- name: unlike
-- Unliking twice returns no row.
DELETE FROM likes WHERE post_id = :post_id AND account_id = :account_id RETURNING post_id;

-- name: count_likes
-- The count moves with the row it counts, in one transaction.
UPDATE posts SET like_count = like_count + :delta::int WHERE id = :post_id;

-- name: has_post
-- Whether there is such a post.
SELECT id FROM posts WHERE id = :post_id;

-- name: count_comments
-- Visible comments, moved by the transaction that changes them.
UPDATE posts SET comment_count = comment_count + :delta::int WHERE id = :post_id;
