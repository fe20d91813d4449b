-- name: send_at_once hot
-- A message in one call, where nothing holds it back: the thread and the sender's membership are locked and checked, the
-- device's count goes on by one, message, number, result and event are written.
--
-- Conditions stand on the rows that are locked, so PostgreSQL checks them again on the newest version when it had to wait
-- for the lock. No row: the caller finds out why, in a transaction. Ids are drawn under the lock of the thread: the order
-- of ids is that of commits. Returns what `gather_messages` would, with one member more than a small thread has at most.
WITH thread AS (
    SELECT t.id, t.kind, t.last_number, t.disappear_s, t.disappears_after_seen FROM threads AS t
    WHERE t.id = :thread_id::bigint AND t.pending_id IS NULL AND NOT t.low_blocks AND NOT t.high_blocks AND NOT t.is_encrypted
      AND (t.kind = 'group' OR (t.low_id IS NOT NULL AND t.high_id IS NOT NULL))
    FOR NO KEY UPDATE
), sender AS (
    SELECT m.thread_id FROM thread_members AS m
    WHERE m.thread_id = (SELECT thread.id FROM thread) AND m.account_id = :account_id::bigint AND m.state = 'active'
      AND NOT EXISTS (SELECT FROM thread_mutations AS x
                      WHERE x.thread_id = :thread_id AND x.account_id = :account_id AND x.local_id = :local_id::text)
    FOR NO KEY UPDATE
), device AS (
    INSERT INTO thread_devices (thread_id, account_id, device_id, counter)
    SELECT s.thread_id, :account_id, :device_id::text, :counter::bigint FROM sender AS s
    WHERE :counter = 1
       OR EXISTS (SELECT FROM thread_devices AS d
                  WHERE d.thread_id = :thread_id AND d.account_id = :account_id AND d.device_id = :device_id)
    ON CONFLICT (thread_id, account_id, device_id) DO UPDATE SET counter = excluded.counter
    WHERE thread_devices.counter = excluded.counter - 1
    RETURNING thread_id
), added AS (
    INSERT INTO messages (thread_id, number, account_id, kind, text, media_id, shared_id, expires_at, after_seen_s)
    SELECT t.id, t.last_number + 1, :account_id, :kind::text, :text::text, :media_id::bigint, :shared_id::bigint,
           now() + latest.wait + make_interval(secs => t.disappear_s),
           CASE WHEN t.disappears_after_seen AND NOT large.is_large THEN t.disappear_s END
    FROM device AS d JOIN thread AS t ON t.id = d.thread_id
    CROSS JOIN LATERAL (
        SELECT t.disappears_after_seen
               AND (SELECT count(*) FROM (SELECT FROM thread_members AS o
                                          WHERE o.thread_id = t.id AND o.state IN ('active', 'requested')
                                          LIMIT :quick_members::int + 1) AS counted) > :quick_members AS is_large
    ) AS large
    CROSS JOIN LATERAL (
        SELECT CASE WHEN NOT t.disappears_after_seen THEN interval '0'
                    WHEN large.is_large THEN interval '1 day' ELSE interval '28 days' END AS wait
    ) AS latest
    RETURNING thread_id, id, number, account_id, kind, text, ciphertext, epoch, sender_device_id, media_id, reply_to_id,
              edited_at, change_id
), recorded AS (
    INSERT INTO thread_mutations (thread_id, account_id, local_id, message_id, number)
    SELECT :thread_id, :account_id, :local_id, a.id, a.number FROM added AS a
), counted AS (
    UPDATE threads AS t SET last_number = a.number, last_id = a.id FROM added AS a WHERE t.id = :thread_id
), seen AS (
    UPDATE thread_members AS m SET seen_number = a.number, seen_at = now() FROM added AS a
    WHERE m.thread_id = :thread_id AND m.account_id = :account_id
), announced AS (
    INSERT INTO common.outbox (event, payload, request_id)
    SELECT :event::text, convert_to(:payload::text || a.id || ',"number":' || a.number || '}', 'UTF8'), :request_id::text
    FROM added AS a
)
SELECT a.thread_id, a.id, a.number, a.account_id, a.kind, a.text, a.ciphertext, a.epoch, a.sender_device_id, a.media_id,
       a.reply_to_id, a.edited_at, a.change_id,
       t.kind AS thread_kind, false AS is_blocked,
       ARRAY(SELECT m.account_id FROM thread_members AS m
             WHERE m.thread_id = :thread_id AND m.state IN ('active', 'requested') LIMIT :quick_members::int + 1) AS member_ids
FROM added AS a JOIN thread AS t ON t.id = a.thread_id;

-- name: add_pair
-- The thread of two people, created once whoever comes first; the second gets no row.
INSERT INTO threads (kind, is_encrypted, low_id, high_id, created_by, pending_id)
VALUES ('pair', :is_encrypted, :low_id, :high_id, :created_by, :pending_id) ON CONFLICT DO NOTHING RETURNING id;

