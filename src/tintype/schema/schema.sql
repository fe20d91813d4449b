-- Generated from the migrations: do not edit, write a migration and regenerate it.

-- On every server, in the schema common.

CREATE OR REPLACE FUNCTION add_story_days(shard integer, first_day timestamp with time zone, days integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
    home text := 's' || lpad(shard::text, 4, '0');
    today timestamptz;
    day timestamptz;
    parent text;
    part text;
    created integer := 0;
BEGIN
    IF shard IS NULL OR shard NOT BETWEEN 0 AND 8191 OR to_regclass(home || '.stories') IS NULL THEN
        RAISE invalid_parameter_value USING MESSAGE = format('there are no stories in shard %s', shard);
    END IF;
    IF NOT has_table_privilege(session_user, home || '.stories', 'INSERT') THEN
        RAISE insufficient_privilege USING MESSAGE = format('%s may not write stories', session_user);
    END IF;
    EXECUTE format('SELECT %I.story_now()', home) INTO today;
    IF first_day IS NULL OR days IS NULL OR days NOT BETWEEN 1 AND 7
       OR first_day NOT BETWEEN today - interval '3 days' AND today + interval '7 days' THEN
        RAISE invalid_parameter_value USING
            MESSAGE = format('cannot create %s days of stories from %s on', days, first_day),
            HINT = 'Ask for 1 to 7 days, from at most three days ago on.';
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext('story-days'), hashtext(home));
    FOR number IN 0 .. days - 1 LOOP
        day := date_trunc('day', first_day, 'UTC') + make_interval(hours => 24 * number);
        FOREACH parent IN ARRAY ARRAY['stories', 'story_views', 'seen_stories'] LOOP
            part := parent || '__' || to_char(day AT TIME ZONE 'UTC', 'YYYYMMDD');
            CONTINUE WHEN to_regclass(format('%I.%I', home, part)) IS NOT NULL;
            EXECUTE format('CREATE TABLE %1$I.%2$I (LIKE %1$I.%3$I INCLUDING ALL)', home, part, parent);
            EXECUTE format('ALTER TABLE %1$I.%2$I ATTACH PARTITION %1$I.%3$I FOR VALUES FROM (%4$s) TO (%5$s)',
                           home, parent, part,
                           shardwright.min_id_at(day), shardwright.min_id_at(day + interval '24 hours'));
            IF to_regprocedure(format('%I.guard()', home)) IS NOT NULL THEN
                EXECUTE format('CREATE TRIGGER shardwright_guard BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE '
                               'ON %1$I.%2$I FOR EACH STATEMENT EXECUTE FUNCTION %1$I.guard()', home, part);
            END IF;
            created := created + 1;
        END LOOP;
    END LOOP;
    RETURN created;
END
$function$;

