-- name: begin_indexing hot
-- Draws a higher revision for each run, and records the keys that it will probably use, as `record_keys` does; returns
-- the revision with every recorded key, and whether no run began before: then nothing is written under any of them yet.
INSERT INTO search_filings AS f (kind, subject, owner_id, revision, keys)
VALUES (:kind, :subject, :owner_id, next_id(), :keys::text[])
ON CONFLICT (kind, subject) DO UPDATE
SET revision = next_id(),
    keys = CASE WHEN f.keys @> excluded.keys THEN f.keys
                ELSE ARRAY(SELECT unnest(f.keys) UNION SELECT unnest(excluded.keys) ORDER BY 1) END
RETURNING f.revision, f.keys, f.xmax = 0 AS is_first;

-- name: record_keys
-- Runs before the first write under a new key, so that a run that dies leaves a trace. Keys of concurrent runs stay.
UPDATE search_filings SET keys = ARRAY(SELECT unnest(keys) UNION SELECT unnest(:keys::text[]) ORDER BY 1)
WHERE kind = :kind AND subject = :subject;

-- name: end_indexing hot
-- No row when a newer run has begun since.
UPDATE search_filings SET weight = :weight::int
WHERE kind = :kind AND subject = :subject AND revision = :revision;

-- name: delete_indexed
-- The subject is no longer indexed; no row when a newer run has begun since.
DELETE FROM search_filings WHERE kind = :kind AND subject = :subject AND revision = :revision;

-- name: find_indexed
-- Under which keys a subject is indexed, with which weight and revision.
SELECT keys, weight, revision FROM search_filings WHERE kind = :kind AND subject = :subject;

-- name: put_entries hot
-- Replaces the entries of a subject under one key, unless a newer run wrote them.
WITH gone AS (
    DELETE FROM search_entries
    WHERE key = :key AND subject = :subject AND revision < :revision AND term <> ALL(:terms::text[])
)
INSERT INTO search_entries AS e (key, subject, term, words, weight, detail, revision)
SELECT :key, :subject, item.term, item.words, item.weight, item.detail, :revision
FROM unnest(:terms::text[], :words::text[], :weights::int[], :details::text[]) AS item (term, words, weight, detail)
ON CONFLICT (key, subject, term) DO UPDATE
SET words = excluded.words, weight = excluded.weight, detail = excluded.detail, revision = excluded.revision
WHERE e.revision < excluded.revision;

-- name: find_prefix hot
-- The most popular subjects with a word that begins as typed; further words must begin some word of theirs.
SELECT subject, term, weight, detail FROM search_entries
WHERE key = :key AND term LIKE :pattern AND words LIKE ALL(:others::text[])
ORDER BY weight DESC LIMIT :limit::int;

-- name: find_prefix_among
-- The same among the subjects named, however unpopular.
SELECT subject, term, weight, detail FROM search_entries
WHERE key = :key AND subject = ANY(:subjects::text[]) AND term LIKE :pattern AND words LIKE ALL(:others::text[])
LIMIT :limit::int;

-- name: find_similar
-- Words that a misspelled word may have been meant for: popular ones by edit distance alone, others when they share
-- enough trigrams to be found by the index. Both arms are bounded, so a full key costs no more than a small one.
SELECT DISTINCT e.subject, e.term, e.weight, e.detail
FROM (
    (SELECT subject, term, words, weight, detail FROM search_entries
     WHERE key = :key ORDER BY weight DESC LIMIT :compared::int)
    UNION ALL
    (SELECT subject, term, words, weight, detail FROM search_entries
     WHERE key = :key AND term % :word LIMIT :compared::int)
) AS e
WHERE e.words LIKE ALL(:others::text[])
  AND least(levenshtein_less_equal(left(e.term, char_length(:word)), :word, 2),
            levenshtein_less_equal(left(e.term, char_length(:word) + 1), :word, 2),
            levenshtein_less_equal(left(e.term, char_length(:word) - 1), :word, 2)) <= 2
ORDER BY e.weight DESC LIMIT :limit::int;

-- name: read_person hot
-- What is indexed of an account, if it may be seen.
SELECT username, full_name, follower_count, is_verified, status = 'active' AS is_active
FROM accounts WHERE id = :account_id;

