-- name: draw_account_id
-- The id is drawn first: the username must point to it before the account exists.
SELECT next_id() AS id;

-- name: claim_username
-- An account that holds the claim already renews it. A claim that its account does not back (a crash in between) may
-- be taken over after a minute.
INSERT INTO usernames AS held (username, account_id) VALUES (:key, :account_id)
ON CONFLICT (username) DO UPDATE SET claimed_at = now() WHERE held.account_id = EXCLUDED.account_id
RETURNING claimed_at;

-- name: find_username
-- The holder of a username, and whether the claim is old enough to be taken over if it is not backed.
SELECT account_id, claimed_at < now() - interval '1 minute' AS is_old FROM usernames WHERE username = :key;

-- name: take_over_username
-- Compare-and-set: of two that saw the same stale claim, one wins.
UPDATE usernames SET account_id = :account_id, claimed_at = now()
WHERE username = :key AND account_id = :stale_id AND claimed_at < now() - interval '1 minute'
RETURNING claimed_at;

-- name: release_username
-- Not a claim that was renewed less than a minute ago (somebody is about to use it), unless at_once is set.
DELETE FROM usernames
WHERE username = :key AND account_id = :account_id AND (:at_once OR claimed_at < now() - interval '1 minute');

-- name: is_username_backed
-- Whether an account backs its claim: it has the username, or had it in the last 14 days.
SELECT EXISTS (SELECT FROM accounts WHERE id = :account_id AND username = :key)
    OR EXISTS (SELECT FROM former_usernames WHERE account_id = :account_id AND username = :key AND kept_until > now()) AS is_backed;

-- name: claim_key
-- As `claim_username`.
INSERT INTO claims AS held (key, account_id) VALUES (:key, :account_id)
ON CONFLICT (key) DO UPDATE SET claimed_at = now() WHERE held.account_id = EXCLUDED.account_id
RETURNING claimed_at;

-- name: find_key
-- As `find_username`.
SELECT account_id, claimed_at < now() - interval '1 minute' AS is_old FROM claims WHERE key = :key;

-- name: take_over_key
-- As `take_over_username`.
UPDATE claims SET account_id = :account_id, claimed_at = now()
WHERE key = :key AND account_id = :stale_id AND claimed_at < now() - interval '1 minute'
RETURNING claimed_at;

-- name: release_key
-- As `release_username`.
DELETE FROM claims
WHERE key = :key AND account_id = :account_id AND (:at_once OR claimed_at < now() - interval '1 minute');

-- name: find_claimed
-- What an account really holds: any other claim of it is not backed.
SELECT username, email, phone, is_verified FROM accounts WHERE id = :account_id;

-- name: create_account
-- Under the id that the claim of its username points to, and within 45 seconds of drawing that id: a claim may be
-- taken over after a minute, and then its account must never be created.
INSERT INTO accounts (id, username, full_name, password_hash, pending_email)
SELECT :id, :username, :full_name, :password_hash, :pending_email
WHERE shardwright.id_time(:id) > now() - interval '45 seconds'
RETURNING id, username, full_name, bio, website, avatar_folder, status, role, is_private, is_verified,
       post_count, follower_count, following_count, is_unlisted, allows_downloads, shows_camera,
       allows_story_shares;

-- name: find_account
-- One account by id.
SELECT id, username, full_name, bio, website, avatar_folder, status, role, is_private, is_verified,
       post_count, follower_count, following_count, is_unlisted, allows_downloads, shows_camera,
       allows_story_shares
FROM accounts WHERE id = :id;

-- name: gather_accounts hot
-- Many accounts by id, from as many shards as they live on.
SELECT id, username, full_name, bio, website, avatar_folder, status, role, is_private, is_verified,
       post_count, follower_count, following_count, is_unlisted, allows_downloads, shows_camera,
       allows_story_shares
FROM accounts WHERE id = ANY(:ids::bigint[]);

-- name: list_newest_accounts
-- The accounts of one shard, for operators.
SELECT id, username, full_name, bio, website, avatar_folder, status, role, is_private, is_verified,
       post_count, follower_count, following_count, is_unlisted, allows_downloads, shows_camera,
       allows_story_shares
