"""Each lint rule by example: what it refuses, what it accepts, and that it can be waived."""

from pathlib import Path

import pytest

from shardwright.errors import MigrationRefused
from shardwright.migrations import RULES, lint

POSTS = "CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_id(), caption varchar(80), mood text, spot point);"
OUTBOX = "CREATE TABLE outbox (id bigint PRIMARY KEY);"

REFUSED = [
    ("syntax", "CREATE TABEL posts ();"),
    ("narrow-id", "CREATE TABLE likes (post_id int, id bigint PRIMARY KEY);"),
    ("narrow-id", "CREATE TABLE likes (id serial PRIMARY KEY);"),
    ("narrow-id", "CREATE TABLE likes (id smallint PRIMARY KEY);"),
    ("narrow-id", "CREATE TABLE days (day int PRIMARY KEY);"),
    ("narrow-id", "CREATE TABLE days (day int, PRIMARY KEY (day));"),
    ("narrow-id", "ALTER TABLE posts ADD COLUMN place_id integer;"),
    ("narrow-id", "ALTER TABLE posts ALTER COLUMN place_id TYPE int;"),
    ("narrow-id", "CREATE TABLE likes (id bigint PRIMARY KEY, post integer REFERENCES posts);"),
    ("narrow-id", "CREATE TABLE likes (id bigint PRIMARY KEY, liked integer REFERENCES posts (id));"),
    ("narrow-id", "CREATE TABLE likes (id bigint PRIMARY KEY, p int, FOREIGN KEY (p) REFERENCES posts);"),
    ("narrow-id", "CREATE TABLE replies (id bigint PRIMARY KEY, answered int REFERENCES replies);"),
    ("narrow-id", "CREATE TABLE likes (id bigint PRIMARY KEY, post integer);"),
    ("narrow-id", "CREATE TABLE likes (id bigint PRIMARY KEY, postid smallint);"),
    ("narrow-id", "CREATE TABLE likes (id bigint PRIMARY KEY, post_ids integer[]);"),
    ("narrow-id", "ALTER TABLE posts ADD COLUMN original int REFERENCES posts;"),
    (
        "narrow-id",
        "ALTER TABLE posts ADD COLUMN n int; ALTER TABLE posts ADD FOREIGN KEY (n) REFERENCES posts NOT VALID;",
    ),
    (
        "narrow-id",
        "CREATE TABLE media (media_key bigint PRIMARY KEY); ALTER TABLE posts ADD COLUMN media_key int;",
    ),
    (
        "narrow-id",
        "CREATE TABLE notes (post bigint PRIMARY KEY REFERENCES posts); ALTER TABLE notes ALTER COLUMN post TYPE int;",
    ),
    ("local-sequence", "CREATE TABLE likes (id bigserial PRIMARY KEY);"),
    ("local-sequence", "CREATE TABLE likes (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY);"),
    ("missing-primary-key", "CREATE TABLE likes (post_id bigint);"),
    ("missing-primary-key", "CREATE TABLE likes AS SELECT id FROM posts;"),
    ("missing-primary-key", "CREATE TABLE likes () INHERITS (posts);"),
    ("missing-primary-key", "CREATE TABLE copies (LIKE posts);"),
    ("missing-primary-key", "CREATE TABLE copies (LIKE posts INCLUDING DEFAULTS INCLUDING CONSTRAINTS);"),
    ("missing-primary-key", "CREATE TABLE copies (LIKE posts INCLUDING ALL EXCLUDING INDEXES);"),
    (
        "missing-primary-key",
        """-- waive: unlogged-table because tests
        CREATE UNLOGGED TABLE bare (n int); CREATE TABLE copies (LIKE bare INCLUDING ALL);""",
    ),
    ("foreign-key-outside-the-shard", "CREATE TABLE likes (id bigint PRIMARY KEY REFERENCES common.outbox);"),
    ("foreign-key-outside-the-shard", "CREATE TABLE likes (id bigint PRIMARY KEY REFERENCES s0001.posts);"),
    (
        "foreign-key-outside-the-shard",
        "CREATE TABLE likes (id bigint PRIMARY KEY, kind text, FOREIGN KEY (kind) REFERENCES public.kinds (name));",
    ),
    (
        "foreign-key-outside-the-shard",
        "ALTER TABLE posts ADD CONSTRAINT in_outbox FOREIGN KEY (id) REFERENCES common.outbox NOT VALID;",
    ),
    ("foreign-key-outside-the-shard", "CREATE TABLE likes (id bigint PRIMARY KEY REFERENCES outbox);"),
    ("ddl-in-do", "DO $$ BEGIN ALTER TABLE posts ADD COLUMN title text; END $$;"),
    ("ddl-in-do", "DO LANGUAGE plpgsql $$ BEGIN IF true THEN DROP TABLE IF EXISTS old; END IF; END $$;"),
    ("ddl-in-do", "DO $$ BEGIN EXECUTE 'CREATE INDEX posts_mood ON posts (mood)'; END $$;"),
    (
        "ddl-in-do",
        "DO $$ DECLARE t text; BEGIN FOR t IN SELECT 'a' LOOP EXECUTE format('TRUNCATE %I', t); END LOOP; END $$;",
    ),
    (
        "ddl-in-do",
        "DO $$ DECLARE t text := 'a'; BEGIN EXECUTE 'ALTER TABLE ' || quote_ident(t) || ' ADD x int'; END $$;",
    ),
    ("ddl-in-do", "DO $$ DECLARE c text; BEGIN c := format('DROP VIEW %I', 'v'); EXECUTE c; END $$;"),
    ("ddl-in-do", "DO $$ DECLARE c text := 'DROP VIEW v'; BEGIN EXECUTE c; END $$;"),
    (
        "ddl-in-do",
        "DO $$ BEGIN NULL; EXCEPTION WHEN others THEN CREATE TABLE late (id bigint PRIMARY KEY); END $$;",
    ),
    ("ddl-in-do", "DO $$ BEGIN what is this; THEN DROP TABLE gone; $$;"),
    ("ddl-in-do", "DO LANGUAGE plpython3u $$ plpy.execute('DROP TABLE gone') $$;"),
    ("ddl-in-do", "DO $$ BEGIN EXECUTE concat('DROP TABLE ', 'gone')::text; END $$;"),
    (
        "ddl-in-do",
        "DO $$ DECLARE r record; BEGIN FOR r IN EXECUTE 'DROP TABLE gone' LOOP NULL; END LOOP; END $$;",
    ),
    ("ddl-in-do", "DO 'BEGIN EXECUTE $q$ALTER TABLE posts ADD x int; DROP TABLE gone$q$; END';"),
    ("narrow-id", "DO $$ BEGIN CREATE TABLE likes (id bigint PRIMARY KEY, post_id int); END $$;"),
    ("missing-primary-key", "DO $$ BEGIN EXECUTE format('CREATE TABLE likes (post_id bigint)'); END $$;"),
    ("cascade", "DO $$ BEGIN EXECUTE format('DROP TABLE %I CASCADE', 'old'); END $$;"),
    ("unlogged-table", "CREATE UNLOGGED TABLE likes (id bigint PRIMARY KEY);"),
    ("index-not-concurrent", "CREATE INDEX posts_caption ON posts (caption);"),
    ("index-not-concurrent", "DROP INDEX posts_caption;"),
    ("index-not-concurrent", "-- no-transaction\nREINDEX TABLE posts;"),
    ("concurrent-in-transaction", "CREATE INDEX CONCURRENTLY posts_caption ON posts (caption);"),
    ("concurrent-in-transaction", "VACUUM posts;"),
    ("mixed-no-transaction", "-- no-transaction\nALTER TABLE posts ADD COLUMN title text;"),
    ("mixed-no-transaction", "-- no-transaction\nALTER TYPE mood ADD VALUE 'calm';"),
    ("unrecoverable-index", "-- no-transaction\nCREATE INDEX CONCURRENTLY ON posts (caption);"),
    (
        "unrecoverable-index",
        "-- no-transaction\nCREATE INDEX CONCURRENTLY IF NOT EXISTS c ON posts (caption);",
    ),
    ("volatile-default", "ALTER TABLE posts ADD COLUMN seen_at timestamptz DEFAULT clock_timestamp();"),
    ("volatile-default", "ALTER TABLE posts ADD COLUMN token uuid DEFAULT gen_random_uuid();"),
    ("volatile-default", "ALTER TABLE posts ADD COLUMN n bigint GENERATED BY DEFAULT AS IDENTITY;"),
    ("volatile-default", "ALTER TABLE posts ADD COLUMN n bigint DEFAULT (SELECT max(id) FROM posts);"),
    ("type-rewrite", "ALTER TABLE posts ALTER COLUMN caption TYPE varchar(40);"),
    ("type-rewrite", "ALTER TABLE posts ALTER COLUMN mood TYPE varchar(40);"),
    ("type-rewrite", "ALTER TABLE posts ALTER COLUMN caption TYPE text USING upper(caption);"),
    ("type-rewrite", "ALTER TABLE posts ALTER COLUMN unheard_of TYPE text;"),
    ("type-rewrite", "ALTER TABLE posts ADD COLUMN x int GENERATED ALWAYS AS (length(mood)) STORED;"),
    ("not-null-unchecked", "ALTER TABLE posts ALTER COLUMN mood SET NOT NULL;"),
    ("not-null-unchecked", "ALTER TABLE posts ADD COLUMN title text NOT NULL;"),
    ("not-null-unchecked", "ALTER TABLE posts ADD CONSTRAINT mood_set NOT NULL mood;"),
    ("constraint-not-valid", "ALTER TABLE posts ADD CONSTRAINT short CHECK (length(mood) < 9);"),
    ("constraint-not-valid", "ALTER TABLE posts ADD FOREIGN KEY (id) REFERENCES accounts;"),
    ("constraint-not-valid", "ALTER TABLE posts ADD COLUMN place_id bigint REFERENCES places;"),
    ("constraint-not-valid", "ALTER TABLE posts ADD COLUMN n int CHECK (n > 0);"),
    (
        "validate-with-add",
        """ALTER TABLE posts ADD CONSTRAINT short CHECK (length(mood) < 9) NOT VALID;
        ALTER TABLE posts VALIDATE CONSTRAINT short;""",
    ),
    ("unique-without-index", "ALTER TABLE posts ADD CONSTRAINT one_mood UNIQUE (mood);"),
    ("unique-without-index", "ALTER TABLE posts ADD COLUMN slug text UNIQUE;"),
    ("blocking-statement", "ALTER TABLE posts ADD EXCLUDE USING gist (spot WITH ~=);"),
    ("blocking-statement", "ALTER TABLE posts SET TABLESPACE fast;"),
    ("blocking-statement", "ALTER TABLE posts DETACH PARTITION posts_2024;"),
    ("blocking-statement", "LOCK TABLE posts;"),
    ("blocking-statement", "-- no-transaction\nVACUUM FULL posts;"),
    ("blocking-statement", "TRUNCATE posts;"),
    ("blocking-statement", "REFRESH MATERIALIZED VIEW best_posts;"),
    ("whole-table-write", "UPDATE posts SET mood = 'calm';"),
    ("whole-table-write", "DELETE FROM posts;"),
    ("breaks-previous-release", "DROP TABLE posts;"),
    ("breaks-previous-release", "DROP VIEW best_posts;"),
    ("breaks-previous-release", "DROP FUNCTION mood_of(bigint);"),
    ("breaks-previous-release", "DROP TYPE mood;"),
    ("breaks-previous-release", "ALTER TABLE posts DROP COLUMN mood;"),
    ("breaks-previous-release", "ALTER TABLE posts RENAME TO entries;"),
    ("breaks-previous-release", "ALTER TABLE posts RENAME COLUMN mood TO feeling;"),
    ("breaks-previous-release", "ALTER TABLE posts SET SCHEMA common;"),
    ("cascade", "ALTER TABLE posts DROP CONSTRAINT short CASCADE;"),
    ("qualified-name", "CREATE TABLE s0001.likes (id bigint PRIMARY KEY);"),
    ("qualified-name", "CREATE TABLE likes (id bigint PRIMARY KEY DEFAULT s0001.next_id());"),
    ("qualified-name", "CREATE TABLE likes (id bigint PRIMARY KEY, mood public.mood);"),
    ("qualified-name", "DROP INDEX s0001.posts_mood;"),
    ("qualified-name", "DROP TRIGGER old ON s0001.posts;"),
    ("qualified-name", "COMMENT ON COLUMN s0001.posts.mood IS 'how it felt';"),
    (
        "qualified-name",
        "CREATE FUNCTION f() RETURNS bigint LANGUAGE sql AS $$ SELECT id FROM s0001.posts $$;",
    ),
    ("qualified-name", "DO $$ BEGIN PERFORM 1 FROM s0001.posts; END $$;"),
    ("outside-the-shard", "CREATE EXTENSION vector;"),
    ("outside-the-shard", "CREATE SCHEMA extras;"),
    ("session-setting", "SET work_mem = '1GB';"),
    ("session-setting", "SET LOCAL search_path = public;"),
    ("transaction-control", "COMMIT;"),
    ("transaction-control", "DO $$ BEGIN COMMIT; END $$;"),
    ("guard-off", "ALTER TABLE posts DISABLE TRIGGER ALL;"),
    ("unused-waiver", "-- waive: cascade because it was there once\nSELECT 1;"),
    ("unused-waiver", "-- waive: no-such-rule because it was there once\nSELECT 1;"),
]

