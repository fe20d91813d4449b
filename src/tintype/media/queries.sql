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

-- name: keep_as_avatar
-- One's own upload that waits, or the very picture shown already; posted ones belong to their post.
UPDATE media SET expires_at = NULL
WHERE id = :media_id AND account_id = :account_id AND post_id IS NULL AND (expires_at IS NULL OR expires_at > now())
RETURNING folder;

-- name: let_media_go
-- What belongs to no post expires at once.
UPDATE media SET expires_at = now() WHERE account_id = :account_id AND folder = :folder AND post_id IS NULL;
