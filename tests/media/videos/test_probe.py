"""What a video really is, and what is refused before anybody pays for it."""

import struct
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import av
import pytest
from av.video.frame import VideoFrame
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.media.videos.sample_videos import box, into_moov, make_clip, make_sound, put, spoil
from tintype.media.errors import MediaRefused
from tintype.media.videos import Clip, ProbeRequest
from tintype.media.videos.mp4_boxes import check_header
from tintype.media.videos.sandbox_jobs import probe


def measured(file: Path) -> Clip:
    return probe(ProbeRequest(str(file)))


def code_of(file: Path) -> str:
    with pytest.raises(MediaRefused) as refusal:
        measured(file)
    return refusal.value.code


def test_a_phone_video_is_measured_and_may_be_remuxed(tmp_path: Path) -> None:
    clip = measured(make_clip(tmp_path / "a.mp4", seconds=2))

    assert (clip.width, clip.height, clip.frames) == (320, 240, 60)
    assert clip.duration_s == pytest.approx(2.0, abs=0.05)
    assert (clip.video_codec, clip.audio_codec, clip.may_remux) == ("h264", "aac", True)


def test_a_mov_is_accepted_too(tmp_path: Path) -> None:
    assert measured(make_clip(tmp_path / "a.mov")).may_remux


@pytest.mark.parametrize("turned", [90, 180, 270])
def test_sizes_are_those_displayed(tmp_path: Path, turned: int) -> None:
    clip = measured(make_clip(tmp_path / "a.mp4", turned=turned))

    assert (clip.width, clip.height) == ((320, 240) if turned == 180 else (240, 320))


@pytest.mark.parametrize(
    ("codec", "kind", "sound"),
    [
        ("libx265", "yuv420p", "aac"),
        ("libvpx-vp9", "yuv420p", "aac"),
        ("libx264", "yuv444p", "aac"),
        ("libx264", "yuv420p", "libopus"),
    ],
)
def test_what_not_every_browser_plays_must_be_transcoded(
    tmp_path: Path, codec: str, kind: str, sound: str
) -> None:
    clip = measured(make_clip(tmp_path / "a.mp4", codec, kind=kind, sound=sound, seconds=0.3))

    assert not clip.may_remux


@pytest.mark.slow
def test_more_than_full_hd_must_be_transcoded(tmp_path: Path) -> None:
    clip = measured(make_clip(tmp_path / "a.mp4", size=(2560, 1440), seconds=0.1, rate=20))

    assert (clip.width, clip.height, clip.may_remux) == (2560, 1440, False)


def test_a_video_without_key_frames_to_seek_to_must_be_transcoded(tmp_path: Path) -> None:
    options = {"g": "1000", "sc_threshold": "0"}
    file = make_clip(tmp_path / "a.mp4", size=(64, 64), seconds=14, rate=5, sound=None, options=options)

    assert not measured(file).may_remux


def test_a_video_without_audio_is_fine(tmp_path: Path) -> None:
    clip = measured(make_clip(tmp_path / "a.mp4", sound=None))

    assert (clip.audio_codec, clip.may_remux) == (None, True)


def test_a_header_that_claims_less_time_does_not_help(tmp_path: Path) -> None:
    file = make_clip(tmp_path / "a.mp4", size=(64, 64), seconds=70, rate=2, sound=None)

    def lie(content: bytearray) -> None:
        put(content, b"mvhd", 16, 1000)
        put(content, b"tkhd", 20, 1000)
        put(content, b"mdhd", 16, 1000)

    assert code_of(spoil(file, lie)) == "video_too_long"


def test_audio_longer_than_the_video_counts(tmp_path: Path) -> None:
    file = make_clip(tmp_path / "a.mov", size=(64, 64), seconds=1, sound="pcm_s16le", sound_s=62)

    assert code_of(file) == "video_too_long"


def test_one_frame_that_lasts_for_hours_is_too_long(tmp_path: Path) -> None:
    file = make_clip(tmp_path / "a.mp4", seconds=0.1, rate=10, sound=None)

    assert code_of(spoil(file, lambda content: put(content, b"stts", 12, 2**30))) == "video_too_long"


def test_a_header_that_claims_more_time_does_no_harm(tmp_path: Path) -> None:
    file = make_clip(tmp_path / "a.mp4", seconds=1, sound=None)

    clip = measured(spoil(file, lambda content: put(content, b"mvhd", 16, 7_200_000)))

    assert clip.duration_s == pytest.approx(1.0, abs=0.05)


def test_exactly_a_minute_is_accepted(tmp_path: Path) -> None:
    clip = measured(make_clip(tmp_path / "a.mp4", size=(64, 64), seconds=60, rate=2, sound=None))

    assert clip.duration_s == pytest.approx(60, abs=0.6)


