-- Generated from the migrations: do not edit, write a migration and generate it anew.

-- On every server, in the schema common.

CREATE TABLE outbox (
    id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    event text NOT NULL,
    payload bytea NOT NULL,
    request_id text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    stream_seq bigint,
    CONSTRAINT outbox_pkey PRIMARY KEY (id)
) WITH (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.1);
CREATE INDEX outbox_waiting ON outbox USING btree (id) WHERE (stream_seq IS NULL);

CREATE TABLE outbox_source (
    is_only boolean DEFAULT true NOT NULL,
    source uuid DEFAULT gen_random_uuid() NOT NULL,
    incarnation text,
    CONSTRAINT outbox_source_pkey PRIMARY KEY (is_only),
    CONSTRAINT outbox_source_is_only_check CHECK (is_only)
);

-- In every shard.

CREATE TABLE accounts (
    id bigint DEFAULT next_id() NOT NULL,
    username text NOT NULL,
    full_name text DEFAULT ''::text NOT NULL,
    is_private boolean DEFAULT false NOT NULL,
    is_verified boolean DEFAULT false NOT NULL,
    password_hash text NOT NULL,
    post_count integer DEFAULT 0 NOT NULL,
    follower_count integer DEFAULT 0 NOT NULL,
    following_count integer DEFAULT 0 NOT NULL,
    bio text DEFAULT ''::text NOT NULL,
    website text DEFAULT ''::text NOT NULL,
    avatar_folder text,
    status text DEFAULT 'active'::text NOT NULL,
    role text DEFAULT 'person'::text NOT NULL,
    CONSTRAINT accounts_pkey PRIMARY KEY (id)
);

CREATE TABLE attitudes (
    account_id bigint NOT NULL,
    target_id bigint NOT NULL,
    mutes_posts boolean DEFAULT false NOT NULL,
    mutes_stories boolean DEFAULT false NOT NULL,
    is_close_friend boolean DEFAULT false NOT NULL,
    restricts boolean DEFAULT false NOT NULL,
    is_dismissed boolean DEFAULT false NOT NULL,
    CONSTRAINT attitudes_pkey PRIMARY KEY (account_id, target_id)
);
CREATE INDEX attitudes_by_target ON attitudes USING btree (target_id);

CREATE TABLE blocked_by (
    account_id bigint NOT NULL,
    blocker_id bigint NOT NULL,
    change_id bigint NOT NULL,
    is_active boolean NOT NULL,
    severed_id bigint DEFAULT 0 NOT NULL,
    CONSTRAINT blocked_by_pkey PRIMARY KEY (account_id, blocker_id)
);

CREATE TABLE blocks (
    account_id bigint NOT NULL,
    blocked_id bigint NOT NULL,
    change_id bigint NOT NULL,
    CONSTRAINT blocks_pkey PRIMARY KEY (account_id, blocked_id)
);

CREATE TABLE collection_posts (
    collection_id bigint NOT NULL,
    post_id bigint NOT NULL,
    account_id bigint NOT NULL,
    entry_id bigint DEFAULT next_id() NOT NULL,
    CONSTRAINT collection_posts_pkey PRIMARY KEY (collection_id, post_id)
);
CREATE INDEX collection_posts_newest ON collection_posts USING btree (collection_id, entry_id DESC);
CREATE INDEX collection_posts_of_post ON collection_posts USING btree (account_id, post_id);

CREATE TABLE collections (
    id bigint DEFAULT next_id() NOT NULL,
    account_id bigint NOT NULL,
    name text NOT NULL,
    name_key text NOT NULL,
    position integer DEFAULT 0 NOT NULL,
    cover_post_id bigint,
    CONSTRAINT collections_pkey PRIMARY KEY (id),
    CONSTRAINT collections_account_id_name_key_key UNIQUE (account_id, name_key)
);

CREATE TABLE comment_filters (
    account_id bigint NOT NULL,
    word text NOT NULL,
    CONSTRAINT comment_filters_pkey PRIMARY KEY (account_id, word)
);

CREATE TABLE comment_likes (
    comment_id bigint NOT NULL,
    account_id bigint NOT NULL,
    change_id bigint NOT NULL,
    CONSTRAINT comment_likes_pkey PRIMARY KEY (comment_id, account_id)
);
CREATE INDEX comment_likes_newest ON comment_likes USING btree (comment_id, change_id DESC);