PASSED = [
    "ALTER TABLE posts ADD COLUMN title text;",
    "ALTER TABLE posts ADD COLUMN made_at timestamptz NOT NULL DEFAULT now();",
    "ALTER TABLE posts ADD COLUMN tags text[] NOT NULL DEFAULT '{}';",
    "ALTER TABLE posts ADD COLUMN loud text GENERATED ALWAYS AS (upper(mood)) VIRTUAL;",
    "ALTER TABLE posts ALTER COLUMN caption TYPE varchar(200);",
    "ALTER TABLE posts ALTER COLUMN caption TYPE text;",
    "ALTER TABLE posts ADD CONSTRAINT short CHECK (length(mood) < 9) NOT VALID;",
    "ALTER TABLE posts ADD CONSTRAINT mood_set NOT NULL mood NOT VALID;",
    "ALTER TABLE posts ADD CONSTRAINT one_mood UNIQUE USING INDEX posts_mood;",
    "ALTER TABLE posts VALIDATE CONSTRAINT older;",
    "-- no-transaction\nCREATE INDEX CONCURRENTLY posts_caption ON posts (caption);",
    "-- no-transaction\nDROP INDEX CONCURRENTLY posts_caption;",
    "-- no-transaction\nREINDEX INDEX CONCURRENTLY posts_caption; VACUUM posts;",
    "ALTER TYPE mood ADD VALUE 'calm';",
    """CREATE TABLE likes (post_id bigint, position int, PRIMARY KEY (post_id, position));
    CREATE INDEX likes_position ON likes (position); ALTER TABLE likes ALTER COLUMN position SET NOT NULL;""",
    "CREATE TABLE likes (post_id bigint); ALTER TABLE likes ADD PRIMARY KEY (post_id);",
    "CREATE TABLE posts_2025 PARTITION OF posts FOR VALUES FROM (1) TO (2);",
    "CREATE TABLE copies (LIKE posts INCLUDING ALL);",
    "CREATE TABLE copies (LIKE posts INCLUDING INDEXES);",
    "CREATE TABLE copies (LIKE posts, PRIMARY KEY (id));",
    "CREATE TABLE copies (LIKE posts); ALTER TABLE copies ADD PRIMARY KEY (id);",
    "CREATE TABLE copies (LIKE made_elsewhere INCLUDING ALL);",
    "CREATE TABLE likes (post_id bigint PRIMARY KEY REFERENCES posts, posts integer, post_count int, poster int);",
    "CREATE TABLE likes (id bigint PRIMARY KEY, post bigint REFERENCES posts, grid int, paid int, id_hint text);",
    "CREATE TABLE kinds (code text PRIMARY KEY); CREATE TABLE t (id bigint PRIMARY KEY, kind text REFERENCES kinds);",
    "CREATE TABLE days (y int, d int, PRIMARY KEY (y, d)); CREATE TABLE t (id bigint PRIMARY KEY, day int);",
    "DO $$ BEGIN UPDATE posts SET mood = 'calm' WHERE mood = 'quiet'; PERFORM next_id(); END $$;",
    "DO $$ DECLARE n int; BEGIN SELECT count(*) INTO n FROM posts; RAISE NOTICE 'ALTER TABLE: %', n; END $$;",
    "DO $$ BEGIN EXECUTE format('UPDATE %I SET mood = %L WHERE id = $1', 'posts', 'x') USING 1; END $$;",
    "DO $$ BEGIN -- DROP TABLE posts;\n IF EXISTS (SELECT 'DROP TABLE' FROM posts) THEN NULL; END IF; END $$;",
    "DO $$ DECLARE c text := 'SELECT 1'; v posts%ROWTYPE; BEGIN EXECUTE c; EXECUTE format(); CALL p(); END $$;",
    "DO LANGUAGE plpython3u $$ plpy.info('nothing') $$;",
    "CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'CREATE TABLE x (n int)'; END $$;",
    "CREATE TEMP TABLE scratch ON COMMIT DROP AS SELECT 1 AS n;",
    "CREATE FUNCTION f() RETURNS bigint LANGUAGE sql AS $$ SELECT max(id) FROM posts $$;",
    "UPDATE posts SET mood = 'calm' WHERE mood = 'quiet';",
    "SET LOCAL work_mem = '64MB';",
    "SELECT shardwright.id_shard(1), common.something(), pg_catalog.lower('A');",
    "COMMENT ON COLUMN posts.mood IS 'how it felt';",
    "DROP TRIGGER IF EXISTS old ON posts;",
]


