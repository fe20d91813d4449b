-- name: draw_media_id
-- Drawn before the files are written, because the folder is named after it.
SELECT next_id() AS id;

-- name: add_media
-- Unposted media expire after a day. Finishing an upload twice adds it once: the second gets no row.
INSERT INTO media (id, account_id, folder, type, state, kind, width, height, placeholder, duration_ms, progress,
                   keeps_location, removed, edit, large_width, camera, waveform, size_bytes, expires_at)
VALUES (:id, :account_id, :folder, :type, :state, :kind, :width, :height, :placeholder, :duration_ms, :progress,
        :keeps_location, :removed::text[], :edit, :large_width, :camera, :waveform, :size_bytes, now() + interval '24 hours')
ON CONFLICT (id) DO NOTHING
RETURNING id, account_id, folder, type, state, kind, tier, width, height, placeholder, duration_ms, has_hls, progress,
          error, keeps_location, removed, edit, large_width, camera, waveform, post_id, expires_at, ends_at;

-- name: find_media
-- One row, whatever its state.
SELECT id, account_id, folder, type, state, kind, tier, width, height, placeholder, duration_ms, has_hls, progress,
       error, keeps_location, removed, edit, large_width, camera, waveform, post_id, expires_at, ends_at
FROM media WHERE id = :id;

-- name: find_access_record hot
-- What serving a file needs to know, and for how many seconds more at most. Reads the post, story, highlight or message
-- that shows the media: whatever happens to those happens to their files. All of them live on the same shard.
SELECT m.folder, m.state, m.tier, ending.at AS ends_at, extract(epoch FROM ending.at - ending.clock)::float8 AS left_s,
       CASE WHEN ending.at <= ending.clock THEN 'removed'
            WHEN m.post_id IS NULL THEN 'unposted'
            WHEN d.media_id IS NOT NULL THEN CASE WHEN d.removed_at IS NULL THEN 'direct' ELSE 'removed' END
            WHEN p.id IS NOT NULL THEN CASE
                WHEN p.deleted_at IS NOT NULL THEN 'removed'
                WHEN p.archived_at IS NOT NULL OR p.hidden_at IS NOT NULL THEN 'withheld' ELSE 'shown' END
            WHEN coalesce(s.id, i.id) IS NULL THEN 'removed'
            WHEN coalesce(s.hidden_at, i.hidden_at) IS NOT NULL THEN 'withheld'
            WHEN coalesce(s.audience, i.audience) = 'close_friends' THEN 'close_friends'
            ELSE 'shown' END AS publication
FROM media AS m
CROSS JOIN LATERAL (
    SELECT CASE WHEN m.post_id IS NULL THEN m.expires_at ELSE m.ends_at END AS at,
           CASE WHEN m.post_id IS NULL THEN now() ELSE story_now() END AS clock
) AS ending
LEFT JOIN posts AS p ON p.id = m.post_id
LEFT JOIN message_media AS d ON d.media_id = m.id
LEFT JOIN stories AS s ON s.id = m.post_id AND s.removed_at IS NULL AND s.id >= stories_begin()
LEFT JOIN LATERAL (
    SELECT h.id, h.audience, h.hidden_at FROM highlight_items AS h WHERE h.media_id = m.id
    ORDER BY h.hidden_at NULLS FIRST LIMIT 1
) AS i ON true
WHERE m.id = :id;

-- name: list_folders
-- The folders of media, to have copies of their files purged elsewhere.
SELECT id, account_id, folder FROM media WHERE id = ANY(:ids::bigint[]);

-- name: set_progress
-- The percentage of a conversion; a late report of one that has ended changes nothing.
UPDATE media SET progress = :progress, changed_at = now()
WHERE id = :id AND state = 'processing' AND progress < :progress;

-- name: finish_video
-- The video can be played; a second worker that did the same work changes nothing.
UPDATE media SET state = 'ready', progress = 100, duration_ms = :duration_ms, has_hls = :has_hls, changed_at = now()
WHERE id = :id AND state = 'processing'
RETURNING id;

-- name: fail_media
-- The video cannot be converted; the error code says why.
UPDATE media SET state = 'failed', error = :error, changed_at = now() WHERE id = :id AND state = 'processing'
RETURNING id;

