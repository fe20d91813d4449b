-- name: follow
-- One row per pair: following twice, across a block, or beyond the limit returns no row. The caller holds the lock of
-- the follower's account, whose count of active follows it passes; requests count towards the limit as well.
INSERT INTO following (account_id, followee_id, change_id, is_requested)
SELECT :account_id::bigint, :followee_id::bigint, next_id(), :is_requested::boolean
WHERE NOT EXISTS (SELECT FROM blocks AS b WHERE b.account_id = :account_id AND b.blocked_id = :followee_id)
  AND NOT EXISTS (SELECT FROM blocked_by AS b
                  WHERE b.account_id = :account_id AND b.blocker_id = :followee_id AND b.is_active)
  AND :following_count::int
      + (SELECT count(*) FROM following AS w WHERE w.account_id = :account_id AND w.is_requested) < :limit::int
ON CONFLICT DO NOTHING
RETURNING change_id;

-- name: follow_at_once hot
-- `follow` in one call: the row, the count and the event, under the lock of the follower's account.
--
-- Whoever changes follows or blocks of an account writes the account's row in the same transaction. So a row that this
-- statement locked in the very version that its snapshot has (`held`) proves that the snapshot is up to date. No row: it
-- is not, or there is no such account; the caller then takes the lock first. No `change_id`: nothing was inserted, because
-- of the follow or request whose state is returned, or for another reason.
WITH locked AS (
    SELECT id, following_count, xmin AS version FROM accounts WHERE id = :account_id::bigint FOR NO KEY UPDATE
), held AS (
    SELECT l.id, l.following_count FROM locked AS l JOIN accounts AS a ON a.id = l.id AND a.xmin = l.version
), followed AS (
    INSERT INTO following (account_id, followee_id, change_id, is_requested)
    SELECT h.id, :followee_id::bigint, next_id(), :is_requested::boolean FROM held AS h
    WHERE NOT EXISTS (SELECT FROM blocks AS b WHERE b.account_id = :account_id AND b.blocked_id = :followee_id)
      AND NOT EXISTS (SELECT FROM blocked_by AS b
                      WHERE b.account_id = :account_id AND b.blocker_id = :followee_id AND b.is_active)
      AND h.following_count
          + (SELECT count(*) FROM following AS w WHERE w.account_id = :account_id AND w.is_requested) < :limit::int
    ON CONFLICT DO NOTHING
    RETURNING change_id
), counted AS (
    UPDATE accounts AS a SET following_count = a.following_count + (NOT :is_requested)::int
    FROM followed WHERE a.id = :account_id
), announced AS (
    INSERT INTO common.outbox (event, payload, request_id)
    SELECT :event::text, convert_to(:payload::text || followed.change_id || '}', 'UTF8'), :request_id::text FROM followed
)
SELECT followed.change_id, f.is_requested AS was_requested
FROM held AS h LEFT JOIN followed ON true
LEFT JOIN following AS f ON f.account_id = h.id AND f.followee_id = :followee_id;

-- name: end_follow_at_once hot
-- `end_follow` in one call: the row, the count and the event, under the lock of the follower's account.
WITH locked AS (
    SELECT id FROM accounts WHERE id = :account_id::bigint FOR NO KEY UPDATE
), ended AS (
    DELETE FROM following AS f USING locked AS l
    WHERE f.account_id = l.id AND f.followee_id = :followee_id::bigint
      AND (:only_requested::boolean IS NULL OR f.is_requested = :only_requested)
    RETURNING next_id() AS change_id, f.is_requested
), counted AS (
    UPDATE accounts AS a SET following_count = a.following_count - (NOT ended.is_requested)::int
    FROM ended WHERE a.id = :account_id
), announced AS (
    INSERT INTO common.outbox (event, payload, request_id)
    SELECT :event::text, convert_to(:payload::text || ended.change_id || '}', 'UTF8'), :request_id::text FROM ended
)
SELECT ended.change_id FROM ended;