-- name: gather_weights
-- The follower counts of accounts, and the weights they are indexed with, if they are.
SELECT a.id, a.follower_count, a.status = 'active' AS is_active, f.weight AS indexed_weight
FROM accounts AS a LEFT JOIN search_filings AS f ON f.kind = :kind::text AND f.subject = a.id::text
WHERE a.id = ANY(:ids::bigint[]);

-- name: gather_mutuals
-- How many of these followers each of the accounts has.
SELECT account_id, count(*) AS mutuals FROM followers
WHERE account_id = ANY(:ids::bigint[]) AND follower_id = ANY(:followers::bigint[]) AND is_active
GROUP BY account_id;

-- name: page_accounts
-- All accounts of a shard, a page at a time, for a rebuild.
SELECT id FROM accounts WHERE id > :after ORDER BY id LIMIT :limit::int;

-- name: page_posts
-- All posts of a shard, a page at a time, for a rebuild.
SELECT id, author_id FROM posts WHERE id > :after ORDER BY id LIMIT :limit::int;

-- name: page_posts_of
-- All posts of an author, a page at a time.
SELECT id FROM posts WHERE author_id = :author_id AND id > :after ORDER BY id LIMIT :limit::int;

-- name: read_post_topics hot
-- The hashtags and the place of a post, and whether everybody may see it. A like count that the author hides counts as
-- zero: order and cursors would reveal it.
SELECT p.author_id, p.hashtags, p.place_id, p.posted_at,
       CASE WHEN p.hides_like_count THEN 0 ELSE p.like_count END + 2 * p.comment_count AS score,
       a.status = 'active' AS is_active, a.is_private,
       p.archived_at IS NULL AND p.hidden_at IS NULL AND p.deleted_at IS NULL AS is_shown
FROM posts AS p JOIN accounts AS a ON a.id = p.author_id
WHERE p.id = :post_id;

-- name: gather_scores
-- Scores of posts by likes and comments, and whether everybody may see them, from every shard that stores some.
SELECT p.id, CASE WHEN p.hides_like_count THEN 0 ELSE p.like_count END + 2 * p.comment_count AS score,
       a.status = 'active' AS is_active, a.is_private,
       p.archived_at IS NULL AND p.hidden_at IS NULL AND p.deleted_at IS NULL AS is_shown
FROM posts AS p JOIN accounts AS a ON a.id = p.author_id
WHERE p.id = ANY(:ids::bigint[]);

-- name: create_topic
-- The row with the count; it must exist before it can be locked.
INSERT INTO topics (topic) VALUES (:topic) ON CONFLICT DO NOTHING;

-- name: lock_topic
-- Serializes changes of one topic, so that the count changes with the rows.
SELECT post_count FROM topics WHERE topic = :topic FOR UPDATE;

-- name: list_post hot
-- Lists a post in a topic and counts it, under the topic's lock, in one call; returns the count before and now. What is
-- inserted, and what was there, is decided by the rows of the moment, not by the snapshot. A post that was trimmed from
-- the topic stays out of it, and counted. No row where the topic is new.
WITH locked AS (
    SELECT topic, post_count,
           coalesce(:posted_at::timestamptz, shardwright.id_time(:post_id::bigint))
               > coalesce(trimmed_at, shardwright.id_time(trimmed_id), '-infinity') AS is_recent
    FROM topics WHERE topic = :topic::text FOR UPDATE
), listed AS (
    INSERT INTO topic_posts AS t (topic, post_id, author_id, score, revision, posted_at)
    SELECT l.topic, :post_id, :author_id::bigint, :score::int, :revision::bigint, :posted_at FROM locked AS l
    WHERE l.is_recent
    ON CONFLICT (topic, post_id) DO UPDATE
    SET score = excluded.score, revision = greatest(t.revision, excluded.revision), posted_at = excluded.posted_at
    RETURNING t.xmax = 0 AS is_new
), known AS (
    UPDATE topic_posts AS t SET score = :score, revision = greatest(t.revision, :revision), posted_at = :posted_at
    FROM locked AS l WHERE t.topic = l.topic AND t.post_id = :post_id AND NOT l.is_recent
), counted AS (
    UPDATE topics AS t SET post_count = t.post_count + 1, changed_at = now()
    FROM listed WHERE t.topic = :topic AND listed.is_new
)
SELECT l.post_count AS before, l.post_count + (EXISTS (SELECT FROM listed WHERE is_new))::int AS now FROM locked AS l;

