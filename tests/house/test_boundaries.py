"""Front doors and table ownership hold in the tree, and the check that says so can fail."""

import re
from pathlib import Path

import pytest

from develop import boundaries
from develop.boundaries import Ownership, TableUse, find_breaches, find_door_breaches, tables_in
from tintype.schema import SCHEMA_FILE

OWNERSHIP = Ownership({"posts": "posts", "accounts": "accounts", "media": "media"}, frozenset())


@pytest.mark.slow
def test_rooms_use_front_doors_and_write_only_their_own_tables() -> None:
    assert find_breaches() == []


def test_every_table_has_an_owner_that_is_a_room() -> None:
    owners = Ownership.load().owners
    tables = set(re.findall(r"CREATE TABLE (?:common\.)?(\w+)", SCHEMA_FILE.read_text()))

    assert set(owners) == tables
    assert {
        room for room in owners.values() if not (boundaries.PACKAGE / room / "__init__.py").exists()
    } == set()


def test_sql_is_read_for_tables_in_joins_lists_and_nested_writes() -> None:
    sql = """
    WITH moved AS (UPDATE accounts SET post_count = post_count + 1 RETURNING id) -- FROM media
    INSERT INTO posts SELECT 'from media' FROM moved, media AS m;
    """

    assert set(tables_in(sql, "feed", OWNERSHIP)) == {
        TableUse("feed", "accounts", is_write=True),
        TableUse("feed", "posts", is_write=True),
        TableUse("feed", "media", is_write=False),
    }


def test_an_import_past_a_front_door_is_found(tmp_path: Path) -> None:
    package = tmp_path / "src" / "tintype"
    for room in ("posts", "feed", "base"):
        (package / room).mkdir(parents=True)
        (package / room / "__init__.py").write_text('"""A room."""\n')
    (package / "feed" / "read.py").write_text(
        "from tintype.posts.store import QUERIES\nfrom tintype.posts import Posts\nimport tintype.base.log\n"
    )

    assert [each.split("tintype/")[-1] for each in find_door_breaches(package, tmp_path)] == [
        "feed/read.py:1 tintype.posts.store"
    ]
