-- name: add_days writes
-- The parts of so many days, from the one on in which an id was made, or from today on.
SELECT add_story_days(coalesce(shardwright.id_time(:story_id::bigint), story_now()), :days::int) AS made;

-- name: drop_days writes
-- The parts that are past are gone.
SELECT drop_story_days() AS dropped;

-- name: lock_author
-- What one author does happens one after another: stories of a day and the order of highlights are exact.
SELECT id FROM accounts WHERE id = :author_id AND status = 'active' FOR NO KEY UPDATE;

-- name: lock_owner
-- The same for somebody in whatever state, such as one who leaves.
SELECT id FROM accounts WHERE id = :author_id FOR NO KEY UPDATE;

-- name: find_by_key
-- What an earlier request with this key has made, and of what, within the days that are kept.
SELECT id, body_hash FROM stories WHERE author_id = :author_id AND idempotency_key = :idempotency_key
ORDER BY id DESC LIMIT 1;

-- name: count_recent
-- How many stories of the last day there are, removed ones too, and in how many seconds the oldest has aged.
SELECT count(*) AS stories,
       ceil(extract(epoch FROM shardwright.id_time(min(id)) + interval '24 hours' - story_now()))::int AS wait_s
FROM stories WHERE author_id = :author_id AND id >= stories_begin();

-- name: add_story
-- The story itself; without a part for its day it is refused, and the caller makes one.
INSERT INTO stories (author_id, media_id, audience, text, alt_text, mentions, replies_enabled, idempotency_key, body_hash)
VALUES (:author_id, :media_id, :audience, :text, :alt_text, :mentions, :replies_enabled, :idempotency_key, :body_hash)
RETURNING id;

-- name: take_media
-- An upload becomes the picture of a story; what is foreign, expired, failed, used or of another kind is not returned.
UPDATE media SET post_id = :story_id::bigint, expires_at = NULL, changed_at = now(),
                 ends_at = shardwright.id_time(:story_id) + interval '24 hours'
WHERE id = :media_id AND account_id = :author_id AND kind = 'story' AND post_id IS NULL AND expires_at > now()
  AND state IN ('ready', 'processing') AND (type = 'image' OR coalesce(duration_ms, 0) <= :longest_ms)
RETURNING id;

-- name: read_clock hot
-- What time it is here.
SELECT story_now() AS now;

-- name: gather_rings
-- What authors show now, whoever looks, oldest first; who shows nothing has no row.
SELECT s.author_id, array_agg(s.id ORDER BY s.id) AS ids,
       array_agg(s.audience = 'close_friends' ORDER BY s.id) AS are_close
FROM stories AS s JOIN media AS m ON m.id = s.media_id
WHERE s.author_id = ANY(:ids::bigint[]) AND s.id >= stories_begin() AND s.removed_at IS NULL AND s.hidden_at IS NULL
  AND m.state IN ('ready', 'processing')
GROUP BY s.author_id;

-- name: which_befriend
-- Those of the authors who count somebody among their close friends: their own lists decide, where they lie.
SELECT account_id FROM attitudes WHERE account_id = ANY(:ids::bigint[]) AND target_id = :viewer_id AND is_close_friend;

-- name: gather_owners
-- Whose pictures of stories these are.
SELECT DISTINCT account_id FROM media WHERE id = ANY(:ids::bigint[]) AND kind = 'story' AND post_id IS NOT NULL;

-- name: list_live hot
-- What an author shows a viewer now, oldest first.
SELECT s.id
FROM stories AS s JOIN media AS m ON m.id = s.media_id
WHERE s.author_id = :author_id::bigint AND s.id >= stories_begin() AND s.removed_at IS NULL
  AND (s.author_id = :viewer_id::bigint OR s.hidden_at IS NULL AND m.state IN ('ready', 'processing')
       AND (s.audience = 'everyone' OR EXISTS (
            SELECT FROM attitudes AS a
            WHERE a.account_id = s.author_id AND a.target_id = :viewer_id AND a.is_close_friend)))
ORDER BY s.id;

-- name: gather_stories
-- Whole stories that live and that a viewer may see, if they may see their authors' at all.
SELECT s.id, s.author_id, s.audience, s.text, s.mentions, s.replies_enabled, s.view_count, s.reaction_count,
       s.hidden_at IS NOT NULL AS is_hidden, v.reaction,
       extract(epoch FROM shardwright.id_time(s.id) + interval '24 hours' - story_now())::float8 AS ttl_s,
       m.id AS media_id, m.folder, m.type, m.state, m.width, m.height, m.placeholder, m.duration_ms, m.has_hls, s.alt_text
