"""Whatever bytes come: a size within the caps, or a refusal. Never another exception, never a long time."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.media.photos import sample_photos
from tintype.media.errors import MediaRefused
from tintype.media.photos import read_header
from tintype.media.photos.colour import is_srgb
from tintype.media.photos.exif import read_exif
from tintype.media.photos.sniff import LONGEST_SIDE, MAX_PIXELS

SMALL = sample_photos.corners(40, 30)
SEEDS = [
    sample_photos.encode(SMALL, exif=sample_photos.exif_with_place()),
    sample_photos.encode(SMALL, progressive=True),
    sample_photos.encode(SMALL, "PNG"),
    sample_photos.encode(SMALL, "WEBP"),
    sample_photos.encode(SMALL.convert("RGBA"), "WEBP", exif=sample_photos.exif_with_place()),
    sample_photos.heic(SMALL),
    b"RIFF\xff\xff\xff\xffWEBPVP8X",
    b"\0\0\0\x18ftypheic\0\0\0\0mif1heic\0\0\0\x01meta",
    b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR",
    b"\xff\xd8\xff",
]

edits = st.lists(
    st.tuples(
        st.integers(0, 700),
        st.sampled_from(["set", "cut", "insert", "repeat"]),
        st.binary(min_size=1, max_size=6)
        | st.sampled_from([b"\xff" * 4, b"\0" * 4, b"\0\0\0\1", b"\xff\xda", b"\xff\xc0"]),
    ),
    max_size=8,
)


def mutate(content: bytes, changes: list[tuple[int, str, bytes]]) -> bytes:
    for place, how, data in changes:
        at = place % (len(content) + 1)
        if how == "set":
            content = content[:at] + data + content[at + len(data) :]
        elif how == "cut":
            content = content[:at] + content[at + len(data) :]
        elif how == "insert":
            content = content[:at] + data + content[at:]
        else:
            content = content[:at] + content[max(0, at - 40) : at] * 3 + content[at:]
    return content


def check(content: bytes) -> None:
    try:
        header = read_header(content)
    except MediaRefused:
        return
    assert min(header.width, header.height) >= 1
    assert max(header.width, header.height) <= LONGEST_SIDE
    assert header.pixels <= MAX_PIXELS


@pytest.mark.slow
@given(seed=st.sampled_from(SEEDS), changes=edits)
@settings(max_examples=1500, deadline=5000, suppress_health_check=[HealthCheck.too_slow])
def test_a_mutated_photo_is_read_or_refused(seed: bytes, changes: list[tuple[int, str, bytes]]) -> None:
    check(mutate(seed, changes))


@given(start=st.sampled_from([seed[:12] for seed in SEEDS]), rest=st.binary(max_size=400))
@settings(max_examples=700, deadline=5000)
def test_random_bytes_after_a_real_signature_are_read_or_refused(start: bytes, rest: bytes) -> None:
    check(start + rest)


@pytest.mark.slow
@given(changes=edits)
@settings(max_examples=400, deadline=5000, suppress_health_check=[HealthCheck.too_slow])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_damaged_exif_block_is_ignored(changes: list[tuple[int, str, bytes]]) -> None:
    noted, place = read_exif(mutate(sample_photos.exif_with_place(), changes))

    assert all(len(value) <= 200 for value in noted.values() if isinstance(value, str))
    assert abs(place.get("latitude", 0.0)) <= 90  # pyright: ignore[reportArgumentType] - numbers, all of them


@pytest.mark.slow
@given(changes=edits)
@settings(max_examples=300, deadline=5000)
def test_a_damaged_profile_is_at_worst_not_srgb(changes: list[tuple[int, str, bytes]]) -> None:
    assert is_srgb(mutate(sample_photos.p3_profile(), changes)) in {True, False}  # and raises nothing
