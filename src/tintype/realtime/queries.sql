-- name: choose_presence
-- Shows or hides somebody's activity; nothing is written for an account that is gone.
INSERT INTO presence_choices (account_id, is_shown)
SELECT a.id, :is_shown FROM accounts AS a WHERE a.id = :account_id AND a.status <> 'gone'
ON CONFLICT (account_id) DO UPDATE SET is_shown = excluded.is_shown;

-- name: list_hidden
-- Those of the accounts that do not show when they are active.
SELECT account_id FROM presence_choices WHERE account_id = ANY(:ids::bigint[]) AND NOT is_shown;

-- name: find_choice
-- What somebody chose, if anything.
SELECT is_shown FROM presence_choices WHERE account_id = :account_id;

-- name: erase_choice
-- Deletes somebody's choice; returns how many rows.
WITH erased AS (DELETE FROM presence_choices WHERE account_id = :account_id RETURNING 1 AS one)
SELECT count(*)::int FROM erased;

-- name: count_left
-- How many rows of a person are stored.
SELECT count(*)::int FROM presence_choices WHERE account_id = :account_id;
