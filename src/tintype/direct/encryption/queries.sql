-- name: lock_devices
-- Somebody's devices, locked against another registration at the same time: the account's row would belong to another room.
SELECT pg_advisory_xact_lock(hashtextextended('encryption-devices:' || :account_id::bigint, 0))::text AS locked;

-- name: add_device
-- A device of somebody, as a leaf of groups to come.
INSERT INTO encryption_devices (account_id, session_id, name, signature_key)
VALUES (:account_id, :session_id, :name, :signature_key) RETURNING id;

-- name: count_devices
-- How many devices somebody has.
SELECT count(*) FROM encryption_devices WHERE account_id = :account_id;

-- name: list_devices
-- Somebody's devices, with how many key packages each has left that are good for another day.
SELECT d.id, d.account_id, d.session_id, d.name, d.signature_key, d.seen_at,
       (SELECT count(*) FROM key_packages AS k
        WHERE k.device_id = d.id AND NOT k.is_last_resort AND k.expires_at > now() + interval '1 day') AS key_packages,
       EXISTS (SELECT FROM key_packages AS k
               WHERE k.device_id = d.id AND k.is_last_resort AND k.expires_at > now() + interval '7 days') AS has_last_resort
FROM encryption_devices AS d WHERE d.account_id = :account_id ORDER BY d.id;

-- name: find_device
-- One device of somebody.
SELECT id, account_id, session_id, name, signature_key, seen_at FROM encryption_devices
WHERE id = :device_id AND account_id = :account_id;

-- name: gather_devices
-- Devices by their ids.
SELECT id, account_id, signature_key FROM encryption_devices WHERE id = ANY(:ids::bigint[]);

-- name: gather_devices_of
-- The devices of some people.
SELECT id, account_id, name, signature_key FROM encryption_devices WHERE account_id = ANY(:ids::bigint[]) ORDER BY id;

-- name: touch_device
-- The device is in use.
UPDATE encryption_devices SET seen_at = now() WHERE id = :device_id AND account_id = :account_id;

-- name: delete_devices
-- Deletes devices of somebody with their key packages: one, those of some sessions, or all.
WITH gone AS (
    DELETE FROM encryption_devices
    WHERE account_id = :account_id AND (:device_id::bigint IS NULL OR id = :device_id)
      AND (:session_ids::bigint[] IS NULL OR session_id = ANY(:session_ids)) RETURNING id
), packages AS (
    DELETE FROM key_packages AS k USING gone AS g WHERE k.device_id = g.id
)
SELECT g.id FROM gone AS g ORDER BY g.id;

-- name: list_idle_devices
-- Devices that have not been in use for so long that their session has ended.
SELECT id, account_id FROM encryption_devices WHERE seen_at < now() - make_interval(days => :days::int)
ORDER BY seen_at LIMIT :limit;

-- name: count_key_packages
-- How many key packages a device has, without the one of last resort.
SELECT count(*) FROM key_packages WHERE device_id = :device_id AND NOT is_last_resort;

-- name: add_key_packages
-- Stores key packages of a device, to be handed out once each.
INSERT INTO key_packages (account_id, device_id, content, is_last_resort, expires_at)
SELECT :account_id, :device_id, given.content, false, given.expires_at
FROM unnest(:contents::bytea[], :expiries::timestamptz[]) AS given (content, expires_at);

-- name: set_last_resort
-- Replaces the key package that is handed out when no other is left.
WITH before AS (
    DELETE FROM key_packages WHERE device_id = :device_id AND is_last_resort
)
INSERT INTO key_packages (account_id, device_id, content, is_last_resort, expires_at)
VALUES (:account_id, :device_id, :content, true, :expires_at);

