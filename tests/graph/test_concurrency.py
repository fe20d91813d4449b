"""Fifty clients at once on the same few targets, with the worker killed under them."""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable

import pytest
from httpx import AsyncClient

from tests.living_stack import LivingStack
from tests.support import eventually, join

FANS, CLIENTS_EACH, STEPS = 10, 5, 24
CLIENTS = FANS * CLIENTS_EACH


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_after_fifty_clients_at_once_counts_equal_rows_and_both_sides_agree(
    living_stack: LivingStack,
) -> None:
    stack = living_stack
    async with AsyncClient(base_url=stack.address, timeout=60) as client:
        stars = [await join(client, f"star_{each}") for each in range(2)]
        fans = [await join(client, f"fan_{each}") for each in range(FANS)]
        posts = [(await star.publish())["post_id"] for star in stars]
        answers: Counter[int] = Counter()
        done = 0

        async def use(number: int) -> None:
            nonlocal done
            fan, chance = fans[number % FANS], random.Random(number)  # noqa: S311 - a schedule
            for _ in range(STEPS):
                star = chance.randrange(2)
                target = f"/accounts/{stars[star].account_id}/follow"
                path = chance.choice([target, target, f"/posts/{posts[star]}/like"])
                answer = await fan.call(chance.choice(["PUT", "DELETE"]), path)
                answers[answer.status_code] += 1
                done += 1

        async def kill() -> None:
            for share in (1, 2):
                await eventually(
                    _reached(lambda: done, CLIENTS * STEPS * share // 3), what="a third more", patience_s=300
                )
                await stack.kill("worker")

        await asyncio.gather(kill(), *(use(each) for each in range(CLIENTS)))

    assert answers == {204: CLIENTS * STEPS}
    assert stack.crashes() == []
    assert stack.killed == ["worker", "worker"]
    await eventually(_settled(stack), what="counts equal rows on both sides", patience_s=90)


def _reached(count: Callable[[], int], goal: int) -> Callable[[], Awaitable[bool]]:
    async def is_reached() -> bool:
        return count() >= goal

    return is_reached


def _settled(stack: LivingStack) -> Callable[[], Awaitable[bool]]:
    async def is_settled() -> bool:
        if await stack.rows("SELECT 1 WHERE common.count_waiting_events() > 0"):
            return False
        truth = await stack.rows("SELECT account_id, followee_id FROM {schema}.following")
        mirror = await stack.rows("SELECT follower_id, account_id FROM {schema}.followers WHERE is_active")
        pairs = {(row[0], row[1]) for row in truth}
        followers, following = Counter(pair[1] for pair in pairs), Counter(pair[0] for pair in pairs)
        likes = Counter(row[0] for row in await stack.rows("SELECT post_id FROM {schema}.likes"))
        accounts = await stack.rows("SELECT id, follower_count, following_count FROM {schema}.accounts")
        counted = await stack.rows("SELECT id, like_count FROM {schema}.posts")
        return (
            pairs == {(row[0], row[1]) for row in mirror}
            and all((row[1], row[2]) == (followers[row[0]], following[row[0]]) for row in accounts)
            and all(row[1] == likes[row[0]] for row in counted)
        )

    return is_settled
