-- name: lock_state
-- Serializes changes of one recipient's list; the row is created when it is first needed.
INSERT INTO notification_states (account_id) VALUES (:account_id)
ON CONFLICT (account_id) DO UPDATE SET account_id = excluded.account_id
RETURNING account_id;

-- name: lock_states
-- `lock_state` for many recipients, in one order, so that two batches never wait for each other in a circle.
INSERT INTO notification_states (account_id)
SELECT wanted.id FROM unnest(:account_ids::bigint[]) AS wanted (id) ORDER BY wanted.id
ON CONFLICT (account_id) DO UPDATE SET account_id = excluded.account_id;

-- name: lock_list
-- The same lock for removals: a list that does not exist, or no longer does, is not created.
SELECT account_id FROM notification_states WHERE account_id = :account_id FOR UPDATE;

-- name: add_activities hot
-- Activities join the unread notifications of their groups, or open them, for all recipients of a shard at once; each
-- activity is given once. What recipients do not want or may not know of is left out (`is_welcome` and `_may_notify` of
-- notify.py); a post of the recipient's own must be shown (graph's rule `is_listed_post`).
--
-- Whoever changes a list writes its row of notification_states in the same transaction. So a row that this statement
-- locked in the very version that its snapshot has (`held`) proves that the snapshot is up to date. The other recipients
-- return no row: the caller locks them first and repeats the statement in the same transaction. `accepted` are the
-- positions of the activities that were not left out; `traced_ids` are sources of theirs on this shard, as for
-- `record_traces`.
WITH locked AS (
    SELECT account_id, xmin AS version FROM notification_states
    WHERE account_id = ANY(:account_ids::bigint[]) ORDER BY account_id FOR UPDATE
), held AS (
    SELECT l.account_id FROM locked AS l
    JOIN notification_states AS s ON s.account_id = l.account_id AND s.xmin = l.version
), wanted AS (
    SELECT g.account_id, g.kind, g.object_id, g.actor_id, g.change_id, g.group_id, g.post_id, g.traced_id, g.number
    FROM unnest(:account_ids::bigint[], :kinds::text[], :object_ids::bigint[], :actor_ids::bigint[], :change_ids::bigint[],
                :group_ids::bigint[], :post_ids::bigint[], :are_own_posts::boolean[], :traced_ids::bigint[])
         WITH ORDINALITY AS g (account_id, kind, object_id, actor_id, change_id, group_id, post_id, is_own_post, traced_id,
                               number)
    JOIN held AS h ON h.account_id = g.account_id
    LEFT JOIN notification_choices AS c ON c.account_id = g.account_id AND c.kind = g.kind
    WHERE NOT EXISTS (SELECT FROM blocks AS b WHERE b.account_id = g.account_id AND b.blocked_id = g.actor_id)
      AND NOT EXISTS (SELECT FROM blocked_by AS b
                      WHERE b.account_id = g.account_id AND b.blocker_id = g.actor_id AND b.is_active)
      AND NOT EXISTS (SELECT FROM attitudes AS t
                      WHERE t.account_id = g.account_id AND t.target_id = g.actor_id AND (t.mutes_posts OR t.restricts))
      AND (c.audience IS NULL OR c.audience = 'everyone'
           OR (c.audience = 'following'
               AND EXISTS (SELECT FROM following AS f
                           WHERE f.account_id = g.account_id AND f.followee_id = g.actor_id AND NOT f.is_requested)))
      AND (NOT g.is_own_post
           OR EXISTS (SELECT FROM posts AS p WHERE p.id = g.post_id AND p.author_id = g.account_id
                        AND p.archived_at IS NULL AND p.hidden_at IS NULL AND p.deleted_at IS NULL))
), traced AS (
    INSERT INTO notification_traces (source_id, recipient_id)
    SELECT DISTINCT w.traced_id, w.account_id FROM wanted AS w WHERE w.traced_id IS NOT NULL
    ON CONFLICT (source_id, recipient_id) DO UPDATE SET told_on = excluded.told_on
    WHERE notification_traces.told_on < excluded.told_on
), known AS (
    SELECT w.account_id, w.kind, w.object_id, w.actor_id, w.change_id, w.group_id, w.post_id, w.number,
           a.change_id AS known_change_id, a.notification_id AS known_notification_id, a.account_id IS NULL AS is_first
    FROM wanted AS w
    LEFT JOIN notification_acts AS a ON a.account_id = w.account_id AND a.kind = w.kind
                                    AND a.object_id = w.object_id AND a.actor_id = w.actor_id
), renewed AS (
    UPDATE notification_acts AS a SET change_id = k.change_id FROM known AS k
    WHERE a.account_id = k.account_id AND a.kind = k.kind AND a.object_id = k.object_id AND a.actor_id = k.actor_id
      AND k.known_notification_id IS NOT NULL AND k.known_change_id < k.change_id
), fresh AS (
    SELECT k.account_id, k.kind, k.object_id, k.actor_id, k.change_id, k.group_id, k.post_id, k.is_first,
           count(*) OVER (PARTITION BY k.account_id, k.kind, k.group_id) AS total,
           row_number() OVER (PARTITION BY k.account_id, k.kind, k.group_id ORDER BY k.number) AS position
    FROM known AS k WHERE k.is_first OR (k.known_notification_id IS NULL AND k.known_change_id < k.change_id)
), grouped AS (
    INSERT INTO notifications (account_id, kind, group_id, post_id, place, actor_count)
    SELECT f.account_id, f.kind, f.group_id, max(f.post_id), next_id(), count(DISTINCT f.actor_id)::int
    FROM fresh AS f GROUP BY f.account_id, f.kind, f.group_id
    ON CONFLICT (account_id, kind, group_id) WHERE NOT is_read DO UPDATE
    SET place = excluded.place,
        actor_count = notifications.actor_count + (
            SELECT count(DISTINCT f.actor_id)::int FROM fresh AS f
            WHERE f.account_id = notifications.account_id AND f.kind = notifications.kind
              AND f.group_id = notifications.group_id
              AND NOT EXISTS (SELECT FROM notification_acts AS a
                              WHERE a.notification_id = notifications.id AND a.actor_id = f.actor_id))
    RETURNING id, account_id, kind, group_id, place, xmax = 0 AS is_new
), added AS (
    INSERT INTO notification_acts (account_id, kind, object_id, actor_id, change_id, post_id, notification_id, told_id)
    SELECT f.account_id, f.kind, f.object_id, f.actor_id, f.change_id, f.post_id, g.id, g.place - f.total + f.position
    FROM fresh AS f JOIN grouped AS g ON g.account_id = f.account_id AND g.kind = f.kind AND g.group_id = f.group_id
    ON CONFLICT (account_id, kind, object_id, actor_id) DO UPDATE
    SET change_id = excluded.change_id, notification_id = excluded.notification_id, told_id = excluded.told_id
), counted AS (
    UPDATE notification_states AS s
    SET unread_count = s.unread_count + (SELECT count(*)::int FROM grouped AS g
                                         WHERE g.account_id = s.account_id AND g.is_new)
    FROM (SELECT DISTINCT k.account_id FROM known AS k WHERE k.is_first OR k.known_change_id < k.change_id) AS changed
    WHERE s.account_id = changed.account_id
    RETURNING s.account_id, s.unread_count
), told AS (
    -- Somebody who likes, unlikes and likes again is listed again, but is not pushed to devices a second time.
    INSERT INTO common.outbox (event, payload, request_id)
    SELECT :event::text, convert_to(:payload::text || g.account_id || ',"notification_id":' || g.id
                                    || ',"told_id":' || g.place || '}', 'UTF8'), :request_id::text
    FROM grouped AS g
    WHERE EXISTS (SELECT FROM fresh AS f WHERE f.account_id = g.account_id AND f.kind = g.kind
                    AND f.group_id = g.group_id AND f.is_first)
      AND EXISTS (SELECT FROM push_subscriptions AS p WHERE p.account_id = g.account_id)
    RETURNING 1 AS one
)
SELECT h.account_id, counted.unread_count, EXISTS (SELECT FROM told) AS is_told,
       ARRAY(SELECT w.number::int - 1 FROM wanted AS w WHERE w.account_id = h.account_id) AS accepted
