-- name: create_partitions writes
-- Creates the partitions of so many days, from the day on that an id was made, or from today on.
SELECT common.add_story_days(
    :shard::int, coalesce(shardwright.id_time(:story_id::bigint), story_now()), :days::int) AS made;

-- name: drop_partitions writes
-- Drops the partitions whose stories have all ended.
SELECT common.drop_story_days(:shard::int) AS dropped;

-- name: lock_author
-- Serializes one author's writes: the daily limit and the order of highlights are exact.
SELECT id FROM accounts WHERE id = :author_id AND status = 'active' FOR NO KEY UPDATE;

-- name: lock_owner
-- The same lock for an account in any state, such as one that is being deleted.
SELECT id FROM accounts WHERE id = :author_id FOR NO KEY UPDATE;

-- name: find_by_key
-- The story that an earlier request with this idempotency key made, and the hash of its body, while partitions last.
SELECT id, body_hash FROM stories WHERE author_id = :author_id AND idempotency_key = :idempotency_key
ORDER BY id DESC LIMIT 1;

-- name: count_recent
-- How many stories the author published in the last 24 hours, removed ones too, and seconds until the oldest is past that.
SELECT count(*) AS stories,
       ceil(extract(epoch FROM shardwright.id_time(min(id)) + interval '24 hours' - story_now()))::int AS wait_s
FROM stories WHERE author_id = :author_id AND id >= stories_begin();

-- name: add_story
-- The story itself; without a partition for its day it is refused, and the caller creates one.
INSERT INTO stories (author_id, media_id, audience, text, alt_text, mentions, replies_enabled, idempotency_key, body_hash,
                     elements, poll_counts)
VALUES (:author_id, :media_id, :audience, :text, :alt_text, :mentions, :replies_enabled, :idempotency_key, :body_hash,
        :elements, :poll_counts::int[])
RETURNING id;

-- name: read_clock hot
-- This server's clock.
SELECT story_now() AS now;

-- name: gather_author_stories
-- The live stories of authors that others may see, oldest first, each with whether it is for close friends; an author
-- without any has no row. The part of graph's rule `may_see_story` that is the same for all viewers but the author.
SELECT s.author_id, array_agg(s.id ORDER BY s.id) AS ids,
       array_agg(s.audience = 'close_friends' ORDER BY s.id) AS are_close
FROM stories AS s JOIN media AS m ON m.id = s.media_id
WHERE s.author_id = ANY(:ids::bigint[]) AND s.id >= stories_begin() AND s.removed_at IS NULL AND s.hidden_at IS NULL
  AND m.state IN ('ready', 'processing')
GROUP BY s.author_id;

-- name: which_have_as_close_friend
-- Those of the authors who count the viewer among their close friends.
SELECT account_id FROM attitudes WHERE account_id = ANY(:ids::bigint[]) AND target_id = :viewer_id AND is_close_friend;

-- name: gather_media_owners
-- The accounts whose stories show these media.
SELECT DISTINCT account_id FROM media WHERE id = ANY(:ids::bigint[]) AND kind = 'story' AND post_id IS NOT NULL;

-- name: list_live hot
-- An author's live stories, whoever may see them, oldest first.
SELECT id FROM stories
WHERE author_id = :author_id::bigint AND id >= stories_begin() AND removed_at IS NULL ORDER BY id;

-- name: gather_stories
-- Live stories in full, with what decides whether a viewer may see them.
SELECT s.id, s.author_id, s.audience, s.text, s.mentions, s.replies_enabled, s.view_count, s.reaction_count,
       s.hidden_at IS NOT NULL AS is_hidden, v.reaction, s.elements, s.poll_counts, v.choice, v.answer,
       s.audience = 'close_friends' AND EXISTS (
           SELECT FROM attitudes AS a
           WHERE a.account_id = s.author_id AND a.target_id = :viewer_id::bigint AND a.is_close_friend) AS is_close_friend,
       extract(epoch FROM shardwright.id_time(s.id) + interval '24 hours' - story_now())::float8 AS ttl_s,
       m.id AS media_id, m.folder, m.type, m.state, m.width, m.height, m.placeholder, m.duration_ms, m.has_hls, s.alt_text
