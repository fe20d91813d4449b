-- What the catalogs say about schemas, one row per fact, with the schema's own name taken out, so that equal
-- shards give equal rows. $1: the schemas; $2: functions and sequences that the library keeps there itself, of
-- which only the presence counts.
-- Partitions whose name ends in two underscores and digits (days__20260115) are left out: they come and go by the
-- clock, are data as rows are, and differ from shard to shard.
-- Runs with search_path = pg_catalog: then every name that PostgreSQL prints carries its schema.
WITH homes AS MATERIALIZED (
    SELECT oid AS home, nspname AS schema FROM pg_namespace WHERE nspname = ANY ($1::text[])
),
relations AS MATERIALIZED (
    SELECT c.oid, c.relname, c.relkind, c.relpersistence, c.relispartition, c.relpartbound, c.reloptions, c.relam,
           c.relrowsecurity, c.relforcerowsecurity, c.relreplident, c.reltype, h.schema
    FROM homes h JOIN pg_class c ON c.relnamespace = h.home
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S', 'c') AND NOT (c.relkind = 'S' AND c.relname = ANY ($2::text[]))
      AND NOT (c.relispartition AND c.relname ~ '__[0-9]+$')
),
tables AS MATERIALIZED (SELECT * FROM relations WHERE relkind IN ('r', 'p')),
routines AS MATERIALIZED (
    SELECT p.oid, p.proname, p.prokind, p.prorettype, h.schema,
           p.oid::regprocedure::text AS signature,
           EXISTS (
               SELECT FROM pg_depend d LEFT JOIN pg_type t ON d.refclassid = 'pg_type'::regclass AND t.oid = d.refobjid
               WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid
                 AND (d.refclassid = 'pg_class'::regclass OR t.typrelid <> 0)
           ) AS needs_tables
    FROM homes h JOIN pg_proc p ON p.pronamespace = h.home
    WHERE p.proname <> ALL ($2::text[])
),
facts (schema, kind, owner, name, position, detail) AS (
    SELECT r.schema, 'table', '', r.relname, 0, concat_ws(
        ' ',
        CASE r.relpersistence WHEN 'u' THEN 'UNLOGGED' END,
        CASE WHEN r.relispartition
             THEN format('PARTITION OF %s %s', i.parents, pg_get_expr(r.relpartbound, r.oid))
             ELSE 'INHERITS (' || i.parents || ')' END,
        'PARTITION BY ' || pg_get_partkeydef(r.oid),
        'USING ' || nullif(a.amname, 'heap'),
        'WITH (' || array_to_string(r.reloptions, ', ') || ')')
    FROM tables r
    LEFT JOIN pg_am a ON a.oid = r.relam
    LEFT JOIN LATERAL (
        SELECT string_agg(inhparent::regclass::text, ', ' ORDER BY inhseqno) AS parents
        FROM pg_inherits WHERE inhrelid = r.oid
    ) i ON true

    UNION ALL
    SELECT r.schema, 'column', r.relname, a.attname,
           row_number() OVER (PARTITION BY r.oid ORDER BY a.attnum), concat_ws(
        ' ',
        format_type(a.atttypid, a.atttypmod),
        'COLLATE ' || CASE WHEN a.attcollation <> t.typcollation
                           THEN (SELECT quote_ident(collname) FROM pg_collation WHERE oid = a.attcollation) END,
        'COMPRESSION ' || CASE a.attcompression WHEN 'l' THEN 'lz4' WHEN 'p' THEN 'pglz' END,
        CASE WHEN a.attgenerated <> ''
             THEN format('GENERATED ALWAYS AS (%s) %s', pg_get_expr(d.adbin, d.adrelid),
                         CASE a.attgenerated WHEN 's' THEN 'STORED' ELSE 'VIRTUAL' END)
             WHEN a.attidentity <> ''
             THEN format('GENERATED %s AS IDENTITY', CASE a.attidentity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END)
             ELSE 'DEFAULT ' || pg_get_expr(d.adbin, d.adrelid) END,
        CASE WHEN a.attnotnull AND NOT EXISTS (
                 SELECT FROM pg_constraint n WHERE n.conrelid = r.oid AND n.contype = 'n'
                 AND NOT n.convalidated AND n.conkey = ARRAY[a.attnum])
             THEN 'NOT NULL' END)
    FROM tables r
    JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attislocal
    JOIN pg_type t ON t.oid = a.atttypid
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum

    UNION ALL
    SELECT r.schema, CASE c.contype WHEN 'f' THEN 'foreign key' ELSE 'constraint' END, r.relname, c.conname,
           CASE c.contype WHEN 'p' THEN 0 WHEN 'u' THEN 1 ELSE 2 END, pg_get_constraintdef(c.oid)
    FROM tables r JOIN pg_constraint c ON c.conrelid = r.oid
    WHERE c.contype IN ('p', 'u', 'c', 'f', 'x', 'n') AND c.conislocal AND c.conparentid = 0
      AND NOT (c.contype = 'n' AND c.convalidated)

    UNION ALL
    SELECT r.schema, 'index', r.relname, i.relname, 0,
           pg_get_indexdef(x.indexrelid) || CASE WHEN x.indisvalid THEN '' ELSE ' /* INVALID */' END
    FROM relations r
    JOIN pg_index x ON x.indrelid = r.oid
    JOIN pg_class i ON i.oid = x.indexrelid AND NOT i.relispartition
    WHERE NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = x.indexrelid AND c.contype IN ('p', 'u', 'x'))

    UNION ALL
    SELECT r.schema, CASE WHEN f.proname = ANY ($2::text[]) THEN 'guard' ELSE 'trigger' END, r.relname, t.tgname, 0,
           pg_get_triggerdef(t.oid) || CASE t.tgenabled
               WHEN 'O' THEN '' WHEN 'D' THEN ' /* DISABLED */' WHEN 'R' THEN ' /* REPLICA */' ELSE ' /* ALWAYS */' END
    FROM relations r JOIN pg_trigger t ON t.tgrelid = r.oid JOIN pg_proc f ON f.oid = t.tgfoid
    WHERE NOT t.tgisinternal AND t.tgparentid = 0
      AND t.tgname <> 'shardwright_guard_by_event'  -- the event trigger's, which no migration made

    UNION ALL
    SELECT r.schema, 'setting', r.relname, s.name, 0, format('ALTER TABLE %I %s', r.relname, s.detail)
    FROM tables r CROSS JOIN LATERAL (VALUES
        ('row security', CASE WHEN r.relrowsecurity THEN 'ENABLE ROW LEVEL SECURITY' END),
        ('forced row security', CASE WHEN r.relforcerowsecurity THEN 'FORCE ROW LEVEL SECURITY' END),
        ('replica identity', CASE r.relreplident
            WHEN 'f' THEN 'REPLICA IDENTITY FULL' WHEN 'n' THEN 'REPLICA IDENTITY NOTHING'
            WHEN 'i' THEN (SELECT 'REPLICA IDENTITY USING INDEX ' || quote_ident(i.relname)
                           FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
                           WHERE x.indrelid = r.oid AND x.indisreplident) END)
    ) AS s (name, detail)
    WHERE s.detail IS NOT NULL

    UNION ALL
    SELECT r.schema, 'policy', r.relname, p.polname, 0, concat_ws(
        ' ',
        format('CREATE POLICY %I ON %I', p.polname, r.relname),
        CASE WHEN NOT p.polpermissive THEN 'AS RESTRICTIVE' END,
        CASE p.polcmd WHEN 'r' THEN 'FOR SELECT' WHEN 'a' THEN 'FOR INSERT'
                      WHEN 'w' THEN 'FOR UPDATE' WHEN 'd' THEN 'FOR DELETE' END,
        'USING (' || pg_get_expr(p.polqual, p.polrelid) || ')',
        'WITH CHECK (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')')
    FROM tables r JOIN pg_policy p ON p.polrelid = r.oid

    UNION ALL
    SELECT r.schema, 'statistics', r.relname, s.stxname, 0, pg_get_statisticsobjdef(s.oid)
    FROM tables r JOIN pg_statistic_ext s ON s.stxrelid = r.oid

    UNION ALL
    SELECT r.schema, 'view', '', r.relname, 0, format(
        'CREATE %sVIEW %I%s AS %s', CASE r.relkind WHEN 'm' THEN 'MATERIALIZED ' ELSE '' END, r.relname,
        coalesce(' WITH (' || array_to_string(r.reloptions, ', ') || ')', ''), rtrim(pg_get_viewdef(r.oid), ';'))
    FROM relations r WHERE r.relkind IN ('v', 'm')

    UNION ALL
    SELECT r.schema, 'sequence', '', r.relname, 0, format(
        'CREATE SEQUENCE %I AS %s INCREMENT BY %s MINVALUE %s MAXVALUE %s START WITH %s CACHE %s%s', r.relname,
        format_type(s.seqtypid, NULL), s.seqincrement, s.seqmin, s.seqmax, s.seqstart, s.seqcache,
        CASE WHEN s.seqcycle THEN ' CYCLE' ELSE '' END)
    FROM relations r JOIN pg_sequence s ON s.seqrelid = r.oid
    WHERE NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = r.oid AND d.classid = 'pg_class'::regclass AND d.deptype = 'i')

    UNION ALL
    SELECT r.schema, 'sequence owner', t.relname, r.relname, 0,
           format('ALTER SEQUENCE %I OWNED BY %I.%I', r.relname, t.relname, a.attname)
    FROM relations r
    JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = r.oid AND d.deptype = 'a'
                    AND d.refclassid = 'pg_class'::regclass
    JOIN pg_class t ON t.oid = d.refobjid
    JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
    WHERE r.relkind = 'S'

    UNION ALL
    SELECT p.schema, CASE WHEN p.needs_tables THEN 'late function' ELSE 'function' END, '', p.signature, 0,
           CASE WHEN p.prokind = 'a'
                THEN format('CREATE AGGREGATE %s (SFUNC = %s, STYPE = %s%s)', p.signature, g.aggtransfn,
                            format_type(g.aggtranstype, NULL), ', INITCOND = ' || quote_literal(g.agginitval))
                ELSE pg_get_functiondef(p.oid) END
    FROM routines p LEFT JOIN pg_aggregate g ON g.aggfnoid = p.oid

    UNION ALL
    SELECT h.schema, 'type', '', t.typname, 0, CASE t.typtype
        WHEN 'e' THEN format('CREATE TYPE %I AS ENUM (%s)', t.typname, (
            SELECT string_agg(quote_literal(enumlabel), ', ' ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = t.oid))
        WHEN 'r' THEN (
            SELECT format('CREATE TYPE %I AS RANGE (SUBTYPE = %s)', t.typname, format_type(rngsubtype, NULL))
            FROM pg_range WHERE rngtypid = t.oid)
        WHEN 'c' THEN format('CREATE TYPE %I AS (%s)', t.typname, (
            SELECT string_agg(format('%I %s', attname, format_type(atttypid, atttypmod)), ', ' ORDER BY attnum)
            FROM pg_attribute WHERE attrelid = t.typrelid AND attnum > 0 AND NOT attisdropped))
        ELSE concat_ws(' ', format('CREATE DOMAIN %I AS %s', t.typname, format_type(t.typbasetype, t.typtypmod)),
            'DEFAULT ' || t.typdefault, CASE WHEN t.typnotnull THEN 'NOT NULL' END, (
            SELECT string_agg(format('CONSTRAINT %I %s', conname, pg_get_constraintdef(oid)), ' ' ORDER BY conname)
            FROM pg_constraint WHERE contypid = t.oid AND contype = 'c')) END
    FROM homes h JOIN pg_type t ON t.typnamespace = h.home
    WHERE t.typtype IN ('e', 'd', 'r') OR EXISTS (SELECT FROM relations r WHERE r.reltype = t.oid AND r.relkind = 'c')

    UNION ALL
    SELECT r.schema, 'comment', r.relname, coalesce(a.attname, ''), 0, format(
        'COMMENT ON %s IS %L', CASE
            WHEN a.attname IS NOT NULL THEN format('COLUMN %I.%I', r.relname, a.attname)
            WHEN r.relkind = 'v' THEN format('VIEW %I', r.relname)
            WHEN r.relkind = 'm' THEN format('MATERIALIZED VIEW %I', r.relname)
            WHEN r.relkind = 'S' THEN format('SEQUENCE %I', r.relname)
            WHEN r.relkind = 'c' THEN format('TYPE %I', r.relname)
            ELSE format('TABLE %I', r.relname) END, d.description)
    FROM relations r
    JOIN pg_description d ON d.classoid = 'pg_class'::regclass AND d.objoid = r.oid
    LEFT JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum = d.objsubid AND d.objsubid > 0

    UNION ALL
    SELECT p.schema, 'comment', '', p.signature, 0,
           format('COMMENT ON ROUTINE %s IS %L', p.signature, d.description)
    FROM routines p JOIN pg_description d ON d.classoid = 'pg_proc'::regclass AND d.objoid = p.oid

    UNION ALL
    SELECT h.schema, 'library', '', p.oid::regprocedure::text, 0, ''
    FROM homes h JOIN pg_proc p ON p.pronamespace = h.home WHERE p.proname = ANY ($2::text[])

    UNION ALL
    SELECT h.schema, 'library', '', c.relname, 0, ''
    FROM homes h JOIN pg_class c ON c.relnamespace = h.home WHERE c.relkind = 'S' AND c.relname = ANY ($2::text[])
),
plain AS (
    SELECT schema, kind, owner::text, replace(name, schema || '.', '') AS name, position,
           replace(replace(detail, schema || '.', ''), quote_literal(schema), '''{schema}''') AS detail
    FROM facts
)
