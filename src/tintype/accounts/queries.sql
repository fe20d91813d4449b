-- name: draw_account_id
-- The id comes first: the username must point to it before the account exists.
SELECT next_id() AS id;

-- name: claim_username
-- Claiming what one holds already renews the claim. One that its account does not back (a crash in between) may be
-- taken over after a minute.
INSERT INTO usernames AS held (username, account_id) VALUES (:key, :account_id)
ON CONFLICT (username) DO UPDATE SET claimed_at = now() WHERE held.account_id = EXCLUDED.account_id
RETURNING claimed_at;

-- name: find_username
-- Who holds a username, and whether the claim is old enough to be doubted.
SELECT account_id, claimed_at < now() - interval '1 minute' AS is_old FROM usernames WHERE username = :key;

-- name: take_over_username
-- Compare-and-set: of two that both saw the stale claim, one wins.
UPDATE usernames SET account_id = :account_id, claimed_at = now()
WHERE username = :key AND account_id = :stale_id AND claimed_at < now() - interval '1 minute'
RETURNING claimed_at;

-- name: release_username
-- Not a claim that was renewed a moment ago: somebody is about to use it.
DELETE FROM usernames
WHERE username = :key AND account_id = :account_id AND (:at_once OR claimed_at < now() - interval '1 minute');

-- name: backs_username
-- Whether an account stands behind its claim of a username: it bears it, or bore it until lately.
SELECT EXISTS (SELECT FROM accounts WHERE id = :account_id AND username = :key)
    OR EXISTS (SELECT FROM former_usernames WHERE account_id = :account_id AND username = :key AND kept_until > now()) AS is_backed;

-- name: claim_key
-- As for usernames.
INSERT INTO claims AS held (key, account_id) VALUES (:key, :account_id)
ON CONFLICT (key) DO UPDATE SET claimed_at = now() WHERE held.account_id = EXCLUDED.account_id
RETURNING claimed_at;

-- name: find_key
-- Who holds a key, and whether the claim is old enough to be doubted.
SELECT account_id, claimed_at < now() - interval '1 minute' AS is_old FROM claims WHERE key = :key;

-- name: take_over_key
-- As for usernames.
UPDATE claims SET account_id = :account_id, claimed_at = now()
WHERE key = :key AND account_id = :stale_id AND claimed_at < now() - interval '1 minute'
RETURNING claimed_at;

-- name: release_key
-- As for usernames.
DELETE FROM claims
WHERE key = :key AND account_id = :account_id AND (:at_once OR claimed_at < now() - interval '1 minute');

-- name: find_claimed
-- What an account says it holds: a claim that is not among it is nobody's.
SELECT username, email, phone, is_verified FROM accounts WHERE id = :account_id;

-- name: create_account
-- The account itself, under the id that its username already points to. Not later than 45 seconds after the id was
-- drawn: a claim may be taken over after a minute, and then its account must never come to be.
INSERT INTO accounts (id, username, full_name, password_hash, pending_email)
SELECT :id, :username, :full_name, :password_hash, :pending_email
WHERE shardwright.id_time(:id) > now() - interval '45 seconds'
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

-- name: page_accounts
-- The accounts of one shard, for operators.
SELECT id, username, full_name, bio, website, avatar_folder, status, role, is_private, is_verified,
       post_count, follower_count, following_count
FROM accounts WHERE :role = '' OR role = :role ORDER BY id DESC LIMIT :limit;

-- name: lock_account
-- Changes of one account wait for each other.
SELECT username, email, phone, status, role, is_private, is_verified, avatar_folder
FROM accounts WHERE id = :id FOR UPDATE;

-- name: change_profile
-- What was not given stays as it is.
UPDATE accounts SET full_name = coalesce(:full_name, full_name), bio = coalesce(:bio, bio),
       website = coalesce(:website, website), is_private = coalesce(:is_private, is_private)
WHERE id = :id;

-- name: change_avatar
-- The folder that a picture's sizes lie in, or none.
UPDATE accounts SET avatar_folder = :folder WHERE id = :id;

-- name: rename_account
-- In time only: a claim may be taken over after a minute.
UPDATE accounts SET username = :username WHERE id = :id AND :claimed_at > now() - interval '45 seconds'
RETURNING id;

-- name: keep_former_username
-- The time begins anew for a name that was given up again.
INSERT INTO former_usernames (account_id, username, kept_until)
VALUES (:account_id, :username, now() + make_interval(days => :days::int))
ON CONFLICT (account_id, username) DO UPDATE SET kept_until = EXCLUDED.kept_until;

