-- name: find_post_for_comment
-- The post's row is locked: its count moves with the comment, and of two equal comments the second sees the first.
SELECT id, author_id FROM posts WHERE id = :post_id FOR NO KEY UPDATE;

-- name: add_comment
-- A repeated idempotency key returns no row: the first request has made the comment already.
INSERT INTO comments (post_id, account_id, parent_id, root_id, depth, text, state, idempotency_key)
VALUES (:post_id, :account_id, :parent_id, :root_id, :depth, :text, :state, :idempotency_key)
ON CONFLICT (account_id, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
RETURNING id;

-- name: find_by_key
-- What an earlier request with this key has made.
SELECT id, post_id, text FROM comments WHERE account_id = :account_id AND idempotency_key = :idempotency_key;

-- name: find_repeated
-- The same words by the same person under the same post a moment ago.
SELECT id FROM comments
WHERE account_id = :account_id AND post_id = :post_id AND text = :text
  AND parent_id IS NOT DISTINCT FROM :parent_id AND state <> 'deleted'
  AND shardwright.id_time(id) > now() - make_interval(secs => :within_s::float8)
LIMIT 1;

-- name: find_post_of
-- Where a comment belongs, before anything is locked: the post's row is locked first, always.
SELECT c.post_id, c.account_id, p.author_id AS post_author_id
FROM comments AS c JOIN posts AS p ON p.id = c.post_id WHERE c.id = :comment_id;

-- name: lock_comment
-- One change of a comment at a time.
SELECT id, post_id, account_id, parent_id, root_id, depth, state, text FROM comments
WHERE id = :comment_id FOR NO KEY UPDATE;

-- name: load_comments
-- Comments as a viewer finds them, from one shard; pages below give the ids in their order.
SELECT c.id, c.post_id, c.account_id, c.parent_id, c.root_id, c.depth, c.text, c.state, c.like_count, c.thread_count,
       c.pinned_at IS NOT NULL AS is_pinned, parent.account_id AS parent_account_id,
       EXISTS (SELECT FROM comment_likes AS l
               WHERE l.comment_id = c.id AND l.account_id = :viewer_id::bigint) AS viewer_has_liked,
       EXISTS (SELECT FROM comments AS r WHERE r.parent_id = c.id) AS has_replies
FROM comments AS c LEFT JOIN comments AS parent ON parent.id = c.parent_id
WHERE c.id = ANY(:ids::bigint[]);

-- name: page_newest
-- Under a post itself, newest first.
SELECT id, like_count FROM comments
WHERE post_id = :post_id AND root_id IS NULL AND pinned_at IS NULL AND id < :before
ORDER BY id DESC LIMIT :limit;

-- name: page_oldest
-- Under a post itself, oldest first.
SELECT id, like_count FROM comments
WHERE post_id = :post_id AND root_id IS NULL AND pinned_at IS NULL AND id > :after
ORDER BY id LIMIT :limit;

-- name: page_top
-- Under a post itself, the most liked first; among equals the newest.
SELECT id, like_count FROM comments
WHERE post_id = :post_id AND root_id IS NULL AND pinned_at IS NULL
  AND (like_count, id) < (:likes_before::int, :before::bigint)
ORDER BY like_count DESC, id DESC LIMIT :limit;

-- name: list_pinned
-- What the post's author put on top.
SELECT id FROM comments
WHERE post_id = :post_id AND root_id IS NULL AND pinned_at IS NOT NULL ORDER BY pinned_at DESC;

-- name: page_thread
-- Every answer in a thread, oldest first: what is answered comes before its answers.
SELECT id, like_count FROM comments WHERE root_id = :root_id AND id > :after ORDER BY id LIMIT :limit;

-- name: page_kept_back
-- What waits for the post's author: held back by a word, or because its author is restricted.
SELECT id, like_count FROM comments
WHERE post_id = :post_id AND state IN ('filtered', 'waiting') AND id < :before ORDER BY id DESC LIMIT :limit;

-- name: set_state
-- Shows or hides a comment; the caller holds its lock.
UPDATE comments SET state = :state WHERE id = :comment_id;

-- name: blank_comment
-- A deleted comment that was answered stays as an empty place, nobody's.
UPDATE comments SET state = 'deleted', account_id = 0, text = '', pinned_at = NULL WHERE id = :comment_id;

-- name: drop_comment
-- A deleted comment that nobody answered goes.
DELETE FROM comments WHERE id = :comment_id AND NOT EXISTS (SELECT FROM comments AS r WHERE r.parent_id = :comment_id)
RETURNING parent_id;

-- name: drop_empty_place
-- An empty place goes with its last answer.
DELETE FROM comments
WHERE id = :comment_id AND state = 'deleted' AND NOT EXISTS (SELECT FROM comments AS r WHERE r.parent_id = :comment_id)
RETURNING parent_id;

-- name: drop_comment_likes
-- The likes go with their comments. Index rows of those who liked stay: they lead nowhere and go when their owner does.
DELETE FROM comment_likes WHERE comment_id = ANY(:ids::bigint[]);

-- name: count_thread
-- Visible answers, counted at the root of their thread.
UPDATE comments SET thread_count = thread_count + :delta::int WHERE id = :root_id;

-- name: like_comment
-- One row per (comment, person): liking twice returns no row.
INSERT INTO comment_likes (comment_id, account_id, change_id) VALUES (:comment_id, :account_id, next_id())
ON CONFLICT DO NOTHING RETURNING change_id;

-- name: unlike_comment
-- Unliking twice returns no row.
DELETE FROM comment_likes WHERE comment_id = :comment_id AND account_id = :account_id
RETURNING next_id() AS change_id;

-- name: count_comment_likes
-- The count moves with the row it counts, in one transaction.
UPDATE comments SET like_count = like_count + :delta::int WHERE id = :comment_id;

-- name: page_comment_likes
-- Who liked a comment, newest first.
SELECT account_id, change_id FROM comment_likes
WHERE comment_id = :comment_id AND change_id < :before ORDER BY change_id DESC LIMIT :limit;

-- name: pin_comment
-- On top of the post's comments.
UPDATE comments SET pinned_at = coalesce(pinned_at, now()) WHERE id = :comment_id;

-- name: unpin_comment
-- Back among the others.
UPDATE comments SET pinned_at = NULL WHERE id = :comment_id;

-- name: count_pinned
-- How many a post has on top, this one not counted.
SELECT count(*) FROM comments
WHERE post_id = :post_id AND root_id IS NULL AND pinned_at IS NOT NULL AND id <> :comment_id;

-- name: list_filters
-- The words somebody does not want to see.
SELECT word FROM comment_filters WHERE account_id = :account_id ORDER BY word;

-- name: drop_filters
-- The list is replaced as a whole.
DELETE FROM comment_filters WHERE account_id = :account_id;

-- name: add_filters
-- The new list.
INSERT INTO comment_filters (account_id, word) SELECT :account_id, word FROM unnest(:words::text[]) AS given (word);

-- name: note_own_comment
-- In the commenter's own index; a row that says "removed" stays so.
INSERT INTO own_comments (account_id, comment_id, post_id) VALUES (:account_id, :comment_id, :post_id)
ON CONFLICT DO NOTHING;

-- name: note_own_removal
-- Whether it was noted before or not: a late "added" must find it removed.
INSERT INTO own_comments (account_id, comment_id, post_id, is_removed) VALUES (:account_id, :comment_id, :post_id, true)
ON CONFLICT (account_id, comment_id) DO UPDATE SET is_removed = true, changed_at = now() WHERE NOT own_comments.is_removed;

-- name: note_own_like
-- The newest change wins, however often and in whatever order events arrive.
INSERT INTO own_comment_likes (account_id, comment_id, change_id, is_liked)
VALUES (:account_id, :comment_id, :change_id, :is_liked)
ON CONFLICT (account_id, comment_id) DO UPDATE
SET change_id = excluded.change_id, is_liked = excluded.is_liked, changed_at = now()
WHERE own_comment_likes.change_id < excluded.change_id;

-- name: page_own_comments
-- What somebody said, oldest first.
SELECT comment_id, post_id FROM own_comments
WHERE account_id = :account_id AND NOT is_removed AND comment_id > :after ORDER BY comment_id LIMIT :limit;

-- name: page_own_comment_likes
-- What somebody liked, oldest first.
SELECT comment_id, change_id FROM own_comment_likes
WHERE account_id = :account_id AND is_liked AND comment_id > :after ORDER BY comment_id LIMIT :limit;

-- name: drop_own_index
-- All rows of a person who leaves, removed ones as well.
WITH said AS (DELETE FROM own_comments WHERE account_id = :account_id RETURNING 1),
     liked AS (DELETE FROM own_comment_likes WHERE account_id = :account_id RETURNING 1),
     filtered AS (DELETE FROM comment_filters WHERE account_id = :account_id RETURNING 1)
SELECT (SELECT count(*) FROM said) + (SELECT count(*) FROM liked) + (SELECT count(*) FROM filtered) AS dropped;

-- name: count_own_index
-- What is left of a person here.
SELECT (SELECT count(*) FROM own_comments WHERE account_id = :account_id)
     + (SELECT count(*) FROM own_comment_likes WHERE account_id = :account_id)
     + (SELECT count(*) FROM comment_filters WHERE account_id = :account_id)
     + (SELECT count(*) FROM comments AS c JOIN posts AS p ON p.id = c.post_id WHERE p.author_id = :account_id) AS rows_left;

-- name: list_posts_with_comments
-- Posts of somebody under which something is still said.
SELECT DISTINCT c.post_id FROM comments AS c JOIN posts AS p ON p.id = c.post_id
WHERE p.author_id = :account_id LIMIT :limit;

-- name: list_under_posts
-- Comments under posts that go, answers before what they answer.
SELECT id FROM comments WHERE post_id = ANY(:post_ids::bigint[]) ORDER BY id DESC LIMIT :limit;

-- name: drop_with_post
-- Whole and without trace: the post is gone.
DELETE FROM comments WHERE id = ANY(:ids::bigint[]) RETURNING id, post_id, account_id;

-- name: sweep_own_comments
-- Removed rows that are too old for any late event.
DELETE FROM own_comments WHERE is_removed AND changed_at < now() - interval '14 days';

-- name: sweep_own_comment_likes
-- Likewise.
DELETE FROM own_comment_likes WHERE NOT is_liked AND changed_at < now() - interval '14 days';

-- name: gather_words
-- What was said, from as many shards as it lies on.
SELECT id, post_id, parent_id, text FROM comments WHERE id = ANY(:ids::bigint[]) AND state <> 'deleted';

-- name: scan_comments
-- Stored and counted comments, a slice of posts at a time.
SELECT p.id, p.comment_count AS stored,
       (SELECT count(*) FROM comments AS c WHERE c.post_id = p.id AND c.state = 'visible') AS counted
FROM posts AS p WHERE p.id > :after ORDER BY p.id LIMIT :limit;

-- name: recount_comments
-- The rows themselves; the post's row is locked, as every comment locks it.
SELECT count(*) FROM comments WHERE post_id = :id AND state = 'visible';

-- name: lock_counted_post
-- Whoever comments waits for this lock too.
SELECT id FROM posts WHERE id = :id FOR NO KEY UPDATE;

-- name: store_comments
-- What the recount said.
UPDATE posts SET comment_count = :count::int WHERE id = :id;