-- name: unlist_post
-- Returns a row when the post was listed in this topic.
DELETE FROM topic_posts WHERE topic = :topic AND post_id = :post_id RETURNING post_id;

-- name: count_topic
-- The count, in the same transaction as the row.
UPDATE topics SET post_count = post_count + :delta::int, changed_at = now() WHERE topic = :topic RETURNING post_count;

-- name: find_topic hot
-- How many public posts a topic has.
SELECT post_count FROM topics WHERE topic = :topic;

-- name: page_newest hot
-- The posts of a topic, newest first by their own time.
SELECT post_id, author_id, score, posted_at FROM topic_posts
WHERE topic = :topic AND (coalesce(posted_at, shardwright.id_time(post_id)), post_id)
                         < (coalesce(:posted_at::timestamptz, shardwright.id_time(:post_id::bigint)), :post_id)
ORDER BY coalesce(posted_at, shardwright.id_time(post_id)) DESC, post_id DESC LIMIT :limit::int;

-- name: page_top hot
-- The posts of a topic, best score first.
SELECT post_id, author_id, score, posted_at FROM topic_posts
WHERE topic = :topic AND (score, post_id) < (:score::int, :post_id::bigint)
ORDER BY score DESC, post_id DESC LIMIT :limit::int;

-- name: topics_due
-- Topics with changes since their posts were last scored, and those not scored for a day, a few at a time.
(SELECT topic, changed_at FROM topics WHERE scored_at < changed_at ORDER BY changed_at LIMIT :limit::int)
UNION
(SELECT topic, changed_at FROM topics
 WHERE scored_at < now() - interval '1 day' AND changed_at > now() - interval '30 days' LIMIT :limit::int);

-- name: posts_to_score
-- The newest and the best: those whose rank among the best can change.
(SELECT post_id, author_id FROM topic_posts WHERE topic = :topic
 ORDER BY coalesce(posted_at, shardwright.id_time(post_id)) DESC, post_id DESC LIMIT :newest::int)
UNION
(SELECT post_id, author_id FROM topic_posts WHERE topic = :topic ORDER BY score DESC, post_id DESC LIMIT :best::int);

-- name: score_posts
-- Scores as they are now.
UPDATE topic_posts AS t SET score = item.score
FROM unnest(:ids::bigint[], :scores::int[]) AS item (post_id, score)
WHERE t.topic = :topic AND t.post_id = item.post_id AND t.score <> item.score;

-- name: mark_scored
-- Scored as of the time the scores were read: a change since then makes the topic due again.
UPDATE topics SET scored_at = greatest(scored_at, :changed_at::timestamptz,
                                       CASE WHEN changed_at <= :changed_at::timestamptz THEN now() END)
WHERE topic = :topic;

-- name: find_trim
-- The own time of the newest post that is too old to be listed, if the topic is full.
SELECT coalesce(posted_at, shardwright.id_time(post_id)) AS trimmed_at FROM topic_posts WHERE topic = :topic
ORDER BY coalesce(posted_at, shardwright.id_time(post_id)) DESC, post_id DESC OFFSET :kept::int LIMIT 1;

-- name: trim_topic
-- Removes old posts from the topic unless they are among its best; they stay counted.
WITH best AS (
    SELECT post_id FROM topic_posts WHERE topic = :topic ORDER BY score DESC, post_id DESC LIMIT :best::int
), gone AS (
    DELETE FROM topic_posts
    WHERE topic = :topic AND coalesce(posted_at, shardwright.id_time(post_id)) <= :trimmed_at::timestamptz
      AND post_id NOT IN (SELECT post_id FROM best)
)
UPDATE topics SET trimmed_at = greatest(trimmed_at, :trimmed_at),
       trimmed_id = greatest(trimmed_id, shardwright.min_id_at(:trimmed_at)) -- for a process of the release before
WHERE topic = :topic;

