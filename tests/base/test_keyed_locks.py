"""Locks by key."""

import asyncio
import gc

from tintype.base.keyed_locks import KeyedLocks


async def test_work_on_one_key_waits_for_each_other_and_work_on_others_does_not() -> None:
    locks: KeyedLocks[str] = KeyedLocks()
    order: list[str] = []
    may_end = asyncio.Event()

    async def first() -> None:
        async with locks.of("a"):
            await may_end.wait()
            order.append("first")

    async def second() -> None:
        async with locks.of("a"):
            order.append("second")

    async def other() -> None:
        async with locks.of("b"):
            order.append("other")
            may_end.set()

    await asyncio.gather(first(), second(), other())

    assert order == ["other", "first", "second"]


async def test_a_lock_that_nobody_uses_is_forgotten() -> None:
    locks: KeyedLocks[str] = KeyedLocks()
    async with locks.of("a"):
        pass
    gc.collect()

    assert len(locks) == 0
