-- People in the pictures, with the post; and with each person the posts they are in.
CREATE TABLE post_tags (
    post_id bigint NOT NULL REFERENCES posts (id),
    position smallint NOT NULL,
    account_id bigint NOT NULL,
    x real NOT NULL,
    y real NOT NULL,
    PRIMARY KEY (post_id, position, account_id)
);

-- A mirror, fed by events. The change id orders them: an older change never undoes a newer one.
CREATE TABLE tagged_in (
    account_id bigint NOT NULL,
    post_id bigint NOT NULL,
    change_id bigint NOT NULL,
    is_active boolean NOT NULL,
    PRIMARY KEY (account_id, post_id)
);

CREATE INDEX tagged_in_removed ON tagged_in (change_id) WHERE NOT is_active;