-- name: find_follow
-- The truth about one pair, from the follower's shard.
SELECT change_id, is_requested FROM following WHERE account_id = :account_id AND followee_id = :followee_id;

-- name: end_follow
-- Ends a follow or a request: any, only those in one state, or only one particular change. Twice returns no row.
DELETE FROM following
WHERE account_id = :account_id AND followee_id = :followee_id
  AND (:only_requested::boolean IS NULL OR is_requested = :only_requested)
  AND (:only_change::bigint IS NULL OR change_id = :only_change)
RETURNING next_id() AS change_id, is_requested;

-- name: turn_follow
-- A request becomes a follow, or a follow that came too late becomes a request. Twice returns no row.
UPDATE following SET is_requested = :is_requested, change_id = next_id()
WHERE account_id = :account_id AND followee_id = :followee_id AND is_requested <> :is_requested
  AND (:only_change::bigint IS NULL OR change_id = :only_change)
RETURNING change_id;

-- name: mirror_follow
-- The newest change wins, however often and in whatever order events arrive; the follow of somebody who is blocked ends.
-- Returns by how much the count of followers changes. No FOR UPDATE on the row as it was: PostgreSQL skips rows that the
-- same statement changes. The caller holds the lock of the followee's account.
WITH blocked AS (
    SELECT EXISTS (SELECT FROM blocks WHERE account_id = :account_id AND blocked_id = :follower_id) AS it
), before AS (
    SELECT is_active FROM followers WHERE account_id = :account_id AND follower_id = :follower_id
), written AS (
    INSERT INTO followers (account_id, follower_id, change_id, is_active, is_requested)
    SELECT :account_id, :follower_id, :change_id, :is_active AND NOT blocked.it, :is_requested AND NOT blocked.it
    FROM blocked
    ON CONFLICT (account_id, follower_id) DO UPDATE
    SET change_id = excluded.change_id, is_active = excluded.is_active, is_requested = excluded.is_requested
    WHERE followers.change_id < excluded.change_id
    RETURNING is_active, is_requested
)
SELECT is_active, is_requested, is_active::int - coalesce((SELECT is_active::int FROM before), 0) AS delta FROM written;

-- name: mirror_follow_at_once hot
-- The followee's side in one call: decides a change under the lock of the followee's account (`_decide` of
-- follower_mirror.py), writes it as `mirror_follow` does, counts it, and announces a decision other than the one meant. No
-- row: the caller takes the lock first, as after `follow_at_once`. No state: a newer change is there already.
WITH locked AS (
    SELECT id, is_private, status, xmin AS version FROM accounts WHERE id = :account_id::bigint FOR NO KEY UPDATE
), held AS (
    SELECT l.id,
           CASE WHEN :wanted::text = 'none' OR l.status = 'leaving'
                     OR EXISTS (SELECT FROM blocks AS b WHERE b.account_id = l.id AND b.blocked_id = :follower_id::bigint)
                THEN 'none'
                WHEN l.is_private AND NOT :is_approved::boolean THEN 'requested'
                ELSE 'active' END AS state
    FROM locked AS l JOIN accounts AS a ON a.id = l.id AND a.xmin = l.version
), before AS (
    SELECT is_active, change_id FROM followers WHERE account_id = :account_id AND follower_id = :follower_id
), written AS (
    INSERT INTO followers (account_id, follower_id, change_id, is_active, is_requested)
    SELECT h.id, :follower_id, :change_id::bigint, h.state = 'active', h.state = 'requested' FROM held AS h
    WHERE NOT EXISTS (SELECT FROM before AS b WHERE b.change_id >= :change_id)
    ON CONFLICT (account_id, follower_id) DO UPDATE
    SET change_id = excluded.change_id, is_active = excluded.is_active, is_requested = excluded.is_requested
    WHERE followers.change_id < excluded.change_id
    RETURNING is_active
), counted AS (
    UPDATE accounts AS a
    SET follower_count = a.follower_count + w.is_active::int - coalesce((SELECT b.is_active::int FROM before AS b), 0)
    FROM written AS w WHERE a.id = :account_id
), announced AS (
    INSERT INTO common.outbox (event, payload, request_id)
    SELECT :event::text, convert_to(:payload::text || '"' || h.state || '"}', 'UTF8'), :request_id::text
    FROM held AS h CROSS JOIN written WHERE h.state <> :wanted
)
SELECT CASE WHEN EXISTS (SELECT FROM written) THEN h.state END AS state FROM held AS h;

