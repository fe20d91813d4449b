"""The last shard map on disk: whole or not at all, private, and only of its own directory."""

import dataclasses
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardwright.ids import Layout
from shardwright.topology import Directory, MapFile, Server, ShardMap

DSN = "postgresql://app:secret@db1,db2/app"
MAP = ShardMap(
    version=7,
    layout=Layout(1_700_000_000_000),
    servers={
        "a": Server("a", "postgresql://db1/app", 2.0, accepts_new=False, replicas=("db2:5433",)),
        "b": Server("b", "postgresql://db3/app"),
    },
    owners={0: "a", 1: "b", 2: "a"},
    weights={1: 0.0},
    lookup_shards=2,
)


def test_a_map_is_read_as_it_was_written_by_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "map.json"
    MapFile(path, DSN).write(MAP)
    MapFile(path, DSN).write(dataclasses.replace(MAP, version=8))

    assert MapFile(path, "postgresql://other:login@db1,db2/app").read() == dataclasses.replace(MAP, version=8)
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(path.parent.iterdir()) == [path]
    assert "secret" not in path.read_text()


async def test_of_several_maps_that_arrive_at_once_the_last_is_in_the_file(tmp_path: Path) -> None:
    file = MapFile(tmp_path / "map.json", DSN)
    directory = Directory(DSN, {}, file)
    for version in (8, 9, 10, 10):
        directory._write_later(dataclasses.replace(MAP, version=version))
    await directory.close()

    assert file.read() == dataclasses.replace(MAP, version=10)


@given(st.dictionaries(st.integers(0, 8191), st.sampled_from(["a", "b"])))
def test_every_placement_of_shards_survives(
    tmp_path_factory: pytest.TempPathFactory, owners: dict[int, str]
) -> None:
    file = MapFile(tmp_path_factory.mktemp("maps") / "map.json", DSN)
    file.write(dataclasses.replace(MAP, owners=owners))

    found = file.read()
    assert found is not None
    assert found.owners == owners


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format":1}', "\udcff", "not json"])
def test_what_cannot_be_read_is_no_map(
    tmp_path: Path, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "map.json"
    assert MapFile(path, DSN).read() is None
    assert not caplog.records
    path.write_bytes(content.encode(errors="surrogateescape"))

    assert MapFile(path, DSN).read() is None
    assert "map_file.unreadable" in caplog.text


def test_a_map_of_another_directory_or_format_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    MapFile(path, DSN).write(MAP)
    assert MapFile(path, "postgresql://app:secret@db9/app").read() is None
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 2}))

    assert MapFile(path, DSN).read() is None


def test_a_file_that_cannot_be_written_is_logged_and_leaves_nothing_behind(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    MapFile(tmp_path / "file" / "map.json", DSN).write(MAP)
    (tmp_path / "taken" / "map.json").mkdir(parents=True)
    MapFile(tmp_path / "taken" / "map.json", DSN).write(MAP)

    assert caplog.text.count("map_file.not_written") == 2
    assert [each.name for each in (tmp_path / "taken").iterdir()] == ["map.json"]