FROM stories AS s
JOIN media AS m ON m.id = s.media_id
LEFT JOIN story_views AS v ON v.story_id = s.id AND v.viewer_id = :viewer_id::bigint
WHERE s.id = ANY(:ids::bigint[]) AND s.id >= stories_begin() AND s.removed_at IS NULL
  AND (s.author_id = :viewer_id OR s.hidden_at IS NULL AND m.state IN ('ready', 'processing')
       AND (s.audience = 'everyone' OR EXISTS (
            SELECT FROM attitudes AS a
            WHERE a.account_id = s.author_id AND a.target_id = :viewer_id AND a.is_close_friend)))
ORDER BY s.id;

-- name: which_seen hot
-- Those of the stories that somebody has seen.
SELECT story_id FROM seen_stories WHERE viewer_id = :viewer_id AND story_id = ANY(:ids::bigint[]);

-- name: seen_since hot
-- What somebody has seen of the stories from an id on.
SELECT ARRAY(
    SELECT story_id FROM seen_stories WHERE viewer_id = :viewer_id AND story_id >= :first_id
) AS ids;

-- name: mark_seen
-- Seeing twice returns no row.
INSERT INTO seen_stories (viewer_id, story_id)
SELECT :viewer_id::bigint, seen.id FROM unnest(:ids::bigint[]) AS seen (id)
ON CONFLICT DO NOTHING RETURNING story_id;

-- name: lock_story
-- A story in whatever state, kept so until the end of the transaction: its counts move under this lock.
SELECT id, author_id, media_id, mentions, hidden_at, removed_at, id >= stories_begin() AS is_live
FROM stories WHERE id = :story_id FOR NO KEY UPDATE;

-- name: find_author
-- Whose story it is, in whatever state; decides whose lock to take before the story's own.
SELECT author_id FROM stories WHERE id = :story_id;

-- name: find_view
-- How somebody took a story that they have seen.
SELECT reaction FROM story_views WHERE story_id = :story_id AND viewer_id = :viewer_id;

-- name: add_view
-- One row for each who saw it; twice returns no row.
INSERT INTO story_views (story_id, viewer_id) VALUES (:story_id, :viewer_id)
ON CONFLICT DO NOTHING RETURNING story_id;

-- name: set_reaction
-- The last reaction counts; null takes it back. Returns the number of the change.
UPDATE story_views SET reaction = :reaction WHERE story_id = :story_id AND viewer_id = :viewer_id
RETURNING next_id() AS change_id;

-- name: drop_view
-- Somebody who leaves has seen nothing.
DELETE FROM story_views WHERE story_id = :story_id AND viewer_id = :viewer_id RETURNING reaction;

-- name: count_views
-- The story's numbers, under its lock.
UPDATE stories SET view_count = view_count + :views::int, reaction_count = reaction_count + :reactions::int
WHERE id = :story_id;

-- name: page_views
-- Who saw it, newest first.
SELECT viewer_id, change_id, reaction FROM story_views
WHERE story_id = :story_id AND change_id < :before ORDER BY change_id DESC LIMIT :limit;

-- name: find_reactions
-- How somebody took some stories, from as many shards as they live on.
SELECT story_id, viewer_id, reaction FROM story_views
WHERE story_id = ANY(:ids::bigint[]) AND viewer_id = ANY(:viewer_ids::bigint[]) AND reaction IS NOT NULL;

-- name: remove_story
-- Gone for everybody; the row goes with its day.
UPDATE stories SET removed_at = now() WHERE id = :story_id AND removed_at IS NULL RETURNING next_id() AS change_id;

-- name: turn_story
-- Out of everybody's sight but the author's, or in sight again.
UPDATE stories SET hidden_at = CASE WHEN :is_hidden::boolean THEN now() END
WHERE id = :story_id AND (hidden_at IS NOT NULL) <> :is_hidden RETURNING next_id() AS change_id;

-- name: turn_items
-- The same for its copies.
UPDATE highlight_items SET hidden_at = CASE WHEN :is_hidden::boolean THEN now() END
WHERE story_id = :story_id AND (hidden_at IS NOT NULL) <> :is_hidden;

-- name: find_copy
-- A highlight that holds a copy of a story, and whose it is.
SELECT h.id, h.account_id FROM highlight_items AS i JOIN highlights AS h ON h.id = i.highlight_id
WHERE i.story_id = :story_id ORDER BY h.id LIMIT 1;

-- name: drop_copies
-- No copy of a story is left; returns its picture.
DELETE FROM highlight_items WHERE story_id = :story_id RETURNING media_id;

-- name: drop_empty_highlights
-- A highlight in which nothing is left goes.
DELETE FROM highlights AS h
WHERE h.account_id = :account_id AND NOT EXISTS (SELECT FROM highlight_items AS i WHERE i.highlight_id = h.id);

