import struct
import zlib

import pytest

from tests.media.photos import sample_photos
from tintype.media.errors import (
    MediaAnimated,
    MediaBomb,
    MediaDamaged,
    MediaDimensionsFalse,
    MediaDimensionsRefused,
    MediaRefused,
    MediaUnsupported,
)
from tintype.media.photos import read_header

SMALL = sample_photos.corners(64, 48)
JPEG = sample_photos.encode(SMALL)
ZEROS = sample_photos.packed_zeros(200)


def riff(*chunks: tuple[bytes, bytes]) -> bytes:
    body = b"".join(
        kind + struct.pack("<I", len(data)) + data + bytes(len(data) & 1) for kind, data in chunks
    )
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WEBP" + body


def canvas(width: int, height: int, flags: int = 0) -> bytes:
    return bytes([flags, 0, 0, 0]) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")


@pytest.mark.parametrize(
    "content",
    [
        JPEG,
        sample_photos.encode(SMALL, progressive=True),
        sample_photos.encode(SMALL.convert("CMYK")),
        sample_photos.encode(SMALL.convert("L")),
        sample_photos.encode(SMALL, "PNG"),
        sample_photos.encode(SMALL.convert("P"), "PNG"),
        sample_photos.encode(SMALL, "WEBP"),
        sample_photos.encode(SMALL, "WEBP", lossless=True),
        sample_photos.encode(SMALL.convert("RGBA"), "WEBP", exif=sample_photos.exif_with_place()),
    ],
)
def test_the_size_of_a_real_photo_is_read(content: bytes) -> None:
    header = read_header(content)

    assert (header.width, header.height) == (64, 48)


def test_the_size_of_a_heic_is_read_before_it_is_cropped() -> None:
    header = read_header(sample_photos.heic(sample_photos.corners(200, 300)))

    assert header.width in range(200, 264)
    assert header.height in range(300, 364)


@pytest.mark.parametrize(
    ("width", "height"),
    [(30_000, 30_000), (16_385, 8_000), (10_000, 6_401), (20_000, 10), (110, 10), (0, 5), (5, 0)],
)
def test_images_that_are_too_large_or_too_long_are_refused(width: int, height: int) -> None:
    with pytest.raises(MediaDimensionsRefused):
        read_header(sample_photos.png(width, height))


@pytest.mark.parametrize(("width", "height"), [(1, 1), (16_000, 4_000), (100, 10), (1_638, 16_380)])
def test_images_up_to_the_limits_are_accepted(width: int, height: int) -> None:
    assert read_header(sample_photos.png(width, height)).pixels == width * height


def test_a_jpeg_that_claims_65500_pixels_a_side_is_refused() -> None:
    with pytest.raises(MediaDimensionsRefused):
        read_header(sample_photos.with_jpeg_size(JPEG, 65_500, 65_500))


def test_a_jpeg_without_a_height_in_its_header_is_refused() -> None:
    with pytest.raises(MediaDimensionsRefused):
        read_header(sample_photos.with_jpeg_size(JPEG, 64, 0))


@pytest.mark.parametrize("marker", [0xC3, 0xC5, 0xC9, 0xCA, 0xCF])
def test_a_lossless_or_arithmetic_jpeg_is_refused(marker: int) -> None:
    with pytest.raises(MediaUnsupported):
        read_header(JPEG.replace(b"\xff\xc0", bytes([0xFF, marker]), 1))


def test_a_jpeg_of_twelve_bits_is_refused() -> None:
    at = JPEG.index(b"\xff\xc0")
    with pytest.raises(MediaUnsupported):
        read_header(JPEG[: at + 4] + b"\x0c" + JPEG[at + 5 :])


def test_a_second_frame_header_is_refused() -> None:
    at = JPEG.index(b"\xff\xc0")
    frame = JPEG[at + 4 : at + 2 + int.from_bytes(JPEG[at + 2 : at + 4], "big")]

    with pytest.raises(MediaDimensionsFalse):
        read_header(sample_photos.with_segment(JPEG, 0xC0, frame))


def test_a_second_png_header_is_refused() -> None:
    again = sample_photos.chunk(b"IHDR", struct.pack(">IIBBBBB", 10_000, 10_000, 8, 0, 0, 0, 0))

    with pytest.raises(MediaDimensionsFalse):
        read_header(sample_photos.png(10, 10, again))