-- name: claim_key_packages
-- One key package of each of these devices: the oldest is taken, of last resort it stays. Two who ask at once get two.
WITH wanted AS (
    SELECT d.id, d.account_id FROM encryption_devices AS d
    WHERE d.account_id = ANY(:account_ids::bigint[]) AND (:device_ids::bigint[] IS NULL OR d.id = ANY(:device_ids))
), chosen AS (
    SELECT w.id AS device_id,
           (SELECT k.id FROM key_packages AS k
            WHERE k.device_id = w.id AND NOT k.is_last_resort AND k.expires_at > now()
            ORDER BY k.id LIMIT 1 FOR UPDATE SKIP LOCKED) AS id
    FROM wanted AS w
), taken AS (
    DELETE FROM key_packages AS k USING chosen AS c WHERE k.id = c.id RETURNING k.device_id, k.content
)
SELECT w.account_id, w.id AS device_id, t.content, false AS is_last_resort
FROM taken AS t JOIN wanted AS w ON w.id = t.device_id
UNION ALL
SELECT w.account_id, w.id, k.content, true
FROM wanted AS w JOIN key_packages AS k ON k.device_id = w.id AND k.is_last_resort AND k.expires_at > now()
WHERE NOT EXISTS (SELECT FROM taken AS t WHERE t.device_id = w.id);

-- name: delete_expired_key_packages
-- Deletes a batch of key packages whose lifetime is over.
DELETE FROM key_packages WHERE id IN (SELECT id FROM key_packages WHERE expires_at < now() ORDER BY expires_at LIMIT :limit);

-- name: begin_group
-- The thread's next MLS group, in its first epoch.
UPDATE threads SET is_encrypted = true, group_number = group_number + 1, epoch = 0 WHERE id = :thread_id
RETURNING group_number;

-- name: clear_tree
-- No leaf and no proposal of the group before is left.
WITH proposals AS (DELETE FROM thread_proposals WHERE thread_id = :thread_id)
DELETE FROM thread_leaves WHERE thread_id = :thread_id;

-- name: add_leaves
-- Devices that a commit adds, each at its place in the tree.
INSERT INTO thread_leaves (thread_id, leaf_index, account_id, device_id, signature_key, added_epoch)
SELECT :thread_id, given.leaf_index, given.account_id, given.device_id, given.signature_key, :added_epoch
FROM unnest(:leaf_indexes::int[], :account_ids::bigint[], :device_ids::bigint[], :signature_keys::bytea[])
     AS given (leaf_index, account_id, device_id, signature_key);

-- name: delete_leaves
-- Leaves that a commit removes.
DELETE FROM thread_leaves WHERE thread_id = :thread_id AND leaf_index = ANY(:leaf_indexes::int[]);

-- name: read_group
-- The MLS group of a thread.
SELECT id, kind, is_encrypted, group_number, epoch, last_number FROM threads WHERE id = :thread_id;

-- name: list_leaves
-- The tree of a thread's group. A leaf is gone where the next commit must remove it: its device was removed, or the person
-- is not in the thread any more. Of a pair, who has declined stays: that is not told.
SELECT l.leaf_index, l.account_id, l.device_id, l.signature_key, l.added_epoch,
       l.is_removed OR m.state IS NULL OR m.state IN ('left', 'removed') OR (m.state = 'declined' AND t.kind = 'group') AS is_gone
FROM thread_leaves AS l JOIN threads AS t ON t.id = l.thread_id
LEFT JOIN thread_members AS m ON m.thread_id = l.thread_id AND m.account_id = l.account_id
WHERE l.thread_id = :thread_id ORDER BY l.leaf_index;

-- name: flag_leaves
-- The device of a leaf is gone. No row: it has none here, or that is known.
UPDATE thread_leaves SET is_removed = true
WHERE thread_id = :thread_id AND device_id = ANY(:device_ids::bigint[]) AND NOT is_removed RETURNING leaf_index;

-- name: add_commit
-- The one commit of an epoch.
INSERT INTO thread_commits (thread_id, group_number, epoch, account_id, device_id, number, content, proposals, welcome)
VALUES (:thread_id, :group_number, :epoch, :account_id, :device_id, :number, :content, :proposals, :welcome);

-- name: advance_epoch
-- The next epoch begins; what was proposed in the one before is taken up or void.
WITH proposals AS (DELETE FROM thread_proposals WHERE thread_id = :thread_id)
UPDATE threads SET epoch = :epoch WHERE id = :thread_id;

-- name: find_commit
-- The commit of an epoch.
SELECT device_id, content, welcome, number FROM thread_commits
WHERE thread_id = :thread_id AND group_number = :group_number AND epoch = :epoch;