-- name: find_pair hot
-- The thread of two people, plain or encrypted, and how one of them belongs to it.
SELECT t.id, m.state FROM threads AS t
LEFT JOIN thread_members AS m ON m.thread_id = t.id AND m.account_id = :account_id
WHERE t.low_id = :low_id AND t.high_id = :high_id AND t.is_encrypted = :is_encrypted;

-- name: add_group
-- A group, created once for each local id of its creator; again, no row.
INSERT INTO threads (kind, is_encrypted, name, created_by, local_id)
VALUES ('group', :is_encrypted, :name, :created_by, :local_id)
ON CONFLICT DO NOTHING RETURNING id;

-- name: find_group
-- The group that somebody created under a local id.
SELECT id FROM threads WHERE created_by = :created_by AND local_id = :local_id;

-- name: place_group
-- A group is listed before its first message: by its own id.
UPDATE threads SET last_id = id WHERE id = :thread_id AND last_id = 0;

-- name: add_members
-- New members, who read from the next message on; those who left or were removed come back. Members stay as they are.
INSERT INTO thread_members (thread_id, account_id, state, is_admin, joined_number, seen_number)
SELECT :thread_id, given.account_id, given.state, given.is_admin, :number, :number
FROM unnest(:account_ids::bigint[], :states::text[], :are_admins::boolean[]) AS given (account_id, state, is_admin)
ON CONFLICT (thread_id, account_id) DO UPDATE
SET state = excluded.state, is_admin = false, joined_number = excluded.joined_number, seen_number = excluded.seen_number,
    change_id = next_id()
WHERE thread_members.state IN ('left', 'removed', 'declined')
RETURNING account_id;

-- name: lock_thread
-- A thread, locked until the end of the transaction: everybody who writes in a thread locks it first.
SELECT id, kind, is_encrypted, group_number, epoch, low_id, high_id, name, photo_id, pending_id,
       low_blocks OR high_blocks AS is_blocked, disappear_s, disappears_after_seen, last_number, last_id
FROM threads WHERE id = :thread_id FOR NO KEY UPDATE;

-- name: lock_member
-- One membership, locked; the thread is locked already.
SELECT account_id, state, is_admin, joined_number, seen_number FROM thread_members
WHERE thread_id = :thread_id AND account_id = :account_id FOR NO KEY UPDATE;

-- name: list_members
-- Everybody who is or was in a thread.
SELECT account_id, state, is_admin, seen_number, seen_at FROM thread_members
WHERE thread_id = :thread_id ORDER BY change_id, account_id;

-- name: count_members
-- How many people are in a thread, requests included.
SELECT count(*) FROM thread_members WHERE thread_id = :thread_id AND state IN ('active', 'requested');

-- name: set_member_state
-- Changes how somebody belongs to a thread; who leaves is no admin any more.
UPDATE thread_members SET state = :state, is_admin = is_admin AND :state = 'active', change_id = next_id()
WHERE thread_id = :thread_id AND account_id = :account_id;

-- name: set_admin
-- Makes a member an admin, or no longer one.
UPDATE thread_members SET is_admin = :is_admin, change_id = next_id()
WHERE thread_id = :thread_id AND account_id = :account_id;

-- name: find_heir
-- Who becomes admin when a group has none left: the member of longest standing.
SELECT account_id FROM thread_members
WHERE thread_id = :thread_id AND state = 'active'
  AND NOT EXISTS (SELECT FROM thread_members AS a WHERE a.thread_id = :thread_id AND a.state = 'active' AND a.is_admin)
ORDER BY change_id LIMIT 1;

-- name: touch_thread
-- A change of anything but messages: the newest one decides what inboxes say of the thread.
UPDATE threads SET change_id = next_id() WHERE id = :thread_id RETURNING change_id;

-- name: change_thread
-- Name and lifetime of messages; what is null stays, and a lifetime of zero ends disappearing.
UPDATE threads SET name = coalesce(:name::text, name),
                   disappears_after_seen = coalesce(:after_seen::boolean, disappears_after_seen),
                   disappear_s = CASE WHEN :disappear_s::int IS NULL THEN disappear_s ELSE nullif(:disappear_s::int, 0) END
WHERE id = :thread_id;

-- name: set_thread_photo
-- The photo of a group; null for none.
UPDATE threads SET photo_id = :photo_id::bigint WHERE id = :thread_id;

-- name: names_photo
-- Whether a thread shows this photo.
SELECT id FROM threads WHERE id = :thread_id AND photo_id = :photo_id;

-- name: accept_pair
-- Whoever the pair was waiting for has accepted it.
UPDATE threads SET pending_id = NULL WHERE id = :thread_id;

-- name: mirror_block
-- A block between two people, as far as their threads exist, plain and encrypted. The newest change of each side wins; no row: nothing new.
UPDATE threads SET
    low_blocks = CASE WHEN :blocker_id::bigint = low_id THEN :is_blocked::boolean ELSE low_blocks END,
    low_block_id = CASE WHEN :blocker_id = low_id THEN :change_id::bigint ELSE low_block_id END,
    high_blocks = CASE WHEN :blocker_id = high_id THEN :is_blocked ELSE high_blocks END,
    high_block_id = CASE WHEN :blocker_id = high_id THEN :change_id ELSE high_block_id END,
    change_id = next_id()
