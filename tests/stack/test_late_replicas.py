"""A replica whose first copy takes long: nothing waits for it, and it is read from as soon as it is ready."""

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from shardwright.topology import Directory
from tests.stack.conftest import setup_alone, until
from tests.support import eventually
from tintype.stack import Connections, Program, Stack, StackPlan, Stage, supervisor
from tintype.stack import replica as replica_module
from tintype.stack.state import Phase


async def _replicas_in_map(found: Connections) -> tuple[str, ...]:
    directory = await Directory.open(found.postgres_admin[0])
    try:
        return (await directory.load()).servers["pg1"].replicas
    finally:
        await directory.close()


def _setup_that_fails_at_first(home: Path, connections: Connections) -> list[Program]:
    """The same programs, but replicas are not made known before the third attempt."""
    tries = f"""echo >> '{home}/tries'; [ $(wc -l < '{home}/tries') -ge 3 ] && exec "$@"; exit 1"""
    return [
        replace(each, command=("/bin/sh", "-c", tries, "-", *each.command))
        if each.stage is Stage.REPLICA_SETUP
        else each
        for each in setup_alone(connections)
    ]


@pytest.mark.slow
async def test_a_replica_enters_the_map_by_itself_whenever_it_is_ready(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_copy, copy_primary = asyncio.Event(), replica_module.copy_primary

    async def copy_later(*args: object, **options: object) -> None:
        await may_copy.wait()
        await copy_primary(*args, **options)  # type: ignore[arg-type]  # handed on as they came

    monkeypatch.setattr(replica_module, "copy_primary", copy_later)
    monkeypatch.setattr(supervisor, "_WAIT_FOR_REPLICAS_S", 0.1)
    monkeypatch.setattr(supervisor, "_REPEAT_S", 0.1)
    monkeypatch.setenv("TINTYPE_SHARD_COUNT", "2")
    plan = StackPlan(home=home, durable=False, http_port=0, replica_count=2, role_prefix="tintype")
    async with Stack.from_plan(plan, applications=partial(_setup_that_fails_at_first, home)) as stack:
        found = stack.connections
        assert await _replicas_in_map(found) == ()

        may_copy.set()

        async def are_known() -> bool:
            return len(await _replicas_in_map(found)) == 2

        await eventually(are_known, what="both replicas are in the map")
        await until(
            lambda: any(
                each.phase is Phase.DONE and each.name == "enter-replicas" for each in stack.processes
            )
        )
        assert len((home / "tries").read_text().splitlines()) == 3
    assert "not all replicas are in use yet" in (home / "logs" / "tintype.log").read_text()
