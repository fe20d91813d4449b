-- no-transaction
CREATE INDEX CONCURRENTLY posts_caption ON posts (lower(caption));
