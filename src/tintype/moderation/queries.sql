-- name: record_trace
-- Records with a person that a case concerns them.
INSERT INTO moderation_traces (account_id, part, kind, object_id) VALUES (:account_id, :part, :kind, :object_id)
ON CONFLICT DO NOTHING;

-- name: open_case
-- One case per object; the row is locked whether it existed or not.
INSERT INTO moderation_cases (kind, object_id, owner_id, evidence) VALUES (:kind, :object_id, :owner_id, :evidence)
ON CONFLICT (kind, object_id) DO UPDATE SET kind = excluded.kind
RETURNING id;

-- name: add_report
-- One report per person and object: reporting twice returns no row.
INSERT INTO reports (case_id, reporter_id, reason, note) VALUES (:case_id, :reporter_id, :reason, :note)
ON CONFLICT DO NOTHING RETURNING case_id;

-- name: count_report
-- A new report opens a closed case again, at the end of the queue.
UPDATE moderation_cases
SET report_count = CASE WHEN status = 'open' THEN report_count + 1 ELSE 1 END,
    opened_id = CASE WHEN status = 'open' THEN opened_id ELSE next_id() END,
    evidence = CASE WHEN evidence = '{}' THEN :evidence ELSE evidence END,
    status = 'open'
WHERE id = :case_id;

-- name: reopen_case
-- Reopens a closed case for a moderator, without a report.
UPDATE moderation_cases SET status = 'open', opened_id = next_id(), report_count = 0
WHERE id = :case_id AND status = 'closed';

-- name: lock_case
-- One case, locked: one decision at a time.
SELECT id, kind, object_id, owner_id, evidence, status, opened_id, report_count, object_state, outcome, outcome_id,
       claimed_by, claimed_until, appeal, appealed_id
FROM moderation_cases WHERE id = :case_id FOR UPDATE;

-- name: find_case
-- One case.
SELECT id, kind, object_id, owner_id, evidence, status, opened_id, report_count, object_state, outcome, outcome_id,
       claimed_by, claimed_until, appeal, appealed_id
FROM moderation_cases WHERE id = :case_id;

-- name: find_case_of
-- The case of an object, if it ever had one.
SELECT id, kind, object_id, owner_id, evidence, status, opened_id, report_count, object_state, outcome, outcome_id,
       claimed_by, claimed_until, appeal, appealed_id
FROM moderation_cases WHERE kind = :kind AND object_id = :object_id;

-- name: page_oldest
-- The part of the queue on one partition, those waiting longest first.
SELECT id, kind, object_id, owner_id, evidence, status, opened_id, report_count, object_state, outcome, outcome_id,
       claimed_by, claimed_until, appeal, appealed_id
FROM moderation_cases
WHERE status = :status AND opened_id > :opened_id
  AND (:kind::text IS NULL OR kind = :kind) AND (NOT :is_appealed::boolean OR appeal <> '')
  AND (:claimed_by::bigint IS NULL OR (claimed_by = :claimed_by AND claimed_until > now()))
  AND (NOT :is_free::boolean OR claimed_by IS NULL OR claimed_until <= now())
ORDER BY opened_id LIMIT :limit;

-- name: page_most_reported
-- The part of the queue on one partition, most reported first.
SELECT id, kind, object_id, owner_id, evidence, status, opened_id, report_count, object_state, outcome, outcome_id,
       claimed_by, claimed_until, appeal, appealed_id
FROM moderation_cases
WHERE status = :status
  AND (report_count < :report_count::bigint OR (report_count = :report_count::bigint AND opened_id > :opened_id))
  AND (:kind::text IS NULL OR kind = :kind) AND (NOT :is_appealed::boolean OR appeal <> '')
  AND (:claimed_by::bigint IS NULL OR (claimed_by = :claimed_by AND claimed_until > now()))
  AND (NOT :is_free::boolean OR claimed_by IS NULL OR claimed_until <= now())
ORDER BY report_count DESC, opened_id LIMIT :limit;

