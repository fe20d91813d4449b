-- name: save_post hot
-- Saves a post and adds it to collections, once each, with the event; saving twice returns no row. The change id orders
-- this change among others of the post.
WITH saved AS (
    INSERT INTO saves (account_id, post_id) VALUES (:account_id::bigint, :post_id::bigint) ON CONFLICT DO NOTHING
    RETURNING next_id() AS change_id
), listed AS (
    INSERT INTO collection_posts (collection_id, post_id, account_id)
    SELECT id, :post_id, :account_id FROM collections
    WHERE id = ANY(:collection_ids::bigint[]) AND account_id = :account_id
    ON CONFLICT DO NOTHING
), announced AS (
    INSERT INTO common.outbox (event, payload, request_id)
    SELECT :event::text, convert_to(:payload::text || saved.change_id || '}', 'UTF8'), :request_id::text FROM saved
)
SELECT saved.change_id FROM saved;

-- name: unsave_post hot
-- Removes the post from every collection as well, with the event; a post that was not saved returns no row.
WITH listed AS (
    DELETE FROM collection_posts WHERE account_id = :account_id::bigint AND post_id = :post_id::bigint
), unsaved AS (
    DELETE FROM saves WHERE account_id = :account_id AND post_id = :post_id RETURNING next_id() AS change_id
), announced AS (
    INSERT INTO common.outbox (event, payload, request_id)
    SELECT :event::text, convert_to(:payload::text || unsaved.change_id || '}', 'UTF8'), :request_id::text FROM unsaved
)
SELECT unsaved.change_id FROM unsaved;

-- name: which_saved hot
-- Those of the posts that this account has saved.
SELECT post_id FROM saves WHERE account_id = :account_id AND post_id = ANY(:post_ids::bigint[]);

-- name: page_saves
-- Saved posts, the latest save first.
SELECT post_id, save_id AS cursor FROM saves
WHERE account_id = :account_id AND save_id < :before ORDER BY save_id DESC LIMIT :limit;

-- name: page_collection
-- Posts of one collection, the latest addition first.
SELECT post_id, entry_id AS cursor FROM collection_posts
WHERE collection_id = :collection_id AND entry_id < :before ORDER BY entry_id DESC LIMIT :limit;

-- name: list_collections
-- Collections in the order their owner chose, each with its number of posts and its newest post.
SELECT c.id, c.name, c.cover_post_id,
       (SELECT count(*) FROM collection_posts AS p WHERE p.collection_id = c.id) AS post_count,
       (SELECT p.post_id FROM collection_posts AS p WHERE p.collection_id = c.id ORDER BY p.entry_id DESC LIMIT 1) AS newest_post_id
FROM collections AS c WHERE c.account_id = :account_id ORDER BY c.position, c.id;

-- name: add_collection
-- A name that is taken returns no row.
INSERT INTO collections (account_id, name, name_key, position)
SELECT :account_id, :name, :name_key, coalesce(max(position) + 1, 0) FROM collections WHERE account_id = :account_id
ON CONFLICT (account_id, name_key) DO NOTHING RETURNING id;

-- name: count_collections
-- How many collections an account has.
SELECT count(*) FROM collections WHERE account_id = :account_id;

-- name: find_collection
-- A collection, if it is this account's.
SELECT id, name FROM collections WHERE id = :collection_id AND account_id = :account_id;

-- name: find_by_name
-- Another collection of the same person with this name.
SELECT id FROM collections WHERE account_id = :account_id AND name_key = :name_key AND id <> :collection_id;

-- name: rename_collection
-- Renames a collection; its owner's lock is held.
UPDATE collections SET name = :name, name_key = :name_key WHERE id = :collection_id;

-- name: set_cover
-- Chooses the post that a collection shows as its cover.
UPDATE collections SET cover_post_id = :post_id WHERE id = :collection_id;

-- name: order_collections
-- Orders collections by their position in the list; those that are not in it keep their position.
UPDATE collections AS c SET position = given.position
FROM unnest(:ids::bigint[]) WITH ORDINALITY AS given (id, position)
WHERE c.id = given.id AND c.account_id = :account_id;

-- name: delete_collection
-- Deletes a collection; its posts stay saved.
WITH listed AS (DELETE FROM collection_posts WHERE collection_id = :collection_id)
DELETE FROM collections WHERE id = :collection_id AND account_id = :account_id RETURNING id;

-- name: remove_from_collection
-- Removes a post from one collection; if it was the cover, the collection has none chosen any more.
WITH uncovered AS (
    UPDATE collections SET cover_post_id = NULL WHERE id = :collection_id AND cover_post_id = :post_id
)
DELETE FROM collection_posts WHERE collection_id = :collection_id AND post_id = :post_id AND account_id = :account_id;

-- name: find_in_collection
-- A post, if the collection holds it.
SELECT post_id FROM collection_posts WHERE collection_id = :collection_id AND post_id = :post_id;

-- name: which_own
-- Those of the collections that are this account's.
SELECT id FROM collections WHERE account_id = :account_id AND id = ANY(:collection_ids::bigint[]);

-- name: export_saves
-- Saved posts, oldest first, with the names of the collections each is in.
SELECT s.post_id, s.save_id,
       ARRAY(SELECT c.name FROM collection_posts AS p JOIN collections AS c ON c.id = p.collection_id
             WHERE p.account_id = s.account_id AND p.post_id = s.post_id ORDER BY c.name) AS collections
FROM saves AS s WHERE s.account_id = :account_id AND s.save_id > :after ORDER BY s.save_id LIMIT :limit;

-- name: erase_saves
-- Deletes everything of a person at once: it is all on one shard.
WITH kept AS (DELETE FROM saves WHERE account_id = :account_id RETURNING 1),
     listed AS (DELETE FROM collection_posts WHERE account_id = :account_id RETURNING 1),
     named AS (DELETE FROM collections WHERE account_id = :account_id RETURNING 1)
SELECT (SELECT count(*) FROM kept) + (SELECT count(*) FROM listed) + (SELECT count(*) FROM named) AS erased;

-- name: count_left
-- How many rows of a person are left in this room.
SELECT (SELECT count(*) FROM saves WHERE account_id = :account_id)
     + (SELECT count(*) FROM collection_posts WHERE account_id = :account_id)
     + (SELECT count(*) FROM collections WHERE account_id = :account_id) AS rows_left;