-- name: page_commits
-- Commits from an epoch on, in their order.
SELECT epoch, account_id, device_id, number, content, proposals FROM thread_commits
WHERE thread_id = :thread_id AND group_number = :group_number AND epoch >= :since ORDER BY epoch LIMIT :limit;

-- name: delete_old_commits
-- Commits that a device was given months to read.
DELETE FROM thread_commits WHERE (thread_id, group_number, epoch) IN (
    SELECT c.thread_id, c.group_number, c.epoch FROM thread_commits AS c
    WHERE c.created_at < now() - make_interval(days => :days::int) ORDER BY c.created_at LIMIT :limit);

-- name: add_proposals
-- Removals of one's own leaves, for the next commit.
INSERT INTO thread_proposals (thread_id, leaf_index, epoch, reference, content)
SELECT :thread_id, given.leaf_index, :epoch, given.reference, given.content
FROM unnest(:leaf_indexes::int[], :refs::bytea[], :contents::bytea[]) AS given (leaf_index, reference, content)
ON CONFLICT DO NOTHING;

-- name: list_proposals
-- What the next commit takes up.
SELECT leaf_index, reference, content FROM thread_proposals WHERE thread_id = :thread_id ORDER BY leaf_index;

-- name: add_encrypted_message
-- A ciphertext of a transaction that holds the thread.
INSERT INTO messages (thread_id, number, account_id, kind, text, media_id, ciphertext, epoch, sender_device_id,
                      expires_at, after_seen_s)
VALUES (:thread_id, :number, :account_id, :kind, '', :attachment_id, :ciphertext, :epoch, :device_id,
        now() + make_interval(secs => :disappear_s::int, days => :wait_days::int), :after_seen_s::int)
RETURNING id;

-- name: list_encrypted_threads
-- Those of some threads that are encrypted.
SELECT id FROM threads WHERE id = ANY(:ids::bigint[]) AND is_encrypted;

-- name: sum_attachments
-- How many bytes of encrypted files somebody has.
SELECT coalesce(sum(size_bytes), 0)::bigint FROM encrypted_attachments WHERE account_id = :account_id AND NOT is_deleted;

-- name: add_attachment
-- A file that lies in the object store, and no message has taken yet.
INSERT INTO encrypted_attachments (account_id, path, size_bytes) VALUES (:account_id, :path, :size_bytes) RETURNING id;

-- name: take_attachment
-- A message takes a file of its sender's; taking it again for the same message changes nothing.
UPDATE encrypted_attachments SET thread_id = :thread_id, local_id = :local_id
WHERE id = :attachment_id AND account_id = :account_id AND NOT is_deleted
  AND (thread_id IS NULL OR (thread_id = :thread_id AND local_id = :local_id)) RETURNING id;

-- name: confirm_attachment
-- The message is sent.
UPDATE encrypted_attachments SET is_sent = true WHERE id = :attachment_id AND NOT is_sent;

-- name: find_attachment
-- Where the file of a message lies.
SELECT path, size_bytes FROM encrypted_attachments WHERE id = :attachment_id AND NOT is_deleted;

-- name: mark_attachments
-- Nobody can open these files any more.
UPDATE encrypted_attachments SET is_deleted = true WHERE id = ANY(:ids::bigint[]) AND NOT is_deleted RETURNING path;

-- name: list_unsettled_attachments
-- Files to delete, and those of a day ago of which nobody has said that their message was sent.
SELECT id, account_id, path, thread_id, local_id, is_deleted FROM encrypted_attachments
WHERE (is_deleted OR NOT is_sent) AND (is_deleted OR created_at < now() - interval '1 day') ORDER BY created_at LIMIT :limit;

-- name: delete_attachment
-- The file is gone.
DELETE FROM encrypted_attachments WHERE id = :attachment_id;

-- name: list_attachments
-- A batch of somebody's encrypted files.
SELECT id, size_bytes, thread_id, created_at FROM encrypted_attachments
WHERE account_id = :account_id AND id > :after AND NOT is_deleted ORDER BY id LIMIT :limit;