def write(folder: Path, *texts: str, kind: str = "shard") -> Path:
    (folder / kind).mkdir(exist_ok=True)
    for number, text in enumerate(texts, start=1):
        path = folder / kind / f"{number:04}_step.sql"
        path.write_text(text)
    return folder


def rules_found(folder: Path) -> set[str]:
    return {finding.rule for finding in lint(folder)}


@pytest.mark.parametrize(("rule", "sql"), REFUSED)
def test_the_linter_refuses(tmp_path: Path, rule: str, sql: str) -> None:
    write(tmp_path, OUTBOX, kind="server")
    findings = lint(write(tmp_path, POSTS, sql))

    assert rule in {finding.rule for finding in findings}, findings
    assert {finding.path.name for finding in findings} == {"0002_step.sql"}


@pytest.mark.parametrize("sql", PASSED)
def test_the_linter_accepts(tmp_path: Path, sql: str) -> None:
    assert lint(write(tmp_path, POSTS, sql)) == []


@pytest.mark.parametrize(("rule", "sql"), [case for case in REFUSED if case[0] != "unused-waiver"])
def test_a_waiver_with_a_reason_disables_a_rule_unless_it_cannot_be_waived(
    tmp_path: Path, rule: str, sql: str
) -> None:
    write(tmp_path, OUTBOX, kind="server")
    write(tmp_path, POSTS, sql)
    others = rules_found(tmp_path) - {rule}
    write(tmp_path, POSTS, f"-- waive: {rule} because nobody uses it yet\n{sql}")

    if rule in {"syntax", "concurrent-in-transaction", "transaction-control"}:
        assert rule in rules_found(tmp_path)
        assert "unused-waiver" in rules_found(tmp_path)
    else:
        assert rules_found(tmp_path) == others