WHERE low_id = :low_id::bigint AND high_id = :high_id::bigint
  AND :change_id > CASE WHEN :blocker_id = low_id THEN low_block_id ELSE high_block_id END
RETURNING id;

-- name: find_mutation
-- What became of a change that a device sent before.
SELECT message_id, number FROM thread_mutations
WHERE thread_id = :thread_id AND account_id = :account_id AND local_id = :local_id;

-- name: record_mutation
-- Keeps what became of a change, for whenever it is sent again.
INSERT INTO thread_mutations (thread_id, account_id, local_id, message_id, number)
VALUES (:thread_id, :account_id, :local_id, :message_id, :number);

-- name: advance_device
-- The device's count goes on by one, in a transaction that holds the thread. No row: this is not the next number.
INSERT INTO thread_devices (thread_id, account_id, device_id, counter)
SELECT :thread_id, :account_id, :device_id::text, :counter::bigint
WHERE :counter = 1
   OR EXISTS (SELECT FROM thread_devices AS d
              WHERE d.thread_id = :thread_id AND d.account_id = :account_id AND d.device_id = :device_id)
ON CONFLICT (thread_id, account_id, device_id) DO UPDATE SET counter = excluded.counter
WHERE thread_devices.counter = excluded.counter - 1
RETURNING counter;

-- name: find_counter
-- How far a device has come in a thread.
SELECT counter FROM thread_devices
WHERE thread_id = :thread_id AND account_id = :account_id AND device_id = :device_id;

-- name: add_message
-- A message of a transaction that holds the thread.
INSERT INTO messages (thread_id, number, account_id, kind, text, reply_to_id, media_id, shared_id, expires_at, after_seen_s)
VALUES (:thread_id, :number, :account_id, :kind, :text, :reply_to_id, :media_id, :shared_id,
        now() + make_interval(secs => :disappear_s::int, days => :wait_days::int), :after_seen_s::int)
RETURNING id;

-- name: count_message
-- The thread's newest message, and that its author has seen all before it.
WITH seen AS (
    UPDATE thread_members SET seen_number = :number, seen_at = now()
    WHERE thread_id = :thread_id AND account_id = :account_id
)
UPDATE threads SET last_number = :number, last_id = :message_id WHERE id = :thread_id;

-- name: count_sent
-- How many messages somebody has in a thread, as far as the limit.
SELECT count(*) FROM (
    SELECT FROM messages WHERE thread_id = :thread_id AND account_id = :account_id LIMIT :limit
) AS sent;

-- name: read_thread hot
-- A thread as one of its members reads it, and the membership; no row for everybody else.
SELECT t.id, t.kind, t.is_encrypted, t.group_number, t.epoch, t.name, t.photo_id, t.pending_id,
       t.low_blocks OR t.high_blocks AS is_blocked, t.disappear_s, t.disappears_after_seen,
       t.last_number, t.last_id, m.state, m.is_admin, m.joined_number, m.seen_number,
       ARRAY(SELECT o.account_id FROM thread_members AS o
             WHERE o.thread_id = t.id AND (o.state IN ('active', 'requested') OR t.kind = 'pair')
             ORDER BY o.change_id, o.account_id) AS member_ids
FROM threads AS t
JOIN thread_members AS m ON m.thread_id = t.id AND m.account_id = :account_id AND m.state IN ('active', 'requested')
WHERE t.id = :thread_id;

-- name: gather_threads hot
-- The threads of a page of somebody's inbox, each with its members and last message; of large groups, the first members.
SELECT t.id, t.kind, t.is_encrypted, t.name, t.photo_id, t.disappear_s, t.last_number, t.last_id, m.state, m.seen_number,
       ARRAY(SELECT o.account_id FROM thread_members AS o
             WHERE o.thread_id = t.id AND (o.state IN ('active', 'requested') OR t.kind = 'pair')
             ORDER BY o.change_id, o.account_id LIMIT 8) AS member_ids,
       (SELECT count(*) FROM thread_members AS o
        WHERE o.thread_id = t.id AND o.state IN ('active', 'requested')) AS member_count,
       last.account_id AS last_account_id, last.kind AS last_kind, left(last.text, 200) AS last_text
FROM threads AS t
JOIN thread_members AS m ON m.thread_id = t.id AND m.account_id = :account_id AND m.state IN ('active', 'requested')
LEFT JOIN messages AS last ON last.thread_id = t.id AND last.id = t.last_id AND last.number > m.joined_number
                          AND (last.expires_at IS NULL OR last.expires_at > now())
WHERE t.id = ANY(:ids::bigint[]);

