"""Validation of a migrations folder."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardwright.errors import MigrationRefused
from shardwright.migrations import Folder


def put(folder: Path, name: str, text: str = "SELECT 1;") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return folder


def test_files_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("shard/0002_b.sql", "shard/0001_a.sql", "server/0001_outbox.sql"):
        put(tmp_path, name)

    folder = Folder.load(tmp_path)

    assert [str(migration) for migration in folder.shard] == ["shard/0001_a", "shard/0002_b"]
    assert [str(migration) for migration in folder.of("server")] == ["server/0001_outbox"]


def test_one_kind_may_be_missing(tmp_path: Path) -> None:
    assert Folder.load(put(tmp_path, "shard/0001_a.sql")).server == ()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["shard/0001_a.sql", "shard/0003_c.sql"], "shard/0003_c comes where number 0002 was expected"),
        (["shard/0002_a.sql"], "comes where number 0001 was expected"),
        (["shard/0001_a.sql", "shard/0001_b.sql"], "shard/0001_a and shard/0001_b share a number"),
        (["shard/1_a.sql"], "named like"),
        (["shard/0001_Add Likes.sql"], "named like"),
        (["readme.md"], "neither shard/ nor server/"),
    ],
)
def test_a_folder_out_of_order_is_refused(tmp_path: Path, names: list[str], message: str) -> None:
    for name in names:
        put(tmp_path, name)

    with pytest.raises(MigrationRefused, match=message):
        Folder.load(tmp_path)


def test_headers_say_how_a_file_is_run(tmp_path: Path) -> None:
    text = "-- no-transaction\n-- statement-timeout: 30min\n-- waive: cascade because tests\nSELECT 1;"

    (migration,) = Folder.load(put(tmp_path, "shard/0001_a.sql", text)).shard

    assert not migration.is_transactional
    assert migration.statement_timeout == "30min"
    assert [(waiver.rule, waiver.reason, waiver.line) for waiver in migration.waivers] == [
        ("cascade", "tests", 3)
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("-- waive: cascade", r"0001_a.sql:1: write `-- waive: <rule> because <reason>`"),
        ("SELECT 1;\n-- waive: cascade because ", r"0001_a.sql:2: write"),
        ("-- statement-timeout: long", "with ms, s, min or h"),
    ],
)
def test_a_header_that_cannot_be_read_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(MigrationRefused, match=message):
        Folder.load(put(tmp_path, "shard/0001_a.sql", text))


def checksum(folder: Path, text: str) -> str:
    return Folder.load(put(folder, "shard/0001_a.sql", text)).shard[0].checksum


def test_a_waiver_or_another_line_ending_leaves_the_checksum_alone(tmp_path: Path) -> None:
    plain = checksum(tmp_path, "-- A table.\nCREATE TABLE a ();\n")

    assert checksum(tmp_path, "-- A table.\r\nCREATE TABLE a ();\r\n") == plain
    assert checksum(tmp_path, "-- A table.\n-- waive: cascade because x\nCREATE TABLE a ();\n") == plain
    assert checksum(tmp_path, "-- no-transaction\n-- A table.\nCREATE TABLE a ();\n") != plain


@given(st.text(st.characters(codec="utf-8", exclude_characters="\r")), st.integers(0, 200))
@pytest.mark.slow
def test_any_other_edit_changes_the_checksum(
    tmp_path_factory: pytest.TempPathFactory, text: str, place: int
) -> None:
    folder = tmp_path_factory.mktemp("edits")
    text = f"SELECT '{text}';"
    cut = min(place, len(text) - 1)

    assert checksum(folder, text) != checksum(folder, f"{text[:cut]}x{text[cut:]}")
