-- name: begin_import
-- One at a time: no row while another import of the account is under way.
INSERT INTO imports (account_id, source, with_stories) VALUES (:account_id, :source, :with_stories)
ON CONFLICT (account_id) WHERE state IN ('uploading', 'waiting', 'running') DO NOTHING
RETURNING id, account_id, source, with_stories, state, reason_code, reason, total, known_before, done, imported, skipped,
          changed, following_here, followers_here, ended_at;

-- name: find_import
-- One import of an account.
SELECT id, account_id, source, with_stories, state, reason_code, reason, total, known_before, done, imported, skipped,
       changed, following_here, followers_here, ended_at
FROM imports WHERE id = :id AND account_id = :account_id;

-- name: lock_import
-- The same, until the transaction ends: archives are added, and the import is started or cancelled, one after the other.
SELECT id, account_id, source, with_stories, state, reason_code, reason, total, known_before, done, imported, skipped,
       changed, following_here, followers_here, ended_at
FROM imports WHERE id = :id AND account_id = :account_id FOR UPDATE;

-- name: list_imports
-- Newest first.
SELECT id, account_id, source, with_stories, state, reason_code, reason, total, known_before, done, imported, skipped,
       changed, following_here, followers_here, ended_at
FROM imports WHERE account_id = :account_id ORDER BY id DESC LIMIT 20;

-- name: list_archives
-- The archives of an import, in the order in which they were named.
SELECT id, import_id, account_id, name, size_bytes, received_bytes, parts FROM import_archives
WHERE import_id = :import_id ORDER BY id;

-- name: add_archive
-- An archive that is to be uploaded.
INSERT INTO import_archives (import_id, account_id, name, size_bytes)
VALUES (:import_id, :account_id, :name, :size_bytes)
RETURNING id, import_id, account_id, name, size_bytes, received_bytes, parts;

-- name: find_archive
-- An archive of an import that is still being uploaded.
SELECT archive.id, archive.import_id, archive.account_id, archive.name, archive.size_bytes, archive.received_bytes,
       archive.parts
FROM import_archives AS archive JOIN imports AS import ON import.id = archive.import_id
WHERE archive.id = :id AND archive.import_id = :import_id AND archive.account_id = :account_id
      AND import.state = 'uploading';

-- name: add_archive_part
-- Compare-and-set: the offset moves only from where the sender believed it to be, so of two senders one wins.
WITH added AS (
    UPDATE import_archives AS archive
    SET received_bytes = archive.received_bytes + :size_bytes::bigint, parts = array_append(archive.parts, :part)
    FROM imports AS import
    WHERE archive.id = :id AND archive.received_bytes = :at::bigint
          AND archive.received_bytes + :size_bytes::bigint <= archive.size_bytes
          AND import.id = archive.import_id AND import.state = 'uploading'
    RETURNING archive.received_bytes, archive.import_id
), touched AS (
    UPDATE imports AS import SET touched_at = now() FROM added WHERE import.id = added.import_id
)
SELECT received_bytes FROM added;

-- name: delete_archive
-- An archive that was removed, or whose import has ended; its parts are deleted before or after it.
DELETE FROM import_archives WHERE id = :id;

-- name: change_import_state
-- It is started or ends; no row where its state is none of those it may be in.
UPDATE imports SET state = :state, reason_code = :reason_code, reason = :reason, touched_at = now(),
                   ended_at = CASE WHEN :is_end::boolean THEN now() END
WHERE id = :id AND state = ANY(:from_states::text[]) RETURNING id;

-- name: continue_import
-- One that stopped goes on; its archives are still there. What it did not reach is tried again, so the report forgets it.
WITH forgotten AS (
    DELETE FROM import_lines WHERE import_id = :id AND code = 'not_reached' RETURNING id
)
UPDATE imports SET state = 'waiting', reason_code = '', reason = '', touched_at = now(), ended_at = NULL, attempts = 0,
                   skipped = skipped - (SELECT count(*) FROM forgotten)
WHERE id = :id AND state = 'stopped' RETURNING id;

-- name: list_stopped_with_archives
-- Imports of an account that could go on.
SELECT import.id FROM imports AS import
WHERE import.account_id = :account_id AND import.state = 'stopped'
      AND EXISTS (SELECT FROM import_archives AS archive WHERE archive.import_id = import.id);

-- name: claim_import
-- A run begins, or begins again after a worker died; progress of any earlier run counts no more.
UPDATE imports SET state = 'running', run_key = :run_key, attempts = attempts + 1, touched_at = now()
WHERE id = :id AND state IN ('waiting', 'running')
RETURNING id, account_id, source, with_stories, state, reason_code, reason, total, known_before, done, imported, skipped,
          changed, following_here, followers_here, ended_at, attempts;

