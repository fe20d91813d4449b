-- name: comment_at_once hot
-- A comment in one call, if nothing holds it back: the row, the count of the post and the event, under the post's lock.
--
-- No row: there is no post that this person may see (graph's rules `may_see_content` and `may_see_post`, whose facts are
-- all on the author's shard). No `comment_id`: the caller has to decide, by what is returned: the author of the post takes
-- no comments, filters words or has restricted this person; the comment replies to another (`may_add` is false); or the
-- lock must be taken first, because the key was used, the same text was posted within this time, or another comment came in
-- between: the post's row is written with every comment, so only if this statement locked it in the very version that its
-- snapshot has (`held`), no comment was missed.
WITH post AS (
    SELECT p.id, p.author_id, p.comments_enabled,
           EXISTS (SELECT FROM attitudes AS t
                   WHERE t.account_id = p.author_id AND t.target_id = :account_id AND t.restricts) AS is_restricted,
           ARRAY(SELECT f.word FROM comment_filters AS f WHERE f.account_id = p.author_id ORDER BY f.word) AS filters
    FROM posts AS p JOIN accounts AS a ON a.id = p.author_id
    WHERE p.id = :post_id::bigint AND p.deleted_at IS NULL
      AND (p.author_id = :account_id::bigint
           OR (p.archived_at IS NULL AND p.hidden_at IS NULL AND a.status = 'active'
               AND NOT EXISTS (SELECT FROM blocks AS b WHERE b.account_id = a.id AND b.blocked_id = :account_id)
               AND NOT EXISTS (SELECT FROM blocked_by AS b
                               WHERE b.account_id = a.id AND b.blocker_id = :account_id AND b.is_active)
               AND (NOT a.is_private
                    OR EXISTS (SELECT FROM followers AS f
                               WHERE f.account_id = a.id AND f.follower_id = :account_id AND f.is_active))))
), locked AS (
    SELECT p.id, p.xmin AS version FROM posts AS p
    WHERE p.id = (SELECT post.id FROM post
                  WHERE :may_add::boolean
                    AND (post.author_id = :account_id
                         OR (post.comments_enabled AND NOT post.is_restricted AND post.filters = '{}')))
    FOR NO KEY UPDATE
), held AS (
    SELECT l.id FROM locked AS l JOIN posts AS p ON p.id = l.id AND p.xmin = l.version
), added AS (
    INSERT INTO comments (post_id, account_id, depth, text, state, idempotency_key)
    SELECT h.id, :account_id, 0, :text::text, 'visible', :idempotency_key::text FROM held AS h
    WHERE NOT EXISTS (SELECT FROM comments AS c
                      WHERE c.account_id = :account_id AND c.post_id = :post_id AND c.text = :text
                        AND c.parent_id IS NULL AND c.state <> 'deleted'
                        AND shardwright.id_time(c.id) > now() - make_interval(secs => :within_s::float8))
    ON CONFLICT (account_id, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
    RETURNING id
), counted AS (
    UPDATE posts AS p SET comment_count = p.comment_count + 1 FROM added WHERE p.id = :post_id
), announced AS (
    INSERT INTO common.outbox (event, payload, request_id)
    SELECT :event::text, convert_to(:payload::text || added.id || ',"post_author_id":' || post.author_id || '}', 'UTF8'),
           :request_id::text
    FROM added CROSS JOIN post
)
SELECT post.author_id, post.comments_enabled, post.is_restricted, post.filters, added.id AS comment_id
FROM post LEFT JOIN added ON true;

-- name: like_comment_at_once hot
-- A like of a comment in one call: the row, the count and the event; liking twice returns no row.
WITH locked AS (
    SELECT id, post_id, account_id FROM comments WHERE id = :comment_id::bigint FOR NO KEY UPDATE
), liked AS (
    INSERT INTO comment_likes (comment_id, account_id, change_id)
    SELECT l.id, :account_id::bigint, next_id() FROM locked AS l
    ON CONFLICT DO NOTHING RETURNING change_id
), counted AS (
    UPDATE comments AS c SET like_count = c.like_count + 1 FROM liked WHERE c.id = :comment_id
), announced AS (
    INSERT INTO common.outbox (event, payload, request_id)
    SELECT :event::text, convert_to(:payload::text || liked.change_id || ',"post_id":' || l.post_id
                                    || ',"comment_author_id":' || l.account_id || '}', 'UTF8'), :request_id::text
    FROM liked CROSS JOIN locked AS l
)
SELECT liked.change_id FROM liked;

-- name: unlike_comment_at_once hot
-- Takes a like of a comment back in one call; unliking twice returns no row.
WITH locked AS (
    SELECT id, post_id, account_id FROM comments WHERE id = :comment_id::bigint FOR NO KEY UPDATE
), unliked AS (
    DELETE FROM comment_likes AS c USING locked AS l WHERE c.comment_id = l.id AND c.account_id = :account_id::bigint
    RETURNING next_id() AS change_id
), counted AS (
    UPDATE comments AS c SET like_count = c.like_count - 1 FROM unliked WHERE c.id = :comment_id
), announced AS (
    INSERT INTO common.outbox (event, payload, request_id)
    SELECT :event::text, convert_to(:payload::text || unliked.change_id || ',"post_id":' || l.post_id
                                    || ',"comment_author_id":' || l.account_id || '}', 'UTF8'), :request_id::text
    FROM unliked CROSS JOIN locked AS l
)
SELECT unliked.change_id FROM unliked;

-- name: add_comment
-- A repeated idempotency key returns no row: an earlier request has added the comment.
INSERT INTO comments (post_id, account_id, parent_id, root_id, depth, text, state, idempotency_key)
VALUES (:post_id, :account_id, :parent_id, :root_id, :depth, :text, :state, :idempotency_key)
ON CONFLICT (account_id, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
RETURNING id;

-- name: find_by_key
-- The comment of an earlier request with this idempotency key.
SELECT id, post_id, text FROM comments WHERE account_id = :account_id AND idempotency_key = :idempotency_key;

-- name: find_repeated
-- The same text by the same person under the same post a moment ago.
SELECT id FROM comments
WHERE account_id = :account_id AND post_id = :post_id AND text = :text
  AND parent_id IS NOT DISTINCT FROM :parent_id AND state <> 'deleted'
  AND shardwright.id_time(id) > now() - make_interval(secs => :within_s::float8)
LIMIT 1;

-- name: find_post_of
-- A comment and its post, read before anything is locked: the post's row is always locked first.
SELECT c.post_id, c.account_id, c.text, p.author_id AS post_author_id
FROM comments AS c JOIN posts AS p ON p.id = c.post_id WHERE c.id = :comment_id;

-- name: lock_comment
-- Reads a comment and locks it until the end of the transaction.
SELECT id, post_id, account_id, parent_id, root_id, depth, state, text FROM comments
WHERE id = :comment_id FOR NO KEY UPDATE;

-- name: load_comments
-- Comments as a viewer sees them, from one shard; the pages below give the ids in their order.
SELECT c.id, c.post_id, c.account_id, c.parent_id, c.root_id, c.depth, c.text, c.state, c.like_count, c.thread_count,
       c.pinned_at IS NOT NULL AS is_pinned, parent.account_id AS parent_account_id,
       EXISTS (SELECT FROM comment_likes AS l
               WHERE l.comment_id = c.id AND l.account_id = :viewer_id::bigint) AS viewer_has_liked,
       EXISTS (SELECT FROM comments AS r WHERE r.parent_id = c.id) AS has_replies
FROM comments AS c LEFT JOIN comments AS parent ON parent.id = c.parent_id
WHERE c.id = ANY(:ids::bigint[]);

-- name: page_newest
-- Comments under a post without replies, newest first.
SELECT id, like_count FROM comments
WHERE post_id = :post_id AND root_id IS NULL AND pinned_at IS NULL AND id < :before
ORDER BY id DESC LIMIT :limit;

-- name: page_oldest
-- Comments under a post without replies, oldest first.
SELECT id, like_count FROM comments
WHERE post_id = :post_id AND root_id IS NULL AND pinned_at IS NULL AND id > :after
ORDER BY id LIMIT :limit;

-- name: page_top
-- Comments under a post without replies, the most liked first; among equals the newest.
SELECT id, like_count FROM comments
WHERE post_id = :post_id AND root_id IS NULL AND pinned_at IS NULL
  AND (like_count, id) < (:likes_before::int, :before::bigint)
ORDER BY like_count DESC, id DESC LIMIT :limit;

-- name: list_pinned
-- Comments that the post's author has pinned.
SELECT id FROM comments
WHERE post_id = :post_id AND root_id IS NULL AND pinned_at IS NOT NULL ORDER BY pinned_at DESC;

-- name: page_thread
-- All replies of a thread, oldest first: a reply comes after what it replies to.
SELECT id, like_count FROM comments WHERE root_id = :root_id AND id > :after ORDER BY id LIMIT :limit;

-- name: page_held_back
-- Comments that wait for the post's author: held back by a word filter, or because their author is restricted.
SELECT id, like_count FROM comments
WHERE post_id = :post_id AND state IN ('filtered', 'waiting') AND id < :before ORDER BY id DESC LIMIT :limit;

-- name: set_state
-- Shows or hides a comment that the caller has locked.
UPDATE comments SET state = :state WHERE id = :comment_id;

-- name: make_placeholder
-- A deleted comment that has replies becomes a placeholder without text or author.
UPDATE comments SET state = 'deleted', account_id = 0, text = '', pinned_at = NULL WHERE id = :comment_id;

-- name: delete_comment
-- Deletes a comment that has no replies.
DELETE FROM comments WHERE id = :comment_id AND NOT EXISTS (SELECT FROM comments AS r WHERE r.parent_id = :comment_id)
RETURNING parent_id;

-- name: delete_placeholder
-- Deletes a placeholder that has no replies left.
DELETE FROM comments
WHERE id = :comment_id AND state = 'deleted' AND NOT EXISTS (SELECT FROM comments AS r WHERE r.parent_id = :comment_id)
RETURNING parent_id;

-- name: delete_comment_likes
-- Deletes the likes of comments. Rows in the likers' index stay: they lead nowhere, and are erased with their owner.
DELETE FROM comment_likes WHERE comment_id = ANY(:ids::bigint[]);

-- name: change_thread_count
-- Visible replies, counted at the root of their thread.
UPDATE comments SET thread_count = thread_count + :by::int WHERE id = :root_id;

-- name: page_comment_likes
-- Who liked a comment, the latest first.
SELECT account_id, change_id FROM comment_likes
WHERE comment_id = :comment_id AND change_id < :before ORDER BY change_id DESC LIMIT :limit;

-- name: pin_comment
-- Pins a comment to the top of the post's comments.
UPDATE comments SET pinned_at = coalesce(pinned_at, now()) WHERE id = :comment_id;

-- name: unpin_comment
-- Unpins a comment.
UPDATE comments SET pinned_at = NULL WHERE id = :comment_id;

-- name: count_pinned
-- How many other comments of a post are pinned.
SELECT count(*) FROM comments
WHERE post_id = :post_id AND root_id IS NULL AND pinned_at IS NOT NULL AND id <> :comment_id;

-- name: list_filters
-- The words an account filters.
SELECT word FROM comment_filters WHERE account_id = :account_id ORDER BY word;

-- name: delete_filters
-- Deletes the list, which is always replaced as a whole.
DELETE FROM comment_filters WHERE account_id = :account_id;

-- name: add_filters
-- Adds the new list.
INSERT INTO comment_filters (account_id, word) SELECT :account_id, word FROM unnest(:words::text[]) AS given (word);

-- name: index_comments hot
-- Adds comments to their authors' indexes; a row that says it is removed stays so.
INSERT INTO own_comments (account_id, comment_id, post_id)
SELECT given.account_id, given.comment_id, given.post_id
FROM unnest(:account_ids::bigint[], :comment_ids::bigint[], :post_ids::bigint[]) AS given (account_id, comment_id, post_id)
ON CONFLICT DO NOTHING;

-- name: index_removal
-- Marks a comment as removed, indexed or not: an event of its addition that arrives later must find it removed.
INSERT INTO own_comments (account_id, comment_id, post_id, is_removed) VALUES (:account_id, :comment_id, :post_id, true)
ON CONFLICT (account_id, comment_id) DO UPDATE SET is_removed = true, changed_at = now() WHERE NOT own_comments.is_removed;

-- name: index_likes
-- The newest change wins, however often and in whatever order events arrive; each comment is given once per person.
INSERT INTO own_comment_likes (account_id, comment_id, change_id, is_liked)
SELECT given.account_id, given.comment_id, given.change_id, given.is_liked
FROM unnest(:account_ids::bigint[], :comment_ids::bigint[], :change_ids::bigint[], :are_liked::boolean[])
     AS given (account_id, comment_id, change_id, is_liked)
ORDER BY given.account_id, given.comment_id
ON CONFLICT (account_id, comment_id) DO UPDATE
SET change_id = excluded.change_id, is_liked = excluded.is_liked, changed_at = now()
WHERE own_comment_likes.change_id < excluded.change_id;

-- name: page_own_comments
-- A person's comments, oldest first.
SELECT comment_id, post_id FROM own_comments
WHERE account_id = :account_id AND NOT is_removed AND comment_id > :after ORDER BY comment_id LIMIT :limit;

-- name: page_own_comment_likes
-- The comments a person likes, oldest first.
SELECT comment_id, change_id FROM own_comment_likes
WHERE account_id = :account_id AND is_liked AND comment_id > :after ORDER BY comment_id LIMIT :limit;

-- name: erase_index
-- Deletes all index rows and filters of a person, rows of removed comments as well.
WITH said AS (DELETE FROM own_comments WHERE account_id = :account_id RETURNING 1),
     liked AS (DELETE FROM own_comment_likes WHERE account_id = :account_id RETURNING 1),
     filtered AS (DELETE FROM comment_filters WHERE account_id = :account_id RETURNING 1)
SELECT (SELECT count(*) FROM said) + (SELECT count(*) FROM liked) + (SELECT count(*) FROM filtered) AS erased;

-- name: count_left
-- How many rows of a person are left in this room, those under their posts included.
SELECT (SELECT count(*) FROM own_comments WHERE account_id = :account_id)
     + (SELECT count(*) FROM own_comment_likes WHERE account_id = :account_id)
     + (SELECT count(*) FROM comment_filters WHERE account_id = :account_id)
     + (SELECT count(*) FROM comments AS c JOIN posts AS p ON p.id = c.post_id WHERE p.author_id = :account_id) AS rows_left;

-- name: list_posts_with_comments
-- Posts of a person that still have comments.
SELECT DISTINCT c.post_id FROM comments AS c JOIN posts AS p ON p.id = c.post_id
WHERE p.author_id = :account_id LIMIT :limit;

-- name: list_under_posts
-- Comments under posts that are erased or purged, replies before what they reply to.
SELECT id FROM comments WHERE post_id = ANY(:post_ids::bigint[]) ORDER BY id DESC LIMIT :limit;

-- name: delete_with_post
-- Deletes comments without placeholders: their post is gone.
DELETE FROM comments WHERE id = ANY(:ids::bigint[]) RETURNING id, post_id, account_id;

-- name: sweep_own_comments
-- Index rows of comments removed so long ago that no event about them can still be under way.
DELETE FROM own_comments WHERE is_removed AND changed_at < now() - interval '14 days';

-- name: sweep_own_comment_likes
-- Index rows of likes taken back so long ago that no event about them can still be under way.
DELETE FROM own_comment_likes WHERE NOT is_liked AND changed_at < now() - interval '14 days';

-- name: gather_texts
-- The text of comments, from all the shards they lie on.
SELECT id, post_id, parent_id, text FROM comments WHERE id = ANY(:ids::bigint[]) AND state <> 'deleted';

-- name: scan_comment_counts
-- Stored and actual comments per post, a batch at a time.
SELECT p.id, p.comment_count AS stored,
       (SELECT count(*) FROM comments AS c WHERE c.post_id = p.id AND c.state = 'visible') AS counted
FROM posts AS p WHERE p.id > :after ORDER BY p.id LIMIT :limit;

-- name: recount_comments
-- The actual number of visible comments; the post's row is locked, as by everybody who comments.
SELECT count(*) FROM comments WHERE post_id = :id AND state = 'visible';