-- name: drop_former_username
-- It is in use again, or its time is over and its claim is released.
DELETE FROM former_usernames WHERE account_id = :account_id AND username = :username;

-- name: list_ended_usernames
-- Names whose time is over.
SELECT account_id, username FROM former_usernames WHERE kept_until < now() ORDER BY kept_until LIMIT 500;

-- name: list_former_usernames
-- Names an account gave up lately.
SELECT username, kept_until FROM former_usernames WHERE account_id = :account_id ORDER BY username;

-- name: find_private
-- What only its owner sees of an account.
SELECT email, pending_email, phone, role, password_changed_at,
       EXISTS (SELECT FROM totp AS t WHERE t.account_id = a.id AND t.confirmed_at IS NOT NULL) AS has_totp,
       (SELECT count(*) FROM recovery_codes AS r WHERE r.account_id = a.id AND r.used_at IS NULL) AS recovery_code_count,
       (SELECT count(*) FROM passkeys AS p WHERE p.account_id = a.id) AS passkey_count
FROM accounts AS a WHERE id = :id;

-- name: set_pending_email
-- Counts once it is confirmed.
UPDATE accounts SET pending_email = :email WHERE id = :id;

-- name: set_email
-- In time only, as for names. A pending address that is another one stays pending.
UPDATE accounts SET email = :email, pending_email = nullif(pending_email, :email)
WHERE id = :id AND :claimed_at > now() - interval '45 seconds'
RETURNING id;

-- name: drop_email
-- Neither confirmed nor pending.
UPDATE accounts SET email = NULL, pending_email = NULL WHERE id = :id;

-- name: set_phone
-- In time only, as for names.
UPDATE accounts SET phone = :phone WHERE id = :id AND :claimed_at > now() - interval '45 seconds'
RETURNING id;

-- name: drop_phone
-- No number any more.
UPDATE accounts SET phone = NULL WHERE id = :id;

-- name: set_status
-- Returns nothing when it was so already.
UPDATE accounts SET status = :status WHERE id = :id AND status <> :status RETURNING id;

-- name: set_role
-- What an account may do here.
UPDATE accounts SET role = :role WHERE id = :id RETURNING id;

-- name: set_verified
-- Whether we know that they are who they say.
UPDATE accounts SET is_verified = :is_verified WHERE id = :id RETURNING id;

-- name: erase_secrets
-- Everything an account keeps about itself, except its own row.
WITH gone_sessions AS (DELETE FROM sessions WHERE account_id = :account_id RETURNING 1),
     gone_mails AS (DELETE FROM mails WHERE account_id = :account_id RETURNING 1),
     gone_totp AS (DELETE FROM totp WHERE account_id = :account_id RETURNING 1),
     gone_codes AS (DELETE FROM recovery_codes WHERE account_id = :account_id RETURNING 1),
     gone_passkeys AS (DELETE FROM passkeys WHERE account_id = :account_id RETURNING 1),
     gone_names AS (DELETE FROM former_usernames WHERE account_id = :account_id RETURNING 1)
SELECT (SELECT count(*) FROM gone_sessions) + (SELECT count(*) FROM gone_mails) + (SELECT count(*) FROM gone_totp)
     + (SELECT count(*) FROM gone_codes) + (SELECT count(*) FROM gone_passkeys) + (SELECT count(*) FROM gone_names) AS gone;

-- name: erase_account
-- The row itself goes last: until then it tells what else there is.
DELETE FROM accounts WHERE id = :account_id;

-- name: count_belongings
-- How much of an account is left.
SELECT (SELECT count(*) FROM accounts WHERE id = :account_id)
     + (SELECT count(*) FROM sessions WHERE account_id = :account_id)
     + (SELECT count(*) FROM mails WHERE account_id = :account_id)
     + (SELECT count(*) FROM totp WHERE account_id = :account_id)
     + (SELECT count(*) FROM recovery_codes WHERE account_id = :account_id)
     + (SELECT count(*) FROM passkeys WHERE account_id = :account_id)
     + (SELECT count(*) FROM former_usernames WHERE account_id = :account_id) AS count;

-- name: find_other
-- Anybody here but this one and those who go by these names; one is enough to know.
SELECT id FROM accounts WHERE id <> :account_id AND username <> ALL(:besides::text[]) LIMIT 1;