-- name: gather_mirrored
-- The newest change that these followees know of these followers; followees and followers need not be pairs.
SELECT account_id, follower_id, change_id FROM followers
WHERE account_id = ANY(:ids::bigint[]) AND follower_id = ANY(:follower_ids::bigint[]);

-- name: add_block
-- Blocking twice returns no row.
INSERT INTO blocks (account_id, blocked_id, change_id) VALUES (:account_id, :blocked_id, next_id())
ON CONFLICT DO NOTHING RETURNING change_id;

-- name: remove_block
-- Unblocking twice returns no row. The change id of the block is returned too, so that its severing is never skipped.
DELETE FROM blocks WHERE account_id = :account_id AND blocked_id = :blocked_id
RETURNING next_id() AS change_id, change_id AS severs_id;

-- name: find_block
-- The truth about one pair, from the blocker's shard.
SELECT change_id FROM blocks WHERE account_id = :account_id AND blocked_id = :blocked_id;

-- name: drop_follower
-- The followee's side of a severed or lost follow ends, whatever the follower's shard still says. Returns whether it was
-- active, so that the count of followers changes; no row when there was nothing to end.
WITH before AS (
    SELECT is_active FROM followers WHERE account_id = :account_id AND follower_id = :follower_id
), dropped AS (
    UPDATE followers SET is_active = false, is_requested = false
    WHERE account_id = :account_id AND follower_id = :follower_id AND (is_active OR is_requested)
    RETURNING follower_id
)
SELECT before.is_active FROM before WHERE EXISTS (SELECT FROM dropped);

-- name: find_blocked_by
-- The newest change and the newest severing that the blocked side knows of one blocker.
SELECT change_id, severed_id FROM blocked_by WHERE account_id = :account_id AND blocker_id = :blocker_id;

-- name: mirror_block
-- The newest change decides whether there is a block; severed_id is the newest block whose follows were severed.
INSERT INTO blocked_by (account_id, blocker_id, change_id, is_active, severed_id)
VALUES (:account_id, :blocker_id, :change_id, :is_active, :severed_id)
ON CONFLICT (account_id, blocker_id) DO UPDATE
SET change_id = greatest(blocked_by.change_id, excluded.change_id),
    is_active = CASE WHEN blocked_by.change_id < excluded.change_id THEN excluded.is_active ELSE blocked_by.is_active END,
    severed_id = greatest(blocked_by.severed_id, excluded.severed_id);

-- name: relations hot
-- A viewer's relations to many others, all from the viewer's own shard.
SELECT other.id,
       f.is_requested IS NOT NULL AND NOT f.is_requested AS follows,
       coalesce(f.is_requested, false) AS has_requested,
       coalesce(r.is_active, false) AS follows_viewer,
       b.blocked_id IS NOT NULL AS blocks,
       coalesce(y.is_active, false) AS is_blocked,
       coalesce(t.mutes_posts, false) AS mutes_posts,
       coalesce(t.mutes_stories, false) AS mutes_stories,
       coalesce(t.is_close_friend, false) AS is_close_friend,
       coalesce(t.restricts, false) AS restricts
FROM unnest(:others::bigint[]) AS other (id)
LEFT JOIN following AS f ON f.account_id = :viewer_id AND f.followee_id = other.id
LEFT JOIN followers AS r ON r.account_id = :viewer_id AND r.follower_id = other.id
LEFT JOIN blocks AS b ON b.account_id = :viewer_id AND b.blocked_id = other.id
LEFT JOIN blocked_by AS y ON y.account_id = :viewer_id AND y.blocker_id = other.id
LEFT JOIN attitudes AS t ON t.account_id = :viewer_id AND t.target_id = other.id;