FROM held AS h LEFT JOIN counted ON counted.account_id = h.account_id;

-- name: retract_activities hot
-- Retracts activities of all recipients of a shard, each given once, with the counts; recipients without a row are treated
-- as those of `add_activities`. The newest change wins: retracting an activity that has not arrived yet leaves a row
-- because of which it is ignored.
WITH locked AS (
    SELECT account_id, xmin AS version FROM notification_states
    WHERE account_id = ANY(:account_ids::bigint[]) ORDER BY account_id FOR UPDATE
), held AS (
    SELECT l.account_id FROM locked AS l
    JOIN notification_states AS s ON s.account_id = l.account_id AND s.xmin = l.version
), wanted AS (
    SELECT g.account_id, g.kind, g.object_id, g.actor_id, g.change_id
    FROM unnest(:account_ids::bigint[], :kinds::text[], :object_ids::bigint[], :actor_ids::bigint[], :change_ids::bigint[])
         AS g (account_id, kind, object_id, actor_id, change_id)
    JOIN held AS h ON h.account_id = g.account_id
), before AS (
    SELECT a.account_id, a.kind, a.object_id, a.actor_id, a.notification_id
    FROM wanted AS w JOIN notification_acts AS a ON a.account_id = w.account_id AND a.kind = w.kind
                                                AND a.object_id = w.object_id AND a.actor_id = w.actor_id
    WHERE a.change_id < w.change_id AND a.notification_id IS NOT NULL
), written AS (
    INSERT INTO notification_acts (account_id, kind, object_id, actor_id, change_id, told_id)
    SELECT w.account_id, w.kind, w.object_id, w.actor_id, w.change_id, next_id() FROM wanted AS w
    ON CONFLICT (account_id, kind, object_id, actor_id) DO UPDATE
    SET change_id = excluded.change_id, notification_id = NULL
    WHERE notification_acts.change_id < excluded.change_id
), gone AS (
    SELECT b.notification_id, count(DISTINCT b.actor_id)::int AS count FROM before AS b
    WHERE NOT EXISTS (
        SELECT FROM notification_acts AS a
        WHERE a.notification_id = b.notification_id AND a.actor_id = b.actor_id
          AND NOT EXISTS (SELECT FROM before AS r
                          WHERE r.account_id = a.account_id AND r.kind = a.kind AND r.object_id = a.object_id
                            AND r.actor_id = a.actor_id))
    GROUP BY b.notification_id
), subtracted AS (
    UPDATE notifications AS n SET actor_count = n.actor_count - gone.count FROM gone
    WHERE n.id = gone.notification_id AND n.actor_count > gone.count
), emptied AS (
    DELETE FROM notifications AS n USING gone WHERE n.id = gone.notification_id AND n.actor_count <= gone.count
    RETURNING n.account_id, n.is_read
), counted AS (
    UPDATE notification_states AS s
    SET unread_count = s.unread_count - (SELECT count(*)::int FROM emptied AS e
                                         WHERE e.account_id = s.account_id AND NOT e.is_read)
    FROM held AS h WHERE s.account_id = h.account_id
    RETURNING s.account_id, s.unread_count
)
SELECT counted.account_id,
       CASE WHEN EXISTS (SELECT FROM before AS b WHERE b.account_id = counted.account_id)
            THEN counted.unread_count END AS unread_count