FROM accounts WHERE :role = '' OR role = :role ORDER BY id DESC LIMIT :limit;

-- name: lock_account
-- Serialises changes of one account.
SELECT username, email, phone, status, status_after_suspension, role, is_private, is_verified, avatar_folder
FROM accounts WHERE id = :id FOR UPDATE;

-- name: change_profile
-- NULL leaves a field as it is.
UPDATE accounts SET full_name = coalesce(:full_name, full_name), bio = coalesce(:bio, bio),
       website = coalesce(:website, website), is_private = coalesce(:is_private, is_private),
       is_unlisted = coalesce(:is_unlisted, is_unlisted),
       allows_downloads = coalesce(:allows_downloads, allows_downloads),
       shows_camera = coalesce(:shows_camera, shows_camera),
       allows_story_shares = coalesce(:allows_story_shares, allows_story_shares)
WHERE id = :id;

-- name: change_avatar
-- The folder that holds the sizes of the avatar, or NULL.
UPDATE accounts SET avatar_folder = :folder WHERE id = :id;

-- name: rename_account
-- Only within 45 seconds of the claim: it may be taken over after a minute.
UPDATE accounts SET username = :username WHERE id = :id AND :claimed_at > now() - interval '45 seconds'
RETURNING id;

-- name: reserve_former_username
-- A name that is given up a second time is reserved again for the full time.
INSERT INTO former_usernames (account_id, username, kept_until)
VALUES (:account_id, :username, now() + make_interval(days => :days::int))
ON CONFLICT (account_id, username) DO UPDATE SET kept_until = EXCLUDED.kept_until;

-- name: delete_former_username
-- It is in use again, or its reservation is over and its claim released.
DELETE FROM former_usernames WHERE account_id = :account_id AND username = :username;

-- name: list_expired_usernames
-- Former usernames whose reservation is over.
SELECT account_id, username FROM former_usernames WHERE kept_until < now() ORDER BY kept_until LIMIT 500;

-- name: list_former_usernames
-- Former usernames that are still reserved.
SELECT username, kept_until FROM former_usernames WHERE account_id = :account_id ORDER BY username;

-- name: find_private
-- Details that only the owner sees.
SELECT email, pending_email, phone, role, password_changed_at,
       EXISTS (SELECT FROM totp AS t WHERE t.account_id = a.id AND t.confirmed_at IS NOT NULL) AS has_totp,
       (SELECT count(*) FROM recovery_codes AS r WHERE r.account_id = a.id AND r.used_at IS NULL) AS recovery_code_count,
       (SELECT count(*) FROM passkeys AS p WHERE p.account_id = a.id) AS passkey_count
FROM accounts AS a WHERE id = :id;

-- name: find_email
-- The confirmed address.
SELECT email FROM accounts WHERE id = :id;

-- name: set_pending_email
-- It becomes the email address once it is confirmed.
UPDATE accounts SET pending_email = :email WHERE id = :id;

-- name: set_email
-- Within 45 seconds of the claim. A pending address that differs stays pending.
UPDATE accounts SET email = :email, pending_email = nullif(pending_email, :email)
WHERE id = :id AND :claimed_at > now() - interval '45 seconds'
RETURNING id;

-- name: remove_email
-- Neither confirmed nor pending.
UPDATE accounts SET email = NULL, pending_email = NULL WHERE id = :id;

-- name: set_phone
-- Within 45 seconds of the claim.
UPDATE accounts SET phone = :phone WHERE id = :id AND :claimed_at > now() - interval '45 seconds'
RETURNING id;

-- name: remove_phone
-- The account has no phone number any more.
UPDATE accounts SET phone = NULL WHERE id = :id;

-- name: set_status
-- The row is locked, and the new status calculated from what it says.
UPDATE accounts SET status = :status, status_after_suspension = :after_suspension WHERE id = :id;

-- name: set_role
-- Person, moderator or operator.
UPDATE accounts SET role = :role WHERE id = :id RETURNING id;

-- name: set_verified
-- Whether the operator has verified who this is.
UPDATE accounts SET is_verified = :is_verified WHERE id = :id RETURNING id;