FROM stories AS s
JOIN media AS m ON m.id = s.media_id
LEFT JOIN story_views AS v ON v.story_id = s.id AND v.viewer_id = :viewer_id::bigint
WHERE s.id = ANY(:ids::bigint[]) AND s.id >= stories_begin() AND s.removed_at IS NULL
ORDER BY s.id;

-- name: which_seen hot
-- Those of the stories that the viewer has seen.
SELECT story_id FROM seen_stories WHERE viewer_id = :viewer_id AND story_id = ANY(:ids::bigint[]);

-- name: seen_since hot
-- The stories from an id on that the viewer has seen.
SELECT ARRAY(
    SELECT story_id FROM seen_stories WHERE viewer_id = :viewer_id AND story_id >= :first_id
) AS ids;

-- name: mark_seen
-- Returns the stories seen for the first time.
INSERT INTO seen_stories (viewer_id, story_id)
SELECT :viewer_id::bigint, seen.id FROM unnest(:ids::bigint[]) AS seen (id)
ON CONFLICT DO NOTHING RETURNING story_id;

-- name: lock_story
-- A story in any state, locked until the transaction ends: its counters change under this lock.
SELECT id, author_id, media_id, mentions, elements, poll_counts, hidden_at, removed_at, id >= stories_begin() AS is_live
FROM stories WHERE id = :story_id FOR NO KEY UPDATE;

-- name: find_author
-- The author of a story in any state: whose account to lock before the story itself.
SELECT author_id FROM stories WHERE id = :story_id;

-- name: find_view
-- The reaction of somebody who has seen a story.
SELECT reaction FROM story_views WHERE story_id = :story_id AND viewer_id = :viewer_id;

-- name: add_view
-- One row per viewer and story; a second time returns no row.
INSERT INTO story_views (story_id, viewer_id) VALUES (:story_id, :viewer_id)
ON CONFLICT DO NOTHING RETURNING story_id;

-- name: set_reaction
-- Replaces the reaction; null removes it. Returns the id of the change.
UPDATE story_views SET reaction = :reaction WHERE story_id = :story_id AND viewer_id = :viewer_id
RETURNING next_id() AS change_id;

-- name: delete_view
-- Erasure: the view of a deleted account, with its reaction, vote and answer.
DELETE FROM story_views WHERE story_id = :story_id AND viewer_id = :viewer_id RETURNING reaction, choice;

-- name: count_views
-- The story's counters, under its lock.
UPDATE stories SET view_count = view_count + :views::int, reaction_count = reaction_count + :reactions::int
WHERE id = :story_id;

-- name: page_views
-- Viewers of a story, newest first.
SELECT viewer_id, change_id, reaction, choice FROM story_views
WHERE story_id = :story_id AND change_id < :before ORDER BY change_id DESC LIMIT :limit;

-- name: find_choice
-- The choice of somebody in the poll of a story.
SELECT choice FROM story_views WHERE story_id = :story_id AND viewer_id = :viewer_id;

-- name: set_choice
-- One choice per viewer, which replaces an earlier one.
UPDATE story_views SET choice = :choice WHERE story_id = :story_id AND viewer_id = :viewer_id;

-- name: set_poll_counts
-- How many took each choice, under the story's lock; copies in highlights keep the counts when the story is gone.
WITH copies AS (
    UPDATE highlight_items SET poll_counts = :counts::int[] WHERE story_id = :story_id
)
UPDATE stories SET poll_counts = :counts::int[] WHERE id = :story_id;

-- name: find_answer
-- The answer of somebody to the question of a story.
SELECT answer FROM story_views WHERE story_id = :story_id AND viewer_id = :viewer_id;

