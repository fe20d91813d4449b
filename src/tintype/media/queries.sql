-- name: draw_media_id
-- Drawn before the files are written, because the folder is named after it.
SELECT next_id() AS id;

-- name: add_media
-- Unposted media expire after a day. Finishing an upload twice adds it once: the second gets no row.
INSERT INTO media (id, account_id, folder, type, state, kind, width, height, placeholder, duration_ms, progress,
                   keeps_location, expires_at)
VALUES (:id, :account_id, :folder, :type, :state, :kind, :width, :height, :placeholder, :duration_ms, :progress,
        :keeps_location, now() + interval '24 hours')
ON CONFLICT (id) DO NOTHING
RETURNING id, account_id, folder, type, state, kind, tier, width, height, placeholder, duration_ms, has_hls, progress,
          error, keeps_location, post_id, expires_at, ends_at;

-- name: find_media
-- One of them, whatever its state.
SELECT id, account_id, folder, type, state, kind, tier, width, height, placeholder, duration_ms, has_hls, progress,
       error, keeps_location, post_id, expires_at, ends_at
FROM media WHERE id = :id;

-- name: find_card hot
-- What serving a file needs to know, with the privacy of its account.
SELECT m.folder, m.state, m.kind, m.tier, m.ends_at, coalesce(a.is_private, false) AS is_private
FROM media AS m LEFT JOIN accounts AS a ON a.id = m.account_id
WHERE m.id = :id;

-- name: set_progress
-- How far a conversion is; late news of one that has ended changes nothing.
UPDATE media SET progress = :progress, changed_at = now()
WHERE id = :id AND state = 'processing' AND progress < :progress;

-- name: finish_video
-- The clip can be played; a second worker that did the same work changes nothing.
UPDATE media SET state = 'ready', progress = 100, duration_ms = :duration_ms, has_hls = :has_hls, changed_at = now()
WHERE id = :id AND state = 'processing'
RETURNING id;

-- name: fail_media
-- The clip cannot be converted; people learn why from the code.
UPDATE media SET state = 'failed', error = :error, changed_at = now() WHERE id = :id AND state = 'processing'
RETURNING id;

-- name: set_end
-- A story's end, after which nobody may keep a copy.
UPDATE media SET ends_at = :ends_at, changed_at = now() WHERE id = ANY(:ids::bigint[]) AND state <> 'deleted';

-- name: mark_deleted
-- Gone for everybody from here on; the row stays until its files are gone too. What was posted a moment ago is not
-- taken away by those who meant the unposted.
UPDATE media SET state = 'deleted', expires_at = NULL, changed_at = now()
WHERE id = ANY(:ids::bigint[]) AND state <> 'deleted' AND (post_id IS NULL OR NOT :only_unposted::boolean)
RETURNING id;

-- name: list_of_account
-- A bite of an account's media that are not deleted yet.
SELECT id FROM media WHERE account_id = :account_id AND state <> 'deleted' ORDER BY id LIMIT :limit;

-- name: list_deleted
-- The folders of those that are marked, for the removal of their files.
SELECT id, folder FROM media WHERE id = ANY(:ids::bigint[]) AND state = 'deleted';

-- name: forget_media
-- The last trace of deleted media.
DELETE FROM media WHERE id = :id AND state = 'deleted';

-- name: list_expired
-- Uploads that nobody posted in time.
SELECT id FROM media WHERE expires_at < now() AND post_id IS NULL AND state <> 'deleted' LIMIT :limit;

-- name: list_unsettled
-- Deleted media whose files should be long gone, and conversions that no worker has touched for hours.
SELECT id, state FROM media
WHERE state IN ('processing', 'deleted') AND changed_at < now() - interval '6 hours' LIMIT :limit;

-- name: is_private
-- Whether an account's files need a signature.
SELECT is_private FROM accounts WHERE id = :account_id;

-- name: begin_upload
-- An upload under way, unless the account has too many already.
INSERT INTO media_uploads (id, account_id, size_bytes, wish, metadata, is_direct, parts, expires_at)
SELECT :id, :account_id, :size_bytes, :wish, :metadata, :is_direct, :parts, now() + interval '24 hours'
WHERE (SELECT count(*) FROM media_uploads WHERE account_id = :account_id AND NOT is_finished) < :most
RETURNING id, account_id, size_bytes, received_bytes, parts, wish, metadata, is_direct, is_finished, expires_at;

