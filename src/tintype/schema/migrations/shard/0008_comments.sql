-- Comments live with the post they are under, so that a comment and the post's count are one transaction.
CREATE TABLE comments (
    id bigint PRIMARY KEY DEFAULT next_id(),
    post_id bigint NOT NULL,
    account_id bigint NOT NULL,
    parent_id bigint, -- what it answers; null under the post itself
    root_id bigint, -- the comment its thread began with; null for that one
    depth smallint NOT NULL DEFAULT 0,
    text text NOT NULL,
    state text NOT NULL DEFAULT 'visible', -- visible, filtered, waiting, hidden (by a moderator), deleted
    like_count integer NOT NULL DEFAULT 0,
    thread_count integer NOT NULL DEFAULT 0, -- visible answers in the whole thread, kept at its root
    pinned_at timestamptz,
    idempotency_key text
);

CREATE INDEX comments_of_post ON comments (post_id, id DESC) WHERE root_id IS NULL;
CREATE INDEX comments_under_post ON comments (post_id);
CREATE INDEX comments_of_thread ON comments (root_id, id) WHERE root_id IS NOT NULL;
CREATE INDEX comments_of_parent ON comments (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX comments_of_account ON comments (account_id, post_id, id DESC);
CREATE INDEX comments_kept_back ON comments (post_id, id DESC) WHERE state IN ('filtered', 'waiting');
CREATE UNIQUE INDEX comments_once ON comments (account_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

CREATE TABLE comment_likes (
    comment_id bigint NOT NULL,
    account_id bigint NOT NULL,
    change_id bigint NOT NULL,
    PRIMARY KEY (comment_id, account_id)
);

CREATE INDEX comment_likes_newest ON comment_likes (comment_id, change_id DESC);

-- Words whose owner does not want to see them under their posts.
CREATE TABLE comment_filters (
    account_id bigint NOT NULL,
    word text NOT NULL,
    PRIMARY KEY (account_id, word)
);