-- name: set_answer
-- One answer per viewer, which replaces an earlier one; null withdraws it. Returns the id of the change.
UPDATE story_views SET answer = :answer WHERE story_id = :story_id AND viewer_id = :viewer_id
RETURNING next_id() AS change_id;

-- name: page_answers
-- Answers to the question of a story, those of the latest viewers first.
SELECT viewer_id, change_id, answer FROM story_views
WHERE story_id = :story_id AND change_id < :before AND answer IS NOT NULL ORDER BY change_id DESC LIMIT :limit;

-- name: gather_answers
-- Answers of some people to some stories, from every shard that stores the stories.
SELECT story_id, viewer_id, answer FROM story_views
WHERE story_id = ANY(:ids::bigint[]) AND viewer_id = ANY(:viewer_ids::bigint[]) AND answer IS NOT NULL;

-- name: gather_acts
-- Export: what one viewer did with some stories, from every shard that stores the stories.
SELECT story_id, reaction, choice, answer FROM story_views
WHERE story_id = ANY(:ids::bigint[]) AND viewer_id = :viewer_id;

-- name: add_countdown
-- The countdown of a story; one that is there stays.
INSERT INTO story_countdowns (story_id, author_id, title, ends_at) VALUES (:story_id, :author_id, :title, :ends_at)
ON CONFLICT DO NOTHING;

-- name: delete_countdown
-- Nobody is notified at the end of a removed or hidden story's countdown.
DELETE FROM story_countdowns WHERE story_id = :story_id;

-- name: gather_countdowns
-- Countdowns by story, from every shard that stores some.
SELECT story_id, author_id, title FROM story_countdowns WHERE story_id = ANY(:ids::bigint[]);

-- name: add_reminder
-- One reminder per person and story; an earlier one stays.
INSERT INTO story_reminders (account_id, story_id, ends_at) VALUES (:account_id, :story_id, :ends_at)
ON CONFLICT DO NOTHING;

-- name: delete_reminder
-- The person no longer wants to be notified.
DELETE FROM story_reminders WHERE account_id = :account_id AND story_id = :story_id AND notified_at IS NULL;

-- name: which_reminded
-- Those of the stories whose countdown the person wants to be notified of.
SELECT story_id FROM story_reminders WHERE account_id = :account_id AND story_id = ANY(:ids::bigint[]);

-- name: list_due_reminders
-- A batch of reminders whose countdown is over and which nobody was notified of, by the clock of this server.
SELECT account_id, story_id FROM story_reminders WHERE notified_at IS NULL AND ends_at <= story_now()
ORDER BY ends_at LIMIT :limit::int;

-- name: settle_reminders
-- Marks reminders as done; returns those that were not before.
UPDATE story_reminders AS r SET notified_at = story_now()
FROM unnest(:account_ids::bigint[], :story_ids::bigint[]) AS due (account_id, story_id)
WHERE r.account_id = due.account_id AND r.story_id = due.story_id AND r.notified_at IS NULL
RETURNING r.account_id, r.story_id;

-- name: sweep_countdowns
-- Deletes countdowns and reminders so old that no notification shows them any more.
WITH reminders AS (
    DELETE FROM story_reminders WHERE ends_at < story_now() - make_interval(days => :days::int)
)
DELETE FROM story_countdowns WHERE ends_at < story_now() - make_interval(days => :days::int);

-- name: find_reactions
-- Reactions of some people to some stories, from every shard that stores the stories.
SELECT story_id, viewer_id, reaction FROM story_views
WHERE story_id = ANY(:ids::bigint[]) AND viewer_id = ANY(:viewer_ids::bigint[]) AND reaction IS NOT NULL;

-- name: remove_story
-- Nobody sees the story any more; the row goes with its partition.
UPDATE stories SET removed_at = now() WHERE id = :story_id AND removed_at IS NULL RETURNING next_id() AS change_id;