FROM counted;

-- name: retract_actors
-- Retracts everything that these people did.
WITH before AS (
    SELECT kind, object_id, actor_id, notification_id FROM notification_acts
    WHERE account_id = :account_id AND actor_id = ANY(:actor_ids::bigint[]) AND notification_id IS NOT NULL
)
UPDATE notification_acts AS a SET notification_id = NULL FROM before AS b
WHERE a.account_id = :account_id AND a.kind = b.kind AND a.object_id = b.object_id AND a.actor_id = b.actor_id
RETURNING b.notification_id, b.actor_id;

-- name: retract_posts
-- Retracts everything about these posts.
WITH before AS (
    SELECT kind, object_id, actor_id, notification_id FROM notification_acts
    WHERE account_id = :account_id AND post_id = ANY(:post_ids::bigint[]) AND notification_id IS NOT NULL
)
UPDATE notification_acts AS a SET notification_id = NULL FROM before AS b
WHERE a.account_id = :account_id AND a.kind = b.kind AND a.object_id = b.object_id AND a.actor_id = b.actor_id
RETURNING b.notification_id, b.actor_id;

-- name: retract_comment
-- Retracts everything about a comment: that it was made, whom it mentioned, who liked it.
WITH before AS (
    SELECT kind, object_id, actor_id, notification_id FROM notification_acts
    WHERE account_id = :account_id AND kind = ANY(ARRAY['comment', 'reply', 'mention', 'comment_like'])
      AND object_id = :comment_id AND notification_id IS NOT NULL
)
UPDATE notification_acts AS a SET notification_id = NULL FROM before AS b
WHERE a.account_id = :account_id AND a.kind = b.kind AND a.object_id = b.object_id AND a.actor_id = b.actor_id
RETURNING b.notification_id, b.actor_id;

