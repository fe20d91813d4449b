-- name: gather_recent
-- The newest posts of many authors that others may see (graph's rule `may_see_post`), without imported ones, and who of them is a celebrity, in
-- one snapshot of each shard: posts that are missing here were committed later, and whoever becomes a celebrity later is
-- marked on the timeline that is being built.
SELECT author.id AS author_id,
       EXISTS (SELECT FROM feed_stars AS s WHERE s.account_id = author.id) AS is_celebrity,
       ARRAY(
           SELECT p.id FROM posts AS p
           WHERE p.author_id = author.id AND p.id > :above::bigint AND p.import_key IS NULL
             AND p.archived_at IS NULL AND p.hidden_at IS NULL AND p.deleted_at IS NULL
           ORDER BY p.id DESC LIMIT :limit_each::int
       ) AS posts
FROM unnest(:ids::bigint[]) AS author (id);

-- name: find_celebrity_status
-- An author's follower count, and whether the author is a celebrity.
SELECT a.follower_count, s.change_id, coalesce(s.is_settled, false) AS is_settled
FROM accounts AS a LEFT JOIN feed_stars AS s ON s.account_id = a.id WHERE a.id = :account_id;

-- name: gather_fan_out_targets hot
-- The celebrity status of many authors and their first followers, in one snapshot of each shard.
SELECT a.id AS author_id, a.is_private, a.follower_count, s.change_id, coalesce(s.is_settled, false) AS is_settled,
       CASE WHEN NOT coalesce(s.is_settled, false) THEN ARRAY(
           SELECT f.follower_id FROM followers AS f
           WHERE f.account_id = a.id AND f.is_active ORDER BY f.follower_id LIMIT :limit_each::int
       ) END AS followers
FROM accounts AS a LEFT JOIN feed_stars AS s ON s.account_id = a.id WHERE a.id = ANY(:ids::bigint[]);

-- name: add_celebrity
-- An author becomes a celebrity, or starts again because marking the timelines was never finished. An erased account gets
-- no row, and of many who try at once only one does.
INSERT INTO feed_stars (account_id) SELECT a.id FROM accounts AS a WHERE a.id = :account_id
ON CONFLICT (account_id) DO UPDATE SET change_id = next_id()
WHERE feed_stars.change_id = :expected::bigint AND NOT feed_stars.is_settled
RETURNING change_id;

-- name: settle_celebrity
-- Every timeline is marked, if the row is still the same.
UPDATE feed_stars SET is_settled = true WHERE account_id = :account_id AND change_id = :change_id;

-- name: remove_celebrity
-- An author has too few followers to be a celebrity, if the row is still the same.
DELETE FROM feed_stars WHERE account_id = :account_id AND change_id = :change_id;

-- name: erase_celebrity
-- Part of the erasure of an account.
DELETE FROM feed_stars WHERE account_id = :account_id;

-- name: count_celebrity_rows
-- Whether the feed still has a row of this account.
SELECT count(*) FROM feed_stars WHERE account_id = :account_id;

-- name: read_viewer_state hot
-- All that hydration needs of the viewer, from the viewer's own shard: which of these people the viewer follows, has
-- muted, or is separated from by a block in either direction; which of these posts the viewer has liked and saved.
SELECT ARRAY(SELECT f.followee_id FROM following AS f
             WHERE f.account_id = :viewer_id::bigint AND f.followee_id = ANY(:people::bigint[]) AND NOT f.is_requested) AS followed,
       ARRAY(SELECT t.target_id FROM attitudes AS t
             WHERE t.account_id = :viewer_id::bigint AND t.target_id = ANY(:people::bigint[]) AND t.mutes_posts) AS muted,
       ARRAY(SELECT b.blocked_id FROM blocks AS b
             WHERE b.account_id = :viewer_id::bigint AND b.blocked_id = ANY(:people::bigint[]))
       || ARRAY(SELECT y.blocker_id FROM blocked_by AS y
                WHERE y.account_id = :viewer_id::bigint AND y.blocker_id = ANY(:people::bigint[]) AND y.is_active) AS blocked,
       ARRAY(SELECT ARRAY[l.post_id, l.change_id, l.is_active::int::bigint] FROM own_likes AS l
             WHERE l.account_id = :viewer_id::bigint AND l.post_id = ANY(:posts::bigint[])) AS liked,
       ARRAY(SELECT s.post_id FROM saves AS s
             WHERE s.account_id = :viewer_id::bigint AND s.post_id = ANY(:posts::bigint[])) AS saved;

-- name: follow_tag
-- True when it is new, false when it was followed already, no row when there are too many.
WITH known AS (
    SELECT false AS is_new FROM followed_tags WHERE account_id = :account_id AND tag = :tag
), new AS (
    INSERT INTO followed_tags (account_id, tag)
    SELECT :account_id, :tag
    WHERE NOT EXISTS (SELECT FROM known)
      AND (SELECT count(*) FROM followed_tags WHERE account_id = :account_id) < :limit::int
    ON CONFLICT DO NOTHING
    RETURNING true AS is_new
)
SELECT is_new FROM known UNION ALL SELECT is_new FROM new;

-- name: unfollow_tag
-- Twice changes nothing.
DELETE FROM followed_tags WHERE account_id = :account_id AND tag = :tag;

-- name: find_followed_tag
-- Whether an account follows a hashtag.
SELECT tag FROM followed_tags WHERE account_id = :account_id AND tag = :tag;

-- name: list_followed_tags
-- The hashtags an account follows, the latest first.
SELECT tag FROM followed_tags WHERE account_id = :account_id ORDER BY change_id DESC;

-- name: erase_followed_tags
-- Part of the erasure of an account.
DELETE FROM followed_tags WHERE account_id = :account_id;

-- name: newest_of_topic
-- The newest public posts of a hashtag; not those that were imported.
SELECT post_id FROM topic_posts WHERE topic = :topic AND posted_at IS NULL ORDER BY post_id DESC LIMIT :limit::int;
