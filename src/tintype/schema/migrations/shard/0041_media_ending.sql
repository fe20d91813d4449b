-- no-transaction
-- Finds the pictures of stories that have ended.
CREATE INDEX CONCURRENTLY media_ending ON media (ends_at) WHERE ends_at IS NOT NULL AND state <> 'deleted';
