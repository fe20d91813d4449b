-- name: create_session
-- Kept as a hash: who reads the table cannot use it. Made by a proof of who somebody is.
INSERT INTO sessions (token_hash, account_id, expires_at, name, proved_at)
VALUES (:token_hash, :account_id, now() + make_interval(days => :days::int), :name, now())
RETURNING id;

-- name: create_token
-- A session for a program: with scopes, and never proved.
INSERT INTO sessions (token_hash, account_id, expires_at, name, scopes)
VALUES (:token_hash, :account_id, now() + make_interval(days => :days::int), :name, :scopes::text[])
RETURNING id, name, scopes, created_at, last_seen_at, expires_at;

-- name: find_session
-- A session that has not ended.
SELECT id AS session_id, account_id, scopes, expires_at, renewed_at, last_seen_at, proved_at, is_replaced
FROM sessions WHERE token_hash = :token_hash AND expires_at > now();

-- name: list_sessions
-- The newest use first; sessions of people, or tokens of programs.
SELECT id, name, scopes, created_at, last_seen_at, expires_at FROM sessions
WHERE account_id = :account_id AND (scopes IS NOT NULL) = :of_programs AND expires_at > now() AND NOT is_replaced
ORDER BY last_seen_at DESC, id LIMIT 200;

-- name: count_tokens
-- How many programs hold a token.
SELECT count(*) FROM sessions WHERE account_id = :account_id AND scopes IS NOT NULL AND expires_at > now();

-- name: see_session
-- At most one write in ten minutes.
UPDATE sessions SET last_seen_at = now()
WHERE token_hash = :token_hash AND last_seen_at < now() - interval '10 minutes';

-- name: prove_session
-- Its holder has just proved who they are.
UPDATE sessions SET proved_at = now() WHERE token_hash = :token_hash;

-- name: replace_session
-- The old token stays valid for a while: requests under way carry it. Of two that ask at once, one gets a row.
UPDATE sessions SET is_replaced = true, expires_at = least(expires_at, now() + make_interval(secs => :grace_s))
WHERE token_hash = :token_hash AND NOT is_replaced AND expires_at > now() AND scopes IS NULL
RETURNING id, account_id, name, created_at, proved_at;

-- name: create_replacement
-- The same session under a new token.
INSERT INTO sessions (token_hash, id, account_id, name, created_at, proved_at, expires_at)
VALUES (:token_hash, :id, :account_id, :name, :created_at, :proved_at, now() + make_interval(days => :days::int));

-- name: end_session
-- All tokens of one session. Ending it twice is no error.
DELETE FROM sessions WHERE account_id = :account_id AND id = :id RETURNING id, token_hash;

-- name: end_sessions
-- All sessions of an account but one; tokens of programs only where they are meant too.
DELETE FROM sessions WHERE account_id = :account_id AND id <> :but AND (:of_programs OR scopes IS NULL)
RETURNING id, token_hash;

-- name: purge_sessions
-- What nobody can use any more.
DELETE FROM sessions
WHERE token_hash IN (SELECT token_hash FROM sessions WHERE expires_at < now() - interval '1 day' LIMIT 1000);