def test_every_rule_has_an_example() -> None:
    assert {rule for rule, _ in REFUSED} == set(RULES)


def test_a_finding_has_file_line_rule_and_remedy(tmp_path: Path) -> None:
    write(tmp_path, f"-- Posts.\n\n{POSTS}\n\n/* Likes. */\nCREATE TABLE likes (n int);\n")

    (finding,) = lint(tmp_path)

    assert finding.line == 6
    assert str(finding).startswith(f"{tmp_path}/shard/0001_step.sql:6: missing-primary-key: likes has no")
    assert finding.advice in str(finding)


def test_a_validated_check_allows_not_null(tmp_path: Path) -> None:
    add = "ALTER TABLE posts ADD CONSTRAINT mood_set CHECK (mood IS NOT NULL) NOT VALID;"
    validate = "ALTER TABLE posts VALIDATE CONSTRAINT mood_set;"
    tighten = "ALTER TABLE posts ALTER COLUMN mood SET NOT NULL;"

    assert lint(write(tmp_path, POSTS, add, validate, tighten)) == []
    assert rules_found(write(tmp_path, POSTS, add, tighten, validate)) == {"not-null-unchecked"}


def test_server_migrations_may_use_sequences_but_not_name_shards(tmp_path: Path) -> None:
    outbox = "CREATE TABLE outbox (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY);"

    assert lint(write(tmp_path, outbox, "CREATE EXTENSION vector;", kind="server")) == []
    assert rules_found(write(tmp_path, "SELECT 1 FROM s0007.posts;", kind="server")) == {"qualified-name"}


