"""A real browser plays what we make: turned as the phone was held, to the end, and segment by segment."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.e2e.browser_flows import IN_BROWSER, run_flow
from tests.media.videos.sample_videos import make_clip
from tintype.media.videos import VideoRequest
from tintype.media.videos.sandbox_jobs import reencode, remux

pytestmark = IN_BROWSER


class Seen(msgspec.Struct):
    width: int
    height: int
    duration_s: float
    played: bool
    buffered_s: float | None


async def play_in_browser(folder: Path) -> Seen:
    output = await run_flow("videos.mjs", str(folder))
    return msgspec.json.decode(output.splitlines()[-1], type=Seen)


@pytest.mark.timeout(300)
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
