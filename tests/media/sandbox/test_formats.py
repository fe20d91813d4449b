"""Every format that people may upload, through the sandbox with all its walls."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.media.photos import sample_photos
from tests.media.videos.sample_videos import make_clip
from tintype.media.looks import Crop, Edit, list_looks
from tintype.media.photos import VariantFormat, convert_in_sandbox, make_photo_in_sandbox
from tintype.media.uploads.pipeline import MediaPipeline

pytestmark = pytest.mark.slow

SampleMaker = Callable[[Image.Image], bytes]
PHOTOS: dict[str, SampleMaker] = {
    "JPEG": sample_photos.encode,
    "progressive JPEG": lambda scene: sample_photos.encode(scene, progressive=True),
    "grey JPEG": lambda scene: sample_photos.encode(scene.convert("L")),
    "CMYK JPEG": lambda scene: sample_photos.encode(scene.convert("CMYK")),
    "JPEG with a wide gamut": lambda scene: sample_photos.encode(
        scene, icc_profile=sample_photos.p3_profile()
    ),
    "JPEG with a place": lambda scene: sample_photos.encode(scene, exif=sample_photos.exif_with_place()),
    "PNG": lambda scene: sample_photos.encode(scene, "PNG"),
    "PNG with transparency": lambda scene: sample_photos.encode(scene.convert("RGBA"), "PNG"),
    "PNG with a palette": lambda scene: sample_photos.encode(scene.convert("P"), "PNG"),
    "PNG of 16 bits": lambda _: sample_photos.sixteen_bits(np.full((900, 1200, 3), 40_000, np.uint16)),
    "WebP": lambda scene: sample_photos.encode(scene, "WEBP"),
    "lossless WebP": lambda scene: sample_photos.encode(scene, "WEBP", lossless=True),
    "WebP with transparency": lambda scene: sample_photos.encode(scene.convert("RGBA"), "WEBP"),
    "HEIC": sample_photos.heic,
    "HEIC with transparency": lambda scene: sample_photos.heic(scene.convert("RGBA")),
}
CLIPS: dict[str, tuple[str, dict[str, Any]]] = {
    "H.264": ("a.mp4", {"codec": "libx264"}),
    "H.264 in QuickTime": ("a.mov", {"codec": "libx264", "turned": 90}),
    "HEVC of ten bits": ("a.mov", {"codec": "libx265", "kind": "yuv420p10le"}),
    "HDR": ("a.mov", {"codec": "libx265", "kind": "yuv420p10le", "colours": (9, 18, 9)}),
    "VP9 and Opus": ("a.mp4", {"codec": "libvpx-vp9", "sound": "libopus"}),
    "AV1": ("a.mp4", {"codec": "libsvtav1", "sound": None}),
    "MPEG-4 and MP3": ("a.mp4", {"codec": "mpeg4", "sound": "libmp3lame"}),
    "long": ("a.mp4", {"codec": "mpeg4", "seconds": 16.5, "size": (64, 48), "rate": 5}),
}


@pytest.fixture(scope="module")
def scene() -> Image.Image:
    return sample_photos.landscape(1400, 1000)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "made"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("kind", PHOTOS)
async def test_every_format_of_photo(tmp_path: Path, out: Path, scene: Image.Image, kind: str) -> None:
    source = tmp_path / "source"
    content = PHOTOS[kind](scene)
    source.write_bytes(content)

    made = await make_photo_in_sandbox(source, out)

    assert made.width == 1080
    assert len(made.files) == len(sample_photos.names(out)) == 8
    assert sample_photos.read(out / "1080.jpg").shape[1] == 1080
    assert source.read_bytes() == content


@pytest.mark.parametrize("look", [look.id for look in list_looks()])
async def test_every_look(tmp_path: Path, out: Path, scene: Image.Image, look: str) -> None:
    source = tmp_path / "source"
    source.write_bytes(sample_photos.encode(scene))

    made = await make_photo_in_sandbox(source, out, Edit(look=look, straighten=3, crop=Crop(width=0.8)))

    assert made.width > 600


@pytest.mark.parametrize("kind", ["webp", "avif"])
async def test_every_variant(tmp_path: Path, out: Path, scene: Image.Image, kind: VariantFormat) -> None:
    source = tmp_path / "1080.jpg"
    source.write_bytes(sample_photos.encode(scene))

    await convert_in_sandbox(source, out / f"1080.{kind}", kind)

    with Image.open(out / f"1080.{kind}") as variant:
        assert variant.size == scene.size


@pytest.mark.parametrize("kind", CLIPS)
async def test_every_kind_of_clip(tmp_path: Path, out: Path, kind: str) -> None:
    name, options = CLIPS[kind]
    source = make_clip(tmp_path / name, **options)
    (posters := tmp_path / "posters").mkdir()
    seen: list[int] = []

    async def on_progress(percent: int) -> None:
        seen.append(percent)

    poster = await MediaPipeline().process_poster(source, posters)
    made = await MediaPipeline().convert_video(source, out, on_progress)

    assert len(sample_photos.names(posters)) == 8
    assert poster.duration_ms == pytest.approx(made.duration_ms, abs=150)
    assert (out / "video.mp4").stat().st_size > 0
    assert made.has_hls == ((out / "index.m3u8").exists()) == (kind == "long")


async def test_a_clip_without_its_place(tmp_path: Path, out: Path) -> None:
    source = make_clip(tmp_path / "a.mp4", metadata={"location": "+48.1372+011.5756/"})
    assert b"48.1372" in source.read_bytes()

    removed = await MediaPipeline().clean_video(source, out / "original")

    assert removed
    assert b"48.1372" not in (out / "original").read_bytes()