-- name: page_messages hot
-- The messages of a thread that a member may read, newest first: those since they joined that have not disappeared.
SELECT m.thread_id, m.id, m.number, m.account_id, m.kind, m.text, m.reply_to_id, m.media_id, m.shared_id, m.ciphertext,
       m.epoch, m.sender_device_id, m.edited_at, m.expires_at, m.after_seen_s,
       q.account_id AS quoted_account_id, q.kind AS quoted_kind, left(q.text, 200) AS quoted_text,
       ARRAY(SELECT r.account_id FROM message_reactions AS r
             WHERE r.thread_id = m.thread_id AND r.message_id = m.id ORDER BY r.account_id) AS reactor_ids,
       ARRAY(SELECT r.emoji FROM message_reactions AS r
             WHERE r.thread_id = m.thread_id AND r.message_id = m.id ORDER BY r.account_id) AS emojis
FROM messages AS m
LEFT JOIN messages AS q ON q.thread_id = m.thread_id AND q.id = m.reply_to_id AND q.number > :joined_number
                       AND (q.expires_at IS NULL OR q.expires_at > now())
WHERE m.thread_id = :thread_id AND m.id < :before AND m.number > :joined_number
  AND (m.expires_at IS NULL OR m.expires_at > now())
ORDER BY m.id DESC LIMIT :limit;

-- name: lock_message
-- A message that a member may read, locked with its thread.
SELECT id, number, account_id, kind, text, media_id, shared_id, edited_at,
       id >= shardwright.min_id_at(now() - make_interval(secs => :edit_within_s::float8)) AS is_editable
FROM messages
WHERE thread_id = :thread_id AND id = :message_id AND number > :joined_number
  AND (expires_at IS NULL OR expires_at > now())
FOR NO KEY UPDATE;

-- name: edit_message
-- Another text for a message; the words of the one before are not found any more.
WITH words AS (
    DELETE FROM message_words WHERE thread_id = :thread_id AND message_id = :message_id
)
UPDATE messages SET text = :text, edited_at = now(), change_id = next_id()
WHERE thread_id = :thread_id AND id = :message_id RETURNING change_id;

-- name: unsend_message
-- Nothing is left of a message but its position.
WITH reactions AS (
    DELETE FROM message_reactions WHERE thread_id = :thread_id AND message_id = :message_id
), words AS (
    DELETE FROM message_words WHERE thread_id = :thread_id AND message_id = :message_id
)
UPDATE messages SET kind = 'unsent', text = '', ciphertext = NULL, reply_to_id = NULL, media_id = NULL, shared_id = NULL, edited_at = NULL,
                    change_id = next_id()
WHERE thread_id = :thread_id AND id = :message_id RETURNING change_id;

-- name: set_reaction
-- Somebody's one reaction to a message; the message's change orders it among others.
WITH reacted AS (
    INSERT INTO message_reactions (thread_id, message_id, account_id, emoji)
    VALUES (:thread_id, :message_id, :account_id, :emoji)
    ON CONFLICT (thread_id, message_id, account_id) DO UPDATE SET emoji = excluded.emoji
)
UPDATE messages SET change_id = next_id() WHERE thread_id = :thread_id AND id = :message_id RETURNING change_id;

-- name: remove_reaction
-- Takes a reaction back.
WITH gone AS (
    DELETE FROM message_reactions
    WHERE thread_id = :thread_id AND message_id = :message_id AND account_id = :account_id
)
UPDATE messages SET change_id = next_id() WHERE thread_id = :thread_id AND id = :message_id RETURNING change_id;

-- name: mark_seen hot
-- A member has seen everything up to a number; a smaller one than before changes nothing and returns no row.
WITH seen AS (
    UPDATE thread_members AS m SET seen_number = least(:number::bigint, t.last_number), seen_at = now()
    FROM threads AS t
    WHERE t.id = :thread_id::bigint AND m.thread_id = t.id AND m.account_id = :account_id::bigint
      AND m.state IN ('active', 'requested') AND m.seen_number < least(:number, t.last_number)
      AND NOT t.low_blocks AND NOT t.high_blocks
    RETURNING m.thread_id, m.seen_number, m.state
), announced AS (
    INSERT INTO common.outbox (event, payload, request_id)
    SELECT :event::text, convert_to(:payload::text || seen.seen_number || '}', 'UTF8'), :request_id::text FROM seen
)
SELECT seen.seen_number,
       EXISTS (SELECT FROM messages AS x WHERE x.thread_id = seen.thread_id AND x.after_seen_s IS NOT NULL) AS has_waiting
FROM seen;

-- name: list_all_seen
-- Threads with messages that wait to be seen by nobody any more.
SELECT DISTINCT m.thread_id FROM messages AS m
WHERE m.after_seen_s IS NOT NULL
  AND EXISTS (SELECT FROM thread_members AS o
              WHERE o.thread_id = m.thread_id AND o.account_id <> m.account_id AND o.state = 'active'
                AND o.joined_number < m.number)
  AND NOT EXISTS (SELECT FROM thread_members AS o
                  WHERE o.thread_id = m.thread_id AND o.account_id <> m.account_id AND o.joined_number < m.number
                    AND (o.state = 'requested' OR (o.state = 'active' AND o.seen_number < m.number)))
LIMIT :limit;