CREATE TABLE comments (
    id bigint DEFAULT next_id() NOT NULL,
    post_id bigint NOT NULL,
    account_id bigint NOT NULL,
    parent_id bigint,
    root_id bigint,
    depth smallint DEFAULT 0 NOT NULL,
    text text NOT NULL,
    state text DEFAULT 'visible'::text NOT NULL,
    like_count integer DEFAULT 0 NOT NULL,
    thread_count integer DEFAULT 0 NOT NULL,
    pinned_at timestamp with time zone,
    idempotency_key text,
    CONSTRAINT comments_pkey PRIMARY KEY (id)
);
CREATE INDEX comments_kept_back ON comments USING btree (post_id, id DESC) WHERE (state = ANY (ARRAY['filtered'::text, 'waiting'::text]));
CREATE INDEX comments_of_account ON comments USING btree (account_id, post_id, id DESC);
CREATE INDEX comments_of_parent ON comments USING btree (parent_id) WHERE (parent_id IS NOT NULL);
CREATE INDEX comments_of_post ON comments USING btree (post_id, id DESC) WHERE (root_id IS NULL);
CREATE INDEX comments_of_thread ON comments USING btree (root_id, id) WHERE (root_id IS NOT NULL);
CREATE UNIQUE INDEX comments_once ON comments USING btree (account_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);
CREATE INDEX comments_under_post ON comments USING btree (post_id);

CREATE TABLE followers (
    account_id bigint NOT NULL,
    follower_id bigint NOT NULL,
    change_id bigint NOT NULL,
    is_active boolean NOT NULL,
    is_requested boolean DEFAULT false NOT NULL,
    CONSTRAINT followers_pkey PRIMARY KEY (account_id, follower_id)
);
CREATE INDEX followers_ended ON followers USING btree (change_id) WHERE ((NOT is_active) AND (NOT is_requested));
CREATE INDEX followers_newest ON followers USING btree (account_id, change_id DESC) WHERE is_active;
CREATE INDEX followers_waiting ON followers USING btree (account_id, change_id DESC) WHERE is_requested;

CREATE TABLE following (
    account_id bigint NOT NULL,
    followee_id bigint NOT NULL,
    change_id bigint NOT NULL,
    is_requested boolean DEFAULT false NOT NULL,
    CONSTRAINT following_pkey PRIMARY KEY (account_id, followee_id)
);
CREATE INDEX following_newest ON following USING btree (account_id, change_id DESC) WHERE (NOT is_requested);
CREATE INDEX following_waiting ON following USING btree (account_id, change_id DESC) WHERE is_requested;

CREATE TABLE leases (
    name text NOT NULL,
    holder text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT leases_pkey PRIMARY KEY (name)
);

CREATE TABLE likes (
    post_id bigint NOT NULL,
    account_id bigint NOT NULL,
    liked_id bigint DEFAULT 0 NOT NULL,
    CONSTRAINT likes_pkey PRIMARY KEY (post_id, account_id)
);
CREATE INDEX likes_newest ON likes USING btree (post_id, liked_id DESC);

CREATE TABLE media (
    id bigint NOT NULL,
    account_id bigint NOT NULL,
    folder text NOT NULL,
    width integer NOT NULL,
    height integer NOT NULL,
    expires_at timestamp with time zone,
    post_id bigint,
    CONSTRAINT media_pkey PRIMARY KEY (id)
);
CREATE INDEX media_expiring ON media USING btree (expires_at) WHERE (expires_at IS NOT NULL);

CREATE TABLE own_comment_likes (
    account_id bigint NOT NULL,
    comment_id bigint NOT NULL,
    change_id bigint NOT NULL,
    is_liked boolean NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT own_comment_likes_pkey PRIMARY KEY (account_id, comment_id)
);
CREATE INDEX own_comment_likes_removed ON own_comment_likes USING btree (changed_at) WHERE (NOT is_liked);

CREATE TABLE own_comments (
    account_id bigint NOT NULL,
    comment_id bigint NOT NULL,
    post_id bigint NOT NULL,
    is_removed boolean DEFAULT false NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT own_comments_pkey PRIMARY KEY (account_id, comment_id)
);
CREATE INDEX own_comments_removed ON own_comments USING btree (changed_at) WHERE is_removed;

CREATE TABLE own_likes (
    account_id bigint NOT NULL,
    post_id bigint NOT NULL,
    change_id bigint NOT NULL,
    is_active boolean NOT NULL,
    CONSTRAINT own_likes_pkey PRIMARY KEY (account_id, post_id)
);
CREATE INDEX own_likes_newest ON own_likes USING btree (account_id, change_id DESC) WHERE is_active;
CREATE INDEX own_likes_removed ON own_likes USING btree (change_id) WHERE (NOT is_active);

