-- no-transaction
-- Finds media whose files have not been measured.
CREATE INDEX CONCURRENTLY media_unmeasured ON media (id) WHERE size_bytes IS NULL AND state <> 'deleted';