-- name: begin_ends
-- The end of messages that all others in the thread have seen: their time counts from when the last one marked them.
-- Who has not accepted the thread has seen nothing, so that nobody learns of it by a message that ends.
UPDATE messages AS m SET expires_at = least(m.expires_at, others.seen_at + make_interval(secs => m.after_seen_s)),
                         after_seen_s = NULL
FROM messages AS x CROSS JOIN LATERAL (
    SELECT max(o.seen_at) AS seen_at, bool_and(o.state = 'active' AND o.seen_number >= x.number) AS have_seen
    FROM thread_members AS o
    WHERE o.thread_id = x.thread_id AND o.account_id <> x.account_id AND o.joined_number < x.number
      AND o.state IN ('active', 'requested')
) AS others
WHERE x.thread_id = :thread_id AND x.after_seen_s IS NOT NULL AND others.have_seen
  AND m.thread_id = x.thread_id AND m.id = x.id;

-- name: gather_accepted_pairs
-- Those of the pairs whose two people have accepted their thread, somebody has written in it, and no block parts them.
SELECT t.low_id, t.high_id FROM unnest(:low_ids::bigint[], :high_ids::bigint[]) AS given (low_id, high_id)
JOIN threads AS t ON t.low_id = given.low_id AND t.high_id = given.high_id AND t.kind = 'pair'
WHERE t.pending_id IS NULL AND t.last_number > 0 AND NOT t.low_blocks AND NOT t.high_blocks
  AND 2 = (SELECT count(*) FROM thread_members AS m WHERE m.thread_id = t.id AND m.state = 'active');

-- name: gather_memberships hot
-- What inboxes say of threads: everybody's membership, and how far thread and member have come. People who left long ago
-- are known by now.
SELECT m.thread_id, m.account_id, m.state, m.seen_number, t.low_blocks OR t.high_blocks AS is_blocked, t.change_id,
       t.last_id, t.last_number
FROM threads AS t JOIN thread_members AS m ON m.thread_id = t.id
WHERE t.id = ANY(:ids::bigint[])
  AND (m.state NOT IN ('left', 'removed') OR m.change_id > shardwright.min_id_at(now() - interval '14 days'));

-- name: gather_messages hot
-- Messages for the update logs of the members who may read them, as they are now.
SELECT m.thread_id, m.id, m.number, m.account_id, m.kind, m.text, m.ciphertext, m.epoch, m.sender_device_id, m.media_id,
       m.reply_to_id, m.edited_at, m.change_id,
       t.kind AS thread_kind,
       t.low_blocks OR t.high_blocks AS is_blocked,
       ARRAY(SELECT o.account_id FROM thread_members AS o
             WHERE o.thread_id = m.thread_id AND o.state IN ('active', 'requested') AND o.joined_number < m.number)
           AS member_ids
FROM unnest(:thread_ids::bigint[], :message_ids::bigint[]) AS given (thread_id, message_id)
JOIN threads AS t ON t.id = given.thread_id
JOIN messages AS m ON m.thread_id = given.thread_id AND m.id = given.message_id;

-- name: gather_everybody hot
-- Everybody who is or was in threads: their logs may hold what was said while they were.
SELECT m.thread_id, m.account_id FROM thread_members AS m WHERE m.thread_id = ANY(:ids::bigint[]);

-- name: feed_inboxes hot
-- Brings inbox rows up to date, in any order and as often as you like: the newest change decides about membership and
-- blocks, numbers only grow. People whose account is gone get no row.
INSERT INTO inbox (account_id, thread_id, state, is_blocked, change_id, last_id, last_number, seen_number)
SELECT given.account_id, given.thread_id, given.state, given.is_blocked, given.change_id, given.last_id,
       given.last_number, given.seen_number
FROM unnest(:account_ids::bigint[], :thread_ids::bigint[], :states::text[], :are_blocked::boolean[], :change_ids::bigint[],
            :last_ids::bigint[], :last_numbers::bigint[], :seen_numbers::bigint[])
     AS given (account_id, thread_id, state, is_blocked, change_id, last_id, last_number, seen_number)
JOIN accounts AS a ON a.id = given.account_id
ORDER BY given.account_id, given.thread_id
ON CONFLICT (account_id, thread_id) DO UPDATE
SET state = CASE WHEN inbox.change_id < excluded.change_id THEN excluded.state ELSE inbox.state END,
    is_blocked = CASE WHEN inbox.change_id < excluded.change_id THEN excluded.is_blocked ELSE inbox.is_blocked END,
    change_id = greatest(inbox.change_id, excluded.change_id),
    last_id = greatest(inbox.last_id, excluded.last_id),
    last_number = greatest(inbox.last_number, excluded.last_number),
    seen_number = greatest(inbox.seen_number, excluded.seen_number)
WHERE inbox.change_id < excluded.change_id OR inbox.last_id < excluded.last_id
   OR inbox.last_number < excluded.last_number OR inbox.seen_number < excluded.seen_number;

-- name: touch_inboxes hot
-- New messages at the top of the inboxes of some members, right after they were sent; who sent one has seen it. Each
-- inbox row is given once, in the order of its key. Returns the rows that exist.
UPDATE inbox AS i SET last_id = greatest(i.last_id, g.last_id), last_number = greatest(i.last_number, g.last_number),
                      seen_number = greatest(i.seen_number, g.seen_number)
