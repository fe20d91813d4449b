-- name: lock_account
-- Changes of one follower happen one after another, so that change ids are drawn in their order; mirrors of one
-- followee likewise, so that the count moves with the rows.
SELECT id FROM accounts WHERE id = :account_id FOR NO KEY UPDATE;

-- name: follow
-- One row per pair: following twice returns no row.
INSERT INTO following (account_id, followee_id, change_id) VALUES (:account_id, :followee_id, next_id())
ON CONFLICT DO NOTHING RETURNING change_id;

-- name: unfollow
-- Unfollowing twice returns no row.
DELETE FROM following WHERE account_id = :account_id AND followee_id = :followee_id
RETURNING next_id() AS change_id;

-- name: count_following
-- Keeps the follower's own count in step, in the same transaction.
UPDATE accounts SET following_count = following_count + :delta::int WHERE id = :account_id;

-- name: mirror_follow
-- The newest change wins, however often and in whatever order events arrive. Returns how the count moves.
-- No FOR UPDATE on the row as it was: PostgreSQL skips rows that the same statement changes. `lock_account` protects it.
WITH before AS (
    SELECT is_active FROM followers WHERE account_id = :account_id AND follower_id = :follower_id
), written AS (
    INSERT INTO followers (account_id, follower_id, change_id, is_active)
    VALUES (:account_id, :follower_id, :change_id, :is_active)
    ON CONFLICT (account_id, follower_id) DO UPDATE
    SET change_id = excluded.change_id, is_active = excluded.is_active
    WHERE followers.change_id < excluded.change_id
    RETURNING is_active
)
SELECT written.is_active::int - coalesce((SELECT is_active::int FROM before), 0) AS delta FROM written;

-- name: count_followers
-- The followee's count, in the same transaction as the mirror.
UPDATE accounts SET follower_count = follower_count + :delta::int WHERE id = :account_id;

-- name: relations hot
-- How a viewer stands to many others, all from the viewer's own shard.
SELECT other.id,
       EXISTS (SELECT FROM following AS f WHERE f.account_id = :viewer_id AND f.followee_id = other.id) AS follows,
       EXISTS (SELECT FROM followers AS f
               WHERE f.account_id = :viewer_id AND f.follower_id = other.id AND f.is_active) AS follows_viewer,
       EXISTS (SELECT FROM blocks AS b WHERE b.account_id = :viewer_id AND b.blocked_id = other.id) AS blocks,
       EXISTS (SELECT FROM blocked_by AS b
               WHERE b.account_id = :viewer_id AND b.blocker_id = other.id AND b.is_active) AS is_blocked
FROM unnest(:others::bigint[]) AS other (id);

-- name: relation_at hot
-- How a viewer stands to an account, all from that account's shard, which holds the mirrors of both directions.
SELECT EXISTS (SELECT FROM followers AS f
               WHERE f.account_id = :target_id::bigint AND f.follower_id = :viewer_id::bigint AND f.is_active) AS follows,
       EXISTS (SELECT FROM following AS f
               WHERE f.account_id = :target_id::bigint AND f.followee_id = :viewer_id::bigint) AS follows_viewer,
       EXISTS (SELECT FROM blocked_by AS b
               WHERE b.account_id = :target_id::bigint AND b.blocker_id = :viewer_id::bigint AND b.is_active) AS blocks,
       EXISTS (SELECT FROM blocks AS b
               WHERE b.account_id = :target_id::bigint AND b.blocked_id = :viewer_id::bigint) AS is_blocked;

-- name: which_followed
-- Those of the candidates that this account follows.
SELECT followee_id FROM following WHERE account_id = :account_id AND followee_id = ANY(:candidates::bigint[]);

-- name: list_followees
-- Whom an account follows.
SELECT followee_id FROM following WHERE account_id = :account_id ORDER BY followee_id LIMIT :limit;

-- name: page_followers
-- Followers in order of id, a page at a time.
SELECT follower_id FROM followers
WHERE account_id = :account_id AND is_active AND follower_id > :after
ORDER BY follower_id LIMIT :limit;
