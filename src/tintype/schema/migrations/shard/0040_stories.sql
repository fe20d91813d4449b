-- Stories are shown for a day. They lie in parts of a day each, cut by id, which holds the time; a part that is past is
-- dropped whole. Parts are named like stories__20261115 and are no part of the schema: they come and go by the clock.

-- The clock by which stories end: the server's own. A function, so that tests can move it.
CREATE FUNCTION story_now() RETURNS timestamptz LANGUAGE sql STABLE
RETURN statement_timestamp();

-- Ids from here on live: made less than 24 hours ago, to the millisecond.
CREATE FUNCTION stories_begin() RETURNS bigint LANGUAGE sql STABLE
RETURN shardwright.min_id_at(story_now() - interval '24 hours' + interval '1 millisecond');

CREATE TABLE stories (
    id bigint NOT NULL DEFAULT next_id(),
    author_id bigint NOT NULL,
    media_id bigint NOT NULL,
    audience text NOT NULL, -- everyone, close_friends
    text text NOT NULL DEFAULT '',
    alt_text text NOT NULL DEFAULT '',
    mentions text NOT NULL DEFAULT '[]', -- JSON: who is mentioned, and where in the picture
    replies_enabled boolean NOT NULL DEFAULT true,
    view_count integer NOT NULL DEFAULT 0,
    reaction_count integer NOT NULL DEFAULT 0,
    hidden_at timestamptz, -- by a moderator
    removed_at timestamptz, -- by its author
    idempotency_key text,
    body_hash bytea,
    PRIMARY KEY (id)
) PARTITION BY RANGE (id);

CREATE INDEX stories_of_author ON stories (author_id, id);

-- Who saw a story and how they took it, with the author.
CREATE TABLE story_views (
    story_id bigint NOT NULL,
    viewer_id bigint NOT NULL,
    change_id bigint NOT NULL DEFAULT next_id(), -- when it was seen
    reaction text,
    PRIMARY KEY (story_id, viewer_id)
) PARTITION BY RANGE (story_id);

CREATE INDEX story_views_in_order ON story_views (story_id, change_id DESC);

-- What somebody has seen, with the viewer.
CREATE TABLE seen_stories (
    viewer_id bigint NOT NULL,
    story_id bigint NOT NULL,
    PRIMARY KEY (viewer_id, story_id)
) PARTITION BY RANGE (story_id);

-- What somebody answered to a story, with the one who said it.
CREATE TABLE story_replies (
    id bigint PRIMARY KEY DEFAULT next_id(),
    account_id bigint NOT NULL,
    story_id bigint NOT NULL,
    text text NOT NULL,
    idempotency_key text
);

CREATE INDEX story_replies_of_account ON story_replies (account_id, id);

-- Copies of stories that stay, in the order their owner gave them.
CREATE TABLE highlights (
    id bigint PRIMARY KEY DEFAULT next_id(),
    account_id bigint NOT NULL,
    title text NOT NULL,
    position integer NOT NULL,
    cover_item_id bigint
);

CREATE INDEX highlights_of_account ON highlights (account_id, position);

CREATE TABLE highlight_items (
    id bigint PRIMARY KEY DEFAULT next_id(),
    highlight_id bigint NOT NULL,
    story_id bigint NOT NULL,
    media_id bigint NOT NULL,
    audience text NOT NULL,
    text text NOT NULL,
    alt_text text NOT NULL,
    mentions text NOT NULL,
    position integer NOT NULL,
    hidden_at timestamptz, -- by a moderator
    UNIQUE (story_id, highlight_id)
);

CREATE INDEX highlight_items_in_order ON highlight_items (highlight_id, position);
CREATE INDEX highlight_items_of_media ON highlight_items (media_id);

-- The parts of some days, in all three tables, each with its guard; those that are there are left alone. A part is made
-- on its own and then attached, because CREATE … PARTITION OF would lock out everybody who reads.
CREATE FUNCTION add_story_days(first_day timestamptz, days integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    parent text;
    part text;
    day timestamptz;
    made integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('story-days'), hashtext(current_schema()));
    FOR number IN 0 .. days - 1 LOOP
        day := date_trunc('day', first_day, 'UTC') + make_interval(hours => 24 * number);
        FOREACH parent IN ARRAY ARRAY['stories', 'story_views', 'seen_stories'] LOOP
            part := parent || '__' || to_char(day AT TIME ZONE 'UTC', 'YYYYMMDD');
            CONTINUE WHEN to_regclass(format('%I.%I', current_schema(), part)) IS NOT NULL;
            EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', part, parent);
            EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', parent, part,
                           shardwright.min_id_at(day), shardwright.min_id_at(day + interval '24 hours'));
            IF to_regprocedure(format('%I.guard()', current_schema())) IS NOT NULL THEN
                EXECUTE format('CREATE TRIGGER shardwright_guard BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON %I '
                               'FOR EACH STATEMENT EXECUTE FUNCTION guard()', part);
            END IF;
            made := made + 1;
        END LOOP;
    END LOOP;
    RETURN made;
END
$$;

-- Parts whose last story ended more than an hour ago are gone. Dropping one needs its table for a moment: whoever
-- reads it for long is not waited for, and the next run tries again.
CREATE FUNCTION drop_story_days() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    past record;
    dropped integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('story-days'), hashtext(current_schema()));
    PERFORM set_config('lock_timeout', '500ms', true);
    FOR past IN
        SELECT c.relname AS part
        FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid JOIN pg_class AS p ON p.oid = i.inhparent
        WHERE p.relnamespace = current_schema()::regnamespace AND p.relname IN ('stories', 'story_views', 'seen_stories')
          AND right(c.relname, 8) < to_char((story_now() - interval '25 hours') AT TIME ZONE 'UTC', 'YYYYMMDD')
        ORDER BY c.relname
    LOOP
        BEGIN
            EXECUTE format('DROP TABLE %I', past.part);
            dropped := dropped + 1;
        EXCEPTION WHEN lock_not_available THEN
            NULL;
        END;
    END LOOP;
    RETURN dropped;
END
$$;

SELECT add_story_days(story_now(), 3);