def test_one_file_is_judged_together_with_those_before_it(tmp_path: Path) -> None:
    folder = write(tmp_path, POSTS, "ALTER TABLE posts ALTER COLUMN caption TYPE text;", "DROP TABLE posts;")

    assert lint(folder / "shard" / "0002_step.sql") == []
    assert [finding.rule for finding in lint(folder / "shard" / "0003_step.sql")] == [
        "breaks-previous-release"
    ]
    assert lint(folder / "shard") == lint(folder)


def test_a_path_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MigrationRefused, match="neither a migrations folder nor a migration"):
        lint(tmp_path / "nowhere")


def test_findings_say_what_refers_to_what_and_where(tmp_path: Path) -> None:
    write(
        tmp_path,
        f"""{POSTS}
CREATE TABLE likes (id bigint PRIMARY KEY, liked int REFERENCES posts);
CREATE TABLE copies (LIKE posts);
DO $$
BEGIN
    PERFORM 1;
    ALTER TABLE posts ADD COLUMN title text;
END
$$;
CREATE TABLE kinds (id bigint PRIMARY KEY REFERENCES common.names);
""",
    )

    assert [(each.line, each.rule, each.message) for each in lint(tmp_path)] == [
        (2, "narrow-id", "likes.liked is integer and refers to posts.id, which is bigint"),
        (3, "missing-primary-key", "copies has no primary key: it is a copy of posts without its key"),
        (4, "ddl-in-do", "a DO block executes ALTER TABLE posts ADD COLUMN title text"),
        (10, "foreign-key-outside-the-shard", "a foreign key refers to common.names"),
    ]


