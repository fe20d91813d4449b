-- What the stored original does not have any more: location, metadata, attachments; or the whole original. NULL: stored
-- by an earlier release, and not examined yet.
ALTER TABLE media ADD COLUMN removed text[];
