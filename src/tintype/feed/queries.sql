-- name: gather_recent
-- The newest posts of many authors and who of them is a star, in one snapshot of each shard: what is not here was
-- committed later, and who became a star later will say so to the timeline that is being built.
SELECT author.id AS author_id,
       EXISTS (SELECT FROM feed_stars AS s WHERE s.account_id = author.id) AS is_star,
       ARRAY(
           SELECT p.id FROM posts AS p
           WHERE p.author_id = author.id AND p.id > :above::bigint
             AND p.archived_at IS NULL AND p.hidden_at IS NULL AND p.deleted_at IS NULL
           ORDER BY p.id DESC LIMIT :limit_each::int
       ) AS posts
FROM unnest(:ids::bigint[]) AS author (id);

-- name: find_standing
-- How many follow an author, and whether the author is a star.
SELECT a.follower_count, s.change_id, coalesce(s.is_settled, false) AS is_settled
FROM accounts AS a LEFT JOIN feed_stars AS s ON s.account_id = a.id WHERE a.id = :account_id;

-- name: gather_fans
-- How posts of many authors travel, and the first of those to whom they travel, in one snapshot of each shard.
SELECT a.id AS author_id, a.follower_count, s.change_id, coalesce(s.is_settled, false) AS is_settled,
       CASE WHEN NOT coalesce(s.is_settled, false) THEN ARRAY(
           SELECT f.follower_id FROM followers AS f
           WHERE f.account_id = a.id AND f.is_active ORDER BY f.follower_id LIMIT :limit_each::int
       ) END AS followers
FROM accounts AS a LEFT JOIN feed_stars AS s ON s.account_id = a.id WHERE a.id = ANY(:ids::bigint[]);

-- name: begin_star
-- An author becomes a star, or becomes one anew because nothing came of the last time. Nobody who has left does, and of
-- many who begin at once only one gets a row.
INSERT INTO feed_stars (account_id) SELECT a.id FROM accounts AS a WHERE a.id = :account_id
ON CONFLICT (account_id) DO UPDATE SET change_id = next_id()
WHERE feed_stars.change_id = :expected::bigint AND NOT feed_stars.is_settled
RETURNING change_id;

-- name: settle_star
-- Every timeline knows of the star, if it is still the same.
UPDATE feed_stars SET is_settled = true WHERE account_id = :account_id AND change_id = :change_id;

-- name: end_star
-- An author is no star any more.
DELETE FROM feed_stars WHERE account_id = :account_id AND change_id = :change_id;

-- name: forget_star
-- Somebody leaves.
DELETE FROM feed_stars WHERE account_id = :account_id;

-- name: count_star
-- Whether the feed keeps anything of somebody.
SELECT count(*) FROM feed_stars WHERE account_id = :account_id;
