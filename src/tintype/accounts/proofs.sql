-- name: find_password
-- What a sign-in is checked against.
SELECT password_hash, status FROM accounts WHERE id = :id;

-- name: rehash_password
-- The same password under new costs, unless it was changed meanwhile.
UPDATE accounts SET password_hash = :password_hash WHERE id = :id AND password_hash = :old_hash;

-- name: set_password
-- What was begun with the old password ends here.
UPDATE accounts SET password_hash = :password_hash, password_changed_at = now() WHERE id = :id RETURNING email;

-- name: add_mail
-- Asking for the same mail twice is asking once.
INSERT INTO mails (token_hash, account_id, kind, address, nonce, expires_at)
VALUES (:token_hash, :account_id, :kind, :address, :nonce, now() + make_interval(secs => :ttl_s))
ON CONFLICT DO NOTHING;

-- name: find_mail
-- A mail that waits to be sent.
SELECT m.account_id, m.kind, m.address, m.nonce, m.expires_at, a.username, a.full_name
FROM mails AS m JOIN accounts AS a ON a.id = m.account_id
WHERE m.token_hash = :token_hash AND m.sent_at IS NULL;

-- name: mark_mail_sent
-- It is not sent again.
UPDATE mails SET sent_at = now() WHERE token_hash = :token_hash;

-- name: look_at_mail
-- What a secret from a mail allows, without using it up.
SELECT address FROM mails
WHERE token_hash = :token_hash AND kind = :kind AND used_at IS NULL AND expires_at > now();

-- name: use_mail
-- A secret works once.
UPDATE mails SET used_at = now()
WHERE token_hash = :token_hash AND kind = :kind AND used_at IS NULL AND expires_at > now()
RETURNING account_id, address;

-- name: void_mails
-- Secrets of one kind that were sent before are worth nothing any more.
UPDATE mails SET used_at = now() WHERE account_id = :account_id AND kind = :kind AND used_at IS NULL;

-- name: purge_mails
-- Sent, used or not: after a month it is nobody's concern.
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
-- A code is taken once, and no older one after it; of two that send it at once, one wins.
UPDATE totp SET last_step = :step WHERE account_id = :account_id AND last_step < :step RETURNING account_id;

-- name: confirm_totp
-- From now on it is asked for.
UPDATE totp SET confirmed_at = now() WHERE account_id = :account_id AND confirmed_at IS NULL RETURNING account_id;

-- name: drop_totp
-- It is no longer asked for.
DELETE FROM totp WHERE account_id = :account_id;

-- name: drop_recovery_codes
-- Used and unused ones.
DELETE FROM recovery_codes WHERE account_id = :account_id;

-- name: add_recovery_codes
-- As keyed hashes.
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
-- What an answer is checked against.
SELECT public_key, sign_count FROM passkeys WHERE account_id = :account_id AND credential_id = :credential_id;

-- name: use_passkey
-- The counter only grows: a copy of a key that counts is noticed. Keys that do not count stay at 0.
UPDATE passkeys SET sign_count = :sign_count, last_used_at = now()
WHERE account_id = :account_id AND credential_id = :credential_id
  AND (sign_count < :sign_count OR (sign_count = 0 AND :sign_count = 0))
RETURNING id;

-- name: rename_passkey
-- For its owner's eyes.
UPDATE passkeys SET name = :name WHERE account_id = :account_id AND id = :id RETURNING id;

-- name: drop_passkey
-- It opens nothing any more.
DELETE FROM passkeys WHERE account_id = :account_id AND id = :id RETURNING id;

-- name: add_challenge
-- A question we ask.
INSERT INTO challenges (challenge, purpose, account_id, expires_at)
VALUES (:challenge, :purpose, :account_id, now() + make_interval(secs => :ttl_s));

-- name: find_challenge
-- One that may still be answered.
SELECT account_id, created_at FROM challenges
WHERE challenge = :challenge AND purpose = :purpose AND expires_at > now();

-- name: take_challenge
-- It is answered once, rightly or wrongly.
DELETE FROM challenges WHERE challenge = :challenge AND purpose = :purpose
RETURNING account_id, created_at, expires_at > now() AS is_fresh;

-- name: purge_challenges
-- Nobody answered them.
DELETE FROM challenges
WHERE challenge IN (SELECT challenge FROM challenges WHERE expires_at < now() - interval '1 hour' LIMIT 1000);
