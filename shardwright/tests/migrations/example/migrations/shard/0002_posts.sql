CREATE FUNCTION shorten(caption text) RETURNS text LANGUAGE sql IMMUTABLE RETURN left(caption, 20);

CREATE TABLE posts (
    id bigint PRIMARY KEY DEFAULT next_id(),
    account_id bigint NOT NULL REFERENCES accounts,
    caption varchar(80),
    teaser text GENERATED ALWAYS AS (shorten(caption)) STORED,
    likes_count integer NOT NULL DEFAULT 0 CONSTRAINT likes_positive CHECK (likes_count >= 0)
) WITH (fillfactor = 90);
CREATE INDEX posts_account ON posts (account_id, id DESC) INCLUDE (caption) WHERE caption IS NOT NULL;

CREATE TABLE likes (
    post_id bigint,
    account_id bigint,
    PRIMARY KEY (post_id, account_id)
) PARTITION BY HASH (post_id);
CREATE TABLE likes_0 PARTITION OF likes FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE likes_1 PARTITION OF likes FOR VALUES WITH (MODULUS 2, REMAINDER 1);