-- name: erase_owned_rows
-- Everything of an account in this room, except its own row.
WITH gone_sessions AS (DELETE FROM sessions WHERE account_id = :account_id RETURNING 1),
     gone_devices AS (DELETE FROM known_devices WHERE account_id = :account_id RETURNING 1),
     gone_mails AS (DELETE FROM mails WHERE account_id = :account_id RETURNING 1),
     gone_totp AS (DELETE FROM totp WHERE account_id = :account_id RETURNING 1),
     gone_codes AS (DELETE FROM recovery_codes WHERE account_id = :account_id RETURNING 1),
     gone_passkeys AS (DELETE FROM passkeys WHERE account_id = :account_id RETURNING 1),
     gone_names AS (DELETE FROM former_usernames WHERE account_id = :account_id RETURNING 1),
     gone_invitations AS (DELETE FROM invitations WHERE account_id = :account_id RETURNING 1),
     gone_invitees AS (DELETE FROM invitees WHERE account_id = :account_id RETURNING 1),
     gone_inviter AS (DELETE FROM invited_by WHERE account_id = :account_id RETURNING 1)
SELECT (SELECT count(*) FROM gone_sessions) + (SELECT count(*) FROM gone_devices) + (SELECT count(*) FROM gone_mails) + (SELECT count(*) FROM gone_totp)
     + (SELECT count(*) FROM gone_codes) + (SELECT count(*) FROM gone_passkeys) + (SELECT count(*) FROM gone_names)
     + (SELECT count(*) FROM gone_invitations) + (SELECT count(*) FROM gone_invitees)
     + (SELECT count(*) FROM gone_inviter) AS gone;

-- name: erase_account
-- The row itself is deleted last: until then it says which claims there are.
DELETE FROM accounts WHERE id = :account_id;

-- name: count_left
-- How many rows of an account are left in this room.
SELECT (SELECT count(*) FROM accounts WHERE id = :account_id)
     + (SELECT count(*) FROM sessions WHERE account_id = :account_id)
     + (SELECT count(*) FROM known_devices WHERE account_id = :account_id)
     + (SELECT count(*) FROM mails WHERE account_id = :account_id)
     + (SELECT count(*) FROM totp WHERE account_id = :account_id)
     + (SELECT count(*) FROM recovery_codes WHERE account_id = :account_id)
     + (SELECT count(*) FROM passkeys WHERE account_id = :account_id)
     + (SELECT count(*) FROM former_usernames WHERE account_id = :account_id)
     + (SELECT count(*) FROM invitations WHERE account_id = :account_id)
     + (SELECT count(*) FROM invitees WHERE account_id = :account_id)
     + (SELECT count(*) FROM invited_by WHERE account_id = :account_id) AS count;

-- name: find_other
-- Any account but this one and those with these usernames.
SELECT id FROM accounts WHERE id <> :account_id AND username <> ALL(:besides::text[]) LIMIT 1;

-- name: change_post_count
-- In the transaction that adds or removes the posts.
UPDATE accounts SET post_count = post_count + :by::int WHERE id = :id;

-- name: change_follower_count
-- In the transaction that changes the rows of `followers`.
UPDATE accounts SET follower_count = follower_count + :by::int WHERE id = :id;

-- name: change_following_count
-- In the transaction that changes the rows of `following`.
UPDATE accounts SET following_count = following_count + :by::int WHERE id = :id;

-- name: gather_counts hot
-- The counts of accounts, from all the shards they lie on.
SELECT id, post_count, follower_count, following_count FROM accounts WHERE id = ANY(:ids::bigint[]);

-- name: lock_counts
-- Whoever changes a count holds this lock, so a recount under it sees rows and count in agreement.
SELECT id FROM accounts WHERE id = :id FOR NO KEY UPDATE;

-- name: set_post_count
-- What the reconciler counted.
UPDATE accounts SET post_count = :count::int WHERE id = :id;

-- name: set_follower_count
-- What the reconciler counted.
UPDATE accounts SET follower_count = :count::int WHERE id = :id;

