-- A post with its media and likes, on the author's shard: a like and its count are one transaction.
CREATE TABLE posts (
    id bigint PRIMARY KEY DEFAULT next_id(),
    author_id bigint NOT NULL,
    caption text NOT NULL DEFAULT '',
    like_count integer NOT NULL DEFAULT 0,
    comment_count integer NOT NULL DEFAULT 0,
    idempotency_key text
);

CREATE INDEX posts_of_author ON posts (author_id, id DESC);
CREATE UNIQUE INDEX posts_once ON posts (author_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

CREATE TABLE post_media (
    post_id bigint NOT NULL REFERENCES posts (id),
    position smallint NOT NULL,
    media_id bigint NOT NULL REFERENCES media (id),
    alt_text text NOT NULL DEFAULT '',
    PRIMARY KEY (post_id, position)
);

CREATE TABLE likes (
    post_id bigint NOT NULL REFERENCES posts (id),
    account_id bigint NOT NULL,
    PRIMARY KEY (post_id, account_id)
);
