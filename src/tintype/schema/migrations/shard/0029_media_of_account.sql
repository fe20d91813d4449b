-- no-transaction
-- Deleting an account's media, and comparing them with its files.
CREATE INDEX CONCURRENTLY media_of_account ON media (account_id, id);