FROM unnest(:account_ids::bigint[], :thread_ids::bigint[], :last_ids::bigint[], :last_numbers::bigint[],
            :seen_numbers::bigint[]) AS g (account_id, thread_id, last_id, last_number, seen_number)
WHERE i.account_id = g.account_id AND i.thread_id = g.thread_id
RETURNING i.account_id, i.thread_id;

-- name: see_inbox hot
-- The inbox of somebody who has seen a thread, right after they did.
UPDATE inbox SET seen_number = :number WHERE account_id = :account_id AND thread_id = :thread_id AND seen_number < :number;

-- name: page_inbox hot
-- A folder of an inbox, the thread with the newest message first.
SELECT thread_id, last_id, last_number, seen_number, is_archived, muted_until, state FROM inbox
WHERE account_id = :account_id AND state = :state AND is_archived = :is_archived AND last_id > 0 AND last_id < :before
  AND NOT is_blocked
ORDER BY last_id DESC LIMIT :limit;

-- name: find_inbox hot
-- What somebody's inbox says of some threads.
SELECT thread_id, is_archived, muted_until FROM inbox
WHERE account_id = :account_id AND thread_id = ANY(:thread_ids::bigint[]);

-- name: count_unread hot
-- How many threads have something unread, and how many requests wait.
SELECT count(*) FILTER (WHERE state = 'active' AND last_number > seen_number
                              AND (muted_until IS NULL OR muted_until < now())) AS threads,
       count(*) FILTER (WHERE state = 'requested' AND last_id > 0) AS requests
FROM inbox
WHERE account_id = :account_id AND state IN ('active', 'requested') AND NOT is_archived AND NOT is_blocked;

-- name: list_thread_ids
-- The threads that somebody is in.
SELECT thread_id FROM inbox WHERE account_id = :account_id AND state IN ('active', 'requested');

-- name: archive_thread
-- Moves a thread of one's own inbox to the archive, or back.
UPDATE inbox SET is_archived = :is_archived
WHERE account_id = :account_id AND thread_id = :thread_id AND state IN ('active', 'requested') RETURNING thread_id;

-- name: mute_thread
-- No notifications of a thread until then.
UPDATE inbox SET muted_until = :muted_until
WHERE account_id = :account_id AND thread_id = :thread_id AND state IN ('active', 'requested') RETURNING thread_id;

-- name: find_settings
-- Who may write to somebody, and what notifications show.
SELECT audience, preview FROM direct_settings WHERE account_id = :account_id;

-- name: gather_audiences
-- Who may write to people, as far as they have chosen.
SELECT account_id, audience FROM direct_settings WHERE account_id = ANY(:ids::bigint[]);

-- name: set_settings
-- Replaces somebody's settings.
INSERT INTO direct_settings (account_id, audience, preview) VALUES (:account_id, :audience, :preview)
ON CONFLICT (account_id) DO UPDATE SET audience = excluded.audience, preview = excluded.preview;

-- name: page_threads
-- Threads of a shard, a batch at a time, to compare inboxes with.
SELECT id FROM threads WHERE id > :after ORDER BY id LIMIT :limit;

-- name: page_own_threads
-- The threads that somebody is or was in, in the order of their ids.
SELECT thread_id FROM inbox WHERE account_id = :account_id AND thread_id > :after ORDER BY thread_id LIMIT :limit;

-- name: page_own_messages
-- What somebody wrote in a thread, oldest first, with what the export shows of it.
SELECT id, kind, text, ciphertext, reply_to_id, media_id, shared_id, edited_at FROM messages
WHERE thread_id = :thread_id AND account_id = :account_id AND id > :after AND kind <> 'unsent'
ORDER BY id LIMIT :limit;

-- name: export_thread
-- What an export says of a thread.
SELECT t.kind, t.is_encrypted, t.name, m.state, ARRAY(SELECT o.account_id FROM thread_members AS o
                                      WHERE o.thread_id = t.id ORDER BY o.account_id) AS member_ids
FROM threads AS t JOIN thread_members AS m ON m.thread_id = t.id AND m.account_id = :account_id
WHERE t.id = :thread_id;

-- name: erase_messages
-- Deletes a batch of what somebody wrote in a thread, with the reactions to it.
WITH chosen AS (
    SELECT id FROM messages WHERE thread_id = :thread_id AND account_id = :account_id ORDER BY id LIMIT :limit
), reactions AS (
    DELETE FROM message_reactions AS r USING chosen AS c WHERE r.thread_id = :thread_id AND r.message_id = c.id
), words AS (
    DELETE FROM message_words AS w USING chosen AS c WHERE w.thread_id = :thread_id AND w.message_id = c.id
)
DELETE FROM messages AS m USING chosen AS c WHERE m.thread_id = :thread_id AND m.id = c.id RETURNING m.id, m.media_id;