def test_a_canvas_of_another_size_than_the_image_is_refused() -> None:
    picture = sample_photos.encode(SMALL, "WEBP")[20:]

    with pytest.raises(MediaDimensionsFalse):
        read_header(riff((b"VP8X", canvas(32, 48)), (b"VP8 ", picture)))


def test_a_heic_without_one_clear_size_is_refused() -> None:
    content = sample_photos.heic(SMALL)

    with pytest.raises(MediaDimensionsFalse):
        read_header(content.replace(b"ispe", b"free"))


@pytest.mark.parametrize("side", [16_385, 0xFFFFFFFF])
def test_a_heic_with_a_part_that_claims_too_much_is_refused(side: int) -> None:
    content = sample_photos.heic(SMALL)
    at = content.index(b"ispe") + 8

    with pytest.raises(MediaDimensionsRefused):
        read_header(content[:at] + struct.pack(">II", side, side) + content[at + 8 :])


def test_animations_are_refused() -> None:
    frames = [sample_photos.corners(32, 32), sample_photos.plain((1, 2, 3), width=32, height=32)]
    picture = sample_photos.encode(SMALL, "WEBP")[20:]
    animated = [
        sample_photos.encode(frames[0], "PNG", save_all=True, append_images=frames[1:]),
        sample_photos.encode(frames[0], "WEBP", save_all=True, append_images=frames[1:]),
        riff((b"VP8X", canvas(64, 48, flags=2)), (b"VP8 ", picture)),
        riff((b"VP8X", canvas(64, 48)), (b"ANIM", bytes(6)), (b"VP8 ", picture)),
        sample_photos.heic(SMALL)[:8] + b"msf1" + sample_photos.heic(SMALL)[12:],
    ]

    for content in animated:
        with pytest.raises(MediaAnimated):
            read_header(content)


def test_of_several_images_in_a_jpeg_the_first_is_used() -> None:
    pair = sample_photos.encode(SMALL, "MPO", save_all=True, append_images=[sample_photos.corners(320, 320)])

    assert read_header(pair).width == 64


@pytest.mark.parametrize(
    "bomb",
    [
        sample_photos.chunk(b"iCCP", b"icc\0\0" + ZEROS),
        sample_photos.chunk(b"zTXt", b"Comment\0\0" + ZEROS),
        sample_photos.chunk(b"iTXt", b"Comment\0\x01\0\0\0" + ZEROS),
        sample_photos.chunk(b"zTXt", b"Comment\0\0" + sample_photos.packed_zeros(3)) * 2,
        sample_photos.chunk(b"tEXt", b"") * 30_000,
    ],
    ids=["profile", "text", "international text", "several together", "many chunks"],
)
def test_a_png_whose_texts_are_decompression_bombs_is_refused(bomb: bytes) -> None:
    with pytest.raises(MediaBomb):
        read_header(sample_photos.png(8, 8, bomb, rows=bytes(72)))


def test_a_png_with_an_ordinary_profile_and_text_is_accepted() -> None:
    texts = sample_photos.chunk(b"zTXt", b"Comment\0\0" + zlib.compress(b"hello" * 1000))
    profile = sample_photos.chunk(b"iCCP", b"icc\0\0" + zlib.compress(sample_photos.p3_profile()))

    assert read_header(sample_photos.png(8, 8, profile, texts, rows=bytes(72))).width == 8


@pytest.mark.slow
def test_a_progressive_jpeg_with_endless_scans_is_refused() -> None:
    with pytest.raises(MediaBomb):
        read_header(sample_photos.scan_bomb())


def test_a_small_jpeg_may_have_many_scans() -> None:
    assert read_header(sample_photos.scan_bomb(side=64, scans=40)).width == 64


def test_a_jpeg_of_nothing_but_segments_is_refused() -> None:
    with pytest.raises(MediaBomb):
        read_header(JPEG[:2] + b"\xff\xfe\0\2" * 100_000 + JPEG[2:])


@pytest.mark.parametrize("content", [JPEG, sample_photos.encode(SMALL, "PNG"), sample_photos.heic(SMALL)])
def test_a_photo_cut_anywhere_in_its_header_is_refused(content: bytes) -> None:
    for length in range(16, min(len(content), 400), 7):
        with pytest.raises(MediaRefused):
            read_header(content[:length])


def test_a_file_without_image_data_is_damaged() -> None:
    for content in (b"\xff\xd8\xff\xd9", JPEG[:2] + JPEG[-2:], riff((b"EXIF", b"x")), riff()):
        with pytest.raises(MediaDamaged):
            read_header(content)
