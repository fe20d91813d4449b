-- A block lives with the blocker; the mirror lets the blocked side know without asking another shard.
CREATE TABLE blocks (
    account_id bigint NOT NULL,
    blocked_id bigint NOT NULL,
    change_id bigint NOT NULL,
    PRIMARY KEY (account_id, blocked_id)
);

CREATE TABLE blocked_by (
    account_id bigint NOT NULL,
    blocker_id bigint NOT NULL,
    change_id bigint NOT NULL,
    is_active boolean NOT NULL,
    PRIMARY KEY (account_id, blocker_id)
);