-- name: relation_at hot
-- A viewer's relation to one target, from the target's shard: a profile page reads that shard alone.
SELECT coalesce(r.is_active, false) AS follows,
       coalesce(r.is_requested, false) AS has_requested,
       f.is_requested IS NOT NULL AND NOT f.is_requested AS follows_viewer,
       coalesce(y.is_active, false) AS blocks,
       b.blocked_id IS NOT NULL AS is_blocked
FROM (VALUES (:target_id::bigint, :viewer_id::bigint)) AS pair (target_id, viewer_id)
LEFT JOIN followers AS r ON r.account_id = pair.target_id AND r.follower_id = pair.viewer_id
LEFT JOIN following AS f ON f.account_id = pair.target_id AND f.followee_id = pair.viewer_id
LEFT JOIN blocked_by AS y ON y.account_id = pair.target_id AND y.blocker_id = pair.viewer_id
LEFT JOIN blocks AS b ON b.account_id = pair.target_id AND b.blocked_id = pair.viewer_id;

-- name: which_followed hot
-- Those of the candidates that this account follows.
SELECT followee_id FROM following
WHERE account_id = :account_id AND followee_id = ANY(:candidates::bigint[]) AND NOT is_requested;

-- name: which_follow
-- Those of the candidates that follow this account.
SELECT follower_id FROM followers
WHERE account_id = :account_id AND follower_id = ANY(:candidates::bigint[]) AND is_active;

-- name: list_followees
-- The accounts that an account follows, as one array.
SELECT ARRAY(
    SELECT followee_id FROM following WHERE account_id = :account_id AND NOT is_requested
    ORDER BY followee_id LIMIT :limit
) AS ids;

-- name: page_followers
-- Followers in order of id, a page at a time, as one array: for work that must reach each of them once.
SELECT ARRAY(
    SELECT follower_id FROM followers
    WHERE account_id = :account_id AND is_active AND follower_id > :after AND follower_id <= :until
    ORDER BY follower_id LIMIT :limit
) AS ids;

-- name: split_followers
-- Every n-th follower in order of id: where work on all of them can be split into parts.
SELECT counted.follower_id
FROM (
    SELECT follower_id, row_number() OVER (ORDER BY follower_id) AS position
    FROM followers WHERE account_id = :account_id AND is_active
) AS counted
WHERE counted.position % :size::bigint = 0 ORDER BY counted.follower_id;

-- name: newest_followers
-- Followers, newest first.
SELECT follower_id AS id, change_id AS cursor FROM followers
WHERE account_id = :account_id AND is_active AND change_id < :before
ORDER BY change_id DESC LIMIT :limit;

-- name: newest_followees
-- Followees, newest first.
SELECT followee_id AS id, change_id AS cursor FROM following
WHERE account_id = :account_id AND NOT is_requested AND change_id < :before
ORDER BY change_id DESC LIMIT :limit;

-- name: newest_requests
-- Requests that wait for this account's approval, newest first.
SELECT follower_id AS id, change_id AS cursor FROM followers
WHERE account_id = :account_id AND is_requested AND change_id < :before
ORDER BY change_id DESC LIMIT :limit;

-- name: newest_sent_requests
-- Requests that this account has sent, newest first.
SELECT followee_id AS id, change_id AS cursor FROM following
WHERE account_id = :account_id AND is_requested AND change_id < :before
ORDER BY change_id DESC LIMIT :limit;

-- name: newest_blocks
-- Accounts that an account has blocked, newest first.
SELECT blocked_id AS id, change_id AS cursor FROM blocks
WHERE account_id = :account_id AND change_id < :before
ORDER BY change_id DESC LIMIT :limit;

-- name: set_preference
-- Only the flags given change. Returns no row when there would be too many.
INSERT INTO attitudes AS a
    (account_id, target_id, mutes_posts, mutes_stories, is_close_friend, restricts, is_dismissed)