-- name: attach_media
-- Attaches uploads to the post or story that shows them. Media of somebody else, or that expired, failed, are attached
-- already, or are not of the wanted kind and length, are not returned. A video may still be converting: its poster shows.
-- Voice messages are attached to messages alone.
UPDATE media SET post_id = :attached_to::bigint, expires_at = NULL,
                 ends_at = coalesce(shardwright.id_time(:attached_to::bigint) + :lifetime::interval, ends_at),
                 changed_at = CASE WHEN :lifetime::interval IS NULL THEN changed_at ELSE now() END
WHERE id = ANY(:ids::bigint[]) AND account_id = :account_id AND post_id IS NULL AND expires_at > now()
      AND state IN ('ready', 'processing') AND (:kind::text IS NULL OR kind = :kind::text)
      AND (type <> 'audio' OR :with_voice::boolean)
      AND (:max_duration_ms::int IS NULL OR type = 'image' OR coalesce(duration_ms, 0) <= :max_duration_ms::int)
RETURNING id, account_id, folder, type, state, kind, tier, width, height, placeholder, duration_ms, has_hls, progress,
          error, keeps_location, removed, edit, large_width, camera, post_id, expires_at, ends_at;

-- name: keep_unposted
-- Uploads that are to be posted later do not expire before this time. What `attach_media` would not attach is not returned.
UPDATE media SET expires_at = greatest(expires_at, :until::timestamptz), changed_at = now()
WHERE id = ANY(:ids::bigint[]) AND account_id = :account_id AND post_id IS NULL AND expires_at > now()
  AND state IN ('ready', 'processing') AND type <> 'audio'
RETURNING id;

-- name: set_lifetime
-- Attached media end this long after the story they belong to was made; without a lifetime they have no end.
UPDATE media SET ends_at = shardwright.id_time(post_id) + :lifetime::interval, changed_at = now()
WHERE id = ANY(:ids::bigint[]) AND state <> 'deleted';

-- name: mark_deleted
-- Deleted for everybody; the row stays until its files are gone too. With only_unposted, media that were posted a
-- moment ago stay.
UPDATE media SET state = 'deleted', expires_at = NULL, changed_at = now()
WHERE id = ANY(:ids::bigint[]) AND state <> 'deleted' AND (post_id IS NULL OR NOT :only_unposted::boolean)
RETURNING id, account_id, folder, size_bytes;

-- name: list_of_account
-- A batch of an account's media that are not deleted yet.
SELECT id FROM media WHERE account_id = :account_id AND state <> 'deleted' ORDER BY id LIMIT :limit;

-- name: list_deleted
-- The folders of media marked as deleted, whose files are to be deleted.
SELECT id, folder FROM media WHERE id = ANY(:ids::bigint[]) AND state = 'deleted';

-- name: delete_row
-- The row of deleted media, once their files are gone.
DELETE FROM media WHERE id = :id AND state = 'deleted';

-- name: list_expired
-- Uploads that nobody posted in time.
SELECT id FROM media WHERE expires_at < now() AND post_id IS NULL AND state <> 'deleted' LIMIT :limit;

-- name: list_unsettled
-- Deleted media whose files should be long gone, and conversions without progress for hours.
SELECT id, state FROM media
WHERE state IN ('processing', 'deleted') AND changed_at < now() - interval '6 hours' LIMIT :limit;

-- name: begin_upload
-- An upload in progress, unless the account has too many already.
INSERT INTO media_uploads (id, account_id, size_bytes, wish, metadata, is_direct, parts, expires_at)
SELECT :id, :account_id, :size_bytes, :options, :metadata, :is_direct, :parts, now() + interval '24 hours'
WHERE (SELECT count(*) FROM media_uploads WHERE account_id = :account_id AND NOT is_finished) < :max_open
RETURNING id, account_id, size_bytes, received_bytes, parts, wish AS options, metadata, is_direct, is_finished, expires_at;

-- name: find_upload
-- An upload in progress, unless it has expired.
SELECT id, account_id, size_bytes, received_bytes, parts, wish AS options, metadata, is_direct, is_finished, expires_at
FROM media_uploads WHERE id = :id AND account_id = :account_id AND expires_at > now();