-- name: record_import_plan
-- How many posts there are, and how many of them had been imported before: the first run knows, later ones are told.
UPDATE imports SET total = :total, known_before = coalesce(known_before, :known), touched_at = now(),
                   following_here = :following_here, followers_here = :followers_here
WHERE id = :id AND run_key = :run_key AND state = 'running' RETURNING known_before;

-- name: record_import_progress
-- No row where the import was cancelled or another run has taken over.
UPDATE imports SET done = :done, imported = :imported, attempts = 0, touched_at = now()
WHERE id = :id AND run_key = :run_key AND state = 'running' RETURNING id;

-- name: end_import
-- It is over; no row where it was cancelled or another run has taken over.
UPDATE imports SET state = :state, reason_code = :reason_code, reason = :reason, touched_at = now(), ended_at = now()
WHERE id = :id AND run_key = :run_key AND state = 'running' RETURNING id;

-- name: touch_import
-- A long step is alive.
UPDATE imports SET touched_at = now() WHERE id = :id AND run_key = :run_key AND state = 'running' RETURNING id;

-- name: add_import_lines
-- Lines of the report, counted with the import, whose row its transaction has locked; one that is there stays as it is.
WITH added AS (
    INSERT INTO import_lines (import_id, account_id, kind, name, code, reason, digest)
    SELECT :import_id, :account_id, line.kind, line.name, line.code, line.reason, line.digest
    FROM unnest(:kinds::text[], :names::text[], :codes::text[], :reasons::text[], :digests::text[])
         AS line (kind, name, code, reason, digest)
    ON CONFLICT (import_id, digest) DO NOTHING RETURNING kind
)
UPDATE imports SET skipped = skipped + (SELECT count(*) FROM added WHERE kind = 'skipped'),
                   changed = changed + (SELECT count(*) FROM added WHERE kind = 'changed')
WHERE id = :import_id;

-- name: page_import_lines
-- Lines of the report, the first first.
SELECT id, kind, name, code, reason FROM import_lines
WHERE import_id = :import_id AND id > :after ORDER BY id LIMIT :limit::int;

-- name: list_lost_imports
-- Imports whose job was lost, and uploads that nobody continued.
SELECT id, account_id, state FROM imports
WHERE (state IN ('waiting', 'running') AND touched_at < now() - make_interval(secs => :patience_s::float8))
   OR (state = 'uploading' AND touched_at < now() - make_interval(secs => :upload_patience_s::float8))
LIMIT :limit::int;

-- name: list_old_imports
-- Imports that ended long ago.
SELECT id, account_id FROM imports WHERE ended_at < now() - make_interval(days => :kept_days::int) LIMIT :limit::int;

-- name: list_expired_archives
-- Imports that stopped, and that nobody continued in time.
SELECT import.id, import.account_id FROM imports AS import
WHERE import.ended_at < now() - make_interval(days => :kept_days::int) AND import.state = 'stopped'
      AND EXISTS (SELECT FROM import_archives AS archive WHERE archive.import_id = import.id)
LIMIT :limit::int;

-- name: find_import_with_archives
-- An import that may have archives: it is under way, or stopped and can go on.
SELECT id FROM imports AS import
WHERE id = :id AND (state IN ('uploading', 'waiting', 'running')
    OR (state = 'stopped' AND EXISTS (SELECT FROM import_archives AS archive WHERE archive.import_id = import.id)));

-- name: list_imports_to_erase
-- All imports of an account, in any state.
SELECT id FROM imports WHERE account_id = :account_id ORDER BY id LIMIT :limit::int;

-- name: delete_import_lines
-- A batch of an import's report.
DELETE FROM import_lines WHERE import_id = :import_id AND id IN (
    SELECT id FROM import_lines WHERE import_id = :import_id ORDER BY id LIMIT :limit::int
) RETURNING id;

-- name: delete_import_archives
-- After their files are gone.
DELETE FROM import_archives WHERE import_id = :import_id;

-- name: delete_import
-- After its report and its archives.
DELETE FROM imports WHERE id = :id;

-- name: count_import_rows
-- How much of this room an account has.
SELECT (SELECT count(*) FROM imports WHERE account_id = :account_id)
     + (SELECT count(*) FROM import_archives WHERE account_id = :account_id)
     + (SELECT count(*) FROM import_lines WHERE account_id = :account_id) AS rows;