-- name: set_hidden
-- Hides a story from everybody but the author, or shows it again; no row when nothing changes.
UPDATE stories SET hidden_at = CASE WHEN :is_hidden::boolean THEN now() END
WHERE id = :story_id AND (hidden_at IS NOT NULL) <> :is_hidden RETURNING next_id() AS change_id;

-- name: set_copies_hidden
-- Hides or shows the copies of a story in highlights; returns the media they show.
UPDATE highlight_items SET hidden_at = CASE WHEN :is_hidden::boolean THEN now() END
WHERE story_id = :story_id AND (hidden_at IS NOT NULL) <> :is_hidden RETURNING media_id;

-- name: find_copy
-- A highlight that holds a copy of a story, and its owner.
SELECT h.id, h.account_id FROM highlight_items AS i JOIN highlights AS h ON h.id = i.highlight_id
WHERE i.story_id = :story_id ORDER BY h.id LIMIT 1;

-- name: delete_copies
-- Deletes every copy of a story; returns the media it shows.
DELETE FROM highlight_items WHERE story_id = :story_id RETURNING media_id;

-- name: delete_empty_highlights
-- Deletes an owner's highlights that have no items left.
DELETE FROM highlights AS h
WHERE h.account_id = :account_id AND NOT EXISTS (SELECT FROM highlight_items AS i WHERE i.highlight_id = h.id);

-- name: is_in_highlight
-- Whether a highlight shows these media.
SELECT EXISTS (SELECT FROM highlight_items WHERE media_id = :media_id) AS is_in_highlight;

-- name: find_reply_by_key
-- The reply that an earlier request with this idempotency key made.
SELECT id, story_id, text FROM story_replies WHERE account_id = :account_id AND idempotency_key = :idempotency_key
ORDER BY id DESC LIMIT 1;

-- name: add_reply
-- A reply to a story, stored with whoever wrote it.
INSERT INTO story_replies (account_id, story_id, text, idempotency_key)
VALUES (:account_id, :story_id, :text, :idempotency_key) RETURNING id;

-- name: gather_replies
-- Replies by id, from every shard that stores some.
SELECT id, account_id, story_id, text FROM story_replies WHERE id = ANY(:ids::bigint[]);

-- name: sweep_replies
-- Deletes a batch of replies so old that no notification shows them any more.
DELETE FROM story_replies WHERE id IN (
    SELECT id FROM story_replies WHERE id < shardwright.min_id_at(story_now() - make_interval(days => :days::int))
    ORDER BY id LIMIT :limit::int
) RETURNING id;

-- name: list_ended_media
-- Media of stories that ended at least so long ago.
SELECT id FROM media
WHERE ends_at < story_now() - make_interval(secs => :grace_s::float8) AND state <> 'deleted' LIMIT :limit::int;

-- name: count_highlights
-- How many highlights an account has, and the position of a new one, which comes first.
SELECT count(*) AS highlights, coalesce(min(position), 0) - 1 AS position FROM highlights WHERE account_id = :account_id;

-- name: add_highlight
-- A highlight without items.
INSERT INTO highlights (account_id, title, position) VALUES (:account_id, :title, :position) RETURNING id;

-- name: lock_stories
-- Locks stories, so that no vote is counted while they are copied.
SELECT id FROM stories WHERE id = ANY(:story_ids::bigint[]) AND author_id = :account_id ORDER BY id FOR NO KEY UPDATE;

-- name: copy_stories
-- Copies the owner's live stories into a highlight, oldest first, after its items; copies that exist stay as they are.
INSERT INTO highlight_items (highlight_id, story_id, media_id, audience, text, alt_text, mentions, elements, poll_counts,
                             position)
SELECT :highlight_id::bigint, s.id, s.media_id, s.audience, s.text, s.alt_text, s.mentions, s.elements, s.poll_counts,
       (SELECT coalesce(max(i.position), 0) FROM highlight_items AS i WHERE i.highlight_id = :highlight_id)
       + row_number() OVER (ORDER BY s.id)
