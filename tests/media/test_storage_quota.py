"""Storage per person: every kept byte is counted, and what exceeds the quota is refused before it is stored."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.media.conftest import MakeInstallation, visiting, working_on
from tests.media.support import account_of, handle, media_id_in, on_its_shard, paths_in, storage_of
from tests.media.test_tus import TUS
from tests.media.test_video_conversion import ready, send
from tests.media.videos.sample_videos import make_clip
from tests.support import Person, eventually, photo
from tintype.base.counter_reconciler import CounterReconciler
from tintype.media import MediaDeleted
from tintype.wiring import Rooms

pytestmark = pytest.mark.usefixtures("real_pipeline")
MEBIBYTE = 1024 * 1024


async def storage_shown_to(person: Person) -> dict[str, Any]:
    answer = await person.call("GET", "/accounts/me/storage")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def kept_bytes(installation: Rooms) -> int:
    """What lies in the store."""
    return sum([stored.size_bytes async for stored in storage_of(installation).list_objects("")])


@pytest.mark.slow
async def test_used_storage_is_what_lies_in_the_store(eve: Person, installation: Rooms) -> None:
    first, second = (await eve.upload()).json(), (await eve.upload(photo(900, 700))).json()

    shown = await storage_shown_to(eve)
    for _ in range(installation.settings.media_convert_after_reads):
        await eve.client.get(first["urls"]["1080"], headers={"Accept": "image/avif"})
    await installation.media.close()
    with_variant = await storage_shown_to(eve)
    kept = await kept_bytes(installation)
    discarded = await eve.call("DELETE", f"/media/{second['media_id']}")
    after = await storage_shown_to(eve)
    await handle(installation, MediaDeleted([media_id_in(second["media_id"])]))

    assert shown["used_bytes"] < with_variant["used_bytes"] == kept
    assert shown["quota_bytes"] == installation.settings.storage_quota_mb * MEBIBYTE
    assert discarded.status_code == 204
    assert after["used_bytes"] == await kept_bytes(installation)


@pytest.mark.slow
async def test_a_converted_video_counts_with_all_its_files(
    eve: Person, installation: Rooms, clean_streams: None, tmp_path: Path
) -> None:
    sent = (await send(eve, make_clip(tmp_path / "a.mp4"))).json()
    before = await storage_shown_to(eve)

    async with working_on(installation):
        await ready(eve, sent["media_id"])

        async def is_forgotten() -> bool:
            is_kept = any(path.endswith("/original") for path in await paths_in(installation))
            used = (await storage_shown_to(eve))["used_bytes"]
            return not is_kept and used == await kept_bytes(installation)

        await eventually(is_forgotten, what="the original is gone and no longer counted")

    assert before["used_bytes"] > 0


async def test_what_exceeds_the_quota_is_refused_and_leaves_nothing(
    make_installation: MakeInstallation,
) -> None:
    installation = make_installation()
    async with visiting(installation, "eve") as eve:
        first = (await eve.upload()).json()
        used = (await storage_shown_to(eve))["used_bytes"]
        await installation.media.usage.set_quota(account_of(eve), used + 1_000)
        kept = await paths_in(installation)

        refused = await eve.upload(photo(900, 700))
        tus = await eve.call("POST", "/media/tus", headers={**TUS, "Upload-Length": "2000"})
        edited = await eve.call("POST", f"/media/{first['media_id']}/edits", json={"edit": {}})
        await eve.call("DELETE", f"/media/{first['media_id']}")
        now = await eve.upload()

        for answer in (refused, tus, edited):
            assert (answer.status_code, answer.json()["code"]) == (413, "storage_full")
        assert now.status_code == 201
        assert (await storage_shown_to(eve))["used_bytes"] == used
        assert set(kept) < set(await paths_in(installation))


async def test_a_photo_whose_sizes_do_not_fit_is_not_stored(make_installation: MakeInstallation) -> None:
    installation = make_installation()
    async with visiting(installation, "eve") as eve:
        content = photo(1600, 1200)
        await installation.media.usage.set_quota(account_of(eve), len(content) + 1)

        answer = await eve.upload(content)

        assert (answer.status_code, answer.json()["code"]) == (413, "storage_full")
        assert await paths_in(installation) == []
        assert (await storage_shown_to(eve))["used_bytes"] == 0


async def test_uploads_in_progress_reserve_what_they_announced(make_installation: MakeInstallation) -> None:
    async with visiting(make_installation(storage_quota_mb=1), "eve") as eve:
        announced = {**TUS, "Upload-Length": str(600 * 1024)}

        first = await eve.call("POST", "/media/tus", headers=announced)
        second = await eve.call("POST", "/media/tus", headers=announced)
        reserved = await storage_shown_to(eve)
        await eve.call("DELETE", first.headers["location"].removeprefix("/api/v1"), headers=TUS)
        third = await eve.call("POST", "/media/tus", headers=announced)

    assert (first.status_code, third.status_code) == (201, 201)
    assert (second.status_code, second.json()["code"]) == (413, "storage_full")
    assert reserved == {"used_bytes": 0, "reserved_bytes": 600 * 1024, "quota_bytes": MEBIBYTE}


@pytest.mark.slow
async def test_of_uploads_at_the_same_moment_only_those_that_fit_are_kept(
    make_installation: MakeInstallation,
) -> None:
    installation = make_installation()
    async with visiting(installation, "eve") as eve:
        await eve.upload()
        used = (await storage_shown_to(eve))["used_bytes"]
        await installation.media.usage.set_quota(account_of(eve), 3 * used)

        answers = await asyncio.gather(*(eve.upload() for _ in range(5)))

        assert sorted(answer.status_code for answer in answers) == [201, 201, 413, 413, 413]
        assert (await storage_shown_to(eve))["used_bytes"] == 3 * used == await kept_bytes(installation)


async def test_zero_means_no_quota(make_installation: MakeInstallation) -> None:
    async with visiting(make_installation(storage_quota_mb=0), "eve") as eve:
        assert (await eve.upload()).status_code == 201
        assert (await storage_shown_to(eve))["quota_bytes"] is None


async def test_the_reconciler_repairs_a_wrong_sum(eve: Person, installation: Rooms) -> None:
    await eve.upload()
    used = (await storage_shown_to(eve))["used_bytes"]
    await on_its_shard(
        installation, eve.account_id, "UPDATE storage_usage SET used_bytes = 7 WHERE account_id = {id}"
    )
    reconciler = CounterReconciler(installation.shards, installation.media.usage.reconciled_counters())

    (report,) = await reconciler.run(fix=True)

    assert (report.counter, report.drifted, report.repaired) == ("storage", 1, 1)
    assert (await storage_shown_to(eve))["used_bytes"] == used


async def test_media_of_an_earlier_release_are_measured_later(eve: Person, installation: Rooms) -> None:
    media = (await eve.upload()).json()
    used = (await storage_shown_to(eve))["used_bytes"]
    await on_its_shard(installation, media["media_id"], "UPDATE media SET size_bytes = NULL WHERE id = {id}")
    await on_its_shard(installation, eve.account_id, "DELETE FROM storage_usage WHERE account_id = {id}")

    (measure,) = [each for each in installation.media.schedules() if each.name == "media-measure"]

    await measure.run()

    assert (await storage_shown_to(eve))["used_bytes"] == used


async def test_erasure_leaves_no_row_of_usage(eve: Person, installation: Rooms) -> None:
    await eve.upload()
    personal_data = installation.media.personal_data

    while await personal_data.erase(account_of(eve)):
        pass

    assert await personal_data.count_left(account_of(eve)) == 0
