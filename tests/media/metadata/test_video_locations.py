"""The copy of a video keeps its frames and its sound, and loses the place, wherever in the file it was written."""

import struct
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.media.metadata.located_videos import (
    LOCATED,
    is_named,
    make_fragmented,
    make_located,
    packets_of,
)
from tests.media.photos.test_fuzz import mutate
from tests.media.videos.sample_videos import METADATA, box, make_clip
from tintype.media.metadata.clean_video import clean_video
from tintype.media.metadata.models import CleanVideoRequest
from tintype.media.videos import VideoRefused

pytestmark = pytest.mark.slow

WITHOUT_COORDINATES = {"an unknown box", "media data of no track", "skipped space in the header"}


def clean(source: Path) -> tuple[Path, list[str]]:
    copy = source.with_name("copy")
    return copy, [*clean_video(CleanVideoRequest(str(source), str(copy))).removed]


@pytest.mark.parametrize("name", LOCATED)
def test_a_video_keeps_its_packets_and_loses_its_location(tmp_path: Path, name: str) -> None:
    source = make_located(tmp_path, LOCATED[name])

    copy, removed = clean(source)

    assert is_named(source.read_bytes())
    assert not is_named(copy.read_bytes())
    assert packets_of(copy) == packets_of(source)
    assert ("location" in removed) is (name not in WITHOUT_COORDINATES)
    assert removed


@pytest.mark.parametrize("suffix", ["mp4", "mov"])
@pytest.mark.parametrize(("codec", "sound"), [("libx264", "aac"), ("mpeg4", "alac"), ("libx264", None)])
def test_what_a_muxer_writes_is_removed(tmp_path: Path, suffix: str, codec: str, sound: str | None) -> None:
    source = make_clip(tmp_path / f"clip.{suffix}", codec, sound=sound, size=(64, 48), metadata=METADATA)

    copy, removed = clean(source)

    assert "location" in removed
    assert not is_named(copy.read_bytes())
    assert packets_of(copy) == packets_of(source)


@pytest.mark.parametrize("sound", ["pcm_s16le", "pcm_u8", "pcm_s24le", "pcm_mulaw"])
def test_uncompressed_sound_stays(tmp_path: Path, sound: str) -> None:
    source = make_clip(tmp_path / "clip.mov", sound=sound, size=(64, 48), metadata=METADATA)

    copy, _ = clean(source)

    assert packets_of(copy) == packets_of(source)


def test_uncompressed_sound_stays_where_its_samples_count_as_bytes(tmp_path: Path) -> None:
    """As QuickTime wrote it: the table says one byte a sample, the description how large it is."""
    source = make_clip(tmp_path / "clip.mov", sound="pcm_s16le", size=(64, 48), metadata=METADATA)
    content = bytearray(source.read_bytes())
    at = content.index(b"stsz", content.index(b"soun")) + 8
    assert int.from_bytes(content[at : at + 4], "big") == 4
    content[at : at + 4] = (1).to_bytes(4, "big")
    source.write_bytes(content)

    copy, _ = clean(source)

    assert packets_of(copy) == packets_of(source)


def test_a_video_in_fragments_keeps_its_packets_and_loses_its_location(tmp_path: Path) -> None:
    source = make_fragmented(tmp_path)

    copy, removed = clean(source)

    assert "location" in removed
    assert not is_named(copy.read_bytes())
    assert packets_of(copy) == packets_of(source)


def test_a_video_keeps_its_rotation(tmp_path: Path) -> None:
    source = make_clip(tmp_path / "clip.mp4", size=(64, 48), turned=90, metadata=METADATA)

    copy, _ = clean(source)

    assert packets_of(copy) == packets_of(source)
    assert copy.read_bytes().count(b"tkhd") == source.read_bytes().count(b"tkhd")
    at = source.read_bytes().index(b"tkhd")
    assert copy.read_bytes()[at : at + 92] == source.read_bytes()[at : at + 92]


def test_a_copy_has_nothing_more_to_remove(tmp_path: Path) -> None:
    first, _ = clean(make_located(tmp_path, LOCATED["Apple's keys"]))
    content = first.read_bytes()
    source = tmp_path / "again.mp4"
    source.write_bytes(content)

    copy, removed = clean(source)

    assert (copy.read_bytes(), removed) == (content, [])


def test_a_video_whose_location_stays_readable_is_refused(tmp_path: Path) -> None:
    """A brand of the file type is none that could be removed."""
    source = make_clip(tmp_path / "clip.mp4", size=(64, 48))
    content = source.read_bytes()
    (length,) = struct.unpack_from(">I", content)
    ftyp = box(b"ftyp", content[8:length] + b"com.apple.quicktime.location.ISO6709")
    source.write_bytes(ftyp + box(b"wide", b"") + content[length:])

    with pytest.raises(VideoRefused) as refused:
        clean(source)

    assert refused.value.code == "video_not_cleanable"


@pytest.fixture(scope="module")
def located_clip(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return make_located(tmp_path_factory.mktemp("clips"), LOCATED["Apple's keys"]).read_bytes()


header_edits = st.lists(
    st.tuples(
        st.integers(0, 4000),
        st.sampled_from(["set", "cut", "insert"]),
        st.sampled_from([b"\xff" * 4, b"\0" * 4, b"\0\0\0\1", b"\0\0\0\x08", b"trak", b"free", b"stsz"]),
    ),
    max_size=6,
)


@given(changes=header_edits)
@settings(
    max_examples=1000,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_a_damaged_video_is_copied_without_its_location_or_refused(
    tmp_path: Path, located_clip: bytes, changes: list[tuple[int, str, bytes]]
) -> None:
    header_at = located_clip.rindex(b"moov") - 4
    source = tmp_path / "damaged.mp4"
    source.write_bytes(located_clip[:header_at] + mutate(located_clip[header_at:], changes))

    try:
        copy, _ = clean(source)
    except VideoRefused:
        return
    assert not is_named(copy.read_bytes())