-- name: erase_member
-- Deletes everything else of somebody in a thread: membership, reactions, devices and the ids of their changes.
WITH reactions AS (DELETE FROM message_reactions WHERE thread_id = :thread_id AND account_id = :account_id),
     devices AS (DELETE FROM thread_devices WHERE thread_id = :thread_id AND account_id = :account_id),
     mutations AS (DELETE FROM thread_mutations WHERE thread_id = :thread_id AND account_id = :account_id),
     members AS (DELETE FROM thread_members WHERE thread_id = :thread_id AND account_id = :account_id)
UPDATE threads SET low_id = CASE WHEN low_id = :account_id THEN NULL ELSE low_id END,
                   high_id = CASE WHEN high_id = :account_id THEN NULL ELSE high_id END,
                   pending_id = CASE WHEN pending_id = :account_id THEN NULL ELSE pending_id END,
                   created_by = CASE WHEN created_by = :account_id THEN 0 ELSE created_by END,
                   local_id = CASE WHEN created_by = :account_id THEN NULL ELSE local_id END,
                   change_id = next_id()
WHERE id = :thread_id;

-- name: delete_empty_thread
-- A thread goes with the last person who was ever in it.
DELETE FROM threads AS t
WHERE t.id = :thread_id AND NOT EXISTS (SELECT FROM thread_members AS m WHERE m.thread_id = :thread_id);

-- name: erase_inbox
-- Forgets that somebody was in a thread.
DELETE FROM inbox WHERE account_id = :account_id AND thread_id = :thread_id;

-- name: erase_settings
-- Deletes somebody's settings.
DELETE FROM direct_settings WHERE account_id = :account_id;

-- name: count_left
-- How many rows of somebody are left on their shard; rows elsewhere are found through these.
SELECT (SELECT count(*) FROM inbox WHERE account_id = :account_id)
     + (SELECT count(*) FROM message_media WHERE account_id = :account_id)
     + (SELECT count(*) FROM direct_settings WHERE account_id = :account_id) AS rows_left;

-- name: list_expired
-- Messages whose time is over, and who may have heard of them.
SELECT m.thread_id, m.id, m.media_id,
       ARRAY(SELECT o.account_id FROM thread_members AS o WHERE o.thread_id = m.thread_id) AS member_ids
FROM messages AS m WHERE m.expires_at <= now() ORDER BY m.expires_at LIMIT :limit;

-- name: delete_expired
-- Deletes such messages with their reactions. The local ids of whoever sent them stay: sent again, they are not sent.
WITH given AS (
    SELECT g.thread_id, g.message_id FROM unnest(:thread_ids::bigint[], :message_ids::bigint[]) AS g (thread_id, message_id)
), reactions AS (
    DELETE FROM message_reactions AS r USING given AS g WHERE r.thread_id = g.thread_id AND r.message_id = g.message_id
), words AS (
    DELETE FROM message_words AS w USING given AS g WHERE w.thread_id = g.thread_id AND w.message_id = g.message_id
)
DELETE FROM messages AS m USING given AS g WHERE m.thread_id = g.thread_id AND m.id = g.message_id;

-- name: find_attached
-- Media that were attached to this very message before, and their type.
SELECT a.media_id, m.type FROM message_media AS a JOIN media AS m ON m.id = a.media_id
WHERE a.media_id = :media_id AND a.account_id = :account_id AND a.thread_id = :thread_id AND a.local_id = :local_id;

-- name: add_attached
-- Media of a message that is about to be sent.
INSERT INTO message_media (media_id, account_id, thread_id, local_id)
VALUES (:media_id, :account_id, :thread_id, :local_id);

-- name: confirm_attached
-- The message is sent.
UPDATE message_media SET is_sent = true WHERE media_id = :media_id AND NOT is_sent;

-- name: list_unconfirmed
-- Media attached a day ago of which nobody has said that their message was sent.
SELECT media_id, account_id, thread_id, local_id FROM message_media
WHERE NOT is_sent AND attached_at < now() - interval '1 day' ORDER BY attached_at LIMIT :limit;

-- name: list_attached
-- A batch of somebody's media in messages.
SELECT media_id FROM message_media WHERE account_id = :account_id ORDER BY media_id LIMIT :limit;

-- name: delete_attached
-- The message is gone; the media room deletes media and files.
DELETE FROM message_media WHERE media_id = ANY(:media_ids::bigint[]);

-- name: gather_media hot
-- What messages show of media.
SELECT m.id AS media_id, m.folder, m.type, m.state, m.width, m.height, m.placeholder, m.duration_ms, m.has_hls,
       m.large_width, m.waveform
FROM media AS m JOIN message_media AS a ON a.media_id = m.id AND a.removed_at IS NULL
WHERE m.id = ANY(:ids::bigint[]) AND m.state <> 'deleted';

-- name: hold_media
-- Keeps media for a case, as long as their message shows them.
UPDATE message_media SET held_for = array_append(held_for, :case_key::text)
WHERE media_id = ANY(:media_ids::bigint[]) AND removed_at IS NULL AND NOT :case_key::text = ANY(held_for);