SELECT :account_id, :target_id, coalesce(:mutes_posts::boolean, false), coalesce(:mutes_stories::boolean, false),
       coalesce(:is_close_friend::boolean, false), coalesce(:restricts::boolean, false),
       coalesce(:is_dismissed::boolean, false)
WHERE (SELECT count(*) FROM attitudes AS own WHERE own.account_id = :account_id) < :limit::int
   OR EXISTS (SELECT FROM attitudes AS own WHERE own.account_id = :account_id AND own.target_id = :target_id)
ON CONFLICT (account_id, target_id) DO UPDATE
SET mutes_posts = coalesce(:mutes_posts, a.mutes_posts), mutes_stories = coalesce(:mutes_stories, a.mutes_stories),
    is_close_friend = coalesce(:is_close_friend, a.is_close_friend), restricts = coalesce(:restricts, a.restricts),
    is_dismissed = coalesce(:is_dismissed, a.is_dismissed)
RETURNING target_id;

-- name: delete_empty_preference
-- A row without any flag is not stored.
DELETE FROM attitudes
WHERE account_id = :account_id AND target_id = :target_id
  AND NOT (mutes_posts OR mutes_stories OR is_close_friend OR restricts OR is_dismissed);

-- name: delete_preference
-- A block ends the preferences between the two.
DELETE FROM attitudes WHERE account_id = :account_id AND target_id = :target_id;

-- name: page_preferences
-- Accounts with one kind of preference, the newest accounts first.
SELECT target_id AS id, target_id AS cursor FROM attitudes
WHERE account_id = :account_id AND target_id < :before
  AND CASE :kind::text WHEN 'muted' THEN mutes_posts OR mutes_stories
                       WHEN 'close_friends' THEN is_close_friend
                       WHEN 'restricted' THEN restricts END
ORDER BY target_id DESC LIMIT :limit;

-- name: which_dismissed
-- Those of the candidates that an account does not want to be suggested.
SELECT target_id FROM attitudes
WHERE account_id = :account_id AND target_id = ANY(:candidates::bigint[]) AND is_dismissed;

-- name: gather_followees
-- The newest followees of many accounts, a few each.
SELECT newest.followee_id
FROM unnest(:ids::bigint[]) AS friend (id)
CROSS JOIN LATERAL (
    SELECT f.followee_id FROM following AS f WHERE f.account_id = friend.id AND NOT f.is_requested
    ORDER BY f.change_id DESC LIMIT :limit_each::int
) AS newest;

-- name: replace_popular
-- Replaces the ranking as a whole, in one statement: readers see the old one or the new one.
WITH new AS (
    SELECT item.account_id, item.follower_count
    FROM unnest(:ids::bigint[], :counts::int[]) AS item (account_id, follower_count)
), gone AS (
    DELETE FROM popular_accounts WHERE account_id <> ALL(:ids)
)
INSERT INTO popular_accounts (account_id, follower_count) SELECT account_id, follower_count FROM new
ON CONFLICT (account_id) DO UPDATE SET follower_count = excluded.follower_count;

-- name: list_popular
-- The ranking of popular accounts.
SELECT account_id FROM popular_accounts ORDER BY follower_count DESC, account_id;

-- name: remove_popular
-- Erasure of an account.
DELETE FROM popular_accounts WHERE account_id = :account_id;

-- name: public_with_requests
-- Public accounts of a shard with requests: the handler of their `PrivacyChanged` failed for good.
SELECT DISTINCT f.account_id FROM followers AS f JOIN accounts AS a ON a.id = f.account_id
WHERE f.is_requested AND NOT a.is_private;

-- name: sweep_followers
-- Ended follows that no event in flight can be about.
DELETE FROM followers
WHERE NOT is_active AND NOT is_requested AND change_id < :before;

-- name: sweep_blocked_by
-- Ended blocks that no event in flight can be about.
DELETE FROM blocked_by WHERE NOT is_active AND change_id < :before;

-- name: list_relations_of
-- A batch of a person's relations, from their own shard.
(SELECT 'following' AS kind, followee_id AS other_id, change_id FROM following
 WHERE account_id = :account_id LIMIT :limit)
