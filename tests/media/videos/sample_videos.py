"""Clips made on the spot, and ways to spoil them. A bar runs to the right; the upper left quarter is red."""

import os
import struct
from collections.abc import Callable, Generator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from av.audio.frame import AudioFrame
from av.container import OutputContainer
from av.video.frame import VideoFrame

PLACE = "+48.1372+011.5756/"
GPS = b"48.1372"
METADATA = {"location": PLACE, "title": "Our secret garden", "com.apple.quicktime.location.ISO6709": PLACE}
RED = (220, 30, 30)
CORNERS = {0: (0.25, 0.25), 90: (0.25, 0.75), 180: (0.75, 0.75), 270: (0.75, 0.25)}
"""Where the red upper left quarter ends up, down and across, after turning clockwise."""


@contextmanager
def _same_priority() -> Generator[None]:
    """SVT-AV1 gives root real-time priority and keeps it: every server that is started later would inherit it."""
    policy, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        yield
    finally:
        os.sched_setscheduler(0, policy, parameters)


def make_clip(
    file: Path,
    codec: str = "libx264",
    *,
    size: tuple[int, int] = (320, 240),
    seconds: float = 1.0,
    rate: int = 30,
    sound: str | None = "aac",
    sound_s: float | None = None,
    kind: str = "yuv420p",
    turned: int = 0,
    metadata: dict[str, str] | None = None,
    options: dict[str, str] | None = None,
    black_s: float = 0.0,
    colours: tuple[int, int, int] | None = None,
    late_s: float = 0.0,
    sounds: int = 1,
) -> Path:
    """Write a clip; `turned` degrees clockwise is what a player shall do to it."""
    with (
        _same_priority(),
        av.open(str(file), "w", options={"movflags": "use_metadata_tags"} if metadata else {}) as out,
    ):
        out.metadata.update(metadata or {})
        video: Any = out.add_stream(codec, rate=rate, options=options or {})
        video.width, video.height = size
        video.pix_fmt = kind
        if turned:
            video.set_display_rotation(-turned)
        if colours:
            context = video.codec_context
            context.color_primaries, context.color_trc, context.colorspace = colours
        tracks = [_sound_track(out, sound) for _ in range(sounds)] if sound else []
        _add_pictures(out, video, round(seconds * rate), rate, black_s, round(late_s * rate))
        for audio in tracks:
            _add_sound(out, audio, sound_s or seconds)
    return file


def _add_pictures(out: OutputContainer, video: Any, count: int, rate: int, black_s: float, late: int) -> None:
    for at in range(count):
        frame = _picture((video.width, video.height), at / count, is_black=at < black_s * rate)
        frame.pts = at + late
        frame.time_base = Fraction(1, rate)
        out.mux(video.encode(frame))
    out.mux(video.encode(None))


def _picture(size: tuple[int, int], done: float, *, is_black: bool) -> VideoFrame:
    width, height = size
    rows = np.full((height, width, 3), 0 if is_black else 128, np.uint8)
    if not is_black:
        rows[: height // 2, : width // 2] = RED
        rows[-height // 8 :, : int(width * done)] = (30, 30, 220)
    return VideoFrame.from_ndarray(rows, "rgb24")


def _sound_track(out: OutputContainer, codec: str) -> Any:
    audio: Any = out.add_stream(codec, rate=48_000)
    audio.layout = "stereo"
    return audio


def _add_sound(out: OutputContainer, audio: Any, seconds: float) -> None:
    wave = (8000 * np.sin(np.arange(2048) / 20)).astype(np.int16).reshape(1, -1)
    for at in range(int(seconds * 48_000 / 1024)):
        frame = AudioFrame.from_ndarray(wave, "s16", "stereo")
        frame.sample_rate, frame.pts = 48_000, at * 1024
        out.mux(audio.encode(frame))
    out.mux(audio.encode(None))


def make_sound(file: Path) -> Path:
    with av.open(str(file), "w") as out:
        _add_sound(out, _sound_track(out, "aac"), 1.0)
    return file


def box(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I4s", 8 + len(body), kind) + body


def spoil(file: Path, change: Callable[[bytearray], Any]) -> Path:
    """Change the bytes of a clip."""
    content = bytearray(file.read_bytes())
    replaced = change(content)
    file.write_bytes(replaced if isinstance(replaced, bytes | bytearray) else content)
    return file


def into_moov(content: bytes | bytearray, extra: bytes) -> bytes:
    """A box added at the end of the header; the header has to come last, so that no offset moves."""
    at = content.rindex(b"moov") - 4
    (length,) = struct.unpack_from(">I", content, at)
    assert at + length == len(content)
    return bytes(content[:at]) + struct.pack(">I", length + len(extra)) + bytes(content[at + 4 :]) + extra


def put(content: bytearray, kind: bytes, offset: int, value: int, *, at: int = 0) -> None:
    """Overwrite four bytes in the body of the box of this kind; the `at`-th of them."""
    place = -1
    for _ in range(at + 1):
        place = content.index(kind, place + 1)
    struct.pack_into(">I", content, place + 4 + offset, value)


def pixels_of(file: Path) -> list[np.ndarray[Any, Any]]:
    with av.open(str(file)) as clip:
        return [frame.to_ndarray(format="rgb24") for frame in clip.decode(video=0)]


def is_red(colour: Any) -> bool:
    return bool(np.abs(np.asarray(colour, int) - RED).max() < 40)


def scramble(content: bytearray) -> None:
    """Noise in place of all pictures."""
    start, end = content.index(b"mdat") + 4, content.index(b"moov") - 4
    content[start:end] = np.random.default_rng(1).bytes(end - start)
