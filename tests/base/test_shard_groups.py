import pytest

from shardwright.routing import Shard
from tintype.base.shard_groups import group_by_shard, run_by_shard
from tintype.wiring import Rooms


def test_items_are_grouped_by_the_shard_of_an_id(rooms: Rooms) -> None:
    ids = _ids(rooms, 2, 1, 2)

    groups = group_by_shard(rooms.shards, ids, lambda each: each)

    assert [(shard.number, own) for shard, own in groups] == [(1, [ids[1]]), (2, [ids[0], ids[2]])]


async def test_a_shard_that_fails_does_not_stop_the_others(rooms: Rooms) -> None:
    done: list[int] = []

    async def fail_on_one(shard: Shard, _own: list[int]) -> None:
        if shard.number == 1:
            raise ValueError("no")
        done.append(shard.number)

    with pytest.raises(ValueError, match="no"):
        await run_by_shard(rooms.shards, _ids(rooms, 1, 2, 3), lambda each: each, fail_on_one)

    assert done == [2, 3]


async def test_the_errors_of_several_shards_are_raised_together(rooms: Rooms) -> None:
    async def fail(shard: Shard, _own: list[int]) -> None:
        raise ValueError(f"no {shard.number}")

    with pytest.raises(ExceptionGroup) as raised:
        await run_by_shard(rooms.shards, _ids(rooms, 1, 2), lambda each: each, fail)

    assert [str(each) for each in raised.value.exceptions] == ["no 1", "no 2"]


def _ids(rooms: Rooms, *shards: int) -> list[int]:
    return [rooms.shards.map.layout.compose(10_000 + at, shard, 0) for at, shard in enumerate(shards)]