UNION ALL
(SELECT 'followers', follower_id, change_id FROM followers
 WHERE account_id = :account_id AND (is_active OR is_requested) LIMIT :limit)
UNION ALL
(SELECT 'blocks', blocked_id, change_id FROM blocks WHERE account_id = :account_id LIMIT :limit)
UNION ALL
(SELECT 'blocked_by', blocker_id, change_id FROM blocked_by
 WHERE account_id = :account_id AND is_active LIMIT :limit);

-- name: erase_own_rows
-- A person's preferences, and the traces of follows and blocks that have ended.
WITH a AS (
    DELETE FROM attitudes WHERE account_id = :account_id RETURNING 1
), f AS (
    DELETE FROM followers WHERE account_id = :account_id AND NOT is_active AND NOT is_requested RETURNING 1
), b AS (
    DELETE FROM blocked_by WHERE account_id = :account_id AND NOT is_active RETURNING 1
)
SELECT (SELECT count(*) FROM a) + (SELECT count(*) FROM f) + (SELECT count(*) FROM b) AS removed;

-- name: end_blocked_by
-- A mirror row whose truth is gone.
UPDATE blocked_by SET is_active = false WHERE account_id = :account_id AND blocker_id = :blocker_id;

-- name: erase_preferences_towards
-- Preferences of others towards a person who is erased.
DELETE FROM attitudes WHERE target_id = :account_id RETURNING target_id;

-- name: count_own_rows
-- Rows about a person on their own shard.
SELECT (SELECT count(*) FROM following WHERE account_id = :account_id)
     + (SELECT count(*) FROM followers WHERE account_id = :account_id)
     + (SELECT count(*) FROM blocks WHERE account_id = :account_id)
     + (SELECT count(*) FROM blocked_by WHERE account_id = :account_id)
     + (SELECT count(*) FROM attitudes WHERE account_id = :account_id) AS count;

-- name: count_preferences_towards
-- Preferences of others towards a person.
SELECT count(*) AS count FROM attitudes WHERE target_id = :account_id;

-- name: export_following
-- Follows and requests, oldest first.
SELECT followee_id AS other_id, change_id AS cursor, is_requested FROM following
WHERE account_id = :account_id AND change_id > :after ORDER BY change_id LIMIT :limit;

-- name: export_followers
-- Followers and requests, oldest first.
SELECT follower_id AS other_id, change_id AS cursor, is_requested FROM followers
WHERE account_id = :account_id AND (is_active OR is_requested) AND change_id > :after
ORDER BY change_id LIMIT :limit;

-- name: export_blocks
-- Blocks, oldest first.
SELECT blocked_id AS other_id, change_id AS cursor FROM blocks
WHERE account_id = :account_id AND change_id > :after ORDER BY change_id LIMIT :limit;

-- name: export_preferences
-- Mutes, restrictions, close friends and dismissed suggestions.
SELECT target_id AS other_id, target_id AS cursor, mutes_posts, mutes_stories, is_close_friend, restricts, is_dismissed
FROM attitudes WHERE account_id = :account_id AND target_id > :after ORDER BY target_id LIMIT :limit;

-- name: scan_followers
-- Stored and counted followers, a batch at a time.
SELECT a.id, a.follower_count AS stored,
       (SELECT count(*) FROM followers AS f WHERE f.account_id = a.id AND f.is_active) AS counted
FROM accounts AS a WHERE a.id > :after ORDER BY a.id LIMIT :limit;

-- name: recount_followers
-- Counted from the rows.
SELECT count(*) FROM followers WHERE account_id = :id AND is_active;

-- name: scan_following
-- Stored and counted followees, a batch at a time.
SELECT a.id, a.following_count AS stored,
       (SELECT count(*) FROM following AS f WHERE f.account_id = a.id AND NOT f.is_requested) AS counted
FROM accounts AS a WHERE a.id > :after ORDER BY a.id LIMIT :limit;

-- name: recount_following
-- Counted from the rows.
SELECT count(*) FROM following WHERE account_id = :id AND NOT is_requested;