-- name: retract_group
-- Retracts all activities of one notification.
WITH before AS (
    SELECT kind, object_id, actor_id, notification_id FROM notification_acts
    WHERE account_id = :account_id AND notification_id = :notification_id
)
UPDATE notification_acts AS a SET notification_id = NULL FROM before AS b
WHERE a.account_id = :account_id AND a.kind = b.kind AND a.object_id = b.object_id AND a.actor_id = b.actor_id
RETURNING b.notification_id, b.actor_id;

-- name: subtract_actors
-- Lowers the actor counts of notifications by those of the actors who have no other activity in them.
WITH gone AS (
    SELECT l.notification_id, count(*)::int AS count
    FROM (SELECT DISTINCT notification_id, actor_id
          FROM unnest(:notification_ids::bigint[], :actor_ids::bigint[]) AS pair (notification_id, actor_id)) AS l
    WHERE NOT EXISTS (SELECT FROM notification_acts AS a
                      WHERE a.notification_id = l.notification_id AND a.actor_id = l.actor_id)
    GROUP BY l.notification_id
)
UPDATE notifications AS n SET actor_count = n.actor_count - gone.count FROM gone WHERE n.id = gone.notification_id;

-- name: delete_empty_groups
-- Deletes notifications without actors, and subtracts the unread ones from the unread count.
WITH gone AS (
    DELETE FROM notifications WHERE id = ANY(:notification_ids::bigint[]) AND actor_count <= 0 RETURNING is_read
)
UPDATE notification_states SET unread_count = unread_count - (SELECT count(*)::int FROM gone WHERE NOT is_read)
WHERE account_id = :account_id;

-- name: record_traces hot
-- Records who was notified of which source, with the day of the last time. A trace from today is only read: ON CONFLICT
-- alone would lock the row each time.
INSERT INTO notification_traces (source_id, recipient_id)
SELECT DISTINCT given.source_id, given.recipient_id
FROM unnest(:source_ids::bigint[], :recipient_ids::bigint[]) AS given (source_id, recipient_id)
WHERE NOT EXISTS (SELECT FROM notification_traces AS t
                  WHERE t.source_id = given.source_id AND t.recipient_id = given.recipient_id
                    AND t.told_on = current_date)