-- name: page_topics
-- All topics of a shard, a page at a time, for a rebuild.
SELECT topic FROM topics WHERE topic > :after ORDER BY topic LIMIT :limit::int;

-- name: sweep_entries
-- Deletes entries that a rebuild has not touched: their subjects do not exist.
DELETE FROM search_entries WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM search_entries WHERE revision < :bound LIMIT :limit::int));

-- name: list_stale_posts
-- Posts in topics that a rebuild has not touched.
SELECT topic, post_id FROM topic_posts
WHERE revision < :bound AND (topic, post_id) > (:topic, :post_id::bigint) ORDER BY topic, post_id LIMIT :limit::int;

-- name: create_place
-- The first of several public posts that name the same place creates it.
INSERT INTO places (id, name, latitude, longitude) VALUES (:id, :name, :latitude, :longitude)
ON CONFLICT (id) DO NOTHING;

-- name: delete_place
-- A place that no public post names any more, unless one came meanwhile.
DELETE FROM places
WHERE id = :id AND NOT EXISTS (SELECT FROM topics WHERE topic = :topic AND post_count > 0);

-- name: count_topics
-- How many public posts each of some topics has.
SELECT topic, post_count FROM topics WHERE topic = ANY(:topics::text[]);

-- name: gather_post_places
-- A place as posts name it, or else as their authors did when they made it.
SELECT p.id AS post_id, p.place_id AS id, coalesce(p.place_name, n.name) AS name,
       coalesce(p.lat, n.latitude)::float8 AS latitude, coalesce(p.lon, n.longitude)::float8 AS longitude
FROM posts AS p LEFT JOIN named_places AS n ON n.account_id = p.author_id AND n.place_id = p.place_id
WHERE p.id = ANY(:ids::bigint[]) AND p.place_id = :place_id;

-- name: add_named_place
-- Naming a place again moves it to the front.
INSERT INTO named_places (account_id, place_id, name, latitude, longitude)
VALUES (:account_id, :place_id, :name, :latitude, :longitude)
ON CONFLICT (account_id, place_id) DO UPDATE SET change_id = next_id();

-- name: trim_named_places
-- Deletes all but the latest named places of an account.
DELETE FROM named_places WHERE account_id = :account_id AND change_id <= (
    SELECT change_id FROM named_places WHERE account_id = :account_id ORDER BY change_id DESC OFFSET :kept::int LIMIT 1);

-- name: list_named_places
-- The places an account has named, the latest first.
SELECT place_id AS id, name, latitude, longitude FROM named_places WHERE account_id = :account_id ORDER BY change_id DESC;

-- name: clear_named_places
-- Deletes all named places of an account.
DELETE FROM named_places WHERE account_id = :account_id;

-- name: count_named_places
-- How many places an account has named.
SELECT count(*) AS places FROM named_places WHERE account_id = :account_id;

-- name: find_place hot
-- One place.
SELECT id, name, latitude, longitude FROM places WHERE id = :id;

-- name: page_places
-- All places of a shard, a page at a time, for a rebuild.
SELECT id, name, latitude, longitude FROM places WHERE id > :after ORDER BY id LIMIT :limit::int;

-- name: remove_from_cell
-- Takes a place out of its grid cell.
DELETE FROM place_squares WHERE square = :square AND place_id = :place_id;

-- name: add_to_cell
-- Puts a place into its grid cell.
INSERT INTO place_squares (square, place_id, name, latitude, longitude)
VALUES (:square, :place_id, :name, :latitude, :longitude)
ON CONFLICT (square, place_id) DO NOTHING;

-- name: find_near hot
-- Places of one grid cell within a box, the nearest first; flat-earth distance is right enough to sort a few kilometres.
-- The square of a difference below 1e-154 would be an error (underflow): none is smaller than 1e-100.
SELECT place_id AS id, name, latitude, longitude FROM place_squares
WHERE square = :square AND latitude BETWEEN :south::float8 AND :north::float8
ORDER BY greatest(abs(latitude - :latitude::float8), 1e-100) ^ 2
       + greatest(:narrowing::float8 * abs(mod((longitude - :longitude::float8 + 540)::numeric, 360) - 180)::float8,
                  1e-100) ^ 2
LIMIT :limit::int;

