-- name: draw_account_id
-- The id comes first: the username must point to it before the account exists.
SELECT next_id() AS id;

-- name: claim_username
-- A claim whose account never came to be (a crash in between) may be taken over after a minute.
INSERT INTO usernames (username, account_id) VALUES (:username, :account_id)
ON CONFLICT (username) DO NOTHING
RETURNING account_id;

-- name: find_claim
-- Who holds a username, and whether the claim is old enough to be doubted.
SELECT account_id, claimed_at < now() - interval '1 minute' AS is_old FROM usernames WHERE username = :username;

-- name: take_over_claim
-- Compare-and-set: of two that both saw the stale claim, one wins.
UPDATE usernames SET account_id = :account_id, claimed_at = now()
WHERE username = :username AND account_id = :stale_id
RETURNING account_id;

-- name: create_account
-- The account itself, under the id that its username already points to. Not later than 45 seconds after the id was
-- drawn: a claim may be taken over after a minute, and then its account must never come to be.
INSERT INTO accounts (id, username, full_name, password_hash)
SELECT :id, :username, :full_name, :password_hash WHERE shardwright.id_time(:id) > now() - interval '45 seconds'
RETURNING id, username, full_name, bio, website, avatar_folder, status, role, is_private, is_verified,
       post_count, follower_count, following_count;

-- name: find_account
-- One account by id.
SELECT id, username, full_name, bio, website, avatar_folder, status, role, is_private, is_verified,
       post_count, follower_count, following_count
FROM accounts WHERE id = :id;

-- name: gather_accounts
-- Many accounts by id, from as many shards as they live on.
SELECT id, username, full_name, bio, website, avatar_folder, status, role, is_private, is_verified,
       post_count, follower_count, following_count
FROM accounts WHERE id = ANY(:ids::bigint[]);

-- name: find_password
-- What a sign-in is checked against.
SELECT password_hash FROM accounts WHERE id = :id;

-- name: create_session
-- Kept as a hash: who reads the table cannot use it.
INSERT INTO sessions (token_hash, account_id, expires_at)
VALUES (:token_hash, :account_id, now() + make_interval(days => :days::int))
RETURNING account_id;

-- name: find_session
-- A session that has not ended, together with its account.
SELECT a.id, a.username, a.full_name, a.bio, a.website, a.avatar_folder, a.status, a.role, a.is_private, a.is_verified,
       a.post_count, a.follower_count, a.following_count
FROM sessions AS s JOIN accounts AS a ON a.id = s.account_id
WHERE s.token_hash = :token_hash AND s.expires_at > now() AND a.status = 'active';

-- name: end_session
-- Signing out twice is no error.
DELETE FROM sessions WHERE token_hash = :token_hash;

-- name: set_status
-- Setting what is already so returns no row.
UPDATE accounts SET status = :status WHERE id = :id AND status <> :status RETURNING id;

-- name: end_sessions
-- Every session of an account.
DELETE FROM sessions WHERE account_id = :account_id;
