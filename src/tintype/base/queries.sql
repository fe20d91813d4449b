-- name: take_lease
-- One holder at a time, by the clock of the one server that keeps the lease.
INSERT INTO leases (name, holder, expires_at)
VALUES (:name, :holder, now() + make_interval(secs => :ttl_s::float8))
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
WHERE leases.holder = excluded.holder OR leases.expires_at < now()
RETURNING name;

-- name: drop_lease
-- Lets the next one in at once instead of after the time to live.
DELETE FROM leases WHERE name = :name AND holder = :holder;

-- name: start_due
-- Returns a row to exactly one caller per interval, whoever else believes to lead.
INSERT INTO schedules (name, started_at) VALUES (:name, now())
ON CONFLICT (name) DO UPDATE SET started_at = now()
WHERE schedules.started_at <= now() - make_interval(secs => :every_s::float8)
RETURNING name;

-- name: note_end
-- What the last run of a schedule came to, for `tintype jobs`.
UPDATE schedules SET ended_at = now(), error = :error WHERE name = :name;

-- name: list_schedules
-- Every schedule that ever ran.
SELECT name, started_at, ended_at, error FROM schedules ORDER BY name;
