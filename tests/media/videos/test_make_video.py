"""What people get: clean files that play everywhere, upright, whole, and a still to go with them."""

from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from tests.media.videos.sample_videos import (
    CORNERS,
    GPS,
    METADATA,
    PLACE,
    box,
    into_moov,
    is_red,
    make_clip,
    pixels_of,
    scramble,
    spoil,
)
from tintype.media.errors import MediaRefused
from tintype.media.videos import MadeVideo, VideoRequest, read_progress
from tintype.media.videos.mp4_boxes import check_header
from tintype.media.videos.sandbox_jobs import make_video, reencode, remux

pytestmark = pytest.mark.slow


def wanted(source: Path, **more: Any) -> VideoRequest:
    folder = source.parent / "made"
    folder.mkdir(exist_ok=True)
    return VideoRequest(str(source), str(folder), **more)


def file_of(source: Path, made: MadeVideo) -> Path:
    return source.parent / "made" / made.video.name


def kinds_in(file: Path) -> tuple[str, str, str | None]:
    with av.open(str(file)) as clip:
        video = clip.streams.video[0].codec_context
        sound = clip.streams.audio[0].codec_context.name if clip.streams.audio else None
        return video.name, str(video.pix_fmt), sound


def starts_playing_early(file: Path) -> bool:
    content = file.read_bytes()
    return content.index(b"moov") < content.index(b"mdat")


def test_what_plays_everywhere_is_remuxed_frame_by_frame(tmp_path: Path) -> None:
    source = make_clip(tmp_path / "a.mp4", seconds=2)

    made = make_video(wanted(source))

    assert (made.way, made.width, made.height, made.has_sound) == ("remuxed", 320, 240, True)
    assert made.duration_s == pytest.approx(2.0, abs=0.06)
    before, after = pixels_of(source), pixels_of(file_of(source, made))
    assert len(before) == len(after) == 60
    assert all(np.array_equal(one, other) for one, other in zip(before, after, strict=True))
    assert starts_playing_early(file_of(source, made))


@pytest.mark.parametrize(
    ("codec", "kind", "sound"),
    [("libx265", "yuv420p10le", "aac"), ("libvpx-vp9", "yuv420p", "libopus"), ("mpeg4", "yuv420p", None)],
)
def test_everything_else_becomes_h264_and_aac(
    tmp_path: Path, codec: str, kind: str, sound: str | None
) -> None:
    source = make_clip(tmp_path / "a.mp4", codec, kind=kind, sound=sound, seconds=1)

    made = make_video(wanted(source))

    file = file_of(source, made)
    assert made.way == "transcoded"
    assert kinds_in(file) == ("h264", "yuv420p", "aac" if sound else None)
    assert made.duration_s == pytest.approx(1.0, abs=0.1)
    pictures = pixels_of(file)
    assert len(pictures) == 30
    assert is_red(pictures[0][60, 80])
    assert not is_red(pictures[0][60, 240])
    assert starts_playing_early(file)


@pytest.mark.parametrize("way", [remux, reencode])
def test_no_metadata_is_left(tmp_path: Path, way: Any) -> None:
    source = make_clip(tmp_path / "a.mp4", metadata=METADATA)
    place = b"\x00\x12\x15\xc7" + PLACE.encode()
    extra = box(b"udta", box(b"\xa9xyz", place)) + box(b"uuid", bytes(16) + PLACE.encode())
    spoil(source, lambda content: into_moov(content, extra))
    assert source.read_bytes().count(GPS) >= 2

    made = way(wanted(source))

    content = file_of(source, made).read_bytes()
    for trace in (GPS, b"xyz", b"secret", b"ISO6709", b"uuid", b"Lavf"):
        assert trace not in content
    with av.open(str(file_of(source, made))) as clip:
        assert set(clip.metadata) <= {"major_brand", "minor_version", "compatible_brands"}


