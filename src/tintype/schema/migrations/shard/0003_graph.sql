-- Both directions of a follow, each on its own shard: `following` with the follower, `followers` with the followee.
CREATE TABLE following (
    account_id bigint NOT NULL,
    followee_id bigint NOT NULL,
    change_id bigint NOT NULL,
    PRIMARY KEY (account_id, followee_id)
);

-- A mirror, fed by events. The change id orders them: an older change never undoes a newer one.
CREATE TABLE followers (
    account_id bigint NOT NULL,
    follower_id bigint NOT NULL,
    change_id bigint NOT NULL,
    is_active boolean NOT NULL,
    PRIMARY KEY (account_id, follower_id)
);