def test_rules_see_into_do_blocks_at_the_right_line(tmp_path: Path) -> None:
    write(tmp_path, POSTS, "-- waive: ddl-in-do because tests\nDO $$\nBEGIN\n  DROP TABLE posts;\nEND $$;")

    (finding,) = lint(tmp_path)

    assert (finding.line, finding.rule) == (4, "breaks-previous-release")
    assert finding.message == "in a DO block: table posts is dropped"


def test_a_single_file_knows_the_tables_of_the_servers(tmp_path: Path) -> None:
    write(tmp_path, OUTBOX, kind="server")
    write(tmp_path, "CREATE TABLE likes (id bigint PRIMARY KEY REFERENCES outbox);")

    assert [each.rule for each in lint(tmp_path / "shard" / "0001_step.sql")] == [
        "foreign-key-outside-the-shard"
    ]
    own = "CREATE TABLE outbox (id bigint PRIMARY KEY); CREATE TABLE likes (id bigint PRIMARY KEY REFERENCES outbox);"
    assert lint(write(tmp_path, own)) == []


def test_server_tables_may_refer_to_each_other(tmp_path: Path) -> None:
    write(
        tmp_path, OUTBOX, "CREATE TABLE sent (id bigint PRIMARY KEY REFERENCES common.outbox);", kind="server"
    )

    assert lint(tmp_path) == []
