-- name: add_events
-- One row per event, in the transaction that makes the events true; `common` is the server's own schema.
INSERT INTO common.outbox (event, payload, request_id)
SELECT item.event, item.payload, :request_id
FROM unnest(:events::text[], :payloads::bytea[]) AS item (event, payload);

-- name: acquire_lease
-- One holder at a time, by the clock of the one server that stores the lease.
INSERT INTO leases (name, holder, expires_at)
VALUES (:name, :holder, now() + make_interval(secs => :ttl_s::float8))
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
WHERE leases.holder = excluded.holder OR leases.expires_at < now()
RETURNING name;

-- name: release_lease
-- The next worker can lead at once instead of after the lease has expired.
DELETE FROM leases WHERE name = :name AND holder = :holder;

-- name: find_due_schedules hot
-- Those of the schedules that have not been started for as long as their interval; `start_due_schedule` claims each.
SELECT item.name FROM unnest(:names::text[], :intervals_s::float8[]) AS item (name, every_s)
LEFT JOIN schedules AS s ON s.name = item.name
WHERE s.started_at IS NULL OR s.started_at <= now() - make_interval(secs => item.every_s);

-- name: start_due_schedule
-- Returns a row to exactly one caller per interval, whichever workers believe that they lead.
INSERT INTO schedules (name, started_at) VALUES (:name, now())
ON CONFLICT (name) DO UPDATE SET started_at = now()
WHERE schedules.started_at <= now() - make_interval(secs => :every_s::float8)
RETURNING name;

-- name: record_schedule_end
-- How the last run of a schedule ended, for `tintype jobs`.
UPDATE schedules SET ended_at = now(), error = :error WHERE name = :name;

-- name: list_schedules
-- Every schedule that ever ran.
SELECT name, started_at, ended_at, error FROM schedules ORDER BY name;