-- name: list_complaints
-- What reporters said about an object, newest first, without who said it.
SELECT reason, note, reported_at FROM reports WHERE case_id = :case_id ORDER BY reported_at DESC LIMIT :limit;

-- name: count_reasons
-- How often each reason was given.
SELECT reason, count(*)::int AS count FROM reports WHERE case_id = :case_id GROUP BY reason ORDER BY count DESC, reason;

-- name: claim_case
-- A claim expires by itself.
UPDATE moderation_cases SET claimed_by = :moderator_id, claimed_until = now() + make_interval(secs => :claim_s::float8)
WHERE id = :case_id;

-- name: release_case
-- Ends a claim.
UPDATE moderation_cases SET claimed_by = NULL, claimed_until = NULL WHERE id = :case_id;

-- name: decide_case
-- Closes a case with its outcome and the state the object must have from now on.
UPDATE moderation_cases
SET status = 'closed', object_state = :object_state, outcome = :outcome, outcome_id = :act_id, report_count = 0,
    claimed_by = NULL, claimed_until = NULL, appeal = ''
WHERE id = :case_id;

-- name: add_log_entry
-- The log only grows: no statement changes or deletes its rows.
INSERT INTO moderation_acts (case_id, moderator_id, action, reason, before, after)
VALUES (:case_id, :moderator_id, :action, :reason, :before, :after)
RETURNING id;

-- name: list_case_log
-- The log entries of one case, oldest first.
SELECT id, case_id, moderator_id, action, reason, before, after FROM moderation_acts
WHERE case_id = :case_id AND id > :after_id ORDER BY id LIMIT :limit;

-- name: page_log
-- The part of the log on one partition, newest first.
SELECT id, case_id, moderator_id, action, reason, before, after FROM moderation_acts
WHERE id < :before_id AND (:moderator_id::bigint IS NULL OR moderator_id = :moderator_id)
ORDER BY id DESC LIMIT :limit;

-- name: appeal
-- Once per decision, by the owner alone.
UPDATE moderation_cases
SET appeal = :words, appealed_id = outcome_id, status = 'open', report_count = 0,
    opened_id = CASE WHEN status = 'open' THEN opened_id ELSE next_id() END
WHERE id = :case_id AND owner_id = :owner_id AND outcome = ANY(ARRAY['warned', 'hidden', 'deleted', 'suspended'])
  AND appealed_id IS DISTINCT FROM outcome_id
RETURNING id;

-- name: list_traces
-- What a person reported, or what of theirs was reported.
SELECT part, kind, object_id FROM moderation_traces
WHERE account_id = :account_id AND (:part::text IS NULL OR part = :part)
ORDER BY part, kind, object_id DESC LIMIT :limit;

-- name: find_own_report
-- A person's own report of an object.
SELECT r.reason, r.note, r.reported_at FROM reports AS r JOIN moderation_cases AS c ON c.id = r.case_id
WHERE c.kind = :kind AND c.object_id = :object_id AND r.reporter_id = :reporter_id;

-- name: erase_reporter
-- Erasure: the report still counts; who made it and what they wrote is deleted.
UPDATE reports SET reporter_id = -next_id(), note = ''
WHERE reporter_id = :reporter_id
  AND case_id = (SELECT id FROM moderation_cases WHERE kind = :kind AND object_id = :object_id);

-- name: erase_owner
-- Erasure: the evidence and the appeal are deleted; the case is closed, as there is nothing left to decide.
UPDATE moderation_cases SET evidence = '{}', appeal = '', status = 'closed', report_count = 0
WHERE kind = :kind AND object_id = :object_id AND owner_id = :owner_id;

-- name: delete_trace
-- Erasure: nothing of this person is left in the case.
DELETE FROM moderation_traces
WHERE account_id = :account_id AND part = :part AND kind = :kind AND object_id = :object_id;

-- name: count_traces
-- How many cases still hold something of this person.
SELECT count(*)::int AS count FROM moderation_traces WHERE account_id = :account_id;
