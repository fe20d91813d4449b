-- no-transaction
-- Counts the videos of a person that wait for their conversion.
CREATE INDEX CONCURRENTLY media_converting ON media (account_id) WHERE state = 'processing';
