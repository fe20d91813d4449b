-- The order in which a post was liked; and with each person what they liked, a mirror like `followers`.
ALTER TABLE likes ADD COLUMN liked_id bigint NOT NULL DEFAULT 0;

UPDATE likes SET liked_id = next_id() WHERE liked_id = 0;

CREATE TABLE own_likes (
    account_id bigint NOT NULL,
    post_id bigint NOT NULL,
    change_id bigint NOT NULL,
    is_active boolean NOT NULL,
    PRIMARY KEY (account_id, post_id)
);

CREATE INDEX own_likes_newest ON own_likes (account_id, change_id DESC) WHERE is_active;
CREATE INDEX own_likes_removed ON own_likes (change_id) WHERE NOT is_active;
