-- What somebody said and liked under the posts of others, with themselves: it tells exports and departures where to look.
-- Removed rows stay for a while, so that a late event cannot bring them back.
CREATE TABLE own_comments (
    account_id bigint NOT NULL,
    comment_id bigint NOT NULL,
    post_id bigint NOT NULL,
    is_removed boolean NOT NULL DEFAULT false,
    changed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, comment_id)
);

CREATE INDEX own_comments_removed ON own_comments (changed_at) WHERE is_removed;

CREATE TABLE own_comment_likes (
    account_id bigint NOT NULL,
    comment_id bigint NOT NULL,
    change_id bigint NOT NULL,
    is_liked boolean NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, comment_id)
);

CREATE INDEX own_comment_likes_removed ON own_comment_likes (changed_at) WHERE NOT is_liked;
