-- Daily partitions of the story tables, created and dropped by the application, whose role may do neither itself: these
-- functions run as their owner. They take a shard's number and a few days around today, nothing that becomes a name or SQL,
-- and serve only roles that may write stories.

-- The partitions of some days in all three tables, each with its guard; those that exist are left alone. A partition is
-- created on its own and then attached, because CREATE … PARTITION OF would lock out everybody who reads.
CREATE FUNCTION add_story_days(shard integer, first_day timestamptz, days integer) RETURNS integer LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
$$;

-- Drops the partitions whose last story ended more than an hour ago. Dropping one needs its table for a moment: whoever
-- reads it for long is not waited for, and the next run tries again.
CREATE FUNCTION drop_story_days(shard integer) RETURNS integer LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '500ms' AS $$
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
$$;

REVOKE EXECUTE ON FUNCTION add_story_days(integer, timestamptz, integer), drop_story_days(integer) FROM PUBLIC;