-- name: begin_backup
-- A new backup, if the version before is the one that the device knows (0: none); its parts begin anew.
WITH old_parts AS (
    DELETE FROM encryption_backup_parts WHERE account_id = :account_id AND backup_version = :expected
)
INSERT INTO encryption_backups AS b (account_id, version, header)
SELECT :account_id::bigint, :expected::bigint + 1, :header::bytea
WHERE :expected = 0 OR EXISTS (SELECT FROM encryption_backups WHERE account_id = :account_id)
ON CONFLICT (account_id) DO UPDATE SET version = excluded.version, header = excluded.header, created_at = now()
WHERE b.version = :expected
RETURNING version;

-- name: rewrap_backup
-- Another passphrase for the same key: the header alone changes.
UPDATE encryption_backups SET header = :header WHERE account_id = :account_id AND version = :version RETURNING version;

-- name: lock_backup
-- Somebody's backup, locked.
SELECT version FROM encryption_backups WHERE account_id = :account_id FOR NO KEY UPDATE;

-- name: find_backup
-- Somebody's backup, and how large it is.
SELECT b.version, b.header, b.created_at,
       (SELECT count(*) FROM encryption_backup_parts AS p WHERE p.account_id = b.account_id) AS part_count,
       (SELECT coalesce(sum(length(p.content)), 0)::bigint FROM encryption_backup_parts AS p WHERE p.account_id = b.account_id)
           AS size_bytes
FROM encryption_backups AS b WHERE b.account_id = :account_id;

-- name: put_backup_part
-- Writes a part, if its version is the one that the device knows (0: none).
INSERT INTO encryption_backup_parts AS p (account_id, name, backup_version, version, content)
SELECT :account_id::bigint, :name::text, :backup_version::bigint, :expected::bigint + 1, :content::bytea
WHERE :expected = 0 OR EXISTS (SELECT FROM encryption_backup_parts WHERE account_id = :account_id AND name = :name)
ON CONFLICT (account_id, name) DO UPDATE
SET version = excluded.version, content = excluded.content, changed_at = now()
WHERE p.version = :expected
RETURNING version;

-- name: measure_backup
-- How many parts a backup has, and how many bytes.
SELECT count(*) AS part_count, coalesce(sum(length(content)), 0)::bigint AS size_bytes
FROM encryption_backup_parts WHERE account_id = :account_id;

-- name: page_backup_parts
-- The parts of a backup by their names.
SELECT name, version, content FROM encryption_backup_parts
WHERE account_id = :account_id AND name > :after ORDER BY name LIMIT :limit;

-- name: find_backup_part
-- One part of a backup.
SELECT name, version, content FROM encryption_backup_parts WHERE account_id = :account_id AND name = :name;

-- name: delete_backup
-- Somebody's backup with all its parts.
WITH parts AS (DELETE FROM encryption_backup_parts WHERE account_id = :account_id)
DELETE FROM encryption_backups WHERE account_id = :account_id;

-- name: erase_in_group
-- What the group of a thread knows of somebody: the leaves stay, without a name, until a commit removes them.
WITH commits AS (UPDATE thread_commits SET account_id = 0, device_id = 0 WHERE thread_id = :thread_id AND account_id = :account_id)
UPDATE thread_leaves SET account_id = 0, device_id = 0, is_removed = true
WHERE thread_id = :thread_id AND account_id = :account_id;

-- name: delete_group
-- What is left of the group of a thread that is deleted.
WITH commits AS (DELETE FROM thread_commits WHERE thread_id = :thread_id),
     proposals AS (DELETE FROM thread_proposals WHERE thread_id = :thread_id)
DELETE FROM thread_leaves WHERE thread_id = :thread_id AND NOT EXISTS (SELECT FROM threads WHERE id = :thread_id);

-- name: count_encryption_left
-- How many rows of somebody are left on their shard.
SELECT (SELECT count(*) FROM encryption_devices WHERE account_id = :account_id)
     + (SELECT count(*) FROM key_packages WHERE account_id = :account_id)
     + (SELECT count(*) FROM encrypted_attachments WHERE account_id = :account_id)
     + (SELECT count(*) FROM encryption_backup_parts WHERE account_id = :account_id)
     + (SELECT count(*) FROM encryption_backups WHERE account_id = :account_id) AS rows_left;

-- name: list_own_paths
-- A batch of somebody's encrypted files, those that wait for their deletion as well.
SELECT id, path FROM encrypted_attachments WHERE account_id = :account_id ORDER BY id LIMIT :limit;
