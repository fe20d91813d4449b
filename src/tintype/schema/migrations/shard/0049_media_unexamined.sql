-- no-transaction
-- Finds media whose original an earlier release stored: it may still have a location.
CREATE INDEX CONCURRENTLY media_unexamined ON media (id) WHERE removed IS NULL AND state NOT IN ('processing', 'deleted');
