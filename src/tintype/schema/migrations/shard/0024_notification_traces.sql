-- Whom something of this shard (an account, a post, a comment) was told to, so that it can be taken back everywhere.
CREATE TABLE notification_traces (
    source_id bigint NOT NULL,
    recipient_id bigint NOT NULL,
    told_on date NOT NULL DEFAULT current_date,
    PRIMARY KEY (source_id, recipient_id)
);

CREATE INDEX notification_traces_by_age ON notification_traces (told_on);

-- The newest change of a post or comment that was heard of: older news about it tell nobody anything.
CREATE TABLE notification_marks (
    source_id bigint PRIMARY KEY,
    change_id bigint NOT NULL,
    marked_on date NOT NULL DEFAULT current_date
);

CREATE INDEX notification_marks_by_age ON notification_marks (marked_on);
