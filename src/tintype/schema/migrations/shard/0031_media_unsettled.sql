-- no-transaction
-- The few rows that wait for something: a clip for its conversion, a deleted one for its files to go.
CREATE INDEX CONCURRENTLY media_unsettled ON media (changed_at) WHERE state IN ('processing', 'deleted');
