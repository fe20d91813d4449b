"""Deletion really deletes: the address at once, the files soon, the row last; and the sweeper finds the rest."""

import asyncio

import pytest

from tests.media.support import account_of, handle, media_id_in, on_its_shard, paths_in, purge, storage_of
from tests.support import Person, eventually
from tintype.media import MediaDeleted, SweepReport
from tintype.media.storage import sweep as sweep_module
from tintype.wiring import Rooms


@pytest.mark.slow
async def test_deleted_media_are_gone_at_once_and_their_files_soon(
    eve: Person, installation: Rooms, busy: None
) -> None:
    kept, gone = [(await eve.upload()).json() for _ in range(2)]
    await eve.client.get(gone["urls"]["1080"])  # remembered now, and in another format as well
    for _ in range(installation.settings.media_convert_after_reads):
        await eve.client.get(gone["urls"]["640"], headers={"Accept": "image/webp"})
    await installation.media.close()

    await installation.media.delete([media_id_in(gone["media_id"])])
    answer = await eve.client.get(gone["urls"]["1080"])

    async def is_removed() -> bool:
        paths = await paths_in(installation)
        rows = await on_its_shard(installation, gone["media_id"], "SELECT 1 FROM media WHERE id = {id}")
        return not rows and not [path for path in paths if gone["media_id"] in path]

    assert answer.status_code == 404
    await eventually(is_removed, what="files and row are gone")
    assert (await eve.client.get(kept["urls"]["1080"])).status_code == 200


async def test_repeated_and_concurrent_removal_has_the_effect_of_one(
    eve: Person, installation: Rooms
) -> None:
    gone = (await eve.upload()).json()
    ids = [media_id_in(gone["media_id"])]
    await installation.media.delete(ids)
    await installation.media.delete(ids)

    await asyncio.gather(*(handle(installation, MediaDeleted(ids)) for _ in range(3)))
    await handle(installation, MediaDeleted(ids))

    assert await paths_in(installation) == []


async def test_media_posted_at_the_last_moment_are_not_purged(eve: Person, installation: Rooms) -> None:
    waiting = (await eve.upload()).json()["media_id"]
    found = [media_id_in(waiting)]  # the purge has seen it as expired …
    posted = await eve.call("POST", "/posts", json={"media_ids": [waiting]})  # … and here it is posted

    count = await installation.media.delete(found, only_unposted=True)

    assert posted.status_code == 201
    assert count == 0
    assert (await eve.client.get(posted.json()["media"][0]["url"])).status_code == 200


async def test_a_repeated_removal_never_touches_what_is_not_deleted(eve: Person, installation: Rooms) -> None:
    media = (await eve.upload()).json()

    await handle(installation, MediaDeleted([media_id_in(media["media_id"])]))

    assert (await eve.client.get(media["urls"]["1080"])).status_code == 200


async def test_the_row_of_posted_media_is_deleted_once_its_post_is_gone(
    eve: Person, installation: Rooms
) -> None:
    post = await eve.publish()
    media_id = media_id_in(post["media"][0]["url"].split("/")[3].split("-")[0])
    await installation.media.delete([media_id])

    await handle(installation, MediaDeleted([media_id]))
    held = await on_its_shard(installation, media_id, "SELECT state FROM media WHERE id = {id}")
    await on_its_shard(installation, media_id, "DELETE FROM post_media WHERE media_id = {id}")
    await on_its_shard(
        installation, media_id, "UPDATE media SET changed_at = now() - interval '7 h' WHERE id = {id}"
    )
    await purge(installation)

    assert await paths_in(installation) == []
    assert [row["state"] for row in held] == ["deleted"]
    assert await on_its_shard(installation, media_id, "SELECT 1 FROM media WHERE id = {id}") == []


@pytest.mark.slow
async def test_everything_of_an_account_can_be_deleted(
    eve: Person, mo: Person, installation: Rooms, busy: None
) -> None:
    for _ in range(3):
        await eve.upload()
    await eve.publish()
    other = (await mo.upload()).json()

    count = await installation.media.delete_all_of(account_of(eve))

    async def is_removed() -> bool:
        return not [path for path in await paths_in(installation) if eve.account_id in path]

    assert count == 4
    await eventually(is_removed, what="every file of the account is gone")
    assert (await mo.client.get(other["urls"]["1080"])).status_code == 200


async def sweep(installation: Rooms, *, fix: bool = False) -> SweepReport:
    return await installation.media.sweep(fix=fix)


async def test_a_sweep_without_leftovers_finds_nothing(eve: Person, installation: Rooms) -> None:
    await eve.publish()

    report = await sweep(installation, fix=True)

    assert report.is_clean
    assert report.files == len(await paths_in(installation)) > 0


async def test_files_without_a_row_are_found_and_deleted_with_fix(
    eve: Person, installation: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = (await eve.upload()).json()
    files = storage_of(installation)
    orphans = [f"{eve.account_id}/77-AAAAAAAAAAAAAAAA", "12345/1-BBBBBBBBBBBBBBBB"]
    for folder in orphans:
        await files.put(f"{folder}/1080.jpg", b"x")
    await files.put(f"private/{eve.account_id}/78-AAAAAAAAAAAAAAAA/original", b"x")
    await files.put(f"incoming/{eve.account_id}/79/000-x", b"x")

    young = await sweep(installation, fix=True)
    monkeypatch.setattr(sweep_module, "SETTLED", sweep_module.timedelta(seconds=-5))
    report = await sweep(installation)
    paths = await paths_in(installation)
    fixed = await sweep(installation, fix=True)

    assert young.is_clean
    assert report.counts == {"orphans": 3, "doubled": 0, "lost": 0, "stale_uploads": 1}
    assert set(orphans) < set(report.names["orphans"])
    assert f"{orphans[0]}/1080.jpg" in paths
    assert fixed.counts == report.counts
    assert (await sweep(installation)).is_clean
    assert (await eve.client.get(kept["urls"]["1080"])).status_code == 200


async def test_rows_without_files_are_found_and_marked_with_fix(eve: Person, installation: Rooms) -> None:
    posted = await eve.publish()
    waiting = (await eve.upload()).json()["media_id"]
    media_id = posted["media"][0]["url"].split("/")[3].split("-")[0]
    for each in (media_id, waiting):
        await on_its_shard(
            installation, each, "UPDATE media SET changed_at = now() - interval '2 h' WHERE id = {id}"
        )
    await storage_of(installation).delete_prefix(eve.account_id)

    report = await sweep(installation)
    await sweep(installation, fix=True)

    assert report.counts["lost"] == 2
    shown = (await eve.call("GET", f"/posts/{posted['post_id']}")).json()
    assert shown["media"][0]["state"] == "lost"
    assert (await eve.call("GET", f"/media/{waiting}")).status_code == 404