-- name: add_part
-- Compare-and-set: the offset moves only from where the sender believed it to be, so of two senders one wins.
UPDATE media_uploads SET received_bytes = received_bytes + :size_bytes, parts = array_append(parts, :part)
WHERE id = :id AND received_bytes = :at AND received_bytes + :size_bytes <= size_bytes AND NOT is_finished
      AND expires_at > now()
RETURNING received_bytes;

-- name: mark_direct_arrived
-- An upload straight into the store is complete.
UPDATE media_uploads SET received_bytes = size_bytes WHERE id = :id;

-- name: finish_upload
-- The media are made; the row stays until it expires, so that a sender who missed the response can ask again.
UPDATE media_uploads SET is_finished = true, parts = '{}' WHERE id = :id;

-- name: delete_upload
-- An upload that was cancelled, refused or erased, or that expired.
DELETE FROM media_uploads WHERE id = :id;

-- name: list_expired_uploads
-- Uploads that were never finished, or finished a day ago.
SELECT id, account_id FROM media_uploads WHERE expires_at < now() LIMIT :limit;

-- name: list_open_uploads
-- Which of these uploads may still have parts in the store.
SELECT id FROM media_uploads WHERE id = ANY(:ids::bigint[]);

-- name: page_accounts_with_media
-- Accounts that have media on this shard, a batch at a time.
SELECT DISTINCT account_id FROM media WHERE account_id > :after ORDER BY account_id LIMIT :limit;

-- name: list_folders_of_account
-- All media of an account, to be compared with its folders in the stores.
SELECT id, folder, state, tier, post_id, changed_at < now() - interval '1 hour' AS is_settled
FROM media WHERE account_id = :account_id;

-- name: mark_lost
-- Posted media whose files are gone: shown as lost instead of as a broken image.
UPDATE media SET state = 'lost', changed_at = now() WHERE id = :id AND state IN ('ready', 'processing') RETURNING id;

-- name: page_of_tier
-- Media of a tier from an age on (ids hold the time), a batch at a time.
SELECT id, account_id, folder, tier FROM media
WHERE tier = :tier AND state = 'ready' AND id > :after AND id < :older_than ORDER BY id LIMIT :limit;

-- name: set_tier
-- Compare-and-set: the files are in another store now, if the row still names the one they came from.
UPDATE media SET tier = :tier WHERE id = :id AND tier = :before AND state = 'ready' RETURNING id;

-- name: keep_as_avatar
-- An account's own photo that is not posted: an upload that has not expired, or the current avatar again.
UPDATE media SET expires_at = NULL, kind = 'avatar', changed_at = now()
WHERE id = :media_id AND account_id = :account_id AND post_id IS NULL AND type = 'image' AND state = 'ready'
  AND (expires_at IS NULL OR expires_at > now())
RETURNING folder;

-- name: find_avatar
-- The media in a folder, unless they belong to a post.
SELECT id FROM media WHERE account_id = :account_id AND folder = :folder AND post_id IS NULL;

-- name: list_unposted
-- Uploads that belong to no post.
SELECT id, folder FROM media
WHERE account_id = :account_id AND post_id IS NULL AND state IN ('ready', 'processing') ORDER BY id;

-- name: media_to_erase
-- A batch of media of an account that is erased. Reads `post_media`: media wait until the post that shows them is gone.
SELECT m.id FROM media AS m
WHERE m.account_id = :account_id AND NOT EXISTS (SELECT FROM post_media AS p WHERE p.media_id = m.id)
ORDER BY m.id LIMIT :limit::int;

-- name: uploads_to_erase
-- A batch of uploads in progress of an account that is erased.
SELECT id FROM media_uploads WHERE account_id = :account_id ORDER BY id LIMIT :limit::int;

-- name: count_media
-- How many media and uploads in progress an account has, and whether it has a row of usage.
SELECT (SELECT count(*) FROM media WHERE account_id = :account_id)
     + (SELECT count(*) FROM media_uploads WHERE account_id = :account_id)
     + (SELECT count(*) FROM storage_usage WHERE account_id = :account_id) AS media;

