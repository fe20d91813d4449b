"""After a promotion: the promoted replica is the server, its siblings follow it, and nothing is lost or taken twice."""

from contextlib import suppress
from pathlib import Path

import pytest
from asyncpg import PostgresError

from tests.stack.conftest import execute, fetch_value
from tests.support import eventually
from tintype.stack import Connections, DataDirectory, ReplicaState, Stack, StackPlan, read_replicas
from tintype.stack import replica as replica_module
from tintype.stack.applications import no_programs
from tintype.stack.replica_data import adopt_promoted


def _replicas(found: Connections) -> list[str]:
    return [each.partition("=")[2] for each in found.postgres_replicas]


async def _until_following(found: Connections, replica: str) -> None:
    async def follows() -> bool:
        (status,) = await read_replicas({"pg1": found.postgres[0]}, {"pg1": [replica]})
        return status.state is ReplicaState.FOLLOWING and status.lag_bytes == 0

    await eventually(follows, what="the replica follows")


async def _has_table(dsn: str, name: str) -> bool:
    return await fetch_value(dsn, f"SELECT to_regclass('{name}')") is not None


@pytest.mark.slow
async def test_siblings_follow_a_promoted_replica_even_if_they_went_on_with_the_old_primary(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica_module, "WATCH_EVERY_S", 0.3)
    plan = StackPlan(home=home, durable=False, http_port=0, replica_count=2)
    async with Stack.from_plan(plan, applications=no_programs) as stack:
        found = stack.connections
        first, second = _replicas(found)
        await fetch_value(first, "SELECT pg_promote()")
        await execute(first, "CREATE TABLE newest AS SELECT 42 AS answer")
        await execute(found.postgres[0], "CREATE TABLE abandoned ()")
        await _until_following(found, second)
        assert await _has_table(second, "abandoned")

    async with Stack.from_plan(plan, applications=no_programs) as stack:
        found = stack.connections
        assert await fetch_value(found.postgres[0], "SELECT answer FROM newest") == 42

        async def is_right(replica: str) -> bool:
            with suppress(OSError, PostgresError):  # it is made anew
                return await _has_table(replica, "newest") and not await _has_table(replica, "abandoned")
            return False

        for replica in _replicas(found):
            await eventually(
                lambda replica=replica: is_right(replica), what="it has what is new, and nothing else"
            )
        # Its sibling has not gone on this time: it follows without being copied.
        first, second = _replicas(found)
        await fetch_value(second, "SELECT pg_promote()")
        await execute(second, "CREATE TABLE newer ()")
    copied_at = (home / "postgres-1-replica-1" / "data" / "PG_VERSION").stat().st_ino

    async with Stack.from_plan(plan, applications=no_programs) as stack:
        found = stack.connections
        await _until_following(found, _replicas(found)[0])
        assert await _has_table(_replicas(found)[0], "newer")
    assert (home / "postgres-1-replica-1" / "data" / "PG_VERSION").stat().st_ino == copied_at
    assert "never got" in (home / "logs" / "tintype.log").read_text()


def _make_data(folder: Path, timeline: int, *, is_standby: bool = False) -> None:
    wal = folder / "data" / "pg_wal"
    wal.mkdir(parents=True)
    (folder / "data" / "PG_VERSION").write_text("18")
    for number in range(2, timeline + 1):
        (wal / f"{number:08X}.history").touch()
    if is_standby:
        (folder / "data" / "standby.signal").touch()


def test_of_two_promoted_replicas_one_becomes_the_server_and_both_others_are_kept(tmp_path: Path) -> None:
    home = DataDirectory(tmp_path)
    _make_data(home.postgres(1), 1)
    _make_data(home.replica(1, 1), 2)
    _make_data(home.replica(1, 2), 3)
    _make_data(home.replica(1, 3), 1, is_standby=True)

    notes = adopt_promoted(home, 1)

    assert (home.postgres(1) / "data" / "pg_wal" / "00000003.history").exists()
    assert not (tmp_path / "postgres-1.former-1" / "data" / "pg_wal" / "00000002.history").exists()
    assert (tmp_path / "postgres-1.former-2" / "data" / "pg_wal" / "00000002.history").exists()
    assert [each.name for each in home.replicas(1)] == ["postgres-1-replica-3"]
    assert len(notes) == 2
    assert adopt_promoted(home, 1) == []


def test_one_promoted_beside_the_server_does_not_replace_it(tmp_path: Path) -> None:
    home = DataDirectory(tmp_path)
    _make_data(home.postgres(1), 2)
    _make_data(home.replica(1, 2), 2)

    (note,) = adopt_promoted(home, 1)

    assert "beside what is the server now" in note
    assert home.postgres(1).exists()
    assert home.replicas(1) == []
    assert (tmp_path / "postgres-1.former-1").exists()


def test_an_adoption_that_was_interrupted_is_finished(tmp_path: Path) -> None:
    home = DataDirectory(tmp_path)
    _make_data(home.replica(1, 1), 2)

    assert len(adopt_promoted(home, 1)) == 1
    assert home.postgres(1).exists()
