-- no-transaction
-- Lists of people are read newest first. Ended follows stay a week, so that a late event finds that it is late.
CREATE INDEX CONCURRENTLY following_newest ON following (account_id, change_id DESC) WHERE NOT is_requested;
CREATE INDEX CONCURRENTLY following_waiting ON following (account_id, change_id DESC) WHERE is_requested;
CREATE INDEX CONCURRENTLY followers_newest ON followers (account_id, change_id DESC) WHERE is_active;
CREATE INDEX CONCURRENTLY followers_waiting ON followers (account_id, change_id DESC) WHERE is_requested;
CREATE INDEX CONCURRENTLY followers_ended ON followers (change_id) WHERE NOT is_active AND NOT is_requested;
