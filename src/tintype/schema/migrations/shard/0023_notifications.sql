-- What happened to somebody, on their own shard: the groups that are shown, and the acts that they are made of.
CREATE TABLE notifications (
    id bigint PRIMARY KEY DEFAULT next_id(),
    account_id bigint NOT NULL,
    kind text NOT NULL,
    group_id bigint NOT NULL, -- what is told together: a post, a comment, or 0 for the person itself
    post_id bigint,
    place bigint NOT NULL, -- the order of the list; a group moves up when somebody joins it
    actor_count integer NOT NULL DEFAULT 1,
    is_read boolean NOT NULL DEFAULT false,
    push_id bigint, -- the act for which devices were last told, and when
    pushed_at timestamptz
);

CREATE UNIQUE INDEX notifications_open ON notifications (account_id, kind, group_id) WHERE NOT is_read;
CREATE INDEX notifications_in_order ON notifications (account_id, place DESC);
CREATE INDEX notifications_by_age ON notifications (place);

-- One row per (what happened, who did it). Without a notification it was taken back; the newest change wins.
CREATE TABLE notification_acts (
    account_id bigint NOT NULL,
    kind text NOT NULL,
    object_id bigint NOT NULL,
    actor_id bigint NOT NULL,
    change_id bigint NOT NULL,
    post_id bigint,
    notification_id bigint,
    told_id bigint NOT NULL,
    PRIMARY KEY (account_id, kind, object_id, actor_id)
);

CREATE INDEX notification_acts_of_group ON notification_acts (notification_id, told_id DESC)
WHERE notification_id IS NOT NULL;
-- Also for acts that were taken back: someone who leaves takes those along, too.
CREATE INDEX notification_acts_of_actor ON notification_acts (account_id, actor_id);
CREATE INDEX notification_acts_of_post ON notification_acts (account_id, post_id) WHERE notification_id IS NOT NULL;
CREATE INDEX notification_acts_by_age ON notification_acts (told_id);

-- One row per recipient: its lock lets changes happen one after another, so that the count is exact.
CREATE TABLE notification_states (
    account_id bigint PRIMARY KEY,
    unread_count integer NOT NULL DEFAULT 0,
    quiet_from smallint, -- minutes after midnight
    quiet_until smallint,
    time_zone text NOT NULL DEFAULT 'UTC'
);

CREATE TABLE notification_choices (
    account_id bigint NOT NULL,
    kind text NOT NULL,
    audience text NOT NULL, -- off, following, everyone
    is_pushed boolean NOT NULL,
    PRIMARY KEY (account_id, kind)
);