CREATE TABLE popular_accounts (
    account_id bigint NOT NULL,
    follower_count integer NOT NULL,
    CONSTRAINT popular_accounts_pkey PRIMARY KEY (account_id)
);

CREATE TABLE post_media (
    post_id bigint NOT NULL,
    position smallint NOT NULL,
    media_id bigint NOT NULL,
    alt_text text DEFAULT ''::text NOT NULL,
    CONSTRAINT post_media_pkey PRIMARY KEY (post_id, "position")
);

CREATE TABLE post_tags (
    post_id bigint NOT NULL,
    position smallint NOT NULL,
    account_id bigint NOT NULL,
    x real NOT NULL,
    y real NOT NULL,
    CONSTRAINT post_tags_pkey PRIMARY KEY (post_id, "position", account_id)
);

CREATE TABLE posts (
    id bigint DEFAULT next_id() NOT NULL,
    author_id bigint NOT NULL,
    caption text DEFAULT ''::text NOT NULL,
    like_count integer DEFAULT 0 NOT NULL,
    comment_count integer DEFAULT 0 NOT NULL,
    idempotency_key text,
    spans text DEFAULT '[]'::text NOT NULL,
    hashtags text[] DEFAULT '{}'::text[] NOT NULL,
    mention_ids bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    place_id text,
    place_name text,
    lat double precision,
    lon double precision,
    comments_enabled boolean DEFAULT true NOT NULL,
    hides_like_count boolean DEFAULT false NOT NULL,
    edited_at timestamp with time zone,
    pinned_at timestamp with time zone,
    archived_at timestamp with time zone,
    hidden_at timestamp with time zone,
    deleted_at timestamp with time zone,
    like_batch bigint DEFAULT 0 NOT NULL,
    counted_id bigint DEFAULT 0 NOT NULL,
    body_hash bytea,
    CONSTRAINT posts_pkey PRIMARY KEY (id)
);
CREATE INDEX posts_archived ON posts USING btree (author_id, id DESC) WHERE (archived_at IS NOT NULL);
CREATE INDEX posts_deleted ON posts USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX posts_of_author ON posts USING btree (author_id, id DESC);
CREATE UNIQUE INDEX posts_once ON posts USING btree (author_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);
CREATE INDEX posts_pinned ON posts USING btree (author_id) WHERE (pinned_at IS NOT NULL);
CREATE INDEX posts_shown ON posts USING btree (author_id, id DESC) WHERE ((archived_at IS NULL) AND (hidden_at IS NULL) AND (deleted_at IS NULL));

CREATE TABLE saves (
    account_id bigint NOT NULL,
    post_id bigint NOT NULL,
    save_id bigint DEFAULT next_id() NOT NULL,
    CONSTRAINT saves_pkey PRIMARY KEY (account_id, post_id)
);
CREATE INDEX saves_newest ON saves USING btree (account_id, save_id DESC);

CREATE TABLE schedules (
    name text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    error text DEFAULT ''::text NOT NULL,
    CONSTRAINT schedules_pkey PRIMARY KEY (name)
);

CREATE TABLE sessions (
    token_hash bytea NOT NULL,
    account_id bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT sessions_pkey PRIMARY KEY (token_hash)
);
CREATE INDEX sessions_of_account ON sessions USING btree (account_id);

CREATE TABLE tagged_in (
    account_id bigint NOT NULL,
    post_id bigint NOT NULL,
    change_id bigint NOT NULL,
    is_active boolean NOT NULL,
    CONSTRAINT tagged_in_pkey PRIMARY KEY (account_id, post_id)
);
CREATE INDEX tagged_in_removed ON tagged_in USING btree (change_id) WHERE (NOT is_active);

CREATE TABLE usernames (
    username text NOT NULL,
    account_id bigint NOT NULL,
    claimed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT usernames_pkey PRIMARY KEY (username)
);

ALTER TABLE likes ADD CONSTRAINT likes_post_id_fkey FOREIGN KEY (post_id) REFERENCES posts(id);
ALTER TABLE post_media ADD CONSTRAINT post_media_media_id_fkey FOREIGN KEY (media_id) REFERENCES media(id);
ALTER TABLE post_media ADD CONSTRAINT post_media_post_id_fkey FOREIGN KEY (post_id) REFERENCES posts(id);
ALTER TABLE post_tags ADD CONSTRAINT post_tags_post_id_fkey FOREIGN KEY (post_id) REFERENCES posts(id);
