"""Moves whose old copies are kept: the supervisor ends them in time, and says until when it keeps them."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from shardwright.moves import Mover, Step
from shardwright.topology import Directory
from tests.stack.conftest import execute, fetch_value, setup_alone
from tests.support import eventually
from tintype.base.errors import SettingsInvalid
from tintype.base.settings import Settings
from tintype.cli import migrate
from tintype.schema import end_moves
from tintype.stack import (
    Connections,
    Stack,
    StackPlan,
    Verdict,
    check_moves,
    kept_moves,
    read_move_status,
)

_HAS_COPY = "SELECT to_regnamespace('s0000') IS NOT NULL"
_SLOTS = "SELECT count(*) FROM pg_replication_slots"


@pytest.mark.slow
async def test_the_supervisor_ends_a_move_when_it_is_due_and_a_migration_on_request(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_moves, "LOOK_EVERY_S", 0.1)
    monkeypatch.setattr(kept_moves, "TEND_EVERY_S", 0.1)
    monkeypatch.setenv("TINTYPE_SHARD_COUNT", "2")
    plan = StackPlan(home=home, durable=False, http_port=0, postgres_servers=2, role_prefix="tintype")
    async with Stack.from_plan(plan, applications=setup_alone) as stack:
        admin, runtime = stack.connections.postgres_admin, stack.connections.postgres
        directory = await Directory.open(
            stack.connections.postgres_migrator[0], dsns={"pg1": admin[0], "pg2": admin[1]}
        )
        mover = Mover(directory)
        old = (await directory.load()).owners[0]
        copy = admin[int(old.removeprefix("pg")) - 1]

        kept = await mover.start([0], "pg1" if old == "pg2" else "pg2", keep_s=3600)
        [status] = await read_move_status(runtime[0])
        assert status.until is not None
        assert status.until > datetime.now(UTC) + timedelta(minutes=50)
        assert f"server {old} keeps the old copies until" in status.what
        assert "`tintype shards move back" in status.what
        assert [each.verdict for each in check_moves([status], is_tended=True)] == [Verdict.OK]
        [untended] = check_moves([status], is_tended=False)
        assert "postgres_admin" in untended.fix

        async def is_tended() -> bool:
            [move] = await mover.moves()
            return move.attempt > kept.attempt

        await eventually(is_tended, what="the supervisor looks after the old copies")
        assert await fetch_value(copy, _HAS_COPY)

        await execute(
            stack.connections.postgres_migrator[0],
            """UPDATE shardwright_directory.moves SET details = details || '{"keep_s": 0}'""",
        )

        async def has_ended() -> bool:
            return await mover.moves() == []

        await eventually(has_ended, what="the supervisor ends the move")
        [ended] = await mover.moves(ended=True)
        assert ended.step is Step.DONE
        assert not await fetch_value(copy, _HAS_COPY)
        assert [await fetch_value(dsn, _SLOTS) for dsn in admin] == [0, 0]

        again = await mover.start([0], old, keep_s=3600)
        settings = _settings(home, stack.connections)
        await execute(copy, "DELETE FROM s0000.schema_version")  # as if this release had migrations for it
        with pytest.raises(SettingsInvalid, match=f"move finish {again.id}.*--finish-moves"):
            await migrate.migrate_databases(settings, 0, finish_moves=False)
        assert await end_moves(settings, kept=False) == []
        assert await end_moves(settings, kept=True) == [again.id]
        await directory.close()


def _settings(home: Path, found: Connections) -> Settings:
    return Settings(
        home=home,
        postgres=found.postgres,
        postgres_migrator=found.postgres_migrator,
        postgres_admin=found.postgres_admin,
        redis=found.redis,
        nats=found.nats,
        shard_count=2,
    )
