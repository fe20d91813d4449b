-- no-transaction
-- Finds what is old enough for another tier without reading what is not.
CREATE INDEX CONCURRENTLY media_aging ON media (tier, id) WHERE state = 'ready';