-- name: find_usage
-- What an account stores, what its uploads in progress reserve, and its own quota. One upload can be left out: that
-- which is being finished.
SELECT used_bytes, quota_bytes, (SELECT coalesce(sum(size_bytes), 0)::bigint FROM media_uploads
                                 WHERE account_id = :account_id AND NOT is_finished AND id <> :upload_id
                                ) AS reserved_bytes
FROM (SELECT :account_id::bigint AS account_id) AS account LEFT JOIN storage_usage USING (account_id);

-- name: list_usage
-- What each of these accounts stores, and its own quota.
SELECT account_id, used_bytes, quota_bytes, 0::bigint AS reserved_bytes FROM storage_usage
WHERE account_id = ANY(:ids::bigint[]);

-- name: change_usage
-- Adds to what an account stores, and locks its row until the transaction ends.
INSERT INTO storage_usage AS usage (account_id, used_bytes) VALUES (:account_id, greatest(0, :by::bigint))
ON CONFLICT (account_id) DO UPDATE SET used_bytes = greatest(0, usage.used_bytes + :by::bigint);

-- name: set_quota
-- A quota of this account alone; NULL: that of the settings.
INSERT INTO storage_usage (account_id, quota_bytes) VALUES (:account_id, :quota_bytes::bigint)
ON CONFLICT (account_id) DO UPDATE SET quota_bytes = excluded.quota_bytes;

-- name: add_video_time
-- Video of a new day begins at zero.
UPDATE storage_usage
SET video_ms = CASE WHEN video_day = (now() AT TIME ZONE 'UTC')::date THEN video_ms ELSE 0 END + :duration_ms::int,
    video_day = (now() AT TIME ZONE 'UTC')::date
WHERE account_id = :account_id RETURNING video_ms;

-- name: count_converting
-- Videos of an account that wait for their conversion.
SELECT count(*) FROM media WHERE account_id = :account_id AND state = 'processing';

-- name: lock_size
-- The stored size of media that are not deleted.
SELECT account_id, folder, size_bytes FROM media WHERE id = :id AND state <> 'deleted' FOR UPDATE;

-- name: set_size
-- The measured size of all files.
UPDATE media SET size_bytes = :size_bytes WHERE id = :id;

-- name: list_unmeasured
-- Media that were stored without their size.
SELECT id FROM media WHERE size_bytes IS NULL AND state <> 'deleted' ORDER BY id LIMIT :limit;

-- name: list_unexamined
-- Media whose original an earlier release stored.
SELECT id FROM media WHERE removed IS NULL AND state NOT IN ('processing', 'deleted') ORDER BY id LIMIT :limit;

-- name: list_unsized
-- The newest photos of earlier releases of which it is not known whether they may be shown larger.
SELECT id FROM media WHERE large_width IS NULL AND type = 'image' AND state = 'ready' AND removed IS NOT NULL
ORDER BY id DESC LIMIT :limit;

-- name: set_large_width
-- The width of the largest rendition that may be made of an original that an earlier release stored.
UPDATE media SET large_width = :large_width WHERE id = :id AND large_width IS NULL;

-- name: set_removed
-- What was removed from an original that an earlier release stored.
UPDATE media SET removed = :removed::text[] WHERE id = :id;

-- name: scan_usage
-- Stored and counted bytes of accounts, a batch at a time.
SELECT u.account_id AS id, u.used_bytes AS stored,
       (SELECT coalesce(sum(m.size_bytes), 0)::bigint FROM media AS m
        WHERE m.account_id = u.account_id AND m.state <> 'deleted') AS counted
FROM storage_usage AS u WHERE u.account_id > :after ORDER BY u.account_id LIMIT :limit;

-- name: lock_usage
-- The row that holds the counter.
SELECT account_id FROM storage_usage WHERE account_id = :id FOR UPDATE;

-- name: recount_usage
-- Counted from the rows.
SELECT coalesce(sum(size_bytes), 0)::bigint FROM media WHERE account_id = :id AND state <> 'deleted';

-- name: set_usage
-- The counter as it was recounted.
UPDATE storage_usage SET used_bytes = :count WHERE account_id = :id;

-- name: delete_usage
-- Of an account that is erased.
DELETE FROM storage_usage WHERE account_id = :account_id;