FROM stories AS s JOIN media AS m ON m.id = s.media_id
WHERE s.id = ANY(:story_ids::bigint[]) AND s.author_id = :account_id AND s.id >= stories_begin()
  AND s.removed_at IS NULL AND s.hidden_at IS NULL AND m.state IN ('ready', 'processing')
ON CONFLICT (highlight_id, story_id) DO UPDATE SET story_id = excluded.story_id
RETURNING id, story_id, media_id;

-- name: list_unused_media
-- Those of the media, each with the story it belongs to, that no highlight shows any more, and whether the story is live.
SELECT item.media_id, EXISTS (
    SELECT FROM stories AS s WHERE s.id = item.story_id AND s.id >= stories_begin() AND s.removed_at IS NULL
) AS is_live
FROM unnest(:media_ids::bigint[], :story_ids::bigint[]) AS item (media_id, story_id)
WHERE NOT EXISTS (SELECT FROM highlight_items AS i WHERE i.media_id = item.media_id);

-- name: lock_highlight
-- The owner's highlight, locked until the transaction ends.
SELECT id, title, cover_item_id FROM highlights WHERE id = :highlight_id AND account_id = :account_id FOR UPDATE;

-- name: change_highlight
-- Another title or cover; null leaves it as it is.
UPDATE highlights SET title = coalesce(:title::text, title),
                      cover_item_id = coalesce(:cover_item_id::bigint, cover_item_id)
WHERE id = :highlight_id;

-- name: list_items
-- The items of a highlight, in order.
SELECT id, story_id, media_id FROM highlight_items WHERE highlight_id = :highlight_id ORDER BY position, id;

-- name: delete_items
-- Deletes items of a highlight; returns the media they showed, which may have to go as well.
DELETE FROM highlight_items WHERE highlight_id = :highlight_id AND id = ANY(:item_ids::bigint[])
RETURNING media_id, story_id;

-- name: delete_all_items
-- Deletes every item of a highlight; returns the media they showed.
DELETE FROM highlight_items WHERE highlight_id = :highlight_id RETURNING media_id, story_id;

-- name: order_items
-- Puts items into a new order.
UPDATE highlight_items AS i SET position = item.position
FROM unnest(:item_ids::bigint[]) WITH ORDINALITY AS item (id, position)
WHERE i.id = item.id AND i.highlight_id = :highlight_id;

-- name: delete_highlight
-- Deletes a highlight without items.
DELETE FROM highlights WHERE id = :highlight_id AND account_id = :account_id;

-- name: order_highlights
-- The highlights named come first, in this order; the others keep theirs after them.
WITH named AS (
    SELECT item.id, item.position - 1 AS position FROM unnest(:highlight_ids::bigint[]) WITH ORDINALITY AS item (id, position)
), others AS (
    SELECT h.id, (SELECT count(*) FROM named) + row_number() OVER (ORDER BY h.position, h.id DESC) - 1 AS position
    FROM highlights AS h WHERE h.account_id = :account_id AND h.id NOT IN (SELECT id FROM named)
)
UPDATE highlights AS h SET position = new.position
FROM (SELECT id, position FROM named UNION ALL SELECT id, position FROM others) AS new
WHERE h.id = new.id AND h.account_id = :account_id;

-- name: find_highlight_owner
-- The account that a highlight belongs to.
SELECT account_id FROM highlights WHERE id = :highlight_id;

-- name: list_highlights
-- An account's highlights in its order, or one of them, with their items and what decides whether a viewer may see them.
SELECT h.id, h.account_id AS author_id, h.title, h.cover_item_id, i.id AS item_id, i.story_id, i.audience, i.text, i.mentions,
       i.elements, i.poll_counts,
       i.hidden_at IS NOT NULL AS is_hidden,
       i.audience = 'close_friends' AND EXISTS (
           SELECT FROM attitudes AS a
           WHERE a.account_id = h.account_id AND a.target_id = :viewer_id::bigint AND a.is_close_friend) AS is_close_friend,
       m.id AS media_id, m.folder, m.type, m.state, m.width, m.height, m.placeholder, m.duration_ms, m.has_hls, i.alt_text