@pytest.mark.parametrize("way", [remux, reencode])
def test_sei_units_are_stripped(tmp_path: Path, way: Any) -> None:
    source = make_clip(tmp_path / "a.mp4")
    assert b"x264 - core" in source.read_bytes()

    made = way(wanted(source))

    assert b"x264 - core" not in file_of(source, made).read_bytes()


def test_tracks_of_other_kinds_are_dropped(tmp_path: Path) -> None:
    source = make_clip(tmp_path / "a.mp4")
    with av.open(str(source)) as clip, av.open(str(tmp_path / "b.mp4"), "w") as out:
        video = out.add_stream_from_template(clip.streams.video[0])
        notes: Any = out.add_data_stream("bin_data")
        for packet in clip.demux(clip.streams.video[0]):
            if packet.dts is not None:
                packet.stream = video
                out.mux(packet)
        note = av.Packet(b"\x00\x07" + GPS)
        note.stream, note.pts, note.dts, note.duration = notes, 0, 0, 1000
        out.mux(note)
    assert GPS in (tmp_path / "b.mp4").read_bytes()

    made = make_video(wanted(tmp_path / "b.mp4"))

    assert GPS not in file_of(tmp_path / "b.mp4", made).read_bytes()


@pytest.mark.parametrize("turned", [90, 180, 270])
def test_a_remuxed_video_keeps_its_rotation(tmp_path: Path, turned: int) -> None:
    source = make_clip(tmp_path / "a.mp4", turned=turned)

    made = make_video(wanted(source))

    assert (made.width, made.height) == ((320, 240) if turned == 180 else (240, 320))
    assert check_header(file_of(source, made)).matrix == check_header(source).matrix != (1, 0, 0, 1)


@pytest.mark.parametrize("turned", [0, 90, 180, 270])
def test_a_transcoded_video_is_upright_without_rotation(tmp_path: Path, turned: int) -> None:
    source = make_clip(tmp_path / "a.mp4", turned=turned, seconds=0.5)

    made = reencode(wanted(source))

    file = file_of(source, made)
    picture = pixels_of(file)[0]
    assert picture.shape[:2] == (made.height, made.width)
    assert (made.width, made.height) == ((320, 240) if turned in {0, 180} else (240, 320))
    for other, (down, across) in CORNERS.items():
        spot = picture[int(down * made.height), int(across * made.width)]
        assert is_red(spot) == (other == turned)
    assert check_header(file).matrix == (1, 0, 0, 1)


@pytest.mark.parametrize(("size", "expected"), [((1920, 1080), (1280, 720)), ((1080, 1920), (720, 1280))])
def test_a_transcoded_video_is_720p_at_most(
    tmp_path: Path, size: tuple[int, int], expected: tuple[int, int]
) -> None:
    source = make_clip(tmp_path / "a.mp4", size=size, seconds=0.2, sound=None)

    made = reencode(wanted(source))

    assert (made.width, made.height) == expected


def test_a_transcoded_video_has_at_most_thirty_frames_a_second(tmp_path: Path) -> None:
    source = make_clip(tmp_path / "a.mp4", rate=60, seconds=1)

    made = reencode(wanted(source))

    assert len(pixels_of(file_of(source, made))) == 30
    assert made.duration_s == pytest.approx(1.0, abs=0.1)


def test_odd_sides_become_even(tmp_path: Path) -> None:
    source = make_clip(tmp_path / "a.mp4", "libvpx-vp9", size=(321, 241), kind="yuv444p", seconds=0.2)

    made = make_video(wanted(source))

    assert made.width % 2 == made.height % 2 == 0


def test_hdr_is_tone_mapped_into_range(tmp_path: Path) -> None:
    source = make_clip(
        tmp_path / "a.mp4", "libx265", kind="yuv420p10le", seconds=0.1, sound=None, colours=(9, 18, 9)
    )

    made = make_video(wanted(source))

    with av.open(str(file_of(source, made))) as clip:
        context = clip.streams.video[0].codec_context
        assert (context.color_trc, context.color_primaries, context.colorspace) == (1, 1, 1)


