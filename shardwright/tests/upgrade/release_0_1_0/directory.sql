SELECT pg_advisory_xact_lock(hashtext('shardwright_directory'));
CREATE SCHEMA IF NOT EXISTS shardwright_directory;
CREATE TABLE IF NOT EXISTS shardwright_directory.settings (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  directory_id uuid NOT NULL DEFAULT gen_random_uuid(),
  map_version bigint NOT NULL DEFAULT 1,
  epoch_ms bigint NOT NULL,
  lookup_shards integer CHECK (lookup_shards BETWEEN 1 AND 8192)
);
CREATE TABLE IF NOT EXISTS shardwright_directory.servers (
  name text PRIMARY KEY,
  dsn text NOT NULL,
  weight double precision NOT NULL CHECK (weight >= 0),
  accepts_new boolean NOT NULL
);
CREATE TABLE IF NOT EXISTS shardwright_directory.shards (
  number integer PRIMARY KEY CHECK (number BETWEEN 0 AND 8191),
  server text NOT NULL REFERENCES shardwright_directory.servers,
  weight double precision NOT NULL DEFAULT 1 CHECK (weight >= 0),
  is_ready boolean NOT NULL DEFAULT false
);
DO $restrict$
DECLARE
  reader regrole;
BEGIN
  FOR reader IN
    SELECT DISTINCT a.grantee::regrole
    FROM pg_catalog.pg_class c CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
    WHERE c.oid = to_regclass('shardwright_directory.settings') AND a.grantee NOT IN (0, c.relowner)
      AND a.privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE')
  LOOP
    EXECUTE format('REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON shardwright_directory.settings FROM %s', reader);
  END LOOP;
END
$restrict$;
DO $restrict$
DECLARE
  reader regrole;
BEGIN
  FOR reader IN
    SELECT DISTINCT a.grantee::regrole
    FROM pg_catalog.pg_class c CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
    WHERE c.oid = to_regclass('shardwright_directory.servers') AND a.grantee NOT IN (0, c.relowner)
      AND a.privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE')
  LOOP
    EXECUTE format('REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON shardwright_directory.servers FROM %s', reader);
  END LOOP;
END
$restrict$;
DO $restrict$
DECLARE
  reader regrole;
BEGIN
  FOR reader IN
    SELECT DISTINCT a.grantee::regrole
    FROM pg_catalog.pg_class c CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
    WHERE c.oid = to_regclass('shardwright_directory.shards') AND a.grantee NOT IN (0, c.relowner)
      AND a.privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE')
  LOOP
    EXECUTE format('REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON shardwright_directory.shards FROM %s', reader);
  END LOOP;
END
$restrict$;

INSERT INTO shardwright_directory.settings (directory_id, epoch_ms, lookup_shards, map_version)
VALUES ('@directory_id@', @epoch_ms@, @shards@, 4);
