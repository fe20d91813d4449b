-- name: list_page_starts
-- The id that each page of a shard's sitemap begins with: every so manieth post, whoever may see it, since what changed
-- since is left out when the page is read. Reads an index of all ids; the caller keeps the answer for an hour.
SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) AS place FROM posts) AS numbered
WHERE (place - 1) % :size::bigint = 0 ORDER BY id;

-- name: page_public_posts
-- The posts of one shard that everybody may see (`visibility_rules.is_public_post`), of accounts that are listed.
SELECT p.id, coalesce(p.edited_at, shardwright.id_time(p.id)) AS changed_at
FROM posts AS p JOIN accounts AS a ON a.id = p.author_id
WHERE p.id >= :first AND p.id < :before
  AND p.deleted_at IS NULL AND p.archived_at IS NULL AND p.hidden_at IS NULL
  AND a.status = 'active' AND NOT a.is_private AND NOT a.is_unlisted
ORDER BY p.id LIMIT :limit;

-- name: list_account_page_starts
-- As `list_page_starts`, for accounts.
SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) AS place FROM accounts) AS numbered
WHERE (place - 1) % :size::bigint = 0 ORDER BY id;

-- name: page_public_accounts
-- The accounts of one shard that are public (`visibility_rules.is_public`), listed, and have posted something.
SELECT id, username FROM accounts
WHERE id >= :first AND id < :before AND status = 'active' AND NOT is_private AND NOT is_unlisted AND post_count > 0
ORDER BY id LIMIT :limit;
