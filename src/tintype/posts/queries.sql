-- name: find_by_key
-- The post of an earlier request with this idempotency key, and the hash of that request's body.
SELECT id, body_hash FROM posts WHERE author_id = :author_id AND idempotency_key = :idempotency_key;

-- name: count_recent
-- How many posts of the last 24 hours there are, up to the limit, and in how many seconds the oldest of them is older.
-- Imported ones do not count.
SELECT count(*) AS posts,
       ceil(extract(epoch FROM shardwright.id_time(min(recent.id)) + interval '24 hours' - now()))::int AS retry_after_s
FROM (
    SELECT id FROM posts
    WHERE author_id = :author_id AND id >= shardwright.min_id_at(now() - interval '24 hours') AND import_key IS NULL
    ORDER BY id DESC LIMIT :limit
) AS recent;

-- name: publish_at_once hot
-- A post with its media, tags, count and event in one call, under the lock of its author's account, whose row is written
-- with every post: if this statement locked it in the very version that its snapshot has (`held`), no post was missed and
-- the daily limit is exact. The media are attached as by `attach_media` of the media room, and returned as `gather_posts`
-- does, so that the author's answer needs no read. No row: a post may have been missed, or something refuses this one; the
-- caller then takes the lock first and finds out.
WITH locked AS (
    SELECT id, xmin AS version FROM accounts WHERE id = :author_id::bigint AND status = 'active' FOR NO KEY UPDATE
), held AS (
    SELECT l.id, a.shows_camera FROM locked AS l JOIN accounts AS a ON a.id = l.id AND a.xmin = l.version
    WHERE (SELECT count(*) FROM (
               SELECT FROM posts AS p
               WHERE p.author_id = :author_id AND p.id >= shardwright.min_id_at(now() - interval '24 hours')
                 AND p.import_key IS NULL
               LIMIT :limit::int) AS recent) < :limit::int
), usable AS (
    SELECT m.id, m.folder, m.type, m.state, m.width, m.height, m.placeholder, m.duration_ms, m.has_hls,
           m.large_width, m.camera
    FROM media AS m JOIN held AS h ON h.id = m.account_id
    WHERE m.id = ANY(:media_ids::bigint[]) AND m.post_id IS NULL AND m.expires_at > now()
      AND m.state IN ('ready', 'processing') AND m.type <> 'audio'
    FOR UPDATE OF m
), added AS (
    INSERT INTO posts (author_id, caption, spans, hashtags, mention_ids, place_id, place_name, lat, lon,
                       comments_enabled, hides_like_count, shows_camera, idempotency_key, body_hash)
    SELECT h.id, :caption::text, :spans::text, :hashtags::text[], :mention_ids::bigint[], :place_id::text,
           :place_name::text, :lat::float8, :lon::float8, :comments_enabled::boolean, :hides_like_count::boolean,
           coalesce(:shows_camera::boolean, h.shows_camera), :idempotency_key::text, :body_hash::bytea
    FROM held AS h WHERE (SELECT count(*) FROM usable) = cardinality(:media_ids)
    ON CONFLICT (author_id, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
    RETURNING id, shows_camera
), attached AS (
    UPDATE media AS m SET post_id = added.id, expires_at = NULL FROM added CROSS JOIN usable AS u WHERE m.id = u.id
), shown AS (
    INSERT INTO post_media (post_id, position, media_id, alt_text)
    SELECT added.id, item.position, item.media_id, item.alt_text
    FROM added CROSS JOIN unnest(:media_ids, :alt_texts::text[]) WITH ORDINALITY AS item (media_id, alt_text, position)
), tagged AS (
    INSERT INTO post_tags (post_id, position, account_id, x, y)
    SELECT added.id, tag.position, tag.account_id, tag.x, tag.y
    FROM added CROSS JOIN unnest(:positions::int[], :account_ids::bigint[], :xs::real[], :ys::real[])
                          AS tag (position, account_id, x, y)
), counted AS (
    UPDATE accounts AS a SET post_count = a.post_count + 1 FROM added WHERE a.id = :author_id
), announced AS (
    INSERT INTO common.outbox (event, payload, request_id)
    SELECT :event::text, convert_to(:payload::text || added.id || ',"has_video":'
                                     || (SELECT bool_or(u.type = 'video') FROM usable AS u)::text || '}', 'UTF8'),
           :request_id::text
    FROM added
)
SELECT added.id, added.shows_camera,
       (SELECT json_agg(json_build_object(
            'media_id', u.id, 'folder', u.folder, 'type', u.type, 'state', u.state, 'width', u.width, 'height', u.height,
            'placeholder', u.placeholder, 'duration_ms', u.duration_ms, 'has_hls', u.has_hls, 'alt_text', item.alt_text,
            'large_width', u.large_width, 'camera', CASE WHEN added.shows_camera THEN u.camera::json END)
            ORDER BY item.position)
        FROM unnest(:media_ids, :alt_texts::text[]) WITH ORDINALITY AS item (media_id, alt_text, position)
        JOIN usable AS u ON u.id = item.media_id)::text AS media
FROM added;

-- name: add_post
-- The post itself.
INSERT INTO posts (author_id, caption, spans, hashtags, mention_ids, place_id, place_name, lat, lon,
                   comments_enabled, hides_like_count, shows_camera, idempotency_key, body_hash)
VALUES (:author_id, :caption, :spans, :hashtags::text[], :mention_ids::bigint[], :place_id, :place_name, :lat, :lon,
        :comments_enabled, :hides_like_count,
        coalesce(:shows_camera::boolean, (SELECT a.shows_camera FROM accounts AS a WHERE a.id = :author_id)),
        :idempotency_key, :body_hash)
RETURNING id;

-- name: find_imported
-- The post that was made of an imported item, deleted or not.
SELECT id FROM posts WHERE author_id = :author_id AND import_key = :import_key;

-- name: which_imported
-- Those of the imported items that there are posts of, deleted or not.
SELECT import_key FROM posts WHERE author_id = :author_id AND import_key = ANY(:import_keys::text[]);

-- name: add_imported_post
-- A post made of an imported item, with its own time; the caller holds the author's lock and has found none.
INSERT INTO posts (author_id, caption, spans, hashtags, posted_at, import_key, archived_at)
VALUES (:author_id, :caption, :spans, :hashtags::text[], :posted_at, :import_key,
        CASE WHEN :is_archived::boolean THEN now() END)
RETURNING id;

-- name: add_post_media
-- The media of a post in their order.
INSERT INTO post_media (post_id, position, media_id, alt_text)
SELECT :post_id, item.position, item.media_id, item.alt_text
FROM unnest(:media_ids::bigint[], :alt_texts::text[]) WITH ORDINALITY AS item (media_id, alt_text, position);

-- name: add_tags
-- Tags people in the media of a post.
INSERT INTO post_tags (post_id, position, account_id, x, y)
SELECT :post_id, tag.position, tag.account_id, tag.x, tag.y
FROM unnest(:positions::int[], :account_ids::bigint[], :xs::real[], :ys::real[]) AS tag (position, account_id, x, y);

-- name: find_author_of_deleted
-- Whose post it was, of one that others could see until it was deleted.
SELECT author_id FROM posts
WHERE id = :post_id AND deleted_at IS NOT NULL AND archived_at IS NULL AND hidden_at IS NULL;

-- name: gather_posts hot
-- Posts by id with their media as JSON, from all the shards they live on; deleted posts are left out.
SELECT p.id, p.author_id, p.caption, p.spans, p.hashtags, p.mention_ids, p.place_id, p.place_name, p.lat, p.lon,
       p.comments_enabled, p.hides_like_count, p.shows_camera, p.posted_at, p.edited_at, p.pinned_at IS NOT NULL AS is_pinned,
       p.archived_at IS NOT NULL AS is_archived, p.hidden_at IS NOT NULL AS is_hidden,
       (SELECT json_agg(json_build_object(
            'media_id', m.id, 'folder', m.folder, 'type', m.type, 'state', m.state, 'width', m.width, 'height', m.height,
            'placeholder', m.placeholder, 'duration_ms', m.duration_ms, 'has_hls', m.has_hls, 'alt_text', pm.alt_text,
            'large_width', m.large_width, 'camera', CASE WHEN p.shows_camera THEN m.camera::json END,
            'tagged', coalesce((
                SELECT json_agg(json_build_object('account_id', t.account_id, 'x', t.x, 'y', t.y) ORDER BY t.account_id)
                FROM post_tags AS t WHERE t.post_id = pm.post_id AND t.position = pm.position
            ), '[]'::json)) ORDER BY pm.position)
        FROM post_media AS pm JOIN media AS m ON m.id = pm.media_id WHERE pm.post_id = p.id)::text AS media
FROM posts AS p WHERE p.id = ANY(:ids::bigint[]) AND p.deleted_at IS NULL;

-- name: gather_counts hot
-- The counts of posts, from all the shards they live on.
SELECT id, like_count, comment_count, like_batch, counted_id FROM posts WHERE id = ANY(:ids::bigint[]);

-- name: page_of_author
-- Posts of an author that others may see (graph's rule `may_see_post`), the last published first; not imported ones.
SELECT id FROM posts
WHERE author_id = :author_id AND id < :before AND import_key IS NULL
  AND archived_at IS NULL AND hidden_at IS NULL AND deleted_at IS NULL
ORDER BY id DESC LIMIT :limit;

-- name: page_of_profile hot
-- A page of a profile: pinned posts (first page only), then the others, newest first by their own time, as far as others
-- may see them (graph's rule `may_see_post`); and whether the viewer likes them, which lies on the same shard. The page
-- begins after the post `before`, which may be deleted; where there is no such post, after the time in that id.
SELECT p.id, p.pinned_at IS NOT NULL AS is_pinned,
       EXISTS (SELECT FROM likes AS l WHERE l.post_id = p.id AND l.account_id = :viewer_id::bigint) AS is_liked
FROM (
    (SELECT id, pinned_at, coalesce(posted_at, shardwright.id_time(id)) AS own_time FROM posts
     WHERE author_id = :author_id::bigint AND :is_first::boolean AND pinned_at IS NOT NULL
       AND archived_at IS NULL AND hidden_at IS NULL AND deleted_at IS NULL)
    UNION ALL
    (SELECT id, pinned_at, coalesce(posted_at, shardwright.id_time(id)) AS own_time FROM posts
     WHERE author_id = :author_id::bigint AND pinned_at IS NULL
       AND (coalesce(posted_at, shardwright.id_time(id)), id) < (
           coalesce((SELECT c.posted_at FROM posts AS c WHERE c.id = :before::bigint AND c.author_id = :author_id),
                    shardwright.id_time(:before)), :before)
       AND archived_at IS NULL AND hidden_at IS NULL AND deleted_at IS NULL
     ORDER BY coalesce(posted_at, shardwright.id_time(id)) DESC, id DESC LIMIT :limit::int)
) AS p ORDER BY p.pinned_at DESC NULLS LAST, p.own_time DESC, p.id DESC LIMIT :limit::int;

-- name: read_profile hot
-- A viewer's relation to an author, as graph's `relation_at` reads it, and the first page of `page_of_profile`: the ids
-- in order, how many of them are pinned, and which the viewer likes; and the counts of the account. All of it is on the
-- author's shard.
SELECT coalesce(r.is_active, false) AS follows,
       coalesce(r.is_requested, false) AS has_requested,
       f.is_requested IS NOT NULL AND NOT f.is_requested AS follows_viewer,
       coalesce(y.is_active, false) AS blocks,
       b.blocked_id IS NOT NULL AS is_blocked,
       coalesce(page.ids, '{}') AS ids, page.pinned_count, coalesce(page.liked, '{}') AS liked,
       a.post_count, a.follower_count, a.following_count
FROM (VALUES (:author_id::bigint, :viewer_id::bigint)) AS pair (author_id, viewer_id)
JOIN accounts AS a ON a.id = pair.author_id
LEFT JOIN followers AS r ON r.account_id = pair.author_id AND r.follower_id = pair.viewer_id
LEFT JOIN following AS f ON f.account_id = pair.author_id AND f.followee_id = pair.viewer_id
LEFT JOIN blocked_by AS y ON y.account_id = pair.author_id AND y.blocker_id = pair.viewer_id
LEFT JOIN blocks AS b ON b.account_id = pair.author_id AND b.blocked_id = pair.viewer_id
CROSS JOIN LATERAL (
    SELECT array_agg(p.id ORDER BY p.pinned_at DESC NULLS LAST, p.own_time DESC, p.id DESC) AS ids,
           count(p.pinned_at) AS pinned_count,
           array_agg(p.id) FILTER (
               WHERE EXISTS (SELECT FROM likes AS l WHERE l.post_id = p.id AND l.account_id = pair.viewer_id)
           ) AS liked
    FROM (
        SELECT both_parts.id, both_parts.pinned_at, both_parts.own_time FROM (
            (SELECT id, pinned_at, coalesce(posted_at, shardwright.id_time(id)) AS own_time FROM posts
             WHERE author_id = :author_id::bigint AND pinned_at IS NOT NULL
               AND archived_at IS NULL AND hidden_at IS NULL AND deleted_at IS NULL)
            UNION ALL
            (SELECT id, pinned_at, coalesce(posted_at, shardwright.id_time(id)) AS own_time FROM posts
             WHERE author_id = :author_id::bigint AND pinned_at IS NULL
               AND archived_at IS NULL AND hidden_at IS NULL AND deleted_at IS NULL
             ORDER BY coalesce(posted_at, shardwright.id_time(id)) DESC, id DESC LIMIT :limit::int)
        ) AS both_parts
        ORDER BY both_parts.pinned_at DESC NULLS LAST, both_parts.own_time DESC, both_parts.id DESC LIMIT :limit::int
    ) AS p
) AS page;

-- name: page_archived
-- Archived posts of an author, newest first by their own time, after the post `before`, as in `page_of_profile`.
SELECT id FROM posts
WHERE author_id = :author_id
  AND (coalesce(posted_at, shardwright.id_time(id)), id) < (
      coalesce((SELECT c.posted_at FROM posts AS c WHERE c.id = :before::bigint AND c.author_id = :author_id),
               shardwright.id_time(:before)), :before)
  AND archived_at IS NOT NULL AND deleted_at IS NULL
ORDER BY coalesce(posted_at, shardwright.id_time(id)) DESC, id DESC LIMIT :limit;

-- name: find_author
-- The author of a post, deleted or not: the author's row is locked before the post's.
SELECT author_id FROM posts WHERE id = :post_id;

-- name: lock_post
-- Reads a post and locks it until the end of the transaction.
SELECT id, author_id, caption, spans, hashtags, mention_ids, place_id, place_name, lat, lon, comments_enabled,
       hides_like_count, shows_camera, pinned_at, archived_at, hidden_at, deleted_at, import_key IS NOT NULL AS is_imported
FROM posts WHERE id = :post_id AND deleted_at IS NULL FOR NO KEY UPDATE;

-- name: edit_post
-- Writes an edit. The change id orders it among other changes of the post.
UPDATE posts SET caption = :caption, spans = :spans, hashtags = :hashtags::text[],
       mention_ids = :mention_ids::bigint[], place_id = :place_id, place_name = :place_name, lat = :lat, lon = :lon,
       comments_enabled = :comments_enabled, hides_like_count = :hides_like_count, shows_camera = :shows_camera,
       edited_at = now()
WHERE id = :post_id RETURNING next_id() AS change_id;

-- name: list_post_media
-- The media of a post with their positions.
SELECT media_id, position FROM post_media WHERE post_id = :post_id ORDER BY position;

-- name: edit_alt_text
-- Sets the alt text of one photo.
UPDATE post_media SET alt_text = :alt_text WHERE post_id = :post_id AND position = :position;

-- name: delete_tags
-- Removes the tags of one photo, before new ones are added.
DELETE FROM post_tags WHERE post_id = :post_id AND position = :position;

-- name: list_tagged
-- Everybody tagged in a post. Run it after the lock is held: a statement that waits for the lock sees the old state.
SELECT DISTINCT account_id FROM post_tags WHERE post_id = :post_id;

-- name: untag
-- Removes the tags of one person from a post.
DELETE FROM post_tags WHERE post_id = :post_id AND account_id = :account_id RETURNING position;

-- name: draw_change_id
-- A change id that orders a change among others of the post; drawn while the post is locked.
SELECT next_id() AS change_id;

-- name: set_state
-- Pins, archives, hides or deletes a post, or takes that back. The change id orders it among other changes of the post.
UPDATE posts SET pinned_at = :pinned_at, archived_at = :archived_at, hidden_at = :hidden_at, deleted_at = :deleted_at
WHERE id = :post_id RETURNING next_id() AS change_id;

-- name: count_pinned
-- How many posts an author has pinned.
SELECT count(*) FROM posts WHERE author_id = :author_id AND pinned_at IS NOT NULL AND deleted_at IS NULL;

-- name: like hot
-- A like with its count and its event, by somebody who may see the post (graph's rules `may_see_content` and
-- `may_see_post`, whose facts are all on the author's shard). No row: there is no such post for this person. No
-- `change_id`: they like it already. The change id is drawn after the like's lock is held, so that of one person's changes
-- the later has the larger id; `counted_id` orders reads of the counts. Where the count is buffered, the post's row is
-- neither locked nor changed.
WITH post AS (
    SELECT p.id, p.author_id FROM posts AS p JOIN accounts AS a ON a.id = p.author_id
    WHERE p.id = :post_id::bigint AND p.deleted_at IS NULL
      AND (p.author_id = :account_id::bigint
           OR (p.archived_at IS NULL AND p.hidden_at IS NULL AND a.status = 'active'
               AND NOT EXISTS (SELECT FROM blocks AS b WHERE b.account_id = a.id AND b.blocked_id = :account_id)
               AND NOT EXISTS (SELECT FROM blocked_by AS b
                               WHERE b.account_id = a.id AND b.blocker_id = :account_id AND b.is_active)
               AND (NOT a.is_private
                    OR EXISTS (SELECT FROM followers AS f
                               WHERE f.account_id = a.id AND f.follower_id = :account_id AND f.is_active))))
), liked AS (
    INSERT INTO likes (post_id, account_id, liked_id) SELECT post.id, :account_id, next_id() FROM post
    ON CONFLICT DO NOTHING RETURNING next_id() AS change_id
), counted AS (
    UPDATE posts AS p SET like_count = p.like_count + 1, counted_id = next_id() FROM liked
    WHERE p.id = :post_id AND NOT :is_buffered::boolean
    RETURNING p.like_count, p.comment_count, p.like_batch, p.counted_id
), announced AS (
    INSERT INTO common.outbox (event, payload, request_id)
    SELECT :event::text, convert_to(:payload::text || liked.change_id || ',"author_id":' || post.author_id || '}', 'UTF8'),
           :request_id::text
    FROM liked CROSS JOIN post
)
SELECT post.author_id, liked.change_id, counted.like_count, counted.comment_count, counted.like_batch, counted.counted_id
FROM post LEFT JOIN liked ON true LEFT JOIN counted ON true;

-- name: unlike hot
-- Takes a like back, with its count and its event; the same rows as `like`. `is_erased` takes it back whatever the person
-- may see, because their data is erased.
WITH post AS (
    SELECT p.id, p.author_id FROM posts AS p JOIN accounts AS a ON a.id = p.author_id
    WHERE p.id = :post_id::bigint AND (:is_erased::boolean OR (p.deleted_at IS NULL
      AND (p.author_id = :account_id::bigint
           OR (p.archived_at IS NULL AND p.hidden_at IS NULL AND a.status = 'active'
               AND NOT EXISTS (SELECT FROM blocks AS b WHERE b.account_id = a.id AND b.blocked_id = :account_id)
               AND NOT EXISTS (SELECT FROM blocked_by AS b
                               WHERE b.account_id = a.id AND b.blocker_id = :account_id AND b.is_active)
               AND (NOT a.is_private
                    OR EXISTS (SELECT FROM followers AS f
                               WHERE f.account_id = a.id AND f.follower_id = :account_id AND f.is_active))))))
), unliked AS (
    DELETE FROM likes AS l USING post WHERE l.post_id = post.id AND l.account_id = :account_id
    RETURNING next_id() AS change_id
), counted AS (
    UPDATE posts AS p SET like_count = p.like_count - 1, counted_id = next_id() FROM unliked
    WHERE p.id = :post_id AND NOT :is_buffered::boolean
    RETURNING p.like_count, p.comment_count, p.like_batch, p.counted_id
), announced AS (
    INSERT INTO common.outbox (event, payload, request_id)
    SELECT :event::text, convert_to(:payload::text || unliked.change_id || ',"author_id":' || post.author_id || '}', 'UTF8'),
           :request_id::text
    FROM unliked CROSS JOIN post
)
SELECT post.author_id, unliked.change_id, counted.like_count, counted.comment_count, counted.like_batch, counted.counted_id
FROM post LEFT JOIN unliked ON true LEFT JOIN counted ON true;

-- name: change_comment_count
-- Visible comments of a post, changed in the transaction that adds or removes them.
UPDATE posts SET comment_count = comment_count + :by::int WHERE id = :post_id;

-- name: fold_likes
-- Adds a batch of buffered likes to the counts that do not include it yet.
UPDATE posts AS p SET like_count = p.like_count + change.delta, like_batch = :batch
FROM unnest(:post_ids::bigint[], :deltas::int[]) AS change (post_id, delta)
WHERE p.id = change.post_id AND p.like_batch < :batch;

-- name: page_likers
-- Who liked a post, the latest first.
SELECT account_id, liked_id FROM likes WHERE post_id = :post_id AND liked_id < :before
ORDER BY liked_id DESC LIMIT :limit;

-- name: index_like hot
-- The index of a person's likes, on their own shard. The newest change wins, however often and in whatever order
-- changes arrive; nothing is written for an account that is gone.
INSERT INTO own_likes (account_id, post_id, change_id, is_active)
SELECT a.id, :post_id, :change_id, :is_active FROM accounts AS a WHERE a.id = :account_id
ON CONFLICT (account_id, post_id) DO UPDATE SET change_id = excluded.change_id, is_active = excluded.is_active
WHERE own_likes.change_id < excluded.change_id;

-- name: index_likes
-- `index_like` for likes of many people of this shard, each of whom is given once per post.
INSERT INTO own_likes (account_id, post_id, change_id, is_active)
SELECT a.id, given.post_id, given.change_id, given.is_active
FROM unnest(:account_ids::bigint[], :post_ids::bigint[], :change_ids::bigint[], :are_active::boolean[])
     AS given (account_id, post_id, change_id, is_active)
JOIN accounts AS a ON a.id = given.account_id
ORDER BY given.account_id, given.post_id
ON CONFLICT (account_id, post_id) DO UPDATE SET change_id = excluded.change_id, is_active = excluded.is_active
WHERE own_likes.change_id < excluded.change_id;

-- name: gather_indexed_likes
-- The newest change that the indexes of these people have of these posts; people and posts need not be pairs.
SELECT account_id, post_id, change_id FROM own_likes
WHERE account_id = ANY(:ids::bigint[]) AND post_id = ANY(:post_ids::bigint[]);

-- name: which_liked hot
-- Those of the posts that a viewer likes, from the viewer's own shard.
SELECT post_id FROM own_likes
WHERE account_id = :account_id::bigint AND post_id = ANY(:post_ids::bigint[]) AND is_active;

-- name: page_own_likes
-- The posts a person likes, the latest like first.
SELECT post_id, change_id FROM own_likes
WHERE account_id = :account_id AND is_active AND change_id < :before
ORDER BY change_id DESC LIMIT :limit;

-- name: index_tag
-- The index of the posts a person is tagged in, on their own shard. The newest change wins.
INSERT INTO tagged_in (account_id, post_id, change_id, is_active)
SELECT a.id, :post_id, :change_id, :is_active FROM accounts AS a WHERE a.id = :account_id
ON CONFLICT (account_id, post_id) DO UPDATE SET change_id = excluded.change_id, is_active = excluded.is_active
WHERE tagged_in.change_id < excluded.change_id;

-- name: page_tagged_in
-- The posts a person is tagged in, newest first.
SELECT post_id FROM tagged_in
WHERE account_id = :account_id AND is_active AND post_id < :before
ORDER BY post_id DESC LIMIT :limit;

-- name: list_purgeable
-- Posts whose retention time after deletion is over.
SELECT id, author_id FROM posts WHERE deleted_at < now() - make_interval(days => :days::int)
ORDER BY deleted_at LIMIT :limit;

-- name: purge_likes
-- The likes of a post that is purged.
DELETE FROM likes WHERE post_id = :post_id;

-- name: purge_tags
-- The tags of a post that is purged.
DELETE FROM post_tags WHERE post_id = :post_id;

-- name: purge_post_media
-- The media of a post that is purged; the media room deletes their files.
DELETE FROM post_media WHERE post_id = :post_id RETURNING media_id;

-- name: purge_post
-- The post itself, if it is still there.
DELETE FROM posts WHERE id = :post_id RETURNING id;

-- name: sweep_own_likes
-- Index rows of likes taken back so long ago that no event about them can still be under way.
DELETE FROM own_likes WHERE (account_id, post_id) IN (
    SELECT account_id, post_id FROM own_likes
    WHERE NOT is_active AND change_id < shardwright.min_id_at(now() - interval '30 days') LIMIT :limit
);

-- name: sweep_tagged_in
-- Index rows of tags removed so long ago that no event about them can still be under way.
DELETE FROM tagged_in WHERE (account_id, post_id) IN (
    SELECT account_id, post_id FROM tagged_in
    WHERE NOT is_active AND change_id < shardwright.min_id_at(now() - interval '30 days') LIMIT :limit
);

-- name: page_of_all
-- Every post of an author that is not deleted, oldest first, for an export.
SELECT id FROM posts WHERE author_id = :author_id AND id > :after AND deleted_at IS NULL ORDER BY id LIMIT :limit;

-- name: list_erasable
-- A batch of posts of a person whose data is erased, in whatever state.
SELECT id FROM posts WHERE author_id = :author_id ORDER BY id LIMIT :limit;

-- name: list_own_likes
-- A batch of index rows of likes of a person whose data is erased.
SELECT post_id, is_active FROM own_likes WHERE account_id = :account_id ORDER BY post_id LIMIT :limit;

-- name: erase_own_likes
-- Index rows of likes that were removed from their posts before.
DELETE FROM own_likes WHERE account_id = :account_id AND post_id = ANY(:post_ids::bigint[]);

-- name: list_tagged_in
-- A batch of posts that a person whose data is erased is tagged in.
SELECT post_id FROM tagged_in WHERE account_id = :account_id ORDER BY post_id LIMIT :limit;

-- name: erase_tagged_in
-- Index rows of tags that were removed from their posts before.
DELETE FROM tagged_in WHERE account_id = :account_id AND post_id = ANY(:post_ids::bigint[]);

-- name: count_left
-- Rows left of a person whose data is erased, on their own shard; rows elsewhere are found through these.
SELECT (SELECT count(*) FROM posts WHERE author_id = :account_id)
     + (SELECT count(*) FROM own_likes WHERE account_id = :account_id)
     + (SELECT count(*) FROM tagged_in WHERE account_id = :account_id)
     + (SELECT count(*) FROM scheduled_posts WHERE author_id = :account_id) AS left_over;

-- name: scan_like_counts
-- Stored and actual likes per post, a batch at a time.
SELECT p.id, p.like_count AS stored, (SELECT count(*) FROM likes AS l WHERE l.post_id = p.id) AS counted
FROM posts AS p WHERE p.id > :after ORDER BY p.id LIMIT :limit;

-- name: lock_counts
-- Whoever changes a count of a post holds this lock, so a recount under it sees rows and count in agreement.
SELECT id FROM posts WHERE id = :id FOR NO KEY UPDATE;

-- name: recount_likes
-- The actual number of likes.
SELECT count(*) FROM likes WHERE post_id = :id;

-- name: set_like_count
-- Stores what the reconciler counted.
UPDATE posts SET like_count = :count::int WHERE id = :id;

-- name: set_comment_count
-- Stores what the reconciler counted.
UPDATE posts SET comment_count = :count::int WHERE id = :id;

-- name: scan_post_counts
-- Stored and actual posts per author, a batch at a time.
SELECT a.id, a.post_count AS stored,
       (SELECT count(*) FROM posts AS p WHERE p.author_id = a.id
          AND p.archived_at IS NULL AND p.hidden_at IS NULL AND p.deleted_at IS NULL) AS counted
FROM accounts AS a WHERE a.id > :after ORDER BY a.id LIMIT :limit;

-- name: recount_posts
-- The actual number of posts that are shown.
SELECT count(*) FROM posts
WHERE author_id = :id AND archived_at IS NULL AND hidden_at IS NULL AND deleted_at IS NULL;

-- name: gather_posts_of_media
-- The posts that show these media.
SELECT DISTINCT post_id FROM media WHERE id = ANY(:ids::bigint[]) AND post_id IS NOT NULL;

-- name: list_popular
-- Posts of the last days that others may see (graph's rule `may_see_post`), those with the most reactions first; not
-- imported ones, whose ids are newer than they are.
SELECT id, like_count + 2 * comment_count AS reactions FROM posts
WHERE id >= shardwright.min_id_at(now() - make_interval(days => :days::int)) AND import_key IS NULL
  AND archived_at IS NULL AND hidden_at IS NULL AND deleted_at IS NULL
ORDER BY reactions DESC, id DESC LIMIT :limit;

-- name: find_scheduled_by_key
-- The scheduled post of an earlier request with this idempotency key, and the hash of that request's body.
SELECT id, body_hash FROM scheduled_posts WHERE author_id = :author_id AND idempotency_key = :idempotency_key;

-- name: count_scheduled
-- How many scheduled posts an author has, how many of them within the day before a time and within the day after it, and
-- how many show one of these media; the post `except_id` does not count.
SELECT count(*) AS posts,
       count(*) FILTER (WHERE publish_at > :publish_at::timestamptz - interval '24 hours'
                          AND publish_at <= :publish_at::timestamptz) AS day_before,
       count(*) FILTER (WHERE publish_at >= :publish_at::timestamptz
                          AND publish_at < :publish_at::timestamptz + interval '24 hours') AS day_after,
       count(*) FILTER (WHERE media_ids && :media_ids::bigint[]) AS with_media
FROM scheduled_posts WHERE author_id = :author_id AND id <> :except_id::bigint;

-- name: add_scheduled
-- A post to publish later.
INSERT INTO scheduled_posts (author_id, publish_at, due_at, draft, media_ids, idempotency_key, body_hash)
VALUES (:author_id, :publish_at::timestamptz, :publish_at::timestamptz, :draft, :media_ids::bigint[],
        :idempotency_key, :body_hash)
RETURNING id;

-- name: find_scheduled
-- One scheduled post.
SELECT id, author_id, publish_at, due_at, problem, draft, media_ids, change_id, idempotency_key, body_hash
FROM scheduled_posts WHERE id = :id;

-- name: lock_scheduled
-- `find_scheduled`, and nobody else publishes, changes or cancels it until the transaction ends.
SELECT id, author_id, publish_at, due_at, problem, draft, media_ids, change_id, idempotency_key, body_hash,
       due_at <= now() AS is_due
FROM scheduled_posts WHERE id = :id FOR UPDATE;

-- name: list_scheduled
-- The scheduled posts of an author, the next first.
SELECT id, author_id, publish_at, due_at, problem, draft, media_ids, change_id, idempotency_key, body_hash
FROM scheduled_posts WHERE author_id = :author_id ORDER BY publish_at, id;

-- name: list_scheduled_media
-- Uploads of an author that scheduled posts show.
SELECT id AS media_id, folder, type, state, width, height, placeholder, duration_ms, has_hls, large_width,
       camera
FROM media WHERE id = ANY(:media_ids::bigint[]) AND account_id = :author_id AND state <> 'deleted';

-- name: change_scheduled
-- Another draft or time; it is due at that time, whatever kept it from being published before.
UPDATE scheduled_posts SET draft = :draft, publish_at = :publish_at::timestamptz, due_at = :publish_at::timestamptz,
       problem = NULL, change_id = next_id()
WHERE id = :id;

-- name: postpone_scheduled
-- What keeps a post from being published, and when to try again; with no `due_at` its author decides. A post that was
-- changed since it was read stays as it is.
UPDATE scheduled_posts SET due_at = :due_at, problem = :problem WHERE id = :id AND change_id = :change_id RETURNING id;

-- name: delete_scheduled
-- A scheduled post that is published, cancelled or erased.
DELETE FROM scheduled_posts WHERE id = :id RETURNING media_ids;

-- name: list_due
-- Scheduled posts that are due by a time, the longest waiting first.
SELECT id, due_at FROM scheduled_posts WHERE due_at <= :by::timestamptz ORDER BY due_at LIMIT :limit;

-- name: list_lapsed
-- Posts that were held back so long ago that their media are about to expire.
SELECT id FROM scheduled_posts WHERE due_at IS NULL AND publish_at < now() - make_interval(days => :days::int)
LIMIT :limit;

-- name: list_erasable_scheduled
-- A batch of scheduled posts of a person whose data is erased.
SELECT id FROM scheduled_posts WHERE author_id = :author_id ORDER BY id LIMIT :limit;
