"""Video work is bounded per person and shared fairly between people."""

import asyncio
from pathlib import Path

import pytest

from tests.media.conftest import MakeInstallation, visiting
from tests.media.support import on_its_shard, paths_in
from tests.media.test_video_conversion import send
from tests.media.videos.sample_videos import make_clip
from tintype.base.ids import AccountId
from tintype.media.conversion_turns import ConversionTurns, Lane
from tintype.media.uploads.account_slots import PER_ACCOUNT, AccountSlots

ANA, BO = AccountId(1), AccountId(2)


@pytest.mark.slow
async def test_only_so_many_videos_of_a_person_wait_for_their_conversion(
    make_installation: MakeInstallation, tmp_path: Path
) -> None:
    clip = make_clip(tmp_path / "a.mp4")
    async with visiting(make_installation(videos_waiting=2), "eve") as eve:
        accepted = [await send(eve, clip) for _ in range(2)]
        refused = await send(eve, clip)
        photo = await eve.upload()

    assert [answer.status_code for answer in (*accepted, photo)] == [201] * 3
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_videos")
    assert int(refused.headers["Retry-After"]) == refused.json()["retry_after_s"] > 0


@pytest.mark.slow
async def test_a_day_has_only_so_many_minutes_of_video(
    make_installation: MakeInstallation, tmp_path: Path
) -> None:
    clip, installation = make_clip(tmp_path / "a.mp4"), make_installation(video_minutes_per_day=1)
    async with visiting(installation, "eve") as eve:
        first = await send(eve, clip)
        stored = await paths_in(installation)
        await on_its_shard(
            installation, eve.account_id, "UPDATE storage_usage SET video_ms = 59900 WHERE account_id = {id}"
        )

        refused = await send(eve, clip)
        left_behind = set(await paths_in(installation)) - set(stored)
        await on_its_shard(
            installation,
            eve.account_id,
            "UPDATE storage_usage SET video_day = video_day - 1 WHERE account_id = {id}",
        )
        next_day = await send(eve, clip)

    assert (first.status_code, next_day.status_code) == (201, 201)
    assert (refused.status_code, refused.json()["code"]) == (429, "video_time_used_up")
    assert 0 < int(refused.headers["Retry-After"]) <= 86_400
    assert not left_behind


@pytest.mark.slow
async def test_further_videos_of_a_person_are_queued_behind_those_of_others(
    make_installation: MakeInstallation, tmp_path: Path
) -> None:
    clip, installation = make_clip(tmp_path / "a.mp4"), make_installation()
    async with visiting(installation, "eve") as eve:
        for _ in range(4):
            await send(eve, clip)
        rows = await on_its_shard(installation, eve.account_id, "SELECT event FROM common.outbox ORDER BY id")

    kinds = [row["event"] for row in rows if row["event"].endswith("video_received")]
    assert kinds == ["video_received"] * 2 + ["further_video_received"] * 2


async def test_first_videos_go_before_further_ones_which_still_get_every_fourth_turn() -> None:
    turns, order = ConversionTurns(), list[str]()
    is_running, may_end = asyncio.Event(), asyncio.Event()

    async def convert(name: str, lane: Lane) -> None:
        async with turns.turn(lane):
            order.append(name)
            if name == "running":
                is_running.set()
                await may_end.wait()

    running = asyncio.create_task(convert("running", "further"))
    await is_running.wait()
    waiting = [
        *(asyncio.create_task(convert(f"eve {number}", "further")) for number in range(3)),
        *(asyncio.create_task(convert(f"other {number}", "first")) for number in range(5)),
    ]
    await asyncio.sleep(0)
    may_end.set()
    await asyncio.gather(running, *waiting)

    assert order == [
        *("running", "other 0", "other 1", "other 2", "eve 0", "other 3", "other 4", "eve 1", "eve 2")
    ]


async def test_a_cancelled_conversion_gives_its_turn_to_the_next() -> None:
    turns, done = ConversionTurns(), asyncio.Event()

    async def convert() -> None:
        async with turns.turn("first"):
            done.set()

    async with turns.turn("first"):
        gone, next_one = asyncio.create_task(convert()), asyncio.create_task(convert())
        await asyncio.sleep(0)
        gone.cancel()
    with pytest.raises(asyncio.CancelledError):
        await gone
    await next_one

    assert done.is_set()


async def test_one_account_works_on_two_files_at_a_time_and_keeps_nobody_waiting() -> None:
    slots, working, may_end = AccountSlots(), list[AccountId](), asyncio.Event()
    bo_works = asyncio.Event()

    async def work(account_id: AccountId) -> None:
        async with slots.slot(account_id):
            working.append(account_id)
            if account_id == BO:
                bo_works.set()
            await may_end.wait()

    tasks = [asyncio.create_task(work(account_id)) for account_id in (*[ANA] * 5, BO)]
    await bo_works.wait()

    assert sorted(working) == [ANA] * PER_ACCOUNT + [BO]
    may_end.set()
    await asyncio.gather(*tasks)
    assert sorted(working) == [ANA] * 5 + [BO]
