"""Deletion really deletes: the address at once, the files soon, the row last; and the sweeper finds the rest."""

import asyncio

import pytest

from tests.media.files import account_of, media_id_in, on_its_shard, paths_in, storage_of
from tests.support import Person, eventually
from tintype.media import MediaDeleted, SweepReport, sweeping
from tintype.wiring import Rooms


async def test_deleted_media_are_gone_at_once_and_their_files_soon(
    eve: Person, house: Rooms, busy: None
) -> None:
    kept, gone = [(await eve.upload()).json() for _ in range(2)]
    await eve.client.get(gone["urls"]["1080"])  # remembered now, and in another format as well
    await eve.client.get(gone["urls"]["640"], headers={"Accept": "image/webp"})

    await house.media.delete([media_id_in(gone["media_id"])])
    answer = await eve.client.get(gone["urls"]["1080"])

    async def is_removed() -> bool:
        paths = await paths_in(house)
        rows = await on_its_shard(house, gone["media_id"], "SELECT 1 FROM media WHERE id = {id}")
        return not rows and not [path for path in paths if gone["media_id"] in path]

    assert answer.status_code == 404
    await eventually(is_removed, what="files and row are gone")
    assert (await eve.client.get(kept["urls"]["1080"])).status_code == 200


async def test_removing_twice_or_at_once_is_removing_once(eve: Person, house: Rooms) -> None:
    gone = (await eve.upload()).json()
    ids = [media_id_in(gone["media_id"])]
    await house.media.delete(ids)
    await house.media.delete(ids)

    await asyncio.gather(*(house.media_room.later.remove(MediaDeleted(ids)) for _ in range(3)))
    await house.media_room.later.remove(MediaDeleted(ids))

    assert await paths_in(house) == []


async def test_what_is_posted_in_the_last_moment_is_not_purged(eve: Person, house: Rooms) -> None:
    waiting = (await eve.upload()).json()["media_id"]
    found = [media_id_in(waiting)]  # the purge has seen it as expired …
    posted = await eve.call("POST", "/posts", json={"media_ids": [waiting]})  # … and here it is posted

    count = await house.media.delete(found, only_unposted=True)

    assert posted.status_code == 201
    assert count == 0
    assert (await eve.client.get(posted.json()["media"][0]["url"])).status_code == 200


async def test_a_repeated_removal_never_touches_what_is_not_deleted(eve: Person, house: Rooms) -> None:
    media = (await eve.upload()).json()

    await house.media_room.later.remove(MediaDeleted([media_id_in(media["media_id"])]))

    assert (await eve.client.get(media["urls"]["1080"])).status_code == 200


async def test_the_row_of_a_posted_picture_goes_when_its_post_has_gone(eve: Person, house: Rooms) -> None:
    post = await eve.publish()
    media_id = media_id_in(post["media"][0]["url"].split("/")[3].split("-")[0])
    await house.media.delete([media_id])

    await house.media_room.later.remove(MediaDeleted([media_id]))
    held = await on_its_shard(house, media_id, "SELECT state FROM media WHERE id = {id}")
    await on_its_shard(house, media_id, "DELETE FROM post_media WHERE media_id = {id}")
    await on_its_shard(
        house, media_id, "UPDATE media SET changed_at = now() - interval '7 h' WHERE id = {id}"
    )
    await house.media_room.later.purge()

    assert await paths_in(house) == []
    assert [row["state"] for row in held] == ["deleted"]
    assert await on_its_shard(house, media_id, "SELECT 1 FROM media WHERE id = {id}") == []


async def test_everything_of_an_account_can_go(eve: Person, mo: Person, house: Rooms, busy: None) -> None:
    for _ in range(3):
        await eve.upload()
    await eve.publish()
    other = (await mo.upload()).json()

    count = await house.media.delete_all_of(account_of(eve))

    async def is_removed() -> bool:
        return not [path for path in await paths_in(house) if eve.account_id in path]

    assert count == 4
    await eventually(is_removed, what="every file of the account is gone")
    assert (await mo.client.get(other["urls"]["1080"])).status_code == 200


async def sweep(house: Rooms, *, fix: bool = False) -> SweepReport:
    return await house.media_room.sweeper.sweep(fix=fix)


async def test_a_sweep_of_a_tidy_house_finds_nothing(eve: Person, house: Rooms) -> None:
    await eve.publish()

    report = await sweep(house, fix=True)

    assert report.is_clean
    assert report.files == len(await paths_in(house)) > 0


async def test_files_without_a_row_are_found_and_only_taken_away_when_asked(
    eve: Person, house: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = (await eve.upload()).json()
    files = storage_of(house)
    orphans = [f"{eve.account_id}/77-AAAAAAAAAAAAAAAA", "12345/1-BBBBBBBBBBBBBBBB"]
    for folder in orphans:
        await files.put(f"{folder}/1080.jpg", b"x")
    await files.put(f"private/{eve.account_id}/78-AAAAAAAAAAAAAAAA/original", b"x")
    await files.put(f"incoming/{eve.account_id}/79/000-x", b"x")

    young = await sweep(house, fix=True)
    monkeypatch.setattr(sweeping, "SETTLED", sweeping.timedelta(seconds=-5))
    report = await sweep(house)
    paths = await paths_in(house)
    fixed = await sweep(house, fix=True)

    assert young.is_clean
    assert report.counts == {"orphans": 3, "doubled": 0, "lost": 0, "stale_uploads": 1}
    assert set(orphans) < set(report.names["orphans"])
    assert f"{orphans[0]}/1080.jpg" in paths
    assert fixed.counts == report.counts
    assert (await sweep(house)).is_clean
    assert (await eve.client.get(kept["urls"]["1080"])).status_code == 200


async def test_rows_without_files_are_found_and_marked_when_asked(eve: Person, house: Rooms) -> None:
    posted = await eve.publish()
    waiting = (await eve.upload()).json()["media_id"]
    media_id = posted["media"][0]["url"].split("/")[3].split("-")[0]
    for each in (media_id, waiting):
        await on_its_shard(
            house, each, "UPDATE media SET changed_at = now() - interval '2 h' WHERE id = {id}"
        )
    await storage_of(house).delete_below(eve.account_id)

    report = await sweep(house)
    await sweep(house, fix=True)

    assert report.counts["lost"] == 2
    shown = (await eve.call("GET", f"/posts/{posted['post_id']}")).json()
    assert shown["media"][0]["state"] == "lost"
    assert (await eve.call("GET", f"/media/{waiting}")).status_code == 404
