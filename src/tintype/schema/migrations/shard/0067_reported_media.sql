-- no-transaction
-- waive: mixed-no-transaction because columns with a constant default are added at once, and IF NOT EXISTS lets it be repeated
-- Media of messages that were reported, kept for the moderators until the case is closed: the cases as kind:object, and
-- since when the message is gone and only moderators open the files.
ALTER TABLE message_media
    ADD COLUMN IF NOT EXISTS held_for text[] NOT NULL DEFAULT '{}',
    ADD COLUMN IF NOT EXISTS removed_at timestamptz;

CREATE INDEX CONCURRENTLY message_media_held ON message_media (media_id) WHERE held_for <> '{}';
