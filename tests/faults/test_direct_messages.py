"""Direct messages while everything is killed: what was acknowledged is stored once, in order, and shown to everybody.

The long run has 50 clients in 20 threads and 60 kills; `DIRECT_FAULT_SEED` repeats one.

    DIRECT_ALL_FAULTS=1 ./tintype test all -- -n 0 -s tests/faults/test_direct_messages.py
"""

import asyncio
import os
import random
import secrets
import time
from collections import Counter
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass

import pytest
from httpx import AsyncClient

from tests.direct.support import open_group, open_pair
from tests.faults.phones import Message, Phone, View
from tests.living_stack import LivingStack, open_living_stack
from tests.support import Person, eventually, join

pytestmark = [
    pytest.mark.slow,
    # paho leaves the socket of a refused handshake to the garbage collector.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
NO_REFUSALS = "all=1000000000/60"
PARTS = ("nats", "redis", "worker", "web", "postgres-1", "postgres-2")
PAUSE_S = (0.5, 3.0)
UNDISTURBED = 0.5
"""The share of kills that wait until everything has recovered from the last one."""
RECOVERED_S = 15.0
SETTLED_S = 300.0
SECOND_DEVICES = 5
"""One client in so many is the second device of somebody."""
OVER_WEBSOCKET = 4
"""One client in so many connects over WebSocket."""


@dataclass(frozen=True)
class Size:
    """How large a run is."""

    clients: int
    threads: int
    kills: int


IS_LONG = bool(os.environ.get("DIRECT_ALL_FAULTS"))
SIZE = Size(50, 20, 60) if IS_LONG else Size(10, 5, 6)


@pytest.mark.timeout(3_600 if IS_LONG else 900)
async def test_whatever_is_killed_every_acknowledged_message_is_stored_once_and_everybody_sees_it() -> None:
    seed = int(os.environ.get("DIRECT_FAULT_SEED") or (secrets.randbelow(10**6) if IS_LONG else 7))
    print(f"DIRECT_FAULT_SEED={seed}")  # noqa: T201 - shown when it fails
    chance = random.Random(seed)  # noqa: S311 - a schedule, not a secret
    async with AsyncExitStack() as exits:
        stack = await exits.enter_async_context(
            open_living_stack(realtime="true", rate_limits=NO_REFUSALS, shard_count="4")
        )
        http = await exits.enter_async_context(AsyncClient(base_url=stack.address, timeout=20))
        phones = await _make_phones(stack, http, chance)
        stop = asyncio.Event()
        using = [asyncio.create_task(each.use(stop)) for each in phones]
        killed = await _kill_at_random(stack, chance)
        started = time.monotonic()
        stop.set()
        await stack.wait_ready()
        await asyncio.gather(*using)

        stored = await _stored(stack)
        assert [each.unexpected for each in phones if each.unexpected] == []
        assert stack.crashes() == []
        _check_stored(stored, phones)
        await _check_views(stored, phones)
        await _check_inboxes(stack, stored)
        _report(phones, stored, killed, time.monotonic() - started)


async def _make_phones(stack: LivingStack, http: AsyncClient, chance: random.Random) -> list[Phone]:
    """Clients of people in pairs and groups; every fifth is the second device of somebody."""
    second = SIZE.clients // SECOND_DEVICES
    people = [await join(http, f"person{number}") for number in range(SIZE.clients - second)]
    member_of: dict[str, list[str]] = {each.account_id: [] for each in people}
    for number in range(SIZE.threads):
        creator = people[number % len(people)]
        count = 1 if number % 3 == 0 else chance.randint(2, 6)
        others = chance.sample([each for each in people if each is not creator], count)
        thread_id = await _open_thread(creator, others)
        for each in (creator, *others):
            member_of[each.account_id].append(thread_id)
    for each in people:  # whom chance has left out
        if not member_of[each.account_id]:
            other = people[0] if each is not people[0] else people[1]
            thread_id = await _open_thread(each, [other])
            member_of[each.account_id].append(thread_id)
            member_of[other.account_id].append(thread_id)
    broker = "127.0.0.1", _mqtt_port(stack)
    return [
        Phone(
            owner := people[number % len(people)],
            f"phone{number}",
            stack.address,
            None if number % OVER_WEBSOCKET == 0 else broker,
            member_of[owner.account_id],
            random.Random(chance.random()),  # noqa: S311 - a schedule, not a secret
        )
        for number in range(SIZE.clients)
    ]


async def _open_thread(creator: Person, others: list[Person]) -> str:
    """A thread in which nobody is a stranger: everybody follows whoever begins it."""
    for each in others:
        assert (await each.call("PUT", f"/accounts/{creator.account_id}/follow")).is_success
    return await (open_pair(creator, *others) if len(others) == 1 else open_group(creator, *others))


def _mqtt_port(stack: LivingStack) -> int:
    configuration = (stack.home / "nats" / "nats.conf").read_text()
    lines = configuration.partition("mqtt {")[2].splitlines()
    return int(next(line for line in lines if "listen" in line).split('"')[1].split(":")[1])


async def _kill_at_random(stack: LivingStack, chance: random.Random) -> Counter[str]:
    """Kill parts one after another, each at least once: half of them after the last one is back, or some seconds."""
    parts = [*PARTS, *(chance.choice(PARTS) for _ in range(SIZE.kills - len(PARTS)))]
    chance.shuffle(parts)
    for part in parts:
        if chance.random() < UNDISTURBED:
            with suppress(TimeoutError):
                async with asyncio.timeout(RECOVERED_S):
                    await stack.wait_ready()
        await asyncio.sleep(chance.uniform(*PAUSE_S))
        await stack.kill(part)
    await asyncio.sleep(PAUSE_S[1])
    return Counter(parts)


async def _stored(stack: LivingStack) -> View:
    found: View = {}
    query = "SELECT thread_id, number, id, account_id, text FROM {schema}.messages"
    for row in await stack.rows(query):
        numbers = found.setdefault(row["thread_id"], {})
        assert row["number"] not in numbers
        numbers[row["number"]] = Message(row["id"], row["account_id"], row["text"])
    return found


def _check_stored(stored: View, phones: list[Phone]) -> None:
    """What was acknowledged is stored, once and under its number, and nothing else; devices kept their order."""
    acknowledged = {place: text for each in phones for place, text in each.acknowledged.items()}
    assert acknowledged == {
        (thread, number): message.text for thread, own in stored.items() for number, message in own.items()
    }
    for own in stored.values():
        assert sorted(own) == list(range(1, len(own) + 1))
        assert sorted(own, key=lambda number: own[number].message_id) == sorted(own)
        sent: dict[str, list[int]] = {}
        for number in sorted(own):
            device, counter = own[number].text.split()
            sent.setdefault(device, []).append(int(counter))
        for device, counters in sent.items():
            assert counters == list(range(1, len(counters) + 1)), device


async def _check_views(stored: View, phones: list[Phone]) -> None:
    """Every client connects once more, and then shows what the server has: each update once, without a gap."""

    async def check(phone: Phone) -> None:
        expected = {
            int(each): stored[int(each)] for each in dict.fromkeys(phone.threads) if int(each) in stored
        }

        async def is_the_same() -> bool:
            return phone.view == expected

        async with phone.open() as live:
            listening = asyncio.create_task(phone.listen(live))
            await eventually(is_the_same, what=f"{phone.name} shows what is stored", patience_s=SETTLED_S)
            listening.cancel()
        assert phone.heard == list(range(1, len(phone.heard) + 1))
        await _check_pages(phone, expected)

    await asyncio.gather(*(check(each) for each in phones))


async def _check_pages(phone: Phone, expected: View) -> None:
    for thread_id, own in expected.items():
        answer = await phone.person.call("GET", f"/direct/threads/{thread_id}/messages", params={"limit": 50})
        assert answer.status_code == 200, answer.text
        newest = [(each["number"], each["text"]) for each in answer.json()["messages"]]
        assert newest == [(number, own[number].text) for number in sorted(own, reverse=True)[:50]]


async def _check_inboxes(stack: LivingStack, stored: View) -> None:
    """Every member's inbox has come as far as the thread."""

    async def have_arrived() -> bool:
        rows = await stack.rows("SELECT thread_id, last_number FROM {schema}.inbox")
        return all(row["last_number"] == len(stored.get(row["thread_id"], {})) for row in rows)

    await eventually(have_arrived, what="inboxes have come as far as their threads", patience_s=SETTLED_S)


def _report(phones: list[Phone], stored: View, killed: Counter[str], took_s: float) -> None:
    count = sum(len(own) for own in stored.values())
    drops = sum(each.drops for each in phones)
    updates = sum(len(each.heard) for each in phones)
    print(  # noqa: T201 - what a run is judged by
        f"{len(phones)} clients, {len(stored)} threads: {count} messages acknowledged and stored once,"
        f" {updates} updates delivered once; killed {dict(killed)}; {drops} connections dropped;"
        f" settled in {took_s:.1f} s"
    )
