-- name: scan_followers
-- Stored and counted followers, a slice at a time.
SELECT a.id, a.follower_count AS stored,
       (SELECT count(*) FROM followers AS f WHERE f.account_id = a.id AND f.is_active) AS counted
FROM accounts AS a WHERE a.id > :after ORDER BY a.id LIMIT :limit;

-- name: lock_counted
-- Changes of an account's follows wait for this lock too.
SELECT id FROM accounts WHERE id = :id FOR NO KEY UPDATE;

-- name: recount_followers
-- The rows themselves.
SELECT count(*) FROM followers WHERE account_id = :id AND is_active;

-- name: store_followers
-- What the recount said.
UPDATE accounts SET follower_count = :count::int WHERE id = :id;

-- name: scan_following
-- Stored and counted followees, a slice at a time.
SELECT a.id, a.following_count AS stored,
       (SELECT count(*) FROM following AS f WHERE f.account_id = a.id) AS counted
FROM accounts AS a WHERE a.id > :after ORDER BY a.id LIMIT :limit;

-- name: recount_following
-- The rows themselves.
SELECT count(*) FROM following WHERE account_id = :id;

-- name: store_following
-- What the recount said.
UPDATE accounts SET following_count = :count::int WHERE id = :id;
