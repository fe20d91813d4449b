"""The still that stands for a video."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.media.videos.sample_videos import CORNERS, GPS, METADATA, is_red, make_clip, scramble, spoil
from tintype.media.errors import MediaRefused
from tintype.media.videos import Poster, PosterRequest
from tintype.media.videos.sandbox_jobs import make_poster


def _poster(source: Path) -> PosterRequest:
    return PosterRequest(str(source), str(source.with_suffix(".jpg")))


def poster_of(source: Path) -> tuple[Poster, Image.Image]:
    poster = make_poster(_poster(source))
    with Image.open(source.with_suffix(".jpg"), formats=["JPEG"]) as image:
        image.load()
        return poster, image


@pytest.mark.parametrize("turned", [0, 90, 180, 270])
def test_a_poster_is_upright(tmp_path: Path, turned: int) -> None:
    poster, image = poster_of(make_clip(tmp_path / "a.mp4", turned=turned))

    down, across = CORNERS[turned]
    assert image.size == (poster.width, poster.height)
    assert is_red(image.getpixel((int(across * image.width), int(down * image.height))))


def test_a_poster_skips_a_fade_from_black(tmp_path: Path) -> None:
    _, image = poster_of(make_clip(tmp_path / "a.mp4", black_s=0.5))

    assert is_red(image.getpixel((image.width // 4, image.height // 4)))


def test_a_black_video_has_a_black_poster(tmp_path: Path) -> None:
    _, image = poster_of(make_clip(tmp_path / "a.mp4", black_s=9))

    assert max(np.asarray(image).ravel()) < 10


@pytest.mark.slow
def test_a_poster_comes_with_a_thumbnail_and_without_metadata(tmp_path: Path) -> None:
    poster, image = poster_of(make_clip(tmp_path / "a.mp4", size=(1280, 720), metadata=METADATA))

    assert (poster.thumb_width, poster.thumb_height) == (100, 56)
    assert len(poster.thumb) == 100 * 56 * 3
    assert not image.getexif()
    assert GPS not in (tmp_path / "a.jpg").read_bytes()


def test_a_video_without_frames_has_no_poster(tmp_path: Path) -> None:
    source = spoil(make_clip(tmp_path / "a.mp4", "libx265", sound=None), scramble)

    with pytest.raises(MediaRefused) as refusal:
        poster_of(source)

    assert refusal.value.code == "video_damaged"