FROM highlights AS h
JOIN highlight_items AS i ON i.highlight_id = h.id
JOIN media AS m ON m.id = i.media_id
WHERE h.account_id = :account_id AND (:highlight_id::bigint IS NULL OR h.id = :highlight_id)
ORDER BY h.position, h.id DESC, i.position, i.id;

-- name: export_stories
-- Export: an account's stories that still have a row, oldest first.
SELECT s.id, s.audience, s.text, s.alt_text, s.mentions, s.replies_enabled, s.view_count, s.reaction_count, s.media_id,
       s.elements, s.poll_counts, m.folder
FROM stories AS s LEFT JOIN media AS m ON m.id = s.media_id AND m.state <> 'deleted'
WHERE s.author_id = :account_id AND s.removed_at IS NULL AND s.id > :after ORDER BY s.id LIMIT :limit;

-- name: export_replies
-- Export: an account's replies, oldest first.
SELECT id, story_id, text FROM story_replies WHERE account_id = :account_id AND id > :after ORDER BY id LIMIT :limit;

-- name: page_seen
-- The stories an account has seen, oldest first.
SELECT story_id FROM seen_stories WHERE viewer_id = :account_id AND story_id > :after ORDER BY story_id LIMIT :limit;

-- name: list_of_author
-- Erasure: a batch of an account's stories, in any state.
SELECT id, media_id, mentions, elements FROM stories WHERE author_id = :account_id ORDER BY id LIMIT :limit;

-- name: erase_story
-- Erasure: a story, with everybody's views, votes and answers.
WITH views AS (
    DELETE FROM story_views WHERE story_id = :story_id
)
DELETE FROM stories WHERE id = :story_id RETURNING id, next_id() AS change_id;

-- name: list_own_highlights
-- Erasure: a batch of an account's highlights.
SELECT id FROM highlights WHERE account_id = :account_id LIMIT :limit;

-- name: erase_seen
-- Erasure: the record that an account has seen these stories.
DELETE FROM seen_stories WHERE viewer_id = :account_id AND story_id = ANY(:ids::bigint[]);

-- name: erase_replies
-- Erasure: a batch of an account's replies.
DELETE FROM story_replies WHERE id IN (
    SELECT id FROM story_replies WHERE account_id = :account_id ORDER BY id LIMIT :limit::int
) RETURNING id;

-- name: export_reminders
-- Export: the countdowns an account is notified of, or was.
SELECT story_id, ends_at FROM story_reminders WHERE account_id = :account_id AND story_id > :after
ORDER BY story_id LIMIT :limit;

-- name: erase_reminders
-- Erasure: a batch of an account's reminders.
DELETE FROM story_reminders WHERE account_id = :account_id AND story_id IN (
    SELECT story_id FROM story_reminders WHERE account_id = :account_id ORDER BY story_id LIMIT :limit::int
) RETURNING story_id;

-- name: erase_countdowns
-- Erasure: a batch of the countdowns of an account's stories, which may outlast those.
DELETE FROM story_countdowns WHERE story_id IN (
    SELECT story_id FROM story_countdowns WHERE author_id = :account_id ORDER BY story_id LIMIT :limit::int
) RETURNING story_id;

-- name: count_left
-- How many rows of an account are left.
SELECT (SELECT count(*) FROM stories WHERE author_id = :account_id)
     + (SELECT count(*) FROM highlights WHERE account_id = :account_id)
     + (SELECT count(*) FROM seen_stories WHERE viewer_id = :account_id)
     + (SELECT count(*) FROM story_replies WHERE account_id = :account_id)
     + (SELECT count(*) FROM story_reminders WHERE account_id = :account_id)
     + (SELECT count(*) FROM story_countdowns WHERE author_id = :account_id) AS left_here;