ORDER BY given.source_id, given.recipient_id
ON CONFLICT (source_id, recipient_id) DO UPDATE SET told_on = excluded.told_on;

-- name: page_traces
-- Who was notified of a source, a page at a time.
SELECT recipient_id FROM notification_traces
WHERE source_id = :source_id AND recipient_id > :after ORDER BY recipient_id LIMIT :limit;

-- name: record_change
-- Records the newest processed change of a post or comment; no row when a newer one was processed. Safe to repeat.
INSERT INTO notification_marks (source_id, change_id) VALUES (:source_id, :change_id)
ON CONFLICT (source_id) DO UPDATE SET change_id = excluded.change_id
WHERE notification_marks.change_id <= excluded.change_id
RETURNING source_id;

-- name: find_newest_change hot
-- The newest change of a post or comment that was processed, by which events that come late are recognized.
SELECT change_id FROM notification_marks WHERE source_id = :source_id;

-- name: gather_newest_changes
-- The newest changes of posts or comments that were processed, from all the shards they lie on.
SELECT source_id, change_id FROM notification_marks WHERE source_id = ANY(:ids::bigint[]);

-- name: page
-- A page of the list, with the latest activities of each notification: who, and on what.
SELECT n.id, n.kind, n.group_id, n.post_id, n.place, n.actor_count, n.is_read,
       ARRAY(SELECT a.actor_id FROM notification_acts AS a WHERE a.notification_id = n.id
             ORDER BY a.told_id DESC LIMIT :actors::int) AS actor_ids,
       ARRAY(SELECT a.object_id FROM notification_acts AS a WHERE a.notification_id = n.id
             ORDER BY a.told_id DESC LIMIT :actors::int) AS object_ids
FROM notifications AS n
WHERE n.account_id = :account_id AND n.place < :before ORDER BY n.place DESC LIMIT :limit;

-- name: find_notification
-- One notification, with the columns of `page`.
SELECT n.id, n.kind, n.group_id, n.post_id, n.place, n.actor_count, n.is_read,
       ARRAY(SELECT a.actor_id FROM notification_acts AS a WHERE a.notification_id = n.id
             ORDER BY a.told_id DESC LIMIT :actors::int) AS actor_ids,
       ARRAY(SELECT a.object_id FROM notification_acts AS a WHERE a.notification_id = n.id
             ORDER BY a.told_id DESC LIMIT :actors::int) AS object_ids
FROM notifications AS n WHERE n.id = :notification_id AND n.account_id = :account_id;

-- name: count_unread hot
-- The unread count, maintained by every change.
SELECT unread_count FROM notification_states WHERE account_id = :account_id;

-- name: find_cursor
-- The position of a notification, so that everything up to it can be marked as read.
SELECT place FROM notifications WHERE id = :notification_id AND account_id = :account_id;

-- name: mark_all_read
-- Marks everything up to a position as read.
WITH marked AS (
    UPDATE notifications SET is_read = true
    WHERE account_id = :account_id AND NOT is_read AND place <= :cursor RETURNING id
)
UPDATE notification_states SET unread_count = unread_count - (SELECT count(*)::int FROM marked)
WHERE account_id = :account_id;

-- name: mark_read
-- Marks one notification as read.
WITH marked AS (
    UPDATE notifications SET is_read = true
    WHERE id = :notification_id AND account_id = :account_id AND NOT is_read RETURNING id
)
UPDATE notification_states SET unread_count = unread_count - (SELECT count(*)::int FROM marked)
WHERE account_id = :account_id;

-- name: list_preferences
-- The preferences somebody has set; other kinds have the defaults of `kinds.py`.
SELECT kind, audience, is_pushed FROM notification_choices WHERE account_id = :account_id;