-- name: find_upload
-- Where an upload stands; an expired one is not found.
SELECT id, account_id, size_bytes, received_bytes, parts, wish, metadata, is_direct, is_finished, expires_at
FROM media_uploads WHERE id = :id AND account_id = :account_id AND expires_at > now();

-- name: add_part
-- The offset moves from where the sender believed it to be, or not at all: of two senders one wins.
UPDATE media_uploads SET received_bytes = received_bytes + :size_bytes, parts = array_append(parts, :part)
WHERE id = :id AND received_bytes = :at AND received_bytes + :size_bytes <= size_bytes AND NOT is_finished
      AND expires_at > now()
RETURNING received_bytes;

-- name: note_direct
-- What went straight into the store has arrived.
UPDATE media_uploads SET received_bytes = size_bytes WHERE id = :id;

-- name: finish_upload
-- The media are made; the row stays until it expires, so that a sender who missed the answer can ask again.
UPDATE media_uploads SET is_finished = true, parts = '{}' WHERE id = :id;

-- name: drop_upload
-- An upload that its sender ended, or that expired.
DELETE FROM media_uploads WHERE id = :id;

-- name: list_expired_uploads
-- Uploads that were never finished, or finished a day ago.
SELECT id, account_id FROM media_uploads WHERE expires_at < now() LIMIT :limit;

-- name: list_open_uploads
-- Which of these uploads may still have parts in the store.
SELECT id FROM media_uploads WHERE id = ANY(:ids::bigint[]);

-- name: page_accounts_with_media
-- Accounts that have media on this shard, a bite at a time.
SELECT DISTINCT account_id FROM media WHERE account_id > :after ORDER BY account_id LIMIT :limit;

-- name: list_folders_of_account
-- Everything an account has, for the comparison with what its folders hold.
SELECT id, folder, state, tier, post_id, changed_at < now() - interval '1 hour' AS is_settled
FROM media WHERE account_id = :account_id;

-- name: mark_lost
-- A posted picture whose files are gone: shown as lost instead of as a broken image.
UPDATE media SET state = 'lost', changed_at = now() WHERE id = :id AND state IN ('ready', 'processing') RETURNING id;

-- name: page_of_tier
-- Media of a tier up to an age (ids hold the time), a bite at a time.
SELECT id, account_id, folder, tier FROM media
WHERE tier = :tier AND state = 'ready' AND id > :after AND id < :older_than ORDER BY id LIMIT :limit;

-- name: set_tier
-- The files lie elsewhere now; only from where they were.
UPDATE media SET tier = :tier WHERE id = :id AND tier = :before AND state = 'ready' RETURNING id;

-- name: keep_as_avatar
-- One's own picture that waits, or the very one shown already; posted ones belong to their post.
UPDATE media SET expires_at = NULL, kind = 'avatar', changed_at = now()
WHERE id = :media_id AND account_id = :account_id AND post_id IS NULL AND type = 'image' AND state = 'ready'
  AND (expires_at IS NULL OR expires_at > now())
RETURNING folder;

-- name: find_avatar
-- The picture in a folder that belongs to no post.
SELECT id FROM media WHERE account_id = :account_id AND folder = :folder AND post_id IS NULL;

-- name: list_unposted
-- Uploads that belong to no post.
SELECT id, folder FROM media
WHERE account_id = :account_id AND post_id IS NULL AND state IN ('ready', 'processing') ORDER BY id;

-- name: media_to_erase
-- Some media of somebody who leaves; what a post still shows waits for the post to go.
SELECT m.id FROM media AS m
WHERE m.account_id = :account_id AND NOT EXISTS (SELECT FROM post_media AS p WHERE p.media_id = m.id)
ORDER BY m.id LIMIT :limit::int;

-- name: uploads_to_erase
-- Uploads under way of somebody who leaves.
SELECT id FROM media_uploads WHERE account_id = :account_id ORDER BY id LIMIT :limit::int;

-- name: count_media
-- How many pictures and uploads somebody has here.
SELECT (SELECT count(*) FROM media WHERE account_id = :account_id)
     + (SELECT count(*) FROM media_uploads WHERE account_id = :account_id) AS media;
