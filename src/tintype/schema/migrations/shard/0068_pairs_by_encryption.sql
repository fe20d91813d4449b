-- no-transaction
-- Two people may have an encrypted thread beside the plain one.
CREATE UNIQUE INDEX CONCURRENTLY threads_of_pair_by_encryption ON threads (low_id, high_id, is_encrypted);

DROP INDEX CONCURRENTLY IF EXISTS threads_of_pair;