-- name: set_preference
-- Replaces the preference for one kind.
INSERT INTO notification_choices (account_id, kind, audience, is_pushed)
VALUES (:account_id, :kind, :audience, :is_pushed)
ON CONFLICT (account_id, kind) DO UPDATE SET audience = excluded.audience, is_pushed = excluded.is_pushed;

-- name: find_quiet_hours
-- Quiet hours, if set.
SELECT quiet_from, quiet_until, time_zone FROM notification_states
WHERE account_id = :account_id AND quiet_from IS NOT NULL;

-- name: set_quiet_hours
-- Null removes them.
INSERT INTO notification_states (account_id, quiet_from, quiet_until, time_zone)
VALUES (:account_id, :quiet_from, :quiet_until, :time_zone)
ON CONFLICT (account_id) DO UPDATE
SET quiet_from = excluded.quiet_from, quiet_until = excluded.quiet_until, time_zone = excluded.time_zone;

-- name: claim_push
-- Claims the push of a burst: again for the same activity (a retry), or when the last push is long enough ago.
UPDATE notifications SET push_id = :told_id, pushed_at = CASE WHEN push_id = :told_id THEN pushed_at ELSE now() END
WHERE id = :notification_id AND account_id = :account_id AND NOT is_read
  AND (pushed_at IS NULL OR push_id = :told_id
       OR pushed_at < now() - make_interval(secs => :burst_s::float8))
RETURNING id;

-- name: subscribe
-- A browser that subscribes again keeps its row, with the keys and the session it has now.
INSERT INTO push_subscriptions (account_id, session_id, endpoint, public_key, auth_secret, device)
VALUES (:account_id, :session_id, :endpoint, :public_key, :auth_secret, :device)
ON CONFLICT (account_id, endpoint) DO UPDATE
SET session_id = excluded.session_id, public_key = excluded.public_key, auth_secret = excluded.auth_secret,
    device = excluded.device
RETURNING id;

-- name: list_subscriptions
-- The subscribed browsers of an account.
SELECT id, session_id, endpoint, public_key, auth_secret, device FROM push_subscriptions
WHERE account_id = :account_id ORDER BY id;

-- name: list_subscribed
-- The subscribed browsers of many accounts of a shard.
SELECT id, account_id FROM push_subscriptions WHERE account_id = ANY(:account_ids::bigint[]) ORDER BY id;

-- name: find_subscription
-- One subscription.
SELECT id, session_id, endpoint, public_key, auth_secret, device FROM push_subscriptions
WHERE id = :subscription_id AND account_id = :account_id;

-- name: unsubscribe
-- Deletes one subscription.
DELETE FROM push_subscriptions WHERE id = :subscription_id AND account_id = :account_id RETURNING id;

-- name: unsubscribe_sessions
-- Deletes the subscriptions of sessions that have ended; an empty list means all sessions.
DELETE FROM push_subscriptions
WHERE account_id = :account_id
  AND (cardinality(:session_ids::text[]) = 0 OR session_id = ANY(:session_ids::text[]));

-- name: sweep_notifications
-- Deletes a batch of old notifications, and subtracts the unread ones from the unread counts.
WITH gone AS (
    DELETE FROM notifications WHERE id IN (SELECT id FROM notifications WHERE place < :oldest LIMIT :limit::int)
    RETURNING account_id, is_read
), counted AS (
    UPDATE notification_states AS s SET unread_count = s.unread_count - old.count
    FROM (SELECT account_id, count(*)::int AS count FROM gone WHERE NOT is_read GROUP BY account_id) AS old
    WHERE s.account_id = old.account_id
)
SELECT count(*)::int AS count FROM gone;

-- name: sweep_activities
-- Deletes a batch of old activities whose notification is deleted, or that were retracted.
WITH gone AS (
    DELETE FROM notification_acts AS a
    WHERE (a.account_id, a.kind, a.object_id, a.actor_id) IN (
        SELECT o.account_id, o.kind, o.object_id, o.actor_id FROM notification_acts AS o
        WHERE o.told_id < :oldest
          AND (o.notification_id IS NULL OR NOT EXISTS (SELECT FROM notifications AS n WHERE n.id = o.notification_id))
        LIMIT :limit::int)
    RETURNING 1 AS one
)
SELECT count(*)::int AS count FROM gone;