-- name: close_held
-- Those of the media that are kept for a case; nobody but moderators opens them from now on.
UPDATE message_media SET removed_at = coalesce(removed_at, now())
WHERE media_id = ANY(:media_ids::bigint[]) AND held_for <> '{}' RETURNING media_id;

-- name: release_media
-- A case is closed. Returns the media that nothing keeps any more, though their message is gone.
WITH released AS (
    UPDATE message_media SET held_for = array_remove(held_for, :case_key::text)
    WHERE account_id = :account_id AND :case_key::text = ANY(held_for) RETURNING media_id, held_for, removed_at
)
SELECT media_id FROM released WHERE held_for = '{}' AND removed_at IS NOT NULL;

-- name: list_held
-- For which cases media are kept.
SELECT DISTINCT m.account_id, held.case_key FROM message_media AS m CROSS JOIN unnest(m.held_for) AS held (case_key)
WHERE m.held_for <> '{}' LIMIT :limit;

-- name: index_words
-- Adds the words of messages, unless the message has changed since it was read: its row is locked, and an edit deletes
-- words in its own transaction, so none outlives its text.
WITH given AS (
    SELECT g.thread_id, g.message_id, g.change_id, g.word
    FROM unnest(:thread_ids::bigint[], :message_ids::bigint[], :change_ids::bigint[], :words::text[])
         AS g (thread_id, message_id, change_id, word)
), current AS (
    SELECT m.thread_id, m.id FROM messages AS m
    WHERE (m.thread_id, m.id, m.change_id) IN (SELECT g.thread_id, g.message_id, g.change_id FROM given AS g)
      AND m.kind <> 'unsent'
    ORDER BY m.thread_id, m.id FOR SHARE
)
INSERT INTO message_words (thread_id, word, message_id)
SELECT g.thread_id, g.word, g.message_id FROM given AS g JOIN current AS c ON c.thread_id = g.thread_id AND c.id = g.message_id
ON CONFLICT DO NOTHING;

-- name: list_newest_threads
-- The threads with the newest messages that somebody is in, archived ones as well.
SELECT thread_id FROM inbox
WHERE account_id = :account_id AND state IN ('active', 'requested') AND NOT is_blocked AND last_number > 0
ORDER BY last_id DESC LIMIT :limit;

-- name: search_messages hot
-- Messages of a member's threads that have all the words, the newest first: of each thread no more than a page is looked
-- at, by the first word. What was written before the member joined is not found.
SELECT m.thread_id, m.id, m.number, m.account_id, m.kind, m.text, m.reply_to_id, m.media_id, m.shared_id, m.ciphertext,
       m.epoch, m.sender_device_id, m.edited_at, m.expires_at, m.after_seen_s,
       NULL::bigint AS quoted_account_id, ''::text AS quoted_kind, ''::text AS quoted_text,
       ARRAY(SELECT r.account_id FROM message_reactions AS r
             WHERE r.thread_id = m.thread_id AND r.message_id = m.id ORDER BY r.account_id) AS reactor_ids,
       ARRAY(SELECT r.emoji FROM message_reactions AS r
             WHERE r.thread_id = m.thread_id AND r.message_id = m.id ORDER BY r.account_id) AS emojis
FROM unnest(:thread_ids::bigint[]) AS given (id)
JOIN threads AS t ON t.id = given.id AND NOT t.low_blocks AND NOT t.high_blocks
JOIN thread_members AS o ON o.thread_id = t.id AND o.account_id = :account_id AND o.state IN ('active', 'requested')
CROSS JOIN LATERAL (
    SELECT w.message_id FROM message_words AS w
    WHERE w.thread_id = t.id AND w.word = :word AND w.message_id < :before
      AND NOT EXISTS (SELECT FROM unnest(:other_words::text[]) AS other (word)
                      WHERE NOT EXISTS (SELECT FROM message_words AS x
                                        WHERE x.thread_id = t.id AND x.word = other.word AND x.message_id = w.message_id))
    ORDER BY w.message_id DESC LIMIT :limit
) AS found
JOIN messages AS m ON m.thread_id = t.id AND m.id = found.message_id AND m.number > o.joined_number
                  AND (m.expires_at IS NULL OR m.expires_at > now())
ORDER BY m.id DESC LIMIT :limit;

-- name: find_thread_of
-- The thread of a message, for reports, which name the message alone.
SELECT thread_id FROM messages WHERE id = :message_id;

-- name: claim_pushes
-- Members who are to get a push of a message: it is new to them, and so is the push. Each thread is given once per member.
UPDATE inbox AS i SET pushed_number = given.number
FROM unnest(:account_ids::bigint[], :thread_ids::bigint[], :numbers::bigint[]) AS given (account_id, thread_id, number)
WHERE i.account_id = given.account_id AND i.thread_id = given.thread_id AND i.state = 'active' AND NOT i.is_blocked
  AND NOT i.is_archived AND (i.muted_until IS NULL OR i.muted_until < now())
  AND i.seen_number < given.number AND i.pushed_number < given.number
RETURNING i.account_id, i.thread_id;
