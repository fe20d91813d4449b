"""Named queries: parsing of parameters, traits and comments."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardwright.errors import SetupInvalid
from shardwright.routing import Queries, Query
from shardwright.routing.sql_lexer import tokenize


def parse(sql: str) -> Query:
    return Query.parse("it", sql)


def test_parameters_are_numbered_in_order_of_appearance() -> None:
    query = parse("SELECT * FROM t WHERE a = :b AND c=:a OR d > :b;")

    assert query.sql == "SELECT * FROM t WHERE a = $1 AND c=$2 OR d > $1"
    assert query.parameters == ("b", "a")
    assert query.bind({"a": 1, "b": 2}) == (2, 1)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT x::text FROM t",
        "SELECT '12:30 :no', E'it\\'s :no', U&'\\0061 :no' FROM t",
        "SELECT 'it''s :no' FROM t",
        'SELECT "odd:name" FROM t',
        "SELECT $$ :no $$, $tag$ :no $$ :no $tag$ FROM t",
        "SELECT a[1:2], a[lo:hi], a[f(1):hi], b[2][1:n] FROM t",
        "SELECT x FROM t WHERE y = CAST('1' AS int)::bigint",
        "SELECT proc(a := 1) FROM t",
    ],
)
def test_what_only_looks_like_a_parameter_is_left_alone(sql: str) -> None:
    query = parse(sql)

    assert query.parameters == ()
    assert query.sql == sql


def test_comments_are_dropped_and_hide_parameters() -> None:
    query = parse("SELECT a -- :no\n FROM t /* :no /* nested :no */ :no */ WHERE b = :yes")

    assert query.parameters == ("yes",)
    assert ":no" not in query.sql


def test_a_parameter_may_be_cast_and_may_bound_a_slice() -> None:
    assert parse("SELECT :a::bigint").sql == "SELECT $1::bigint"
    assert parse("SELECT x[1 : :n]").sql == "SELECT x[1 : $1]"


@given(st.text(alphabet="abc:'\"$-/*[]() \n;1", max_size=40))
def test_tokens_joined_give_the_text_again(text: str) -> None:
    try:
        tokens = list(tokenize(text))
    except SetupInvalid:
        return  # something is never closed
    assert "".join(token.text for token in tokens) == text


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0")))
def test_nothing_within_a_string_is_a_parameter(text: str) -> None:
    quoted = text.replace("'", "''")

    assert parse(f"SELECT '{quoted}', :real").parameters == ("real",)


@pytest.mark.parametrize(
    ("sql", "writes"),
    [
        ("SELECT 1", False),
        ("WITH x AS (SELECT 1) SELECT * FROM x", False),
        ("VALUES (1)", False),
        ("SELECT 'insert' AS insertion", False),
        ("INSERT INTO t VALUES (1)", True),
        ("WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x", True),
        ("SELECT * FROM t FOR UPDATE", True),
        ("SELECT * FROM t FOR KEY SHARE", True),
        ("MERGE INTO t USING s ON true WHEN MATCHED THEN DO NOTHING", True),
    ],
)
def test_reads_are_distinguished_from_writes(sql: str, writes: bool) -> None:  # a column of the table
    assert parse(sql).writes is writes


def test_traits_follow_the_name() -> None:
    queries = Queries.parse(
        "-- name: draw writes\nSELECT draw();\n-- name: look hot\nSELECT 1 AS one;\n-- name: drop hot\nDELETE FROM t"
    )

    assert (queries.draw.writes, queries.draw.is_hot) == (True, False)
    assert (queries.look.writes, queries.look.is_hot) == (False, True)
    assert (queries.drop.writes, queries.drop.is_hot) == (True, True)


def test_a_file_holds_queries_with_their_comments(tmp_path: Path) -> None:
    file = tmp_path / "queries.sql"
    file.write_text("-- a heading\n\n-- name: like\n-- Once.\n-- Really.\nINSERT INTO likes VALUES (:a);\n")
    queries = Queries.load(file)

    assert [query.name for query in queries] == ["like"]
    assert len(queries) == 1
    assert queries.like.comment == "Once. Really."
    with pytest.raises(AttributeError, match="no query is named hate"):
        _ = queries.hate


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("-- name: a\nSELECT 1;\n-- name: a\nSELECT 2;", "two queries"),
        ("-- name: a\n-- nothing\n", "empty"),
        ("-- name: a\nSELECT 1; SELECT 2;", "more than one statement"),
        ("-- name: a\nSELECT $1", "numbered"),
        ("-- name: 1a\nSELECT 1", "identifier"),
        ("-- name: a quickly\nSELECT 1", "unknown traits"),
        ("-- name: a\nSELECT 'open", "never closed"),
        ("-- name: a\nSELECT $$ open", "never closed"),
        ("-- name: a\nSELECT 1 /* open", "never closed"),
    ],
)
def test_invalid_sql_files_are_refused(text: str, reason: str) -> None:
    with pytest.raises(SetupInvalid, match=reason):
        Queries.parse(text)


def test_every_parameter_must_be_given_and_no_other() -> None:
    query = parse("SELECT :a, :b")

    with pytest.raises(SetupInvalid, match=r"missing parameters \['b'\], unknown \['c'\]"):
        query.bind({"a": 1, "c": 2})
    with pytest.raises(SetupInvalid, match=r"missing parameters \[\], unknown \['c'\]"):
        query.bind({"a": 1, "b": 2, "c": 3})


def test_a_text_without_queries_holds_none() -> None:
    assert len(Queries.parse("-- nothing yet\n")) == 0


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM posts",
        "SELECT DISTINCT * FROM posts",
        "SELECT DISTINCT ON (id) * FROM posts ORDER BY id",
        "SELECT id, * FROM posts",
        "SELECT p.* FROM posts AS p",
        "SELECT p . /* all */ * FROM posts AS p",
        "SELECT id FROM posts UNION ALL (SELECT * FROM posts)",
        "WITH p AS (SELECT * FROM posts) SELECT id FROM p",
        "INSERT INTO posts (id) VALUES (:id) RETURNING *",
        "UPDATE posts SET id = 1 RETURNING posts.*",
        "DELETE FROM posts RETURNING old.*",
        "TABLE posts",
        "SELECT id FROM (TABLE posts) AS p",
    ],
)
def test_columns_that_depend_on_the_shard_are_refused(sql: str) -> None:
    with pytest.raises(SetupInvalid, match=r"query all_of_it selects .*: list its columns by name"):
        Queries.parse(f"-- name: all_of_it\n{sql};")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) AS posts FROM posts",
        "SELECT 2 * id AS twice, (id) * 3 AS thrice, id*4 AS more FROM posts",
        "SELECT (SELECT max(id) FROM posts) * (2) AS twice",
        "SELECT id FROM posts AS p WHERE EXISTS (SELECT * FROM likes WHERE post_id = p.id)",
        "SELECT id, '*' AS star, 'SELECT *' AS text /* SELECT * */ FROM posts -- , *",
        "SELECT id FROM posts WHERE caption ~* 'x' AND id = ALL(:ids)",
        "SELECT count(*) FILTER (WHERE id > 1) * 2 AS n FROM posts",
    ],
)
def test_other_stars_are_not_columns(sql: str) -> None:
    assert len(Queries.parse(f"-- name: fine\n{sql};")) == 1