-- name: sweep_traces
-- Deletes a batch of old traces and recorded changes; they outlive what they point to by a few days.
WITH traces AS (
    DELETE FROM notification_traces WHERE (source_id, recipient_id) IN (
        SELECT source_id, recipient_id FROM notification_traces WHERE told_on < :oldest::date LIMIT :limit::int)
    RETURNING 1 AS one
), marks AS (
    DELETE FROM notification_marks WHERE source_id IN (
        SELECT source_id FROM notification_marks WHERE marked_on < :oldest::date LIMIT :limit::int)
    RETURNING 1 AS one
)
SELECT ((SELECT count(*) FROM traces) + (SELECT count(*) FROM marks))::int AS count;

-- name: list_own_activities
-- Erasure: what an account was notified of, so that traces on other shards can be deleted first.
SELECT kind, object_id, actor_id, post_id FROM notification_acts WHERE account_id = :account_id LIMIT :limit;

-- name: erase_traces_to
-- Erasure: deletes the traces of these sources to one recipient.
DELETE FROM notification_traces WHERE source_id = ANY(:source_ids::bigint[]) AND recipient_id = :recipient_id;

-- name: erase_own_activities
-- Erasure: deletes a batch of what an account was notified of.
DELETE FROM notification_acts AS a
USING unnest(:kinds::text[], :object_ids::bigint[], :actor_ids::bigint[]) AS gone (kind, object_id, actor_id)
WHERE a.account_id = :account_id AND a.kind = gone.kind AND a.object_id = gone.object_id AND a.actor_id = gone.actor_id;

-- name: erase_own
-- Erasure: deletes an account's list, preferences and subscriptions.
WITH lines AS (
    DELETE FROM notifications WHERE account_id = :account_id RETURNING 1 AS one
), states AS (
    DELETE FROM notification_states WHERE account_id = :account_id RETURNING 1 AS one
), choices AS (
    DELETE FROM notification_choices WHERE account_id = :account_id RETURNING 1 AS one
), devices AS (
    DELETE FROM push_subscriptions WHERE account_id = :account_id RETURNING 1 AS one
)
SELECT ((SELECT count(*) FROM lines) + (SELECT count(*) FROM states)
        + (SELECT count(*) FROM choices) + (SELECT count(*) FROM devices))::int AS count;

-- name: erase_activities_of
-- Erasure: deletes what an actor did to this recipient, retracted or not.
DELETE FROM notification_acts WHERE account_id = :account_id AND actor_id = :actor_id;

-- name: erase_traces
-- Erasure: deletes the traces of one source to these recipients.
DELETE FROM notification_traces WHERE source_id = :source_id AND recipient_id = ANY(:recipient_ids::bigint[]);

-- name: count_own
-- How many rows of an account are left: its list and settings, and traces of its activities in other lists.
SELECT ((SELECT count(*) FROM notifications WHERE account_id = :account_id)
        + (SELECT count(*) FROM notification_acts WHERE account_id = :account_id)
        + (SELECT count(*) FROM notification_states WHERE account_id = :account_id)
        + (SELECT count(*) FROM notification_choices WHERE account_id = :account_id)
        + (SELECT count(*) FROM push_subscriptions WHERE account_id = :account_id)
        + (SELECT count(*) FROM notification_traces WHERE source_id = :account_id))::int AS count;

-- name: export_notifications
-- Export: the list as it is stored, oldest first.
SELECT id, kind, group_id, post_id, place, actor_count, is_read FROM notifications
WHERE account_id = :account_id AND place > :after ORDER BY place LIMIT :limit;