-- name: add_search
-- Searching again moves it to the front.
INSERT INTO recent_searches (account_id, kind, subject) VALUES (:account_id, :kind, :subject)
ON CONFLICT (account_id, kind, subject) DO UPDATE SET id = next_id()
RETURNING id;

-- name: trim_searches
-- Deletes all but the latest searches of an account.
DELETE FROM recent_searches WHERE account_id = :account_id AND id <= (
    SELECT id FROM recent_searches WHERE account_id = :account_id ORDER BY id DESC OFFSET :kept::int LIMIT 1);

-- name: list_searches
-- Recent searches of an account, latest first.
SELECT id, kind, subject FROM recent_searches WHERE account_id = :account_id ORDER BY id DESC LIMIT :limit::int;

-- name: delete_search
-- Deletes one recent search.
DELETE FROM recent_searches WHERE account_id = :account_id AND id = :id RETURNING id;

-- name: clear_searches
-- Deletes all recent searches of an account.
DELETE FROM recent_searches WHERE account_id = :account_id;

-- name: count_searches
-- How many recent searches an account has.
SELECT count(*) AS searches FROM recent_searches WHERE account_id = :account_id;

-- name: list_indexed_of
-- Erasure: a batch of what is indexed of an account: itself and its posts.
SELECT kind, subject FROM search_filings WHERE owner_id = :owner_id AND owner_id <> 0 ORDER BY kind, subject LIMIT :limit::int;

-- name: count_indexed_of
-- How much is indexed of an account.
SELECT count(*) AS indexed FROM search_filings WHERE owner_id = :owner_id AND owner_id <> 0;

-- name: gather_captions hot
-- The captions of posts, and whether everybody may see them.
SELECT p.id, p.caption, a.status = 'active' AS is_active, a.is_private,
       p.archived_at IS NULL AND p.hidden_at IS NULL AND p.deleted_at IS NULL AS is_shown
FROM posts AS p JOIN accounts AS a ON a.id = p.author_id
WHERE p.id = ANY(:ids::bigint[]);

-- name: begin_captions hot
-- Begins the first runs of posts and records their keys; no row for a post that has had a run.
INSERT INTO search_filings (kind, subject, owner_id, keys, revision)
SELECT :kind, item.subject, item.owner_id, string_to_array(item.keys, ' '), next_id()
FROM unnest(:subjects::text[], :owners::bigint[], :keys::text[]) AS item (subject, owner_id, keys)
ON CONFLICT DO NOTHING
RETURNING subject, revision;

-- name: end_captions hot
-- The posts for which no newer run has begun since.
SELECT f.subject
FROM unnest(:subjects::text[], :revisions::bigint[]) AS item (subject, revision)
JOIN search_filings AS f ON f.kind = :kind AND f.subject = item.subject AND f.revision = item.revision;

-- name: put_caption_words hot
-- Lists posts under words of one shard, unless newer runs have.
INSERT INTO caption_words AS c (word, post_id, words, revision)
SELECT item.word, item.post_id, item.words, item.revision
FROM unnest(:list::text[], :posts::bigint[], :words::text[], :revisions::bigint[])
     AS item (word, post_id, words, revision)
ON CONFLICT (word, post_id) DO UPDATE SET words = excluded.words, revision = excluded.revision
WHERE c.revision < excluded.revision;

-- name: remove_caption_word
-- Lists a post no longer under a word, unless a newer run has listed it.
DELETE FROM caption_words WHERE word = :word AND post_id = :post_id AND revision < :revision;

-- name: trim_caption_word
-- Removes all but the newest posts of a word.
DELETE FROM caption_words WHERE word = :word AND post_id <= (
    SELECT post_id FROM caption_words WHERE word = :word ORDER BY post_id DESC OFFSET :kept::int LIMIT 1);

-- name: page_caption_word hot
-- The newest posts of a word; further words must begin some word of the same caption.
SELECT post_id FROM caption_words
WHERE word = :word AND post_id < :before AND words LIKE ALL(:others::text[])
ORDER BY post_id DESC LIMIT :limit::int;

-- name: sweep_captions
-- Deletes words that a rebuild has not touched: their posts do not exist.
DELETE FROM caption_words WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM caption_words WHERE revision < :bound LIMIT :limit::int));
