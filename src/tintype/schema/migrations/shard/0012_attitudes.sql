-- How one person treats another, known to nobody else; on the shard of the one whose attitude it is.
CREATE TABLE attitudes (
    account_id bigint NOT NULL,
    target_id bigint NOT NULL,
    mutes_posts boolean NOT NULL DEFAULT false,
    mutes_stories boolean NOT NULL DEFAULT false,
    is_close_friend boolean NOT NULL DEFAULT false,
    restricts boolean NOT NULL DEFAULT false,
    is_dismissed boolean NOT NULL DEFAULT false, -- no longer suggested
    PRIMARY KEY (account_id, target_id)
);

-- Who leaves is forgotten by everybody, wherever they live.
CREATE INDEX attitudes_by_target ON attitudes (target_id);

-- The accounts with the most followers, as last counted; used on the shard that the key "popular" hashes to.
CREATE TABLE popular_accounts (
    account_id bigint PRIMARY KEY,
    follower_count integer NOT NULL
);