def test_progress_is_reported_in_rising_percentages(tmp_path: Path) -> None:
    source = make_clip(tmp_path / "a.mp4", "libx265", seconds=2)
    file = tmp_path / "progress"
    assert read_progress(file) == 0

    make_video(wanted(source, progress=str(file)))

    lines = [int(line) for line in file.read_text().splitlines()]
    assert lines == sorted(set(lines))
    assert len(lines) > 10
    assert read_progress(file) == lines[-1] == 100


def test_an_incomplete_line_of_progress_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "progress").write_text("7\n41\n10")

    assert read_progress(tmp_path / "progress") == 41


@pytest.mark.parametrize("way", [remux, reencode])
def test_video_and_audio_stay_in_sync(tmp_path: Path, way: Any) -> None:
    source = make_clip(tmp_path / "a.mp4", seconds=2, late_s=0.5)

    made = way(wanted(source))

    with av.open(str(file_of(source, made))) as clip:
        assert next(clip.decode(video=0)).time == pytest.approx(0.5, abs=0.05)
    with av.open(str(file_of(source, made))) as clip:
        assert next(clip.decode(audio=0)).time == pytest.approx(0, abs=0.05)


def test_of_two_audio_tracks_one_is_kept(tmp_path: Path) -> None:
    source = make_clip(tmp_path / "a.mp4", sounds=2)

    made = make_video(wanted(source))

    with av.open(str(file_of(source, made))) as clip:
        assert (len(clip.streams.video), len(clip.streams.audio)) == (1, 1)


def test_interlaced_frames_are_deinterlaced(tmp_path: Path) -> None:
    options = {"flags": "+ildct+ilme", "x264-params": "tff=1"}
    source = make_clip(tmp_path / "a.mp4", options=options, seconds=0.5)

    made = make_video(wanted(source))

    with av.open(str(file_of(source, made))) as clip:
        assert made.way == "transcoded"
        assert not any(frame.interlaced_frame for frame in clip.decode(video=0))


def test_a_second_run_leaves_nothing_of_the_first(tmp_path: Path) -> None:
    source = make_clip(tmp_path / "a.mp4", seconds=17, rate=10, size=(160, 120), options={"g": "20"})
    ask = wanted(source, progress=str(tmp_path / "progress"))
    (tmp_path / "made" / "part777.m4s").write_bytes(b"from a run that was killed")

    first, second = make_video(ask), make_video(ask)

    assert [each.name for each in first.segments] == [each.name for each in second.segments]
    assert "part777.m4s" not in [each.name for each in second.segments]
    assert (tmp_path / "progress").read_text() == "100\n"


@pytest.mark.parametrize("way", [remux, reencode])
def test_longer_videos_get_a_playlist_that_plays_to_the_end(tmp_path: Path, way: Any) -> None:
    source = make_clip(tmp_path / "a.mp4", seconds=17, rate=5, size=(160, 120), options={"g": "10"})

    made = way(wanted(source))

    folder = source.parent / "made"
    assert made.playlist == "index.m3u8"
    assert {each.name for each in made.segments} == {file.name for file in folder.iterdir()} - {"video.mp4"}
    assert len(made.segments) >= 6
    assert "/" not in (folder / "index.m3u8").read_text().replace("#EXT", "")
    with av.open(str(folder / "index.m3u8"), options={"allowed_extensions": "ALL"}) as stream:
        assert sum(1 for _ in stream.decode(video=0)) == 17 * 5


def test_short_videos_get_no_playlist(tmp_path: Path) -> None:
    made = make_video(wanted(make_clip(tmp_path / "a.mp4")))

    assert (made.playlist, made.segments) == (None, [])


def test_noise_instead_of_frames_is_damage(tmp_path: Path) -> None:
    source = make_clip(tmp_path / "a.mp4", "libx265", sound=None)

    spoil(source, scramble)
    with pytest.raises(MediaRefused) as refusal:
        make_video(wanted(source))
    assert refusal.value.code == "video_damaged"
