-- no-transaction
-- waive: mixed-no-transaction because columns with a constant default are added at once, and IF NOT EXISTS lets it be repeated
-- Messages that disappear some time after everybody else has seen them: threads of which the time counts from then, and
-- of a message how long after that it ends; null: its end is certain.
ALTER TABLE threads ADD COLUMN IF NOT EXISTS disappears_after_seen boolean NOT NULL DEFAULT false;

ALTER TABLE messages ADD COLUMN IF NOT EXISTS after_seen_s integer;

CREATE INDEX CONCURRENTLY messages_waiting_to_be_seen ON messages (thread_id, number) WHERE after_seen_s IS NOT NULL;
