-- name: standing hot
-- All that a page of the feed must know of its reader, from the reader's own shard: of the people, whom the reader
-- follows, has muted, and is kept apart from by a block in either direction; of the posts, what is liked and saved.
SELECT ARRAY(SELECT f.followee_id FROM following AS f
             WHERE f.account_id = :reader_id::bigint AND f.followee_id = ANY(:people::bigint[]) AND NOT f.is_requested) AS followed,
       ARRAY(SELECT t.target_id FROM attitudes AS t
             WHERE t.account_id = :reader_id::bigint AND t.target_id = ANY(:people::bigint[]) AND t.mutes_posts) AS muted,
       ARRAY(SELECT b.blocked_id FROM blocks AS b
             WHERE b.account_id = :reader_id::bigint AND b.blocked_id = ANY(:people::bigint[]))
       || ARRAY(SELECT y.blocker_id FROM blocked_by AS y
                WHERE y.account_id = :reader_id::bigint AND y.blocker_id = ANY(:people::bigint[]) AND y.is_active) AS blocked,
       ARRAY(SELECT l.post_id FROM own_likes AS l
             WHERE l.account_id = :reader_id::bigint AND l.post_id = ANY(:posts::bigint[]) AND l.is_active) AS liked,
       ARRAY(SELECT s.post_id FROM saves AS s
             WHERE s.account_id = :reader_id::bigint AND s.post_id = ANY(:posts::bigint[])) AS saved;
