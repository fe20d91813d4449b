"""Files made to do harm, through the real upload endpoint: a clean refusal with a stable code, or a proper picture.

Never an error of the server, never a wait, and never much memory; afterwards the next photo is made as before.
"""

import asyncio
import re
import resource
from pathlib import Path
from typing import Any

import pytest

from tests.media.conftest import MakeInstallation
from tests.media.hostile import hostile_photos, hostile_videos
from tests.media.hostile.hostile_photos import HEIC, JPEG, PNG, WEBP
from tests.media.support import paths_in, stray_files
from tests.media.videos.sample_videos import make_clip
from tests.support import Person
from tintype.wiring import Rooms

pytestmark = pytest.mark.slow

CODE = re.compile(r"(media|video)_[a-z_]+")
GIVEN_UP = {"media_too_slow", "media_unavailable", "media_store_unavailable"}
"""Codes that mean that the file cost what it was meant to cost."""
FOREIGN = (b"<script", b"<svg", b"<html", b"<?php", b"%PDF-", b"PK\x03\x04", b"=1/*")
MAX_GROWTH_BYTES = 200 << 20


@pytest.fixture
def installation(make_installation: MakeInstallation) -> Rooms:
    return make_installation()


async def send(person: Person, content: bytes, name: str = "photo.jpg", kind: str = "image/jpeg") -> Any:
    return await person.call("POST", "/media/upload", files={"file": (name, content, kind)})


async def outcome_of(person: Person, answer: Any) -> str:
    """The code of a refusal, `made` for media whose files are pictures, or what is wrong with the answer."""
    body = answer.json()
    if answer.status_code == 201:
        shown = await person.client.get(body["urls"]["1080"])
        return "made" if (shown.status_code, shown.content[:3]) == (200, b"\xff\xd8\xff") else "no picture"
    if answer.status_code not in {400, 413} or not CODE.fullmatch(body["code"]):
        return f"answered {answer.status_code}: {body['code']}"
    return f"gave up: {body['code']}" if body["code"] in GIVEN_UP else body["code"]


def wrong(outcomes: dict[str, str]) -> dict[str, str]:
    return {name: outcome for name, outcome in outcomes.items() if " " in outcome}


@pytest.mark.parametrize("group", hostile_photos.GROUPS)
async def test_a_hostile_photo_is_refused_with_a_code_or_made(
    eve: Person, installation: Rooms, group: str
) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcomes: dict[str, str] = {}
    for name, content in hostile_photos.GROUPS[group]().items():
        outcomes[name] = await outcome_of(eve, await send(eve, content))

    made = [outcome for outcome in outcomes.values() if outcome == "made"]
    folders = {path.split("/")[1] for path in await paths_in(installation) if not path.startswith("private")}
    assert wrong(outcomes) == {}
    assert len(folders) == len(made)
    assert stray_files(installation) == []
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < MAX_GROWTH_BYTES
    assert (await send(eve, JPEG)).status_code == 201


@pytest.mark.parametrize("group", ["polyglots", "disguises"])
async def test_nothing_foreign_is_left_in_any_file(eve: Person, installation: Rooms, group: str) -> None:
    """A refused file is not stored; of one that is accepted, the picture alone is."""
    for content in hostile_photos.GROUPS[group]().values():
        await send(eve, content)

    storage = installation.media.storage
    left: list[str] = []
    for path in await paths_in(installation):
        content = b"".join([chunk async for chunk in (await storage.open(path)).chunks])
        left += [path for foreign in FOREIGN if foreign in content]
    assert left == []


async def test_a_hostile_video_is_refused_with_a_code_or_made(
    eve: Person, installation: Rooms, tmp_path: Path
) -> None:
    clip = await asyncio.to_thread(make_clip(tmp_path / "clip.mp4", size=(64, 48)).read_bytes)
    outcomes: dict[str, str] = {}
    for name, change in hostile_videos.HOSTILE.items():
        outcomes[name] = await outcome_of(eve, await send(eve, change(clip), "clip.mp4", "video/mp4"))

    assert wrong(outcomes) == {}
    assert stray_files(installation) == []


@pytest.mark.parametrize("content", [JPEG, PNG, WEBP, HEIC], ids=["jpeg", "png", "webp", "heic"])
async def test_names_and_types_of_others_change_nothing(eve: Person, content: bytes) -> None:
    for name, kind in (("a.svg", "image/svg+xml"), ("a.mp4", "video/mp4"), ("a.php", "text/html"), ("", "")):
        answer = await send(eve, content, name, kind)

        assert answer.status_code == 201
