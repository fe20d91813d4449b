"""Media move between stores by age and use; reads follow them, and a killed move loses nothing."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.media.conftest import Furnish
from tests.media.files import media_id_in, on_its_shard, paths_in
from tests.support import Person, eventually
from tintype.base.ids import MediaId
from tintype.media import cards, tiers
from tintype.media.failures import MediaStoreUnavailable
from tintype.wiring import Rooms


@pytest.fixture
def house(furnish: Furnish, tmp_path: Path) -> Rooms:
    """A house with three stores, where everything is old enough at once."""
    return furnish(
        media_store_warm=str(tmp_path / "warm"),
        media_store_cold=str(tmp_path / "cold"),
        media_warm_after_days=0,
        media_cold_after_days=0,
        media_cold_idle_days=90,
    )


async def tier_of(house: Rooms, media_id: str) -> str:
    rows = await on_its_shard(house, media_id, "SELECT tier FROM media WHERE id = {id}")
    return rows[0]["tier"]


async def count(house: Rooms) -> tuple[int, int, int]:
    hot, warm, cold = [len(await paths_in(house, tier)) for tier in ("hot", "warm", "cold")]
    return hot, warm, cold


async def test_unread_media_grow_cold_and_are_still_served(eve: Person, house: Rooms) -> None:
    media = (await eve.upload()).json()
    files = len(await paths_in(house))

    moves = await house.media_room.tiers.run()

    assert (moves.looked_at, moves.to_cold, moves.failed) == (1, 1, 0)
    assert await count(house) == (0, 0, files)
    assert (await eve.client.get(media["urls"]["1080"], headers={"Accept": "*/*"})).status_code == 200
    assert (await eve.call("GET", f"/media/{media['media_id']}/original")).status_code == 200


async def test_a_look_at_something_cold_warms_it(eve: Person, house: Rooms, busy: None) -> None:
    media = (await eve.upload()).json()
    await house.media_room.tiers.run()

    for _ in range(3):
        await eve.client.get(media["urls"]["1080"])

    async def is_warm() -> bool:
        return await tier_of(house, media["media_id"]) == "warm" and not (await count(house))[2]

    await eventually(is_warm, what="it is warm")
    assert (await house.media_room.tiers.run()).to_cold == 0


async def test_media_that_many_look_at_stay_hot(
    eve: Person, house: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cards, "ONE_READ_IN", 1)
    busy, quiet = [(await eve.upload()).json() for _ in range(2)]
    for _ in range(70):
        await eve.client.get(busy["urls"]["150"], headers={"Range": "bytes=0-1"})
    await eve.client.get(quiet["urls"]["150"])

    await house.media_room.tiers.run()

    assert await tier_of(house, busy["media_id"]) == "hot"
    assert await tier_of(house, quiet["media_id"]) == "warm"


async def test_a_sample_of_reads_estimates_their_number(house: Rooms) -> None:
    counter = cards.Cards(house.shards, house.redis, house.settings.namespace)
    for _ in range(4000):
        await counter.count_read(MediaId(7))

    assert 3200 < (await counter.reads_of([MediaId(7)], days=7))[0] < 4800


@pytest.mark.parametrize("at", ["put", "set_tier", "delete"])
async def test_a_move_that_is_cut_short_leaves_every_file_readable(
    eve: Person, house: Rooms, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    media = (await eve.upload()).json()
    mover = house.media_room.tiers
    storage = mover._storage
    real_put, calls = storage.put, 0

    async def put(path: str, content: Any, *, tier: Any = "hot") -> None:
        nonlocal calls
        calls += 1
        if at == "put" and calls > 3:
            raise MediaStoreUnavailable
        await real_put(path, content, tier=tier)

    async def fail(*_: object, **__: object) -> None:
        raise MediaStoreUnavailable

    monkeypatch.setattr(storage, "put", put)
    if at == "delete":
        monkeypatch.setattr(storage, "delete", fail)
    if at == "set_tier":
        monkeypatch.setattr(mover._cards, "forget", fail)
    first = await mover.run()
    monkeypatch.undo()
    await house.redis.flushdb()
    read = [await eve.client.get(each, headers={"Accept": "*/*"}) for each in media["urls"].values()]
    await mover.run()
    await house.media_room.sweeper.sweep(fix=True)

    assert first.failed == 1
    assert {answer.status_code for answer in read} == {200}
    hot, warm, cold = await count(house)
    assert sorted((hot, warm, cold))[:2] == [0, 0]
    assert {(await eve.client.get(each)).status_code for each in media["urls"].values()} == {200}


async def test_a_copy_that_differs_is_not_trusted(
    eve: Person, house: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    media = (await eve.upload()).json()

    async def tampered(chunks: AsyncIterator[bytes], see: Callable[[bytes], None]) -> AsyncIterator[bytes]:
        async for chunk in chunks:
            see(chunk)
            yield chunk[:-1] + b"!"

    monkeypatch.setattr(tiers, "_through", tampered)
    moves = await house.media_room.tiers.run()

    assert (moves.failed, moves.to_cold) == (1, 0)
    assert await tier_of(house, media["media_id"]) == "hot"
    assert (await count(house))[2] == 0


async def test_deleting_reaches_every_store(eve: Person, house: Rooms, busy: None) -> None:
    media = (await eve.upload()).json()
    await house.media_room.tiers.run()
    await house.media.delete([media_id_in(media["media_id"])])

    async def is_empty() -> bool:
        return await count(house) == (0, 0, 0)

    await eventually(is_empty, what="no store has a file")


async def test_one_store_has_no_tiers_to_move_between(furnish: Furnish) -> None:
    house = furnish()

    assert "media-tiers" not in [schedule.name for schedule in house.media_room.schedules()]
