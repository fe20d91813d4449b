"""A real browser plays what we make: turned as the phone was held, to the end, and segment by segment."""

import asyncio
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.media.videos.sample_videos import make_clip
from tintype.media.videos import VideoRequest
from tintype.media.videos.sandbox_jobs import reencode, remux

CHECKOUT = Path(__file__).resolve().parents[3]
CHROMIUM = shutil.which("chromium")


class Seen(msgspec.Struct):
    width: int
    height: int
    duration_s: float
    played: bool
    buffered_s: float | None


async def play_in_browser(folder: Path) -> Seen:
    script = [sys.executable, str(CHECKOUT / "develop" / "npm.py"), "exec", "--offline", "--", "node"]
    process = await asyncio.create_subprocess_exec(
        *script, "e2e/videos.mjs", str(folder),
        cwd=CHECKOUT / "web",
        env={**os.environ, "CHROMIUM": str(CHROMIUM)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    output, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    return msgspec.json.decode(output.splitlines()[-1], type=Seen)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")
@pytest.mark.parametrize("way", [remux, reencode])
async def test_a_browser_plays_it(tmp_path: Path, way: Any) -> None:
    source = make_clip(tmp_path / "a.mp4", seconds=16, rate=10, turned=90, options={"g": "20"})
    folder = tmp_path / "made"
    folder.mkdir()
    made = way(VideoRequest(str(source), str(folder)))

    seen = await play_in_browser(folder)

    assert (seen.width, seen.height, seen.played) == (240, 320, True)
    assert (seen.width, seen.height) == (made.width, made.height)
    assert seen.duration_s == pytest.approx(16, abs=0.2)
    assert seen.buffered_s == pytest.approx(16, abs=0.2)