-- name: set_following_count
-- What the reconciler counted.
UPDATE accounts SET following_count = :count::int WHERE id = :id;

-- name: lock_status
-- For other rooms: their changes to what an account owns wait for each other, and for a change of privacy or status.
SELECT is_private, status, status_after_suspension, following_count FROM accounts WHERE id = :id FOR NO KEY UPDATE;

-- name: touch_account
-- A new version of the row, with the same values: one-call changes of follows compare the version (graph's `follow_at_once`).
UPDATE accounts SET status = status WHERE id = :id;

-- name: find_privacy
-- As it is now, bypassing the cache.
SELECT is_private FROM accounts WHERE id = :id;

-- name: list_most_followed
-- The best known public accounts of a shard (the rule `is_public` of graph); a scan, for the ranking of popular accounts.
SELECT id, follower_count FROM accounts
WHERE follower_count > 0 AND NOT is_private AND status = 'active'
ORDER BY follower_count DESC, id LIMIT :limit;

-- name: close_account
-- For good: nobody can sign in to it again. Its row stays until every room has erased what is theirs.
UPDATE accounts SET status = 'gone', status_after_suspension = NULL WHERE id = :id;

-- name: create_session
-- Stored as a hash: reading the table gives no usable token. A sign-in counts as a proof of identity, unless a second
-- factor is set up: then only an answer to the question for it does.
INSERT INTO sessions (token_hash, account_id, expires_at, name, proved_at)
SELECT :token_hash::bytea, :account_id::bigint, now() + make_interval(days => :days::int), :name::text,
       CASE WHEN EXISTS (SELECT FROM totp WHERE account_id = :account_id AND confirmed_at IS NOT NULL) THEN NULL ELSE now() END
RETURNING id;

-- name: create_token
-- An API token: a session with scopes, without a proof of identity.
INSERT INTO sessions (token_hash, account_id, expires_at, name, scopes)
VALUES (:token_hash, :account_id, now() + make_interval(days => :days::int), :name, :scopes::text[])
RETURNING id, name, scopes, created_at, last_seen_at, expires_at;

-- name: find_session
-- A session that has not expired.
SELECT id AS session_id, account_id, scopes, expires_at, renewed_at, last_seen_at, proved_at, is_replaced
FROM sessions WHERE token_hash = :token_hash AND expires_at > now();

-- name: list_sessions
-- Most recently used first; sessions of people, or API tokens.
SELECT id, name, scopes, created_at, last_seen_at, expires_at FROM sessions
WHERE account_id = :account_id AND (scopes IS NOT NULL) = :of_programs AND expires_at > now() AND NOT is_replaced
ORDER BY last_seen_at DESC, id LIMIT 200;

-- name: count_tokens
-- API tokens that have not expired.
SELECT count(*) FROM sessions WHERE account_id = :account_id AND scopes IS NOT NULL AND expires_at > now();

-- name: record_session_seen
-- At most one write in ten minutes per session.
UPDATE sessions SET last_seen_at = now()
WHERE token_hash = :token_hash AND last_seen_at < now() - interval '10 minutes';

-- name: find_proof
-- Whether a session's holder proved lately who they are, and whether a second factor is set up.
SELECT coalesce(proved_at > now() - make_interval(secs => :within_s), false) AS is_recent,
       EXISTS (SELECT FROM totp AS t WHERE t.account_id = s.account_id AND t.confirmed_at IS NOT NULL) AS has_factor
FROM sessions AS s WHERE token_hash = :token_hash;

-- name: has_factor
-- Whether a second factor is set up.
SELECT EXISTS (SELECT FROM totp WHERE account_id = :account_id AND confirmed_at IS NOT NULL) AS has_factor;

-- name: record_reauthentication
-- Its holder has just proved again who they are.
UPDATE sessions SET proved_at = now() WHERE token_hash = :token_hash;

-- name: void_proofs
-- A second factor was set up: proofs by the password alone do not count any more.
UPDATE sessions SET proved_at = NULL WHERE account_id = :account_id;

-- name: record_device
-- Returns whether it is the first sign-in with this device; the transaction holds the account's lock.
INSERT INTO known_devices AS held (account_id, fingerprint) VALUES (:account_id, :fingerprint)
ON CONFLICT (account_id, fingerprint) DO UPDATE SET last_seen_at = now()
RETURNING first_seen_at = now() AS is_new;

-- name: purge_devices
-- Devices that nobody has signed in with for as long as their cookies last, a batch at a time.
DELETE FROM known_devices
WHERE (account_id, fingerprint) IN (
    SELECT account_id, fingerprint FROM known_devices WHERE last_seen_at < now() - interval '400 days' LIMIT 1000
);

-- name: replace_session
-- The old token works for a while: requests in flight carry it. Of two concurrent calls, one gets a row.
UPDATE sessions SET is_replaced = true, expires_at = least(expires_at, now() + make_interval(secs => :grace_s))
WHERE token_hash = :token_hash AND NOT is_replaced AND expires_at > now() AND scopes IS NULL
RETURNING id, account_id, name, created_at, proved_at;

-- name: create_replacement
-- The same session under a new token.
INSERT INTO sessions (token_hash, id, account_id, name, created_at, proved_at, expires_at)
VALUES (:token_hash, :id, :account_id, :name, :created_at, :proved_at, now() + make_interval(days => :days::int));

-- name: end_session
-- All tokens of one session. Ending it twice returns no row.
DELETE FROM sessions WHERE account_id = :account_id AND id = :id RETURNING id, token_hash;

-- name: end_sessions
-- All sessions of an account but one; API tokens only where of_programs is set.
DELETE FROM sessions WHERE account_id = :account_id AND id <> :except_id AND (:of_programs OR scopes IS NULL)
RETURNING id, token_hash;

-- name: purge_sessions
-- Expired sessions, a batch at a time.
DELETE FROM sessions
WHERE token_hash IN (SELECT token_hash FROM sessions WHERE expires_at < now() - interval '1 day' LIMIT 1000);

-- name: find_password
-- The hash that a sign-in is verified against.
SELECT password_hash, status FROM accounts WHERE id = :id;

-- name: rehash_password
-- The same password hashed with new costs, unless it was changed meanwhile.
UPDATE accounts SET password_hash = :password_hash WHERE id = :id AND password_hash = :old_hash;

-- name: set_password
-- Sign-ins that began with the old password compare themselves with password_changed_at.
UPDATE accounts SET password_hash = :password_hash, password_changed_at = now() WHERE id = :id RETURNING email;

-- name: add_mail
-- Queueing the same mail twice queues it once.
INSERT INTO mails (token_hash, account_id, kind, address, nonce, detail, expires_at)
VALUES (:token_hash, :account_id, :kind, :address, :nonce, :detail, now() + make_interval(secs => :ttl_s))
ON CONFLICT DO NOTHING;

-- name: find_unsent_mail
-- A queued mail that was not sent yet.
SELECT m.account_id, m.kind, m.address, m.nonce, m.detail, m.expires_at, a.username, a.full_name
FROM mails AS m JOIN accounts AS a ON a.id = m.account_id
WHERE m.token_hash = :token_hash AND m.sent_at IS NULL;

-- name: mark_mail_sent
-- A repeated event does not send it again.
UPDATE mails SET sent_at = now() WHERE token_hash = :token_hash;

-- name: find_mail_address
-- The address a valid link was sent to, without using the link.
SELECT address FROM mails
WHERE token_hash = :token_hash AND kind = :kind AND used_at IS NULL AND expires_at > now();

-- name: use_mail
-- A link works once.
UPDATE mails SET used_at = now()
WHERE token_hash = :token_hash AND kind = :kind AND used_at IS NULL AND expires_at > now()
RETURNING account_id, address;

-- name: void_mails
-- Links of one kind that were sent before stop working.
UPDATE mails SET used_at = now() WHERE account_id = :account_id AND kind = :kind AND used_at IS NULL;

-- name: count_other_mails
-- Mails of one kind to an account in the last while, besides the one with this nonce.
SELECT count(*) FROM mails
WHERE account_id = :account_id AND kind = :kind AND nonce <> :nonce
  AND created_at > now() - make_interval(secs => :within_s);

-- name: purge_mails
-- A month after they expired, a batch at a time.
DELETE FROM mails
WHERE token_hash IN (SELECT token_hash FROM mails WHERE expires_at < now() - interval '30 days' LIMIT 1000);

-- name: set_totp
-- A new secret replaces one that was never confirmed; a confirmed one has to be removed first.
INSERT INTO totp AS held (account_id, secret) VALUES (:account_id, :secret)
ON CONFLICT (account_id) DO UPDATE SET secret = EXCLUDED.secret, last_step = 0 WHERE held.confirmed_at IS NULL
RETURNING account_id;

-- name: find_totp
-- The encrypted secret.
SELECT secret, confirmed_at IS NOT NULL AS is_confirmed, last_step FROM totp WHERE account_id = :account_id;

-- name: use_totp_step
-- A code is accepted once, and no older one after it; of two concurrent attempts, one wins.
UPDATE totp SET last_step = :step WHERE account_id = :account_id AND last_step < :step RETURNING account_id;

-- name: confirm_totp
-- From now on sign-in requires it.
UPDATE totp SET confirmed_at = now() WHERE account_id = :account_id AND confirmed_at IS NULL RETURNING account_id;

-- name: delete_totp
-- Sign-in does not require it any more.
DELETE FROM totp WHERE account_id = :account_id;

-- name: delete_recovery_codes
-- Used and unused ones.
DELETE FROM recovery_codes WHERE account_id = :account_id;

-- name: add_recovery_codes
-- Stored as keyed hashes.
INSERT INTO recovery_codes (account_id, code_hash) SELECT :account_id, unnest(:code_hashes::bytea[]);

-- name: use_recovery_code
-- A code works once.
UPDATE recovery_codes SET used_at = now()
WHERE account_id = :account_id AND code_hash = :code_hash AND used_at IS NULL
RETURNING account_id;

-- name: add_passkey
-- The same key twice is one.
INSERT INTO passkeys (account_id, credential_id, public_key, sign_count, name)
VALUES (:account_id, :credential_id, :public_key, :sign_count, :name)
ON CONFLICT DO NOTHING
RETURNING id, name, created_at, last_used_at;

-- name: list_passkeys
-- In the order they were added.
SELECT id, name, created_at, last_used_at, credential_id FROM passkeys WHERE account_id = :account_id ORDER BY id;

-- name: find_passkey
-- The public key that an answer is verified against.
SELECT public_key, sign_count FROM passkeys WHERE account_id = :account_id AND credential_id = :credential_id;

-- name: use_passkey
-- The counter must grow: that reveals a cloned key. Keys without a counter stay at 0.
UPDATE passkeys SET sign_count = :sign_count, last_used_at = now()
WHERE account_id = :account_id AND credential_id = :credential_id
  AND (sign_count < :sign_count OR (sign_count = 0 AND :sign_count = 0))
RETURNING id;

-- name: rename_passkey
-- The name its owner sees.
UPDATE passkeys SET name = :name WHERE account_id = :account_id AND id = :id RETURNING id;

-- name: remove_passkey
-- The key cannot be used any more.
DELETE FROM passkeys WHERE account_id = :account_id AND id = :id RETURNING id, name;

-- name: add_challenge
-- On the shard of its own hash.
INSERT INTO challenges (challenge, purpose, account_id, expires_at)
VALUES (:challenge, :purpose, :account_id, now() + make_interval(secs => :ttl_s));

-- name: find_challenge
-- A challenge that has not expired.
SELECT account_id, created_at FROM challenges
WHERE challenge = :challenge AND purpose = :purpose AND expires_at > now();

-- name: consume_challenge
-- A challenge is answered once, rightly or wrongly.
DELETE FROM challenges WHERE challenge = :challenge AND purpose = :purpose
RETURNING account_id, created_at, expires_at > now() AS is_fresh;

-- name: purge_challenges
-- Expired challenges, a batch at a time.
DELETE FROM challenges
WHERE challenge IN (SELECT challenge FROM challenges WHERE expires_at < now() - interval '1 hour' LIMIT 1000);

-- name: add_invitation
-- Returns no row when the account has as many links that still work. The transaction holds the account's lock.
INSERT INTO invitations (account_id, secret, max_uses, expires_at)
SELECT :account_id, :secret, :max_uses::int, now() + make_interval(days => :days::int)
WHERE (SELECT count(*) FROM invitations AS i
       WHERE i.account_id = :account_id AND i.revoked_at IS NULL AND i.expires_at > now()) < :limit::int
RETURNING id, secret, max_uses, expires_at, 0::bigint AS use_count;

-- name: list_invitations
-- Links that were not revoked, newest first, with how often each was used.
SELECT i.id, i.secret, i.max_uses, i.expires_at,
       (SELECT count(*) FROM invitees AS e WHERE e.invitation_id = i.id) AS use_count
FROM invitations AS i
WHERE i.account_id = :account_id AND i.revoked_at IS NULL
ORDER BY i.id DESC LIMIT :limit::int;

-- name: revoke_invitation
-- Revoking twice returns no row.
UPDATE invitations SET revoked_at = now()
WHERE id = :id AND account_id = :account_id AND revoked_at IS NULL
RETURNING id;

-- name: find_invitation
-- A link, whose it is, and whether somebody may join by it now.
SELECT i.account_id, i.secret,
       i.revoked_at IS NULL AND i.expires_at > now() AND a.status = 'active'
       AND (SELECT count(*) FROM invitees AS e WHERE e.invitation_id = i.id) < i.max_uses AS is_usable
FROM invitations AS i JOIN accounts AS a ON a.id = i.account_id
WHERE i.id = :id;

-- name: lock_invitation
-- Of several people who use a link at once, one after the other is counted.
SELECT id FROM invitations WHERE id = :id FOR UPDATE;

-- name: claim_invitation
-- Counts a use before the new account exists; the same account counts once.
INSERT INTO invitees (account_id, invitee_id, invitation_id) VALUES (:account_id, :invitee_id, :invitation_id)
ON CONFLICT DO NOTHING;

-- name: release_invitation
-- The account was not created after all.
DELETE FROM invitees WHERE account_id = :account_id AND invitee_id = :invitee_id AND NOT is_confirmed;

-- name: confirm_invitee
-- The new account exists. An inviter who is being erased gets no row.
INSERT INTO invitees AS e (account_id, invitee_id, invitation_id, is_confirmed)
SELECT a.id, :invitee_id, :invitation_id, true FROM accounts AS a WHERE a.id = :account_id
ON CONFLICT (account_id, invitee_id) DO UPDATE SET is_confirmed = true;

-- name: add_inviter
-- Together with the new account.
INSERT INTO invited_by (account_id, inviter_id) VALUES (:account_id, :inviter_id) ON CONFLICT DO NOTHING;

-- name: find_inviter
-- By whose link somebody joined.
SELECT inviter_id FROM invited_by WHERE account_id = :account_id;

-- name: list_invitees
-- Who joined by somebody's links, a batch at a time.
SELECT invitee_id FROM invitees WHERE account_id = :account_id AND invitee_id > :after ORDER BY invitee_id LIMIT :limit::int;

-- name: erase_invitee
-- Part of the erasure of the person who joined.
DELETE FROM invitees WHERE account_id = :account_id AND invitee_id = :invitee_id;

-- name: erase_inviter
-- Part of the erasure of the person who invited.
DELETE FROM invited_by WHERE account_id = :account_id AND inviter_id = :inviter_id;

-- name: purge_invitations
-- A month after a link has ended, a batch at a time; who joined by it stays recorded.
DELETE FROM invitations WHERE id IN (
    SELECT id FROM invitations WHERE least(expires_at, revoked_at) < now() - interval '30 days' LIMIT 1000
);

-- name: purge_unused_claims
-- Uses of a link by accounts that were never created, a batch at a time.
DELETE FROM invitees WHERE (account_id, invitee_id) IN (
    SELECT account_id, invitee_id FROM invitees
    WHERE NOT is_confirmed AND claimed_at < now() - interval '1 day' LIMIT 1000
);
