-- These queries write tables of many rooms, on purpose: they fill a throw-away installation in bulk, where signing up
-- and following through the rooms' front doors would take minutes. They never run in an installation with real data.

-- name: add_people
-- Generated accounts. Nobody can log in as one of them: no password matches this hash.
INSERT INTO accounts (username, full_name, password_hash, follower_count, following_count, post_count)
SELECT one.username, one.username, :password_hash, one.followers, one.followees, :posts::int
FROM unnest(:usernames::text[], :followers::int[], :followees::int[]) AS one (username, followers, followees)
RETURNING id, username;

-- name: claim_names
-- Their usernames, each on the shard given by its hash.
INSERT INTO usernames (username, account_id)
SELECT one.username, one.account_id FROM unnest(:usernames::text[], :account_ids::bigint[]) AS one (username, account_id);

-- name: add_following
-- Whom they follow, on the follower's shard.
INSERT INTO following (account_id, followee_id, change_id)
SELECT one.account_id, one.followee_id, next_id()
FROM unnest(:account_ids::bigint[], :followee_ids::bigint[]) AS one (account_id, followee_id);

-- name: add_followers
-- The same follows on the followee's shard.
INSERT INTO followers (account_id, follower_id, change_id, is_active)
SELECT one.account_id, one.follower_id, next_id(), true
FROM unnest(:account_ids::bigint[], :follower_ids::bigint[]) AS one (account_id, follower_id);

-- name: add_celebrities
-- Celebrities (authors above the push threshold), marked before any timeline is built.
INSERT INTO feed_stars (account_id, is_settled)
SELECT one.account_id, true FROM unnest(:account_ids::bigint[]) AS one (account_id);

-- name: add_pictures
-- Photos to be posted later: rows without files, since nobody downloads them.
INSERT INTO media (id, account_id, folder, width, height, expires_at)
SELECT next_id(), one.account_id, 'simulated', 1080, 1080, now() + interval '1 day'
FROM unnest(:account_ids::bigint[]) AS one (account_id)
RETURNING id, account_id;

-- name: add_history
-- One past post per account.
WITH drawn AS MATERIALIZED (
    SELECT next_id() AS post_id, next_id() AS media_id, one.account_id
    FROM unnest(:account_ids::bigint[]) AS one (account_id)
), pictured AS (
    INSERT INTO media (id, account_id, folder, width, height, post_id)
    SELECT media_id, account_id, 'simulated', 1080, 1080, post_id FROM drawn
), posted AS (
    INSERT INTO posts (id, author_id, caption) SELECT post_id, account_id, 'from before' FROM drawn
)
INSERT INTO post_media (post_id, position, media_id) SELECT post_id, 1, media_id FROM drawn;
