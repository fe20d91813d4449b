CREATE TABLE IF NOT EXISTS shardwright.dispatch_functions (
  key text,
  fingerprint text,
  function text NOT NULL,
  returns_rows boolean NOT NULL,
  pieces text[] NOT NULL,
  asked_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (key, fingerprint)
);
DO $restrict$
DECLARE
  reader regrole;
BEGIN
  FOR reader IN
    SELECT DISTINCT a.grantee::regrole
    FROM pg_catalog.pg_class c CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
    WHERE c.oid = to_regclass('shardwright.dispatch_functions') AND a.grantee NOT IN (0, c.relowner)
      AND a.privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE')
  LOOP
    EXECUTE format('REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON shardwright.dispatch_functions FROM %s', reader);
    EXECUTE format('GRANT UPDATE (asked_at) ON shardwright.dispatch_functions TO %s', reader);
  END LOOP;
END
$restrict$;

CREATE OR REPLACE FUNCTION shardwright.g_get_e09538187dacbfa1(integer[], integer[], bigint[])
 RETURNS TABLE(id bigint, caption text)
 LANGUAGE plpgsql
 STABLE
AS $function$#variable_conflict use_column
DECLARE
  _sw_sql text := '';
  _sw_schema text;
  _sw_part text;
  _sw_start integer := 1;
BEGIN
  FOR _sw_i IN 1 .. cardinality($1) LOOP
    _sw_schema := 's' || lpad($1[_sw_i]::text, 4, '0');
    _sw_part := '($1[' || _sw_start || ':' || $2[_sw_i] || '])';
    _sw_sql := _sw_sql || CASE WHEN _sw_i > 1 THEN ' UNION ALL ' ELSE '' END || '(' || $q$SELECT posts.id,
     posts.caption
    FROM $q$ || _sw_schema || $q$.posts
   WHERE (posts.id = ANY ($q$ || _sw_part || $q$))$q$ || ')';
    _sw_start := $2[_sw_i] + 1;
  END LOOP;
  IF _sw_sql <> '' THEN
    RETURN QUERY EXECUTE _sw_sql USING $3;
  END IF;
END
$function$;

INSERT INTO shardwright.dispatch_functions (key, fingerprint, function, returns_rows, pieces) VALUES ('2 g get 02d386b14673cc10 0', '57dfee1e4029c0ddb48702c64cacdbe2', 'g_get_e09538187dacbfa1', 't', '{"SELECT posts.id,
     posts.caption
    FROM ",".posts
   WHERE (posts.id = ANY (($1::bigint[])))"}');

CREATE OR REPLACE FUNCTION shardwright.q_add_c3bbc95711de7697(integer, bigint, text)
 RETURNS TABLE(id bigint)
 LANGUAGE plpgsql
AS $function$#variable_conflict use_column
BEGIN
  RETURN QUERY EXECUTE $q$INSERT INTO $q$ || 's' || lpad($1::text, 4, '0') || $q$.posts (author_id, caption)
   VALUES ($1, $2)
   RETURNING posts.id$q$ USING $2, $3;
END
$function$;

INSERT INTO shardwright.dispatch_functions (key, fingerprint, function, returns_rows, pieces) VALUES ('2 q add 4067125a25215617 1', '57dfee1e4029c0ddb48702c64cacdbe2', 'q_add_c3bbc95711de7697', 't', '{"INSERT INTO ",".posts (author_id, caption)
   VALUES (($1::bigint), ($2::text))
   RETURNING posts.id"}');

CREATE OR REPLACE FUNCTION shardwright.q_change_67a5c06227e74c90(integer, text, bigint)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$#variable_conflict use_column
DECLARE
  _sw_count bigint;
BEGIN
  EXECUTE $q$UPDATE $q$ || 's' || lpad($1::text, 4, '0') || $q$.posts SET caption = $1
   WHERE (posts.id = $2)$q$ USING $2, $3;
  GET DIAGNOSTICS _sw_count = ROW_COUNT;
  RETURN _sw_count;
END
$function$;

INSERT INTO shardwright.dispatch_functions (key, fingerprint, function, returns_rows, pieces) VALUES ('2 q change e98ffdafb4a6ba13 1', '57dfee1e4029c0ddb48702c64cacdbe2', 'q_change_67a5c06227e74c90', 'f', '{"UPDATE ",".posts SET caption = ($1::text)
   WHERE (posts.id = ($2::bigint))"}');

CREATE OR REPLACE FUNCTION shardwright.q_find_3144270ce40c488d(integer, bigint)
 RETURNS TABLE(id bigint, author_id bigint, caption text)
 LANGUAGE plpgsql
 STABLE
AS $function$#variable_conflict use_column
BEGIN
  RETURN QUERY EXECUTE $q$SELECT posts.id,
     posts.author_id,
     posts.caption
    FROM $q$ || 's' || lpad($1::text, 4, '0') || $q$.posts
   WHERE (posts.id = $1)$q$ USING $2;
END
$function$;

INSERT INTO shardwright.dispatch_functions (key, fingerprint, function, returns_rows, pieces) VALUES ('2 q find 6dc48666041d523d 0', '57dfee1e4029c0ddb48702c64cacdbe2', 'q_find_3144270ce40c488d', 't', '{"SELECT posts.id,
     posts.author_id,
     posts.caption
    FROM ",".posts
   WHERE (posts.id = ($1::bigint))"}');

CREATE OR REPLACE FUNCTION shardwright.q_get_78c512ebeb3e73fe(integer, bigint[])
 RETURNS TABLE(id bigint, caption text)
 LANGUAGE plpgsql
 STABLE
AS $function$#variable_conflict use_column
BEGIN
  RETURN QUERY EXECUTE $q$SELECT posts.id,
     posts.caption
    FROM $q$ || 's' || lpad($1::text, 4, '0') || $q$.posts
   WHERE (posts.id = ANY ($1))$q$ USING $2;
END
$function$;

INSERT INTO shardwright.dispatch_functions (key, fingerprint, function, returns_rows, pieces) VALUES ('2 q get 02d386b14673cc10 0', '57dfee1e4029c0ddb48702c64cacdbe2', 'q_get_78c512ebeb3e73fe', 't', '{"SELECT posts.id,
     posts.caption
    FROM ",".posts
   WHERE (posts.id = ANY (($1::bigint[])))"}');
