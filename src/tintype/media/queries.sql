-- name: draw_media_id
-- Drawn before the files are written, because the folder is named after it.
SELECT next_id() AS id;

-- name: let_go
-- Pictures of a post that is gone are uploads that expired: whoever sweeps those takes their files along.
UPDATE media SET post_id = NULL, expires_at = now() WHERE id = ANY(:ids::bigint[]);

-- name: add_media
-- Unposted media expire after a day.
INSERT INTO media (id, account_id, folder, width, height, expires_at)
VALUES (:id, :account_id, :folder, :width, :height, now() + interval '24 hours')
RETURNING id, account_id, folder, width, height, expires_at;

-- name: list_unposted
-- Uploads that belong to no post.
SELECT id, folder FROM media WHERE account_id = :account_id AND post_id IS NULL ORDER BY id;

-- name: media_to_erase
-- Some media of somebody who leaves; what a post still shows waits for the post to go.
SELECT m.id, m.folder FROM media AS m
WHERE m.account_id = :account_id AND NOT EXISTS (SELECT FROM post_media AS p WHERE p.media_id = m.id)
ORDER BY m.id LIMIT :limit::int;

-- name: erase_media
-- After their files are gone.
DELETE FROM media WHERE id = ANY(:ids::bigint[]);

-- name: count_media
-- How many pictures somebody has here.
SELECT count(*) AS media FROM media WHERE account_id = :account_id;
