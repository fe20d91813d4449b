"""Fixtures of the tests of posts."""

from typing import Any

import pytest

from shardwright.routing import execute, scatter_gather, shard


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Every query that is sent, with the shard it reads."""
    seen: list[tuple[str, int]] = []
    execute_on_shard, run_on = execute.execute_on_shard, scatter_gather._run_on

    async def record_call(router: Any, number: int, query: Any, *rest: Any) -> Any:
        seen.append((query.name, number))
        return await execute_on_shard(router, number, query, *rest)

    async def record_run(server: Any, pool: Any, numbers: Any, what: Any, args: Any) -> Any:
        seen.extend((what[0].name, number) for number in numbers)
        return await run_on(server, pool, numbers, what, args)

    monkeypatch.setattr(shard, "execute_on_shard", record_call)
    monkeypatch.setattr(scatter_gather, "_run_on", record_run)
    return seen
