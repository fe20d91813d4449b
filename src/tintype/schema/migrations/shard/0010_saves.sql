-- Posts that somebody keeps, with themselves; nobody else learns of them.
CREATE TABLE saves (
    account_id bigint NOT NULL,
    post_id bigint NOT NULL,
    save_id bigint NOT NULL DEFAULT next_id(),
    PRIMARY KEY (account_id, post_id)
);

CREATE INDEX saves_newest ON saves (account_id, save_id DESC);

CREATE TABLE collections (
    id bigint PRIMARY KEY DEFAULT next_id(),
    account_id bigint NOT NULL,
    name text NOT NULL,
    name_key text NOT NULL, -- case-folded: one person has no two collections of the same name
    position integer NOT NULL DEFAULT 0,
    cover_post_id bigint,
    UNIQUE (account_id, name_key)
);

CREATE TABLE collection_posts (
    collection_id bigint NOT NULL,
    post_id bigint NOT NULL,
    account_id bigint NOT NULL,
    entry_id bigint NOT NULL DEFAULT next_id(),
    PRIMARY KEY (collection_id, post_id)
);

CREATE INDEX collection_posts_newest ON collection_posts (collection_id, entry_id DESC);
CREATE INDEX collection_posts_of_post ON collection_posts (account_id, post_id);
