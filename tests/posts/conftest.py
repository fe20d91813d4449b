"""What tests of posts share."""

from typing import Any

import pytest

from shardwright.running import calling, gathering, shards


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Every query that goes out, with the shard it reads."""
    seen: list[tuple[str, int]] = []
    call, run_on = calling.call, gathering._run_on

    async def note_call(routes: Any, number: int, query: Any, *rest: Any) -> Any:
        seen.append((query.name, number))
        return await call(routes, number, query, *rest)

    async def note_run(server: Any, pool: Any, numbers: Any, what: Any, args: Any) -> Any:
        seen.extend((what[0].name, number) for number in numbers)
        return await run_on(server, pool, numbers, what, args)

    monkeypatch.setattr(shards, "call", note_call)
    monkeypatch.setattr(gathering, "_run_on", note_run)
    return seen