EXTREMES = [
    bytes(4),
    b"\xff" * 4,
    b"\x7f\xff\xff\xff",
    b"\x00\x00\x00\x01",
    b"trak",
    b"stsd",
    b"stts",
    b"elst",
]
SPOILED: dict[str, tuple[str, Callable[[bytearray], Any]]] = {
    "cut in the middle": ("video_damaged", lambda content: content[: len(content) // 2]),
    "one byte short": ("video_damaged", lambda content: content[:-1]),
    "empty": ("video_damaged", lambda content: content[:0]),
    "a header of garbage": ("video_damaged", lambda content: into_moov(content, b"\xff" * 64)),
    "sides of 60,000": (
        "video_too_large",
        lambda content: put(content, b"avc1", 24, 60_000 << 16 | 60_000, at=1),
    ),
    "a billion pictures": ("video_too_long", lambda content: put(content, b"stsz", 8, 10**9)),
    "a billion moments": ("video_too_long", lambda content: put(content, b"stts", 8, 10**9)),
    "more entries than bytes": ("video_damaged", lambda content: put(content, b"stts", 4, 10**9)),
    "countless edits": ("video_unsupported", lambda content: put(content, b"elst", 4, 10**6)),
    "a key system": ("video_protected", lambda content: into_moov(content, box(b"pssh", bytes(32)))),
    "encrypted pictures": ("video_protected", lambda content: content.replace(b"avc1", b"encv")),
    "old store's lock": ("video_protected", lambda content: content.replace(b"mp4a", b"drms")),
    "a packed header": ("video_unsupported", lambda content: into_moov(content, box(b"cmov", bytes(32)))),
    "an unknown codec": ("video_unsupported", lambda content: content.replace(b"avc1", b"xxxx")),
    "no pictures at all": ("video_damaged", lambda content: put(content, b"stsz", 8, 0)),
    "boxes within boxes": ("video_unsupported", lambda content: into_moov(content, _nested(40))),
}


def _nested(depth: int) -> bytes:
    body = b""
    for _ in range(depth):
        body = box(b"trak", body)
    return body


@pytest.mark.parametrize("name", SPOILED)
@pytest.mark.slow
def test_a_corrupted_file_is_refused_with_its_own_code(tmp_path: Path, name: str) -> None:
    code, change = SPOILED[name]
    file = spoil(make_clip(tmp_path / "a.mp4"), change)

    assert code_of(file) == code


@pytest.mark.slow
@given(data=st.data())
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_fuzzed_header_is_at_worst_refused(tmp_path: Path, data: st.DataObject) -> None:
    source = tmp_path / "source.mp4"
    if not source.exists():
        make_clip(source, seconds=0.2)
    content = bytearray(source.read_bytes())
    start = content.rindex(b"moov") - 4
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(start, len(content) - 4))
        content[at : at + 4] = data.draw(st.binary(min_size=4, max_size=4) | st.sampled_from(EXTREMES))
    file = tmp_path / "broken.mp4"
    file.write_bytes(content[: data.draw(st.integers(0, len(content)) | st.just(len(content)))])

    with suppress(MediaRefused):
        check_header(file)


@pytest.mark.parametrize(
    "content",
    [
        b"#EXTM3U\n#EXTINF:10,\nfile:///etc/passwd\n",
        b"ffconcat version 1.0\nfile /etc/passwd\n",
        b"RIFF\x00\x00\x00\x00AVI LIST",
        b"\x1aE\xdf\xa3" + bytes(60),
        b"\x00\x00\x00\x08junk" * 3,
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
    ],
)
def test_other_formats_and_playlists_are_refused_whatever_their_name(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "clip.mp4"
    file.write_bytes(content)

    assert code_of(file) in {"video_unsupported", "video_damaged"}


def test_audio_alone_is_refused(tmp_path: Path) -> None:
    assert code_of(make_sound(tmp_path / "a.mp4")) == "video_without_pictures"


def test_two_video_tracks_are_refused(tmp_path: Path) -> None:
    with av.open(str(tmp_path / "a.mp4"), "w") as out:
        for _ in range(2):
            stream: Any = out.add_stream("libx264", rate=10)
            stream.width, stream.height, stream.pix_fmt = 64, 64, "yuv420p"
        for stream in out.streams.video:
            for at in range(3):
                frame = VideoFrame(64, 64, "yuv420p")
                frame.pts = at
                out.mux(stream.encode(frame))
            out.mux(stream.encode(None))

    assert code_of(tmp_path / "a.mp4") == "video_unsupported"


@pytest.mark.slow
def test_frames_larger_than_the_header_says_are_refused(tmp_path: Path) -> None:
    file = make_clip(tmp_path / "a.mp4", "libx264", size=(5000, 2400), seconds=0.1, rate=10, sound=None)

    def lie(content: bytearray) -> None:
        put(content, b"avc1", 24, 640 << 16 | 480, at=1)

    assert code_of(spoil(file, lie)) in {"video_too_large", "video_damaged"}


def test_titles_that_are_not_text_do_no_harm(tmp_path: Path) -> None:
    bad = box(b"\xa9nam", struct.pack(">HH", 4, 0) + b"\xff\xfe\xfd\xfc")
    file = spoil(make_clip(tmp_path / "a.mp4"), lambda content: into_moov(content, box(b"udta", bad)))

    assert measured(file).may_remux


@pytest.mark.slow
def test_a_fragmented_mp4_is_accepted(tmp_path: Path) -> None:
    source = make_clip(tmp_path / "a.mp4", seconds=2)
    options = {"movflags": "frag_keyframe+empty_moov"}
    with av.open(str(source)) as clip, av.open(str(tmp_path / "b.mp4"), "w", options=options) as out:
        target = out.add_stream_from_template(clip.streams.video[0])
        for packet in clip.demux(clip.streams.video[0]):
            if packet.dts is not None:
                packet.stream = target
                out.mux(packet)

    assert measured(tmp_path / "b.mp4").frames == 60
