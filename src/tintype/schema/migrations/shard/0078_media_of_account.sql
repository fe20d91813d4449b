-- no-transaction
-- All media of somebody who leaves.
CREATE INDEX CONCURRENTLY media_of_account ON media (account_id, id);
