"""Videos: a poster at once, the clip when the worker has made it, and the reason when it cannot."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.media.conftest import working_on
from tests.media.support import account_of, handle, media_id_in, on_its_shard, paths_in, purge
from tests.media.videos.sample_videos import GPS, PLACE, make_clip
from tests.support import Person, eventually
from tintype.base.nats import NatsNames
from tintype.media import VideoReceived
from tintype.wiring import Rooms


async def send(person: Person, clip: Path, **fields: str) -> Any:
    files = {"file": ("clip.mov", await asyncio.to_thread(clip.read_bytes), "video/quicktime")}
    return await person.call("POST", "/media/upload", files=files, data=fields)


async def state_of(person: Person, media_id: str) -> dict[str, Any]:
    return (await person.call("GET", f"/media/{media_id}")).json()


async def ready(person: Person, media_id: str) -> dict[str, Any]:
    async def is_settled() -> bool:
        return (await state_of(person, media_id))["state"] != "processing"

    await eventually(is_settled, what="the clip is made", patience_s=120)
    return await state_of(person, media_id)


@pytest.mark.slow
async def test_a_video_shows_its_poster_at_once_and_plays_later(
    eve: Person, installation: Rooms, clean_streams: None, tmp_path: Path
) -> None:
    told: list[dict[str, Any]] = []
    listening = await installation.nats.subscribe(NatsNames(installation.settings.namespace).media_progress)
    answer = await send(eve, make_clip(tmp_path / "a.mp4", metadata={"location": PLACE}), media_type="video")
    first = answer.json()
    poster = await eve.client.get(first["urls"]["1080"])
    posted = (await eve.call("POST", "/posts", json={"media_ids": [first["media_id"]]})).json()

    async with working_on(installation):
        done = await ready(eve, first["media_id"])

        async def is_forgotten() -> bool:
            return not [path for path in await paths_in(installation) if path.endswith("/original")]

        await eventually(is_forgotten, what="the original, which tells the place, is gone")
    shown = (await eve.call("GET", f"/posts/{posted['post_id']}")).json()["media"][0]
    part = await eve.client.get(done["video_url"], headers={"Range": "bytes=4-7"})
    whole = await eve.client.get(done["video_url"])
    while listening.pending_msgs:
        told.append(json.loads((await listening.next_msg()).data))
    await listening.unsubscribe()

    assert answer.status_code == 201
    assert (first["type"], first["state"], first["video_url"]) == ("video", "processing", None)
    assert first["placeholder"]
    assert poster.headers["content-type"].startswith("image/")
    assert (posted["media"][0]["state"], posted["media"][0]["video_url"]) == ("processing", None)
    assert (done["state"], done["progress"], done["hls_url"]) == ("ready", 100, None)
    assert 900 <= done["duration_ms"] <= 1200
    assert (shown["state"], shown["video_url"]) == ("ready", done["video_url"])
    assert (part.status_code, part.content) == (206, b"ftyp")
    assert whole.headers["content-type"] == "video/mp4"
    assert GPS not in whole.content
    assert told[-1] == {
        "media_id": first["media_id"],
        "account_id": eve.account_id,
        "state": "ready",
        "progress": 100,
    }


@pytest.mark.slow
async def test_a_longer_video_has_a_playlist_whose_segments_open_like_itself(
    eve: Person, installation: Rooms, busy: None, tmp_path: Path
) -> None:
    await eve.call("PATCH", "/accounts/me", json={"is_private": True})
    clip = make_clip(tmp_path / "long.mp4", seconds=17, size=(160, 120))
    made = await ready(eve, (await send(eve, clip)).json()["media_id"])

    playlist = (await eve.client.get(made["hls_url"])).text
    parts = [line for line in playlist.splitlines() if line and not line.startswith("#")]
    base = made["hls_url"].rsplit("/", 1)[0]
    answers = [await eve.client.get(f"{base}/{part}") for part in [*parts, "init.mp4"]]

    assert len(parts) > 2
    assert {answer.status_code for answer in answers} == {200}


@pytest.mark.slow
async def test_converting_twice_has_the_effect_of_once(
    eve: Person, installation: Rooms, tmp_path: Path
) -> None:
    media_id = media_id_in((await send(eve, make_clip(tmp_path / "a.mp4"))).json()["media_id"])
    event = VideoReceived(media_id, account_of(eve))

    await asyncio.gather(handle(installation, event), handle(installation, event))
    await handle(installation, event)

    assert (await state_of(eve, str(media_id)))["state"] == "ready"


@pytest.mark.slow
async def test_a_video_deleted_during_conversion_stays_deleted(
    eve: Person, installation: Rooms, tmp_path: Path
) -> None:
    media_id = media_id_in((await send(eve, make_clip(tmp_path / "a.mp4"))).json()["media_id"])
    await installation.media.delete([media_id])

    await handle(installation, VideoReceived(media_id, account_of(eve)))

    assert (await eve.call("GET", f"/media/{media_id}")).status_code == 404


@pytest.mark.slow
async def test_a_video_that_cannot_be_converted_says_why_and_cannot_be_posted(
    eve: Person, installation: Rooms, tmp_path: Path
) -> None:
    media_id = (await send(eve, make_clip(tmp_path / "a.mp4"))).json()["media_id"]
    originals = [path for path in await paths_in(installation) if path.endswith("/original")]
    await installation.media.storage.put(originals[0], b"\0\0\0\x18ftypmp42 and then nothing")

    await handle(installation, VideoReceived(media_id_in(media_id), account_of(eve)))

    failed = await state_of(eve, media_id)
    assert failed["state"] == "failed"
    assert failed["error"].startswith("video_")
    answer = await eve.call("POST", "/posts", json={"media_ids": [media_id]})
    assert answer.json()["code"] == "media_invalid"


@pytest.mark.slow
async def test_a_conversion_that_no_worker_finishes_fails_eventually(
    eve: Person, installation: Rooms, tmp_path: Path
) -> None:
    media_id = (await send(eve, make_clip(tmp_path / "a.mp4"))).json()["media_id"]
    await on_its_shard(
        installation, media_id, "UPDATE media SET changed_at = now() - interval '7 h' WHERE id = {id}"
    )

    await purge(installation)

    found = await state_of(eve, media_id)
    assert (found["state"], found["error"]) == ("failed", "media_too_slow")


async def test_a_file_that_is_no_video_is_refused_at_once(
    eve: Person, installation: Rooms, tmp_path: Path
) -> None:
    clip = make_clip(tmp_path / "a.mp4")
    clip.write_bytes(clip.read_bytes()[:900])

    answer = await send(eve, clip)

    assert answer.status_code == 400
    assert answer.json()["code"].startswith("video_")
    assert await paths_in(installation) == []