-- name: is_kept
-- Whether a highlight shows this picture, too.
SELECT EXISTS (SELECT FROM highlight_items WHERE media_id = :media_id) AS is_kept;

-- name: find_reply_by_key
-- What an earlier request with this key has said.
SELECT id, story_id, text FROM story_replies WHERE account_id = :account_id AND idempotency_key = :idempotency_key
ORDER BY id DESC LIMIT 1;

-- name: add_reply
-- What somebody says to a story's author.
INSERT INTO story_replies (account_id, story_id, text, idempotency_key)
VALUES (:account_id, :story_id, :text, :idempotency_key) RETURNING id;

-- name: gather_replies
-- Replies by id, from as many shards as they live on.
SELECT id, account_id, story_id, text FROM story_replies WHERE id = ANY(:ids::bigint[]);

-- name: sweep_replies
-- Replies so old that nothing shows them any more, some at a time.
DELETE FROM story_replies WHERE id IN (
    SELECT id FROM story_replies WHERE id < shardwright.min_id_at(story_now() - make_interval(days => :days::int))
    ORDER BY id LIMIT :limit::int
) RETURNING id;

-- name: list_ended_media
-- Pictures of stories that ended a while ago.
SELECT id FROM media
WHERE ends_at < story_now() - make_interval(secs => :grace_s::float8) AND state <> 'deleted' LIMIT :limit::int;

-- name: count_highlights
-- How many highlights somebody has, and the place of a new one, which comes first.
SELECT count(*) AS highlights, coalesce(min(position), 0) - 1 AS position FROM highlights WHERE account_id = :account_id;

-- name: add_highlight
-- A highlight without anything in it yet.
INSERT INTO highlights (account_id, title, position) VALUES (:account_id, :title, :position) RETURNING id;

-- name: copy_stories
-- Copies one's own living stories, in order of time after what is there; those that are in it already stay as they are.
INSERT INTO highlight_items (highlight_id, story_id, media_id, audience, text, alt_text, mentions, position)
SELECT :highlight_id::bigint, s.id, s.media_id, s.audience, s.text, s.alt_text, s.mentions,
       (SELECT coalesce(max(i.position), 0) FROM highlight_items AS i WHERE i.highlight_id = :highlight_id)
       + row_number() OVER (ORDER BY s.id)
FROM stories AS s JOIN media AS m ON m.id = s.media_id
WHERE s.id = ANY(:story_ids::bigint[]) AND s.author_id = :account_id AND s.id >= stories_begin()
  AND s.removed_at IS NULL AND s.hidden_at IS NULL AND m.state IN ('ready', 'processing')
ON CONFLICT (highlight_id, story_id) DO UPDATE SET story_id = excluded.story_id
RETURNING id, story_id, media_id;

-- name: keep_media
-- What a highlight shows has no end.
UPDATE media SET ends_at = NULL, changed_at = now() WHERE id = ANY(:media_ids::bigint[]) AND state <> 'deleted';

-- name: end_media
-- What no highlight shows any more ends with its story; returns what has ended already, or was removed.
WITH loose AS (
    SELECT m.id, m.post_id FROM media AS m
    WHERE m.id = ANY(:media_ids::bigint[]) AND m.state <> 'deleted'
      AND NOT EXISTS (SELECT FROM highlight_items AS i WHERE i.media_id = m.id)
), living AS (
    SELECT l.id FROM loose AS l JOIN stories AS s ON s.id = l.post_id
    WHERE s.id >= stories_begin() AND s.removed_at IS NULL
), ending AS (
    UPDATE media AS m SET ends_at = shardwright.id_time(m.post_id) + interval '24 hours', changed_at = now()
    FROM living AS l WHERE m.id = l.id
)
SELECT l.id FROM loose AS l WHERE l.id NOT IN (SELECT id FROM living);

-- name: lock_highlight
-- One's own highlight, kept so until the end of the transaction.
SELECT id, title, cover_item_id FROM highlights WHERE id = :highlight_id AND account_id = :account_id FOR UPDATE;

-- name: change_highlight
-- New words or another cover; null leaves it as it is.
UPDATE highlights SET title = coalesce(:title::text, title),
                      cover_item_id = coalesce(:cover_item_id::bigint, cover_item_id)
WHERE id = :highlight_id;

-- name: list_items
-- What is in a highlight, in order, for changes to it.
SELECT id, story_id, media_id FROM highlight_items WHERE highlight_id = :highlight_id ORDER BY position, id;

-- name: drop_items
-- Out of the highlight; returns the pictures, which may have to go as well.
DELETE FROM highlight_items WHERE highlight_id = :highlight_id AND id = ANY(:item_ids::bigint[]) RETURNING media_id;

