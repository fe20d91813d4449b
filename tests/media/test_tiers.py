"""Media move between stores by age and use; reads follow them, and a killed move loses nothing."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.media.conftest import MakeInstallation
from tests.media.support import media_id_in, on_its_shard, paths_in
from tests.support import Person, eventually, let_pass, photo
from tintype.base.ids import MediaId
from tintype.media.errors import MediaStoreUnavailable
from tintype.media.serving import read_counts
from tintype.media.storage import tiers
from tintype.redis.client import PipelinedRedisClient
from tintype.wiring import Rooms


@pytest.fixture
def installation(make_installation: MakeInstallation, tmp_path: Path) -> Rooms:
    """A installation with three stores, where everything is old enough at once."""
    return make_installation(
        media_store_warm=str(tmp_path / "warm"),
        media_store_cold=str(tmp_path / "cold"),
        media_warm_after_days=0,
        media_cold_after_days=0,
        media_cold_idle_days=90,
    )


async def tier_of(installation: Rooms, media_id: str) -> str:
    rows = await on_its_shard(installation, media_id, "SELECT tier FROM media WHERE id = {id}")
    return rows[0]["tier"]


async def count(installation: Rooms) -> tuple[int, int, int]:
    hot, warm, cold = [len(await paths_in(installation, tier)) for tier in ("hot", "warm", "cold")]
    return hot, warm, cold


async def test_unread_media_move_to_the_cold_store_and_are_still_served(
    eve: Person, installation: Rooms
) -> None:
    media = await _upload(eve)
    files = len(await paths_in(installation))

    moves = await installation.media.move_tiers()

    assert (moves.looked_at, moves.to_cold, moves.failed) == (1, 1, 0)
    assert await count(installation) == (0, 0, files)
    assert (await eve.client.get(media["urls"]["1080"], headers={"Accept": "*/*"})).status_code == 200
    assert (await eve.call("GET", f"/media/{media['media_id']}/original")).status_code == 200


async def test_a_large_size_is_made_in_the_store_that_the_media_are_in(
    eve: Person, installation: Rooms
) -> None:
    media = await _upload(eve, photo(1500, 1000))
    await installation.media.move_tiers()
    before = await count(installation)

    answer = await eve.client.get(media["urls"]["1440"])

    assert answer.status_code == 200
    assert await count(installation) == (0, 0, before[2] + 1)


@pytest.mark.slow
async def test_a_read_from_the_cold_store_moves_media_to_the_warm_one(
    eve: Person, installation: Rooms, busy: None
) -> None:
    media = await _upload(eve)
    await installation.media.move_tiers()

    for _ in range(3):
        await eve.client.get(media["urls"]["1080"])

    async def is_warm() -> bool:
        return await tier_of(installation, media["media_id"]) == "warm" and not (await count(installation))[2]

    await eventually(is_warm, what="it is warm")
    assert (await installation.media.move_tiers()).to_cold == 0


@pytest.mark.slow
async def test_media_that_are_read_often_stay_hot(
    eve: Person, installation: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_counts, "SAMPLE_ONE_IN", 1)
    busy, quiet = [await _upload(eve) for _ in range(2)]
    for _ in range(70):
        await eve.client.get(busy["urls"]["150"], headers={"Range": "bytes=0-1"})
    await eve.client.get(quiet["urls"]["150"])

    await installation.media.move_tiers()

    assert await tier_of(installation, busy["media_id"]) == "hot"
    assert await tier_of(installation, quiet["media_id"]) == "warm"


async def test_a_sample_of_reads_estimates_their_number(installation: Rooms) -> None:
    counter = read_counts.ReadCounts(
        installation.redis, installation.settings.namespace, PipelinedRedisClient(installation.redis)
    )
    for _ in range(4000):
        await counter.count(MediaId(7))

    assert 3200 < (await counter.totals([MediaId(7)], days=7))[0] < 4800


@pytest.mark.parametrize("at", ["put", "set_tier", "delete"])
async def test_an_interrupted_move_leaves_every_file_readable(
    eve: Person, installation: Rooms, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    media = await _upload(eve)
    mover = installation.media._tiers
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
        monkeypatch.setattr(mover._access, "invalidate", fail)
    first = await mover.run()
    monkeypatch.undo()
    await installation.redis.flushdb()
    read = [await eve.client.get(each, headers={"Accept": "*/*"}) for each in media["urls"].values()]
    await mover.run()
    await installation.media.sweep(fix=True)

    assert first.failed == 1
    assert {answer.status_code for answer in read} == {200}
    hot, warm, cold = await count(installation)
    assert sorted((hot, warm, cold))[:2] == [0, 0]
    assert {(await eve.client.get(each)).status_code for each in media["urls"].values()} == {200}


async def test_a_copy_that_differs_is_not_trusted(
    eve: Person, installation: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    media = await _upload(eve)

    async def tampered(chunks: AsyncIterator[bytes], see: Callable[[bytes], None]) -> AsyncIterator[bytes]:
        async for chunk in chunks:
            see(chunk)
            yield chunk[:-1] + b"!"

    monkeypatch.setattr(tiers, "_through", tampered)
    moves = await installation.media.move_tiers()

    assert (moves.failed, moves.to_cold) == (1, 0)
    assert await tier_of(installation, media["media_id"]) == "hot"
    assert (await count(installation))[2] == 0


async def test_deletion_reaches_every_store(eve: Person, installation: Rooms, busy: None) -> None:
    media = await _upload(eve)
    await installation.media.move_tiers()
    await installation.media.delete([media_id_in(media["media_id"])])

    async def is_empty() -> bool:
        return await count(installation) == (0, 0, 0)

    await eventually(is_empty, what="no store has a file")


async def test_one_store_has_no_tiers_to_move_between(make_installation: MakeInstallation) -> None:
    installation = make_installation()

    assert "media-tiers" not in [schedule.name for schedule in installation.media.schedules()]


async def _upload(eve: Person, content: bytes | None = None) -> dict[str, Any]:
    media = (await eve.upload(content)).json()
    await let_pass(media["media_id"])
    return media
