-- Generated from the migrations: do not edit, write a migration and regenerate it.

-- On every server, in the schema common.

CREATE TABLE outbox (
    id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    subject text NOT NULL,
    body jsonb NOT NULL,
    made_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT outbox_pkey PRIMARY KEY (id)
);

-- In every shard.

CREATE TYPE mood AS ENUM ('calm', 'loud');

CREATE DOMAIN username AS text CONSTRAINT username_shape CHECK ((VALUE ~ '^[a-z0-9_]{1,30}$'::text));

CREATE OR REPLACE FUNCTION count_like()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    UPDATE posts SET likes_count = likes_count + 1 WHERE id = NEW.post_id;
    RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION shorten(caption text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
RETURN "left"(caption, 20);

CREATE TABLE accounts (
    id bigint DEFAULT next_id() NOT NULL,
    username username NOT NULL,
    mood mood DEFAULT 'calm'::mood NOT NULL,
    "order" integer DEFAULT 0 NOT NULL,
    made_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT accounts_pkey PRIMARY KEY (id),
    CONSTRAINT accounts_username_key UNIQUE (username)
);
COMMENT ON TABLE accounts IS 'One row per person; it''s the tenant.';
COMMENT ON COLUMN accounts.mood IS 'How they feel.';

CREATE TABLE likes (
    post_id bigint NOT NULL,
    account_id bigint NOT NULL,
    made_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT likes_pkey PRIMARY KEY (post_id, account_id)
) PARTITION BY HASH (post_id);

CREATE TABLE posts (
    id bigint DEFAULT next_id() NOT NULL,
    account_id bigint NOT NULL,
    caption character varying(80),
    teaser text GENERATED ALWAYS AS (shorten((caption)::text)) STORED,
    likes_count integer DEFAULT 0 NOT NULL,
    CONSTRAINT posts_pkey PRIMARY KEY (id),
    CONSTRAINT likes_positive CHECK ((likes_count >= 0))
) WITH (fillfactor=90);
ALTER TABLE posts ADD CONSTRAINT caption_short CHECK ((length((caption)::text) < 70)) NOT VALID;
CREATE INDEX posts_account ON posts USING btree (account_id, id DESC) INCLUDE (caption) WHERE (caption IS NOT NULL);
CREATE INDEX posts_caption ON posts USING btree (lower((caption)::text));
CREATE STATISTICS posts_together (dependencies) ON account_id, caption FROM posts;

CREATE TABLE likes_0 PARTITION OF likes FOR VALUES WITH (modulus 2, remainder 0);

CREATE TABLE likes_1 PARTITION OF likes FOR VALUES WITH (modulus 2, remainder 1);

ALTER TABLE posts ADD CONSTRAINT posts_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);

CREATE OR REPLACE FUNCTION author_of(post posts)
 RETURNS accounts
 LANGUAGE sql
 STABLE
BEGIN ATOMIC
 SELECT a.*::accounts AS a
    FROM accounts a
   WHERE (a.id = (author_of.post).account_id);
END;

CREATE TRIGGER count_like AFTER INSERT ON likes FOR EACH ROW EXECUTE FUNCTION count_like();

CREATE VIEW z_posts AS  SELECT p.id,
    p.teaser,
    a.username
   FROM (posts p
     JOIN accounts a ON ((a.id = p.account_id)));

CREATE VIEW a_summary AS  SELECT id
   FROM z_posts;
