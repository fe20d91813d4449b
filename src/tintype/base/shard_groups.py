"""Groups what concerns many ids by shard, so that a batch needs one statement per shard instead of one per id."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

import asyncpg

from shardwright.routing import Query, Shard, Shards

T = TypeVar("T")


def group_by_shard(
    shards: Shards, items: Iterable[T], owner_id: Callable[[T], int]
) -> list[tuple[Shard, list[T]]]:
    """The items of each shard, in their order; `owner_id` names the id whose shard an item belongs to."""
    groups: dict[int, list[T]] = {}
    for item in items:
        groups.setdefault(shards.shard_of(owner_id(item)), []).append(item)
    return [(shards.shard(number), own) for number, own in sorted(groups.items())]


async def run_by_shard(
    shards: Shards,
    items: Iterable[T],
    owner_id: Callable[[T], int],
    run: Callable[[Shard, list[T]], Awaitable[None]],
) -> None:
    """Call `run` with the items of each shard, all shards at once.

    A shard that fails does not keep the others from being done; its error, or a group of several, is raised at the end.
    """
    groups = group_by_shard(shards, items, owner_id)
    if len(groups) == 1:
        await run(*groups[0])
        return
    ended = await asyncio.gather(*(run(*group) for group in groups), return_exceptions=True)
    failed = [each for each in ended if isinstance(each, BaseException)]
    if len(failed) == 1:
        raise failed[0]
    if failed:
        raise BaseExceptionGroup("several shards failed", failed)


async def gather_rows(shards: Shards, query: Query, ids: Sequence[int]) -> Sequence[asyncpg.Record]:
    """The rows of ids of existing shards, or the error of a server that did not answer.

    One id alone, the most frequent case, is a point read: a `hot` query is planned for it already, where a
    scatter-gather is planned each time.
    """
    if len(ids) == 1:
        return await shards.owner(ids[0]).fetch(query, ids=list(ids))
    return (await shards.gather(query, ids)).complete()


async def read_by_shard(shards: Shards, query: Query, ids: Iterable[int]) -> Sequence[asyncpg.Record]:
    """`gather_rows` for a `hot` query that is expensive to plan: a read of each shard, all at once.

    A scatter-gather is one round trip and plans the query for every shard, about 1 ms each where subqueries build JSON.
    For a look-up by key it is the cheaper way: the round trips outweigh the planning.
    """
    rows: list[asyncpg.Record] = []

    async def read(shard: Shard, own: list[int]) -> None:
        rows.extend(await shard.fetch(query, ids=own))

    await run_by_shard(shards, ids, int, read)
    return rows
