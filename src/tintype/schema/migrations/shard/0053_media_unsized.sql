-- no-transaction
-- Finds photos of earlier releases of which it is not known whether they may be shown larger.
CREATE INDEX CONCURRENTLY media_unsized ON media (id)
    WHERE large_width IS NULL AND type = 'image' AND state = 'ready' AND removed IS NOT NULL;