CREATE OR REPLACE FUNCTION drop_story_days(shard integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '500ms'
AS $function$
DECLARE
    home text := 's' || lpad(shard::text, 4, '0');
    today timestamptz;
    past record;
    dropped integer := 0;
BEGIN
    IF shard IS NULL OR shard NOT BETWEEN 0 AND 8191 OR to_regclass(home || '.stories') IS NULL THEN
        RAISE invalid_parameter_value USING MESSAGE = format('there are no stories in shard %s', shard);
    END IF;
    IF NOT has_table_privilege(session_user, home || '.stories', 'INSERT') THEN
        RAISE insufficient_privilege USING MESSAGE = format('%s may not write stories', session_user);
    END IF;
    EXECUTE format('SELECT %I.story_now()', home) INTO today;
    PERFORM pg_advisory_xact_lock(hashtext('story-days'), hashtext(home));
    FOR past IN
        SELECT c.relname AS part
        FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid JOIN pg_class AS p ON p.oid = i.inhparent
        WHERE p.relnamespace = home::regnamespace AND p.relname IN ('stories', 'story_views', 'seen_stories')
          AND right(c.relname, 8) < to_char((today - interval '25 hours') AT TIME ZONE 'UTC', 'YYYYMMDD')
        ORDER BY c.relname
    LOOP
        BEGIN
            EXECUTE format('DROP TABLE %I.%I', home, past.part);
            dropped := dropped + 1;
        EXCEPTION WHEN lock_not_available THEN
            NULL;
        END;
    END LOOP;
    RETURN dropped;
END
$function$;

CREATE OR REPLACE FUNCTION outbox_slot()
 RETURNS smallint
 LANGUAGE sql
 STABLE
RETURN (((floor((date_part('epoch'::text, statement_timestamp()) / (1800)::double precision)))::bigint % (4)::bigint))::smallint;

CREATE OR REPLACE FUNCTION read_outbox(batch integer)
 RETURNS TABLE(id bigint, xid xid8, event text, payload bytea, request_id text, until pg_snapshot)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
AS $function$
#variable_conflict use_column
DECLARE
    pos outbox_position;
    window_end pg_snapshot;
    first_new xid8;
    open_then xid8[];
BEGIN
    SELECT * INTO STRICT pos FROM outbox_position;
    window_end := coalesce(pos.target, pg_current_snapshot());
    first_new := pg_snapshot_xmax(pos.done);
    open_then := ARRAY(SELECT pg_snapshot_xip(pos.done));
    RETURN QUERY
        SELECT o.id, o.xid, o.event, o.payload, o.request_id, window_end FROM (
            (SELECT o.id, o.xid, o.event, o.payload, o.request_id FROM outbox AS o
             WHERE o.xid = ANY (open_then) AND (o.xid, o.id) > (pos.last_xid, pos.last_id)
               AND o.stream_seq IS NULL AND pg_visible_in_snapshot(o.xid, window_end)
             ORDER BY o.xid, o.id LIMIT batch)
            UNION ALL
            (SELECT o.id, o.xid, o.event, o.payload, o.request_id FROM outbox AS o
             WHERE o.xid >= first_new AND (o.xid, o.id) > (pos.last_xid, pos.last_id)
               AND o.stream_seq IS NULL AND pg_visible_in_snapshot(o.xid, window_end)
             ORDER BY o.xid, o.id LIMIT batch)
        ) AS o ORDER BY o.xid, o.id LIMIT batch;
END
$function$;

CREATE OR REPLACE FUNCTION sweep_outbox(keep_s double precision, batch integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '500ms'
AS $function$
DECLARE
    published pg_snapshot;
    before timestamptz := now() - make_interval(secs => keep_s);
    part text;
    first_at timestamptz;
    last_at timestamptz;
    is_waiting boolean;
    swept integer := 0;
    deleted integer;
BEGIN
    IF NOT has_table_privilege(session_user, 'outbox', 'DELETE') THEN
        RAISE insufficient_privilege USING MESSAGE = format('%s may not delete events', session_user);
    END IF;
    -- Locked: no relay decides meanwhile that rows have to be published again.
    SELECT done INTO STRICT published FROM outbox_position FOR UPDATE;
    DELETE FROM outbox_checkpoints WHERE created_at < before;
    FOR slot IN 0 .. 3 LOOP
        part := format('outbox__%s', slot);
        EXECUTE format('SELECT created_at FROM %s ORDER BY xid, id LIMIT 1', part) INTO first_at;
        CONTINUE WHEN first_at IS NULL OR first_at >= before;
        EXECUTE format('SELECT created_at FROM %s ORDER BY xid DESC, id DESC LIMIT 1', part) INTO last_at;
        IF last_at < before AND slot <> outbox_slot() THEN
            BEGIN
                EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', part);
                EXECUTE format('SELECT EXISTS (SELECT FROM %1$s WHERE stream_seq IS NULL AND xid >= pg_snapshot_xmax($1)) '
                               'OR EXISTS (SELECT FROM %1$s WHERE stream_seq IS NULL '
                               'AND xid = ANY (ARRAY(SELECT pg_snapshot_xip($1))))', part)
                    INTO is_waiting USING published;
                IF NOT is_waiting THEN
                    EXECUTE format('TRUNCATE %s', part);
                    CONTINUE;
                END IF;
            EXCEPTION WHEN lock_not_available THEN
                CONTINUE;
            END;
        END IF;
        EXECUTE format('DELETE FROM %1$s WHERE (xid, id, slot) IN (SELECT xid, id, slot FROM %1$s '
                       'WHERE created_at < $1 AND (stream_seq IS NOT NULL OR pg_visible_in_snapshot(xid, $2)) '
                       'ORDER BY xid, id LIMIT $3)', part)
            USING before, published, batch - swept;
        GET DIAGNOSTICS deleted = ROW_COUNT;
        swept := swept + deleted;
        EXIT WHEN swept >= batch;
    END LOOP;
    RETURN swept;
END
$function$;

CREATE TABLE outbox (
    id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    stream_seq bigint,
    slot smallint DEFAULT outbox_slot() NOT NULL,
    event text NOT NULL,
    payload bytea NOT NULL,
    request_id text DEFAULT ''::text NOT NULL,
    CONSTRAINT outbox_pkey PRIMARY KEY (xid, id, slot)
) PARTITION BY LIST (slot);

CREATE TABLE outbox_checkpoints (
    stream_seq bigint NOT NULL,
    done pg_snapshot NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT outbox_checkpoints_pkey PRIMARY KEY (stream_seq)
);

CREATE TABLE outbox_position (
    is_only boolean DEFAULT true NOT NULL,
    done pg_snapshot DEFAULT '3:3:'::pg_snapshot NOT NULL,
    target pg_snapshot,
    last_xid xid8 DEFAULT '0'::xid8 NOT NULL,
    last_id bigint DEFAULT 0 NOT NULL,
    stream_seq bigint DEFAULT 0 NOT NULL,
    incarnation text,
    cluster text,
    CONSTRAINT outbox_position_pkey PRIMARY KEY (is_only),
    CONSTRAINT outbox_position_is_only_check CHECK (is_only)
) WITH (fillfactor=20);

CREATE TABLE outbox_source (
    is_only boolean DEFAULT true NOT NULL,
    source uuid DEFAULT gen_random_uuid() NOT NULL,
    incarnation text,
    CONSTRAINT outbox_source_pkey PRIMARY KEY (is_only),
    CONSTRAINT outbox_source_is_only_check CHECK (is_only)
);

CREATE OR REPLACE FUNCTION count_waiting_events()
 RETURNS bigint
 LANGUAGE sql
 STABLE
RETURN (SELECT count(*) AS count FROM outbox o, outbox_position p WHERE ((o.stream_seq IS NULL) AND (NOT pg_visible_in_snapshot(o.xid, p.done)) AND (NOT ((p.target IS NOT NULL) AND pg_visible_in_snapshot(o.xid, p.target) AND (ROW(o.xid, o.id) <= ROW(p.last_xid, p.last_id))))));

-- In every shard.

CREATE OR REPLACE FUNCTION add_story_days(first_day timestamp with time zone, days integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION story_now()
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
RETURN statement_timestamp();

CREATE OR REPLACE FUNCTION drop_story_days()
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION stories_begin()
 RETURNS bigint
 LANGUAGE sql
 STABLE
RETURN shardwright.min_id_at(((story_now() - '24:00:00'::interval) + '00:00:00.001'::interval));

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
    email text,
    pending_email text,
    phone text,
    password_changed_at timestamp with time zone,
    status_after_suspension text,
    is_unlisted boolean DEFAULT false NOT NULL,
    allows_downloads boolean DEFAULT false NOT NULL,
    allows_story_shares boolean DEFAULT true NOT NULL,
    shows_camera boolean DEFAULT false NOT NULL,
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

CREATE TABLE caption_words (
    word text NOT NULL,
    post_id bigint NOT NULL,
    words text NOT NULL,
    revision bigint NOT NULL,
    CONSTRAINT caption_words_pkey PRIMARY KEY (word, post_id)
);

CREATE TABLE challenges (
    challenge text NOT NULL,
    purpose text NOT NULL,
    account_id bigint,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT challenges_pkey PRIMARY KEY (challenge)
);
CREATE INDEX challenges_ending ON challenges USING btree (expires_at);

CREATE TABLE claims (
    key text NOT NULL,
    account_id bigint NOT NULL,
    claimed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT claims_pkey PRIMARY KEY (key)
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

CREATE TABLE departed (
    account_id bigint NOT NULL,
    departed_at timestamp with time zone DEFAULT now() NOT NULL,
    erased bigint NOT NULL,
    CONSTRAINT departed_pkey PRIMARY KEY (account_id)
);

CREATE TABLE departures (
    account_id bigint NOT NULL,
    requested_at timestamp with time zone DEFAULT now() NOT NULL,
    due_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    touched_at timestamp with time zone DEFAULT now() NOT NULL,
    room text DEFAULT ''::text NOT NULL,
    erased bigint DEFAULT 0 NOT NULL,
    CONSTRAINT departures_pkey PRIMARY KEY (account_id)
);
CREATE INDEX departures_due ON departures USING btree (due_at);

CREATE TABLE direct_settings (
    account_id bigint NOT NULL,
    audience text NOT NULL,
    preview text NOT NULL,
    CONSTRAINT direct_settings_pkey PRIMARY KEY (account_id)
);

CREATE TABLE encrypted_attachments (
    id bigint DEFAULT next_id() NOT NULL,
    account_id bigint NOT NULL,
    path text NOT NULL,
    size_bytes bigint NOT NULL,
    thread_id bigint,
    local_id text,
    is_sent boolean DEFAULT false NOT NULL,
    is_deleted boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT encrypted_attachments_pkey PRIMARY KEY (id)
);
CREATE INDEX encrypted_attachments_of_account ON encrypted_attachments USING btree (account_id, id);
CREATE INDEX encrypted_attachments_unsettled ON encrypted_attachments USING btree (created_at) WHERE (is_deleted OR (NOT is_sent));

CREATE TABLE encryption_backup_parts (
    account_id bigint NOT NULL,
    name text NOT NULL,
    backup_version bigint NOT NULL,
    version bigint NOT NULL,
    content bytea NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT encryption_backup_parts_pkey PRIMARY KEY (account_id, name)
);

CREATE TABLE encryption_backups (
    account_id bigint NOT NULL,
    version bigint NOT NULL,
    header bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT encryption_backups_pkey PRIMARY KEY (account_id)
);

CREATE TABLE encryption_devices (
    id bigint DEFAULT next_id() NOT NULL,
    account_id bigint NOT NULL,
    session_id bigint NOT NULL,
    name text NOT NULL,
    signature_key bytea NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT encryption_devices_pkey PRIMARY KEY (id)
);
CREATE INDEX encryption_devices_by_age ON encryption_devices USING btree (seen_at);
CREATE INDEX encryption_devices_of_account ON encryption_devices USING btree (account_id, id);

CREATE TABLE exports (
    id bigint DEFAULT next_id() NOT NULL,
    account_id bigint NOT NULL,
    state text DEFAULT 'waiting'::text NOT NULL,
    room text DEFAULT ''::text NOT NULL,
    records bigint DEFAULT 0 NOT NULL,
    path text DEFAULT ''::text NOT NULL,
    size_bytes bigint DEFAULT 0 NOT NULL,
    touched_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT exports_pkey PRIMARY KEY (id)
);
CREATE INDEX exports_expiring ON exports USING btree (expires_at);
CREATE INDEX exports_of_account ON exports USING btree (account_id, id DESC);
CREATE UNIQUE INDEX exports_one_at_a_time ON exports USING btree (account_id) WHERE (state = ANY (ARRAY['waiting'::text, 'running'::text]));

CREATE TABLE feed_stars (
    account_id bigint NOT NULL,
    change_id bigint DEFAULT next_id() NOT NULL,
    is_settled boolean DEFAULT false NOT NULL,
    CONSTRAINT feed_stars_pkey PRIMARY KEY (account_id)
);

CREATE TABLE followed_tags (
    account_id bigint NOT NULL,
    tag text NOT NULL,
    change_id bigint DEFAULT next_id() NOT NULL,
    CONSTRAINT followed_tags_pkey PRIMARY KEY (account_id, tag)
);

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

CREATE TABLE former_usernames (
    account_id bigint NOT NULL,
    username text NOT NULL,
    kept_until timestamp with time zone NOT NULL,
    CONSTRAINT former_usernames_pkey PRIMARY KEY (account_id, username)
);
CREATE INDEX former_usernames_ending ON former_usernames USING btree (kept_until);

CREATE TABLE highlight_items (
    id bigint DEFAULT next_id() NOT NULL,
    highlight_id bigint NOT NULL,
    story_id bigint NOT NULL,
    media_id bigint NOT NULL,
    audience text NOT NULL,
    text text NOT NULL,
    alt_text text NOT NULL,
    mentions text NOT NULL,
    position integer NOT NULL,
    hidden_at timestamp with time zone,
    elements text DEFAULT '[]'::text NOT NULL,
    poll_counts integer[],
    CONSTRAINT highlight_items_pkey PRIMARY KEY (id),
    CONSTRAINT highlight_items_story_id_highlight_id_key UNIQUE (story_id, highlight_id)
);
CREATE INDEX highlight_items_in_order ON highlight_items USING btree (highlight_id, "position");
CREATE INDEX highlight_items_of_media ON highlight_items USING btree (media_id);

CREATE TABLE highlights (
    id bigint DEFAULT next_id() NOT NULL,
    account_id bigint NOT NULL,
    title text NOT NULL,
    position integer NOT NULL,
    cover_item_id bigint,
    CONSTRAINT highlights_pkey PRIMARY KEY (id)
);
CREATE INDEX highlights_of_account ON highlights USING btree (account_id, "position");

CREATE TABLE import_archives (
    id bigint DEFAULT next_id() NOT NULL,
    import_id bigint NOT NULL,
    account_id bigint NOT NULL,
    name text NOT NULL,
    size_bytes bigint NOT NULL,
    received_bytes bigint DEFAULT 0 NOT NULL,
    parts text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT import_archives_pkey PRIMARY KEY (id)
);
CREATE INDEX import_archives_of_account ON import_archives USING btree (account_id, id);
CREATE INDEX import_archives_of_import ON import_archives USING btree (import_id, id);

CREATE TABLE import_lines (
    import_id bigint NOT NULL,
    id bigint DEFAULT next_id() NOT NULL,
    account_id bigint NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    code text NOT NULL,
    reason text NOT NULL,
    digest text NOT NULL,
    CONSTRAINT import_lines_pkey PRIMARY KEY (import_id, id)
);
CREATE INDEX import_lines_of_account ON import_lines USING btree (account_id, id);
CREATE UNIQUE INDEX import_lines_once ON import_lines USING btree (import_id, digest);

CREATE TABLE imports (
    id bigint DEFAULT next_id() NOT NULL,
    account_id bigint NOT NULL,
    source text NOT NULL,
    with_stories boolean NOT NULL,
    state text DEFAULT 'uploading'::text NOT NULL,
    reason_code text DEFAULT ''::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    run_key text DEFAULT ''::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    total integer DEFAULT 0 NOT NULL,
    known_before integer,
    done integer DEFAULT 0 NOT NULL,
    imported integer DEFAULT 0 NOT NULL,
    skipped integer DEFAULT 0 NOT NULL,
    changed integer DEFAULT 0 NOT NULL,
    following_here text[] DEFAULT '{}'::text[] NOT NULL,
    followers_here text[] DEFAULT '{}'::text[] NOT NULL,
    touched_at timestamp with time zone DEFAULT now() NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT imports_pkey PRIMARY KEY (id)
);
CREATE INDEX imports_ended ON imports USING btree (ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX imports_of_account ON imports USING btree (account_id, id DESC);
CREATE UNIQUE INDEX imports_one_at_a_time ON imports USING btree (account_id) WHERE (state = ANY (ARRAY['uploading'::text, 'waiting'::text, 'running'::text]));
CREATE INDEX imports_unfinished ON imports USING btree (touched_at) WHERE (state = ANY (ARRAY['uploading'::text, 'waiting'::text, 'running'::text]));

CREATE TABLE inbox (
    account_id bigint NOT NULL,
    thread_id bigint NOT NULL,
    state text NOT NULL,
    is_blocked boolean NOT NULL,
    change_id bigint NOT NULL,
    last_id bigint NOT NULL,
    last_number bigint NOT NULL,
    seen_number bigint NOT NULL,
    pushed_number bigint DEFAULT 0 NOT NULL,
    is_archived boolean DEFAULT false NOT NULL,
    muted_until timestamp with time zone,
    CONSTRAINT inbox_pkey PRIMARY KEY (account_id, thread_id)
);
CREATE INDEX inbox_in_order ON inbox USING btree (account_id, state, is_archived, last_id DESC);

CREATE TABLE invitations (
    id bigint DEFAULT next_id() NOT NULL,
    account_id bigint NOT NULL,
    secret text NOT NULL,
    max_uses integer NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    CONSTRAINT invitations_pkey PRIMARY KEY (id)
);
CREATE INDEX invitations_of ON invitations USING btree (account_id, id);

CREATE TABLE invited_by (
    account_id bigint NOT NULL,
    inviter_id bigint NOT NULL,
    CONSTRAINT invited_by_pkey PRIMARY KEY (account_id)
);

CREATE TABLE invitees (
    account_id bigint NOT NULL,
    invitee_id bigint NOT NULL,
    invitation_id bigint NOT NULL,
    claimed_at timestamp with time zone DEFAULT now() NOT NULL,
    is_confirmed boolean DEFAULT false NOT NULL,
    CONSTRAINT invitees_pkey PRIMARY KEY (account_id, invitee_id)
);
CREATE INDEX invitees_of_invitation ON invitees USING btree (invitation_id);

CREATE TABLE key_packages (
    id bigint DEFAULT next_id() NOT NULL,
    account_id bigint NOT NULL,
    device_id bigint NOT NULL,
    content bytea NOT NULL,
    is_last_resort boolean NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT key_packages_pkey PRIMARY KEY (id)
);
CREATE INDEX key_packages_expiring ON key_packages USING btree (expires_at);
CREATE INDEX key_packages_of_account ON key_packages USING btree (account_id);
CREATE INDEX key_packages_of_device ON key_packages USING btree (device_id, is_last_resort, id);

CREATE TABLE known_devices (
    account_id bigint NOT NULL,
    fingerprint bytea NOT NULL,
    first_seen_at timestamp with time zone DEFAULT now() NOT NULL,
    last_seen_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT known_devices_pkey PRIMARY KEY (account_id, fingerprint)
);
CREATE INDEX known_devices_unused ON known_devices USING btree (last_seen_at);

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

CREATE TABLE mails (
    token_hash bytea NOT NULL,
    account_id bigint NOT NULL,
    kind text NOT NULL,
    address text NOT NULL,
    nonce text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    sent_at timestamp with time zone,
    used_at timestamp with time zone,
    detail text DEFAULT ''::text NOT NULL,
    CONSTRAINT mails_pkey PRIMARY KEY (token_hash)
);
CREATE INDEX mails_ending ON mails USING btree (expires_at);
CREATE INDEX mails_of_account ON mails USING btree (account_id);

CREATE TABLE media (
    id bigint NOT NULL,
    account_id bigint NOT NULL,
    folder text NOT NULL,
    width integer NOT NULL,
    height integer NOT NULL,
    expires_at timestamp with time zone,
    post_id bigint,
    type text DEFAULT 'image'::text NOT NULL,
    state text DEFAULT 'ready'::text NOT NULL,
    kind text DEFAULT 'post'::text NOT NULL,
    tier text DEFAULT 'hot'::text NOT NULL,
    placeholder text,
    duration_ms integer,
    has_hls boolean DEFAULT false NOT NULL,
    progress smallint DEFAULT 100 NOT NULL,
    error text DEFAULT ''::text NOT NULL,
    keeps_location boolean DEFAULT false NOT NULL,
    ends_at timestamp with time zone,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    removed text[],
    size_bytes bigint,
    edit text,
    large_width integer,
    camera text,
    waveform bytea,
    CONSTRAINT media_pkey PRIMARY KEY (id)
);
CREATE INDEX media_aging ON media USING btree (tier, id) WHERE (state = 'ready'::text);
CREATE INDEX media_converting ON media USING btree (account_id) WHERE (state = 'processing'::text);
CREATE INDEX media_ending ON media USING btree (ends_at) WHERE ((ends_at IS NOT NULL) AND (state <> 'deleted'::text));
CREATE INDEX media_expiring ON media USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX media_of_account ON media USING btree (account_id, id);
CREATE INDEX media_unexamined ON media USING btree (id) WHERE ((removed IS NULL) AND (state <> ALL (ARRAY['processing'::text, 'deleted'::text])));
CREATE INDEX media_unmeasured ON media USING btree (id) WHERE ((size_bytes IS NULL) AND (state <> 'deleted'::text));
CREATE INDEX media_unsettled ON media USING btree (changed_at) WHERE (state = ANY (ARRAY['processing'::text, 'deleted'::text]));
CREATE INDEX media_unsized ON media USING btree (id) WHERE ((large_width IS NULL) AND (type = 'image'::text) AND (state = 'ready'::text) AND (removed IS NOT NULL));

CREATE TABLE media_uploads (
    id bigint NOT NULL,
    account_id bigint NOT NULL,
    size_bytes bigint NOT NULL,
    received_bytes bigint DEFAULT 0 NOT NULL,
    parts text[] DEFAULT '{}'::text[] NOT NULL,
    wish text DEFAULT '{}'::text NOT NULL,
    metadata text DEFAULT ''::text NOT NULL,
    is_direct boolean DEFAULT false NOT NULL,
    is_finished boolean DEFAULT false NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT media_uploads_pkey PRIMARY KEY (id)
);
CREATE INDEX media_uploads_expiring ON media_uploads USING btree (expires_at);
CREATE INDEX media_uploads_of_account ON media_uploads USING btree (account_id);

CREATE TABLE message_media (
    media_id bigint NOT NULL,
    account_id bigint NOT NULL,
    thread_id bigint NOT NULL,
    local_id text NOT NULL,
    is_sent boolean DEFAULT false NOT NULL,
    attached_at timestamp with time zone DEFAULT now() NOT NULL,
    held_for text[] DEFAULT '{}'::text[] NOT NULL,
    removed_at timestamp with time zone,
    CONSTRAINT message_media_pkey PRIMARY KEY (media_id)
);
CREATE INDEX message_media_held ON message_media USING btree (media_id) WHERE (held_for <> '{}'::text[]);
CREATE INDEX message_media_of_account ON message_media USING btree (account_id, media_id);
CREATE INDEX message_media_unconfirmed ON message_media USING btree (attached_at) WHERE (NOT is_sent);

CREATE TABLE message_reactions (
    thread_id bigint NOT NULL,
    message_id bigint NOT NULL,
    account_id bigint NOT NULL,
    emoji text NOT NULL,
    CONSTRAINT message_reactions_pkey PRIMARY KEY (thread_id, message_id, account_id)
);
CREATE INDEX message_reactions_of_account ON message_reactions USING btree (thread_id, account_id);

CREATE TABLE message_words (
    thread_id bigint NOT NULL,
    word text NOT NULL,
    message_id bigint NOT NULL,
    CONSTRAINT message_words_pkey PRIMARY KEY (thread_id, word, message_id)
);
CREATE INDEX message_words_of_message ON message_words USING btree (thread_id, message_id);

CREATE TABLE messages (
    thread_id bigint NOT NULL,
    id bigint DEFAULT next_id() NOT NULL,
    number bigint NOT NULL,
    account_id bigint NOT NULL,
    kind text NOT NULL,
    text text NOT NULL,
    reply_to_id bigint,
    media_id bigint,
    shared_id bigint,
    edited_at timestamp with time zone,
    expires_at timestamp with time zone,
    change_id bigint DEFAULT 0 NOT NULL,
    ciphertext bytea,
    epoch bigint,
    sender_device_id bigint,
    after_seen_s integer,
    CONSTRAINT messages_pkey PRIMARY KEY (thread_id, id)
);
CREATE INDEX messages_by_id ON messages USING btree (id);
CREATE INDEX messages_expiring ON messages USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX messages_of_author ON messages USING btree (thread_id, account_id, id);
CREATE INDEX messages_waiting_to_be_seen ON messages USING btree (thread_id, number) WHERE (after_seen_s IS NOT NULL);

CREATE TABLE moderation_acts (
    id bigint DEFAULT next_id() NOT NULL,
    case_id bigint NOT NULL,
    moderator_id bigint NOT NULL,
    action text NOT NULL,
    reason text NOT NULL,
    before text NOT NULL,
    after text NOT NULL,
    CONSTRAINT moderation_acts_pkey PRIMARY KEY (id)
);
CREATE INDEX moderation_acts_of_case ON moderation_acts USING btree (case_id, id);
CREATE INDEX moderation_acts_of_moderator ON moderation_acts USING btree (moderator_id, id);

CREATE TABLE moderation_cases (
    id bigint DEFAULT next_id() NOT NULL,
    kind text NOT NULL,
    object_id bigint NOT NULL,
    owner_id bigint NOT NULL,
    evidence text NOT NULL,
    status text DEFAULT 'open'::text NOT NULL,
    opened_id bigint DEFAULT next_id() NOT NULL,
    report_count integer DEFAULT 0 NOT NULL,
    object_state text DEFAULT 'visible'::text NOT NULL,
    outcome text DEFAULT ''::text NOT NULL,
    outcome_id bigint,
    claimed_by bigint,
    claimed_until timestamp with time zone,
    appeal text DEFAULT ''::text NOT NULL,
    appealed_id bigint,
    CONSTRAINT moderation_cases_pkey PRIMARY KEY (id)
);
CREATE INDEX moderation_cases_by_age ON moderation_cases USING btree (status, opened_id);
CREATE INDEX moderation_cases_by_reports ON moderation_cases USING btree (status, report_count DESC, opened_id);
CREATE UNIQUE INDEX moderation_cases_once ON moderation_cases USING btree (kind, object_id);

CREATE TABLE moderation_traces (
    account_id bigint NOT NULL,
    part text NOT NULL,
    kind text NOT NULL,
    object_id bigint NOT NULL,
    CONSTRAINT moderation_traces_pkey PRIMARY KEY (account_id, part, kind, object_id)
);

CREATE TABLE named_places (
    account_id bigint NOT NULL,
    place_id text NOT NULL,
    name text NOT NULL,
    latitude double precision NOT NULL,
    longitude double precision NOT NULL,
    change_id bigint DEFAULT next_id() NOT NULL,
    CONSTRAINT named_places_pkey PRIMARY KEY (account_id, place_id)
);

CREATE TABLE notification_acts (
    account_id bigint NOT NULL,
    kind text NOT NULL,
    object_id bigint NOT NULL,
    actor_id bigint NOT NULL,
    change_id bigint NOT NULL,
    post_id bigint,
    notification_id bigint,
    told_id bigint NOT NULL,
    CONSTRAINT notification_acts_pkey PRIMARY KEY (account_id, kind, object_id, actor_id)
);
CREATE INDEX notification_acts_by_age ON notification_acts USING btree (told_id);
CREATE INDEX notification_acts_of_actor ON notification_acts USING btree (account_id, actor_id);
CREATE INDEX notification_acts_of_group ON notification_acts USING btree (notification_id, told_id DESC) WHERE (notification_id IS NOT NULL);
CREATE INDEX notification_acts_of_post ON notification_acts USING btree (account_id, post_id) WHERE (notification_id IS NOT NULL);

CREATE TABLE notification_choices (
    account_id bigint NOT NULL,
    kind text NOT NULL,
    audience text NOT NULL,
    is_pushed boolean NOT NULL,
    CONSTRAINT notification_choices_pkey PRIMARY KEY (account_id, kind)
);

CREATE TABLE notification_marks (
    source_id bigint NOT NULL,
    change_id bigint NOT NULL,
    marked_on date DEFAULT CURRENT_DATE NOT NULL,
    CONSTRAINT notification_marks_pkey PRIMARY KEY (source_id)
);
CREATE INDEX notification_marks_by_age ON notification_marks USING btree (marked_on);

CREATE TABLE notification_states (
    account_id bigint NOT NULL,
    unread_count integer DEFAULT 0 NOT NULL,
    quiet_from smallint,
    quiet_until smallint,
    time_zone text DEFAULT 'UTC'::text NOT NULL,
    CONSTRAINT notification_states_pkey PRIMARY KEY (account_id)
);

CREATE TABLE notification_traces (
    source_id bigint NOT NULL,
    recipient_id bigint NOT NULL,
    told_on date DEFAULT CURRENT_DATE NOT NULL,
    CONSTRAINT notification_traces_pkey PRIMARY KEY (source_id, recipient_id)
);
CREATE INDEX notification_traces_by_age ON notification_traces USING btree (told_on);

CREATE TABLE notifications (
    id bigint DEFAULT next_id() NOT NULL,
    account_id bigint NOT NULL,
    kind text NOT NULL,
    group_id bigint NOT NULL,
    post_id bigint,
    place bigint NOT NULL,
    actor_count integer DEFAULT 1 NOT NULL,
    is_read boolean DEFAULT false NOT NULL,
    push_id bigint,
    pushed_at timestamp with time zone,
    CONSTRAINT notifications_pkey PRIMARY KEY (id)
);
CREATE INDEX notifications_by_age ON notifications USING btree (place);
CREATE INDEX notifications_in_order ON notifications USING btree (account_id, place DESC);
CREATE UNIQUE INDEX notifications_open ON notifications USING btree (account_id, kind, group_id) WHERE (NOT is_read);

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

CREATE TABLE passkeys (
    account_id bigint NOT NULL,
    credential_id bytea NOT NULL,
    id bigint DEFAULT next_id() NOT NULL,
    public_key bytea NOT NULL,
    sign_count bigint NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    last_used_at timestamp with time zone,
    CONSTRAINT passkeys_pkey PRIMARY KEY (account_id, credential_id)
);

CREATE TABLE place_squares (
    square text NOT NULL,
    place_id text NOT NULL,
    name text NOT NULL,
    latitude double precision NOT NULL,
    longitude double precision NOT NULL,
    CONSTRAINT place_squares_pkey PRIMARY KEY (square, place_id)
);

CREATE TABLE places (
    id text NOT NULL,
    name text NOT NULL,
    latitude double precision NOT NULL,
    longitude double precision NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT places_pkey PRIMARY KEY (id)
);

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
    posted_at timestamp with time zone,
    import_key text,
    shows_camera boolean DEFAULT false NOT NULL,
    CONSTRAINT posts_pkey PRIMARY KEY (id)
);
CREATE INDEX posts_archive ON posts USING btree (author_id, COALESCE(posted_at, shardwright.id_time(id)) DESC, id DESC) WHERE (archived_at IS NOT NULL);
CREATE INDEX posts_deleted ON posts USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX posts_fed ON posts USING btree (author_id, id DESC) WHERE ((import_key IS NULL) AND (archived_at IS NULL) AND (hidden_at IS NULL) AND (deleted_at IS NULL));
CREATE UNIQUE INDEX posts_imported ON posts USING btree (author_id, import_key) WHERE (import_key IS NOT NULL);
CREATE INDEX posts_of_author ON posts USING btree (author_id, id DESC);
CREATE UNIQUE INDEX posts_once ON posts USING btree (author_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);
CREATE INDEX posts_pinned ON posts USING btree (author_id) WHERE (pinned_at IS NOT NULL);
CREATE INDEX posts_wall ON posts USING btree (author_id, COALESCE(posted_at, shardwright.id_time(id)) DESC, id DESC) WHERE ((archived_at IS NULL) AND (hidden_at IS NULL) AND (deleted_at IS NULL));

CREATE TABLE presence_choices (
    account_id bigint NOT NULL,
    is_shown boolean NOT NULL,
    CONSTRAINT presence_choices_pkey PRIMARY KEY (account_id)
);

CREATE TABLE push_subscriptions (
    id bigint DEFAULT next_id() NOT NULL,
    account_id bigint NOT NULL,
    session_id text NOT NULL,
    endpoint text NOT NULL,
    public_key bytea NOT NULL,
    auth_secret bytea NOT NULL,
    device text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT push_subscriptions_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX push_subscriptions_once ON push_subscriptions USING btree (account_id, endpoint);

CREATE TABLE ranking_examples (
    account_id bigint NOT NULL,
    post_id bigint NOT NULL,
    expires_on date NOT NULL,
    weights text DEFAULT ''::text NOT NULL,
    arm text DEFAULT ''::text NOT NULL,
    features bytea,
    score real,
    spent_ms integer DEFAULT 0 NOT NULL,
    liked bigint DEFAULT 0 NOT NULL,
    commented bigint DEFAULT 0 NOT NULL,
    saved bigint DEFAULT 0 NOT NULL,
    shared bigint DEFAULT 0 NOT NULL,
    CONSTRAINT ranking_examples_pkey PRIMARY KEY (account_id, post_id)
);
CREATE INDEX ranking_examples_expiring ON ranking_examples USING btree (expires_on);

CREATE TABLE recent_searches (
    account_id bigint NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    id bigint DEFAULT next_id() NOT NULL,
    CONSTRAINT recent_searches_pkey PRIMARY KEY (account_id, kind, subject)
);
CREATE INDEX recent_searches_by_time ON recent_searches USING btree (account_id, id DESC);

CREATE TABLE recovery_codes (
    account_id bigint NOT NULL,
    code_hash bytea NOT NULL,
    used_at timestamp with time zone,
    CONSTRAINT recovery_codes_pkey PRIMARY KEY (account_id, code_hash)
);

CREATE TABLE reports (
    case_id bigint NOT NULL,
    reporter_id bigint NOT NULL,
    reason text NOT NULL,
    note text DEFAULT ''::text NOT NULL,
    reported_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT reports_pkey PRIMARY KEY (case_id, reporter_id)
);

CREATE TABLE saves (
    account_id bigint NOT NULL,
    post_id bigint NOT NULL,
    save_id bigint DEFAULT next_id() NOT NULL,
    CONSTRAINT saves_pkey PRIMARY KEY (account_id, post_id)
);
CREATE INDEX saves_newest ON saves USING btree (account_id, save_id DESC);

CREATE TABLE scheduled_posts (
    id bigint DEFAULT next_id() NOT NULL,
    author_id bigint NOT NULL,
    publish_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    problem text,
    draft text NOT NULL,
    media_ids bigint[] NOT NULL,
    change_id bigint DEFAULT next_id() NOT NULL,
    idempotency_key text,
    body_hash bytea NOT NULL,
    CONSTRAINT scheduled_posts_pkey PRIMARY KEY (id)
);
CREATE INDEX scheduled_posts_due ON scheduled_posts USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX scheduled_posts_held ON scheduled_posts USING btree (publish_at) WHERE (due_at IS NULL);
CREATE INDEX scheduled_posts_of ON scheduled_posts USING btree (author_id, publish_at, id);
CREATE UNIQUE INDEX scheduled_posts_once ON scheduled_posts USING btree (author_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);

CREATE TABLE schedules (
    name text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    error text DEFAULT ''::text NOT NULL,
    CONSTRAINT schedules_pkey PRIMARY KEY (name)
);

CREATE TABLE search_entries (
    key text NOT NULL,
    subject text NOT NULL,
    term text NOT NULL,
    words text NOT NULL,
    weight integer NOT NULL,
    detail text DEFAULT ''::text NOT NULL,
    revision bigint NOT NULL,
    CONSTRAINT search_entries_pkey PRIMARY KEY (key, subject, term)
);
CREATE INDEX search_entries_alike ON search_entries USING gin (term public.gin_trgm_ops);
CREATE INDEX search_entries_by_term ON search_entries USING btree (key, term text_pattern_ops);
CREATE INDEX search_entries_by_weight ON search_entries USING btree (key, weight DESC);

CREATE TABLE search_filings (
    kind text NOT NULL,
    subject text NOT NULL,
    owner_id bigint NOT NULL,
    keys text[] DEFAULT '{}'::text[] NOT NULL,
    weight integer DEFAULT 0 NOT NULL,
    revision bigint NOT NULL,
    CONSTRAINT search_filings_pkey PRIMARY KEY (kind, subject)
);
CREATE INDEX search_filings_of_owner ON search_filings USING btree (owner_id, kind, subject) WHERE (owner_id <> 0);

CREATE TABLE seen_stories (
    viewer_id bigint NOT NULL,
    story_id bigint NOT NULL,
    CONSTRAINT seen_stories_pkey PRIMARY KEY (viewer_id, story_id)
) PARTITION BY RANGE (story_id);

CREATE TABLE sessions (
    token_hash bytea NOT NULL,
    account_id bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    id bigint DEFAULT next_id(),
    name text DEFAULT ''::text NOT NULL,
    scopes text[],
    last_seen_at timestamp with time zone DEFAULT now() NOT NULL,
    renewed_at timestamp with time zone DEFAULT now() NOT NULL,
    proved_at timestamp with time zone,
    is_replaced boolean DEFAULT false NOT NULL,
    CONSTRAINT sessions_pkey PRIMARY KEY (token_hash)
);
CREATE INDEX sessions_of_account ON sessions USING btree (account_id);

CREATE TABLE storage_usage (
    account_id bigint NOT NULL,
    used_bytes bigint DEFAULT 0 NOT NULL,
    quota_bytes bigint,
    video_day date,
    video_ms bigint DEFAULT 0 NOT NULL,
    CONSTRAINT storage_usage_pkey PRIMARY KEY (account_id)
);

CREATE TABLE stories (
    id bigint DEFAULT next_id() NOT NULL,
    author_id bigint NOT NULL,
    media_id bigint NOT NULL,
    audience text NOT NULL,
    text text DEFAULT ''::text NOT NULL,
    alt_text text DEFAULT ''::text NOT NULL,
    mentions text DEFAULT '[]'::text NOT NULL,
    replies_enabled boolean DEFAULT true NOT NULL,
    view_count integer DEFAULT 0 NOT NULL,
    reaction_count integer DEFAULT 0 NOT NULL,
    hidden_at timestamp with time zone,
    removed_at timestamp with time zone,
    idempotency_key text,
    body_hash bytea,
    elements text DEFAULT '[]'::text NOT NULL,
    poll_counts integer[],
    CONSTRAINT stories_pkey PRIMARY KEY (id)
) PARTITION BY RANGE (id);
CREATE INDEX stories_of_author ON ONLY stories USING btree (author_id, id);

CREATE TABLE story_countdowns (
    story_id bigint NOT NULL,
    author_id bigint NOT NULL,
    title text NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    CONSTRAINT story_countdowns_pkey PRIMARY KEY (story_id)
);
CREATE INDEX story_countdowns_of_author ON story_countdowns USING btree (author_id);

CREATE TABLE story_reminders (
    account_id bigint NOT NULL,
    story_id bigint NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    notified_at timestamp with time zone,
    CONSTRAINT story_reminders_pkey PRIMARY KEY (account_id, story_id)
);
CREATE INDEX story_reminders_due ON story_reminders USING btree (ends_at) WHERE (notified_at IS NULL);

CREATE TABLE story_replies (
    id bigint DEFAULT next_id() NOT NULL,
    account_id bigint NOT NULL,
    story_id bigint NOT NULL,
    text text NOT NULL,
    idempotency_key text,
    CONSTRAINT story_replies_pkey PRIMARY KEY (id)
);
CREATE INDEX story_replies_of_account ON story_replies USING btree (account_id, id);

CREATE TABLE story_views (
    story_id bigint NOT NULL,
    viewer_id bigint NOT NULL,
    change_id bigint DEFAULT next_id() NOT NULL,
    reaction text,
    choice smallint,
    answer text,
    CONSTRAINT story_views_pkey PRIMARY KEY (story_id, viewer_id)
) PARTITION BY RANGE (story_id);
CREATE INDEX story_views_in_order ON ONLY story_views USING btree (story_id, change_id DESC);

CREATE TABLE sync_positions (
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    CONSTRAINT sync_positions_pkey PRIMARY KEY (account_id)
);

CREATE TABLE sync_updates (
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    key text NOT NULL,
    kind text NOT NULL,
    payload text NOT NULL,
    people bigint[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT sync_updates_pkey PRIMARY KEY (account_id, seq)
);
CREATE INDEX sync_updates_by_age ON sync_updates USING btree (created_at);
CREATE UNIQUE INDEX sync_updates_by_key ON sync_updates USING btree (account_id, key);
CREATE INDEX sync_updates_naming ON sync_updates USING gin (people);

CREATE TABLE tagged_in (
    account_id bigint NOT NULL,
    post_id bigint NOT NULL,
    change_id bigint NOT NULL,
    is_active boolean NOT NULL,
    CONSTRAINT tagged_in_pkey PRIMARY KEY (account_id, post_id)
);
CREATE INDEX tagged_in_removed ON tagged_in USING btree (change_id) WHERE (NOT is_active);

CREATE TABLE thread_commits (
    thread_id bigint NOT NULL,
    group_number integer NOT NULL,
    epoch bigint NOT NULL,
    account_id bigint NOT NULL,
    device_id bigint NOT NULL,
    number bigint NOT NULL,
    content bytea NOT NULL,
    proposals bytea[] NOT NULL,
    welcome bytea,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT thread_commits_pkey PRIMARY KEY (thread_id, group_number, epoch)
);
CREATE INDEX thread_commits_by_age ON thread_commits USING btree (created_at);

CREATE TABLE thread_devices (
    thread_id bigint NOT NULL,
    account_id bigint NOT NULL,
    device_id text NOT NULL,
    counter bigint NOT NULL,
    CONSTRAINT thread_devices_pkey PRIMARY KEY (thread_id, account_id, device_id)
);

CREATE TABLE thread_leaves (
    thread_id bigint NOT NULL,
    leaf_index integer NOT NULL,
    account_id bigint NOT NULL,
    device_id bigint NOT NULL,
    signature_key bytea NOT NULL,
    added_epoch bigint NOT NULL,
    is_removed boolean DEFAULT false NOT NULL,
    CONSTRAINT thread_leaves_pkey PRIMARY KEY (thread_id, leaf_index)
);
CREATE UNIQUE INDEX thread_leaves_of_device ON thread_leaves USING btree (thread_id, device_id) WHERE (device_id <> 0);

CREATE TABLE thread_members (
    thread_id bigint NOT NULL,
    account_id bigint NOT NULL,
    state text NOT NULL,
    is_admin boolean DEFAULT false NOT NULL,
    joined_number bigint NOT NULL,
    seen_number bigint NOT NULL,
    seen_at timestamp with time zone,
    change_id bigint DEFAULT next_id() NOT NULL,
    CONSTRAINT thread_members_pkey PRIMARY KEY (thread_id, account_id)
);

CREATE TABLE thread_mutations (
    thread_id bigint NOT NULL,
    account_id bigint NOT NULL,
    local_id text NOT NULL,
    message_id bigint NOT NULL,
    number bigint NOT NULL,
    CONSTRAINT thread_mutations_pkey PRIMARY KEY (thread_id, account_id, local_id)
);

CREATE TABLE thread_proposals (
    thread_id bigint NOT NULL,
    leaf_index integer NOT NULL,
    epoch bigint NOT NULL,
    reference bytea NOT NULL,
    content bytea NOT NULL,
    CONSTRAINT thread_proposals_pkey PRIMARY KEY (thread_id, leaf_index)
);

CREATE TABLE threads (
    id bigint DEFAULT next_id() NOT NULL,
    kind text NOT NULL,
    low_id bigint,
    high_id bigint,
    name text DEFAULT ''::text NOT NULL,
    photo_id bigint,
    created_by bigint NOT NULL,
    local_id text,
    pending_id bigint,
    low_blocks boolean DEFAULT false NOT NULL,
    low_block_id bigint DEFAULT 0 NOT NULL,
    high_blocks boolean DEFAULT false NOT NULL,
    high_block_id bigint DEFAULT 0 NOT NULL,
    disappear_s integer,
    last_number bigint DEFAULT 0 NOT NULL,
    last_id bigint DEFAULT 0 NOT NULL,
    change_id bigint DEFAULT next_id() NOT NULL,
    is_encrypted boolean DEFAULT false NOT NULL,
    group_number integer DEFAULT 0 NOT NULL,
    epoch bigint DEFAULT 0 NOT NULL,
    disappears_after_seen boolean DEFAULT false NOT NULL,
    CONSTRAINT threads_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX threads_created_once ON threads USING btree (created_by, local_id);
CREATE UNIQUE INDEX threads_of_pair_by_encryption ON threads USING btree (low_id, high_id, is_encrypted);

CREATE TABLE topic_posts (
    topic text NOT NULL,
    post_id bigint NOT NULL,
    author_id bigint NOT NULL,
    score integer DEFAULT 0 NOT NULL,
    revision bigint NOT NULL,
    posted_at timestamp with time zone,
    CONSTRAINT topic_posts_pkey PRIMARY KEY (topic, post_id)
);
CREATE INDEX topic_posts_by_score ON topic_posts USING btree (topic, score DESC, post_id DESC);
CREATE INDEX topic_posts_newest ON topic_posts USING btree (topic, COALESCE(posted_at, shardwright.id_time(post_id)) DESC, post_id DESC);

CREATE TABLE topics (
    topic text NOT NULL,
    post_count bigint DEFAULT 0 NOT NULL,
    trimmed_id bigint DEFAULT 0 NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    scored_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    trimmed_at timestamp with time zone,
    CONSTRAINT topics_pkey PRIMARY KEY (topic)
);
CREATE INDEX topics_to_score ON topics USING btree (changed_at) WHERE (scored_at < changed_at);

CREATE TABLE totp (
    account_id bigint NOT NULL,
    secret bytea NOT NULL,
    confirmed_at timestamp with time zone,
    last_step bigint DEFAULT 0 NOT NULL,
    CONSTRAINT totp_pkey PRIMARY KEY (account_id)
);

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