-- name: drop_all_items
-- Everything of a highlight that goes.
DELETE FROM highlight_items WHERE highlight_id = :highlight_id RETURNING media_id;

-- name: order_items
-- Items in their new order.
UPDATE highlight_items AS i SET position = item.position
FROM unnest(:item_ids::bigint[]) WITH ORDINALITY AS item (id, position)
WHERE i.id = item.id AND i.highlight_id = :highlight_id;

-- name: drop_highlight
-- The highlight itself.
DELETE FROM highlights WHERE id = :highlight_id AND account_id = :account_id;

-- name: order_highlights
-- Those named come first, in this order; the others keep theirs after them.
WITH named AS (
    SELECT item.id, item.position - 1 AS position FROM unnest(:highlight_ids::bigint[]) WITH ORDINALITY AS item (id, position)
), others AS (
    SELECT h.id, (SELECT count(*) FROM named) + row_number() OVER (ORDER BY h.position, h.id DESC) - 1 AS position
    FROM highlights AS h WHERE h.account_id = :account_id AND h.id NOT IN (SELECT id FROM named)
)
UPDATE highlights AS h SET position = new.position
FROM (SELECT * FROM named UNION ALL SELECT * FROM others) AS new
WHERE h.id = new.id AND h.account_id = :account_id;

-- name: find_highlight_owner
-- Whose highlight it is.
SELECT account_id FROM highlights WHERE id = :highlight_id;

-- name: list_highlights
-- Somebody's highlights in their order, or one of them, with the items a viewer may see.
SELECT h.id, h.account_id, h.title, h.cover_item_id, i.id AS item_id, i.story_id, i.audience, i.text, i.mentions,
       m.id AS media_id, m.folder, m.type, m.state, m.width, m.height, m.placeholder, m.duration_ms, m.has_hls, i.alt_text
FROM highlights AS h
JOIN highlight_items AS i ON i.highlight_id = h.id
JOIN media AS m ON m.id = i.media_id
WHERE h.account_id = :account_id AND (:highlight_id::bigint IS NULL OR h.id = :highlight_id)
  AND (h.account_id = :viewer_id::bigint OR i.hidden_at IS NULL AND m.state IN ('ready', 'processing')
       AND (i.audience = 'everyone' OR EXISTS (
            SELECT FROM attitudes AS a
            WHERE a.account_id = h.account_id AND a.target_id = :viewer_id AND a.is_close_friend)))
ORDER BY h.position, h.id DESC, i.position, i.id;

-- name: export_stories
-- Everything of somebody's that is kept of their stories, oldest first.
SELECT s.id, s.audience, s.text, s.alt_text, s.mentions, s.replies_enabled, s.view_count, s.reaction_count, s.media_id,
       m.folder
FROM stories AS s LEFT JOIN media AS m ON m.id = s.media_id AND m.state <> 'deleted'
WHERE s.author_id = :account_id AND s.removed_at IS NULL AND s.id > :after ORDER BY s.id LIMIT :limit;

-- name: export_replies
-- What somebody answered, oldest first.
SELECT id, story_id, text FROM story_replies WHERE account_id = :account_id AND id > :after ORDER BY id LIMIT :limit;

-- name: page_seen
-- What somebody has seen.
SELECT story_id FROM seen_stories WHERE viewer_id = :account_id AND story_id > :after ORDER BY story_id LIMIT :limit;

-- name: list_of_author
-- Some stories of somebody who leaves, in whatever state.
SELECT id, media_id, mentions FROM stories WHERE author_id = :account_id ORDER BY id LIMIT :limit;

-- name: erase_story
-- A story of somebody who leaves, with everybody's views of it.
WITH views AS (
    DELETE FROM story_views WHERE story_id = :story_id
)
DELETE FROM stories WHERE id = :story_id RETURNING id, next_id() AS change_id;

-- name: list_own_highlights
-- Some highlights of somebody who leaves.
SELECT id FROM highlights WHERE account_id = :account_id LIMIT :limit;

-- name: forget_seen
-- What somebody who leaves has seen.
DELETE FROM seen_stories WHERE viewer_id = :account_id AND story_id = ANY(:ids::bigint[]);

-- name: forget_replies
-- Some of what somebody who leaves has answered.
DELETE FROM story_replies WHERE id IN (
    SELECT id FROM story_replies WHERE account_id = :account_id ORDER BY id LIMIT :limit::int
) RETURNING id;

-- name: count_left
-- What is still here of a person.
SELECT (SELECT count(*) FROM stories WHERE author_id = :account_id)
     + (SELECT count(*) FROM highlights WHERE account_id = :account_id)
     + (SELECT count(*) FROM seen_stories WHERE viewer_id = :account_id)
     + (SELECT count(*) FROM story_replies WHERE account_id = :account_id) AS left_here;
