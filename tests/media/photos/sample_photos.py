"""Photos made by recipe: small, exact, and nobody's property."""

import io
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pillow_heif
from numpy.typing import NDArray
from PIL import ExifTags, Image, ImageCms

from tintype.media.photos.vips import pyvips

CORNERS = {
    "top left": (220, 30, 30),
    "top right": (30, 160, 30),
    "bottom left": (30, 30, 220),
    "bottom right": (240, 240, 60),
}
# How a camera held each way stores an upright picture: the inverse of what its orientation asks for.
STORED: dict[int, list[Image.Transpose]] = {
    1: [],
    2: [Image.Transpose.FLIP_LEFT_RIGHT],
    3: [Image.Transpose.ROTATE_180],
    4: [Image.Transpose.FLIP_TOP_BOTTOM],
    5: [Image.Transpose.TRANSPOSE],
    6: [Image.Transpose.ROTATE_90],
    7: [Image.Transpose.TRANSVERSE],
    8: [Image.Transpose.ROTATE_270],
}


def corners(width: int = 480, height: int = 360) -> Image.Image:
    """A picture that tells which way is up: a colour in each quarter."""
    pixels = np.zeros((height, width, 3), np.uint8)
    top, left = slice(None, height // 2), slice(None, width // 2)
    low, right = slice(height // 2, None), slice(width // 2, None)
    for rows, columns, name in (
        (top, left, "top left"),
        (top, right, "top right"),
        (low, left, "bottom left"),
        (low, right, "bottom right"),
    ):
        pixels[rows, columns] = CORNERS[name]
    return Image.fromarray(pixels)


def landscape(width: int = 1600, height: int = 1200, seed: int = 7) -> Image.Image:
    """Something like a photo: soft shapes, finer and finer, and a little noise."""
    chance = np.random.default_rng(seed)
    layers = np.zeros((height, width, 3), np.float32)
    for octave in range(2, 9):
        grid = chance.normal(size=(3 * 2**octave // 4, 2**octave, 3)).astype(np.float32)
        bands = [
            np.asarray(Image.fromarray(grid[..., band]).resize((width, height), Image.Resampling.BICUBIC))
            for band in range(3)
        ]
        layers += np.stack(bands, -1) * 0.6**octave
    grey = layers.mean(-1, keepdims=True)
    layers = grey + 0.4 * (layers - grey)
    layers = (layers - layers.min()) / (layers.max() - layers.min()) * 255
    noise = np.asarray(chance.normal(scale=2.0, size=(height, width, 3)), np.float32)
    return Image.fromarray(np.clip(layers + noise, 0, 255).astype(np.uint8))


def plain(colour: tuple[int, ...], mode: str = "RGB", width: int = 400, height: int = 400) -> Image.Image:
    return Image.new(mode, (width, height), colour)


def encode(image: Image.Image, kind: str = "JPEG", **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def heic(image: Image.Image, **options: Any) -> bytes:
    buffer = io.BytesIO()
    pillow_heif.from_pillow(image).save(buffer, **options)
    return buffer.getvalue()


def held(orientation: int, image: Image.Image) -> bytes:
    """A JPEG as a camera held that way writes it."""
    return encode(stored(orientation, image), quality=92, exif=orientation_block(orientation))


def stored(orientation: int, image: Image.Image) -> Image.Image:
    for step in STORED[orientation]:
        image = image.transpose(step)
    return image


def orientation_block(orientation: int) -> bytes:
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    return exif.tobytes()


def exif_with_place() -> bytes:
    exif = Image.Exif()
    exif[ExifTags.Base.Make] = "Tintype Camera"
    exif[ExifTags.Base.Model] = "No. 1"
    exif.get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.DateTimeOriginal] = "2026:05:01 12:00:00"
    exif.get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.ExposureTime] = 0.004
    exif.get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.BodySerialNumber] = "SERIAL-4711"
    place = exif.get_ifd(ExifTags.IFD.GPSInfo)
    place[ExifTags.GPS.GPSLatitudeRef], place[ExifTags.GPS.GPSLatitude] = "S", (33.0, 51.0, 30.0)
    place[ExifTags.GPS.GPSLongitudeRef], place[ExifTags.GPS.GPSLongitude] = "E", (151.0, 12.0, 36.0)
    return exif.tobytes()


def sixteen_bits(pixels: NDArray[np.uint16]) -> bytes:
    bands = "rgb16" if pixels.shape[2] >= 3 else "grey16"
    return pyvips.Image.new_from_array(pixels).copy(interpretation=bands).pngsave_buffer(bitdepth=16)


def srgb_profile() -> bytes:
    cms: Any = ImageCms  # any: Pillow's core type is not typed
    return cms.ImageCmsProfile(cms.createProfile("sRGB")).tobytes()


def p3_profile() -> bytes:
    return bytes(pyvips.Image.profile_load("p3"))


def matrix_profile(red: list[float], green: list[float], blue: list[float], gamma: float) -> bytes:
    """An ICC profile of three colorants (D50) and a gamma: the least that colour management takes."""

    def xyz(values: list[float]) -> bytes:
        return b"XYZ \0\0\0\0" + struct.pack(">3i", *(round(value * 65536) for value in values))

    curve = b"curv\0\0\0\0" + struct.pack(">IHxx", 1, round(gamma * 256))
    text = b"desc\0\0\0\0" + struct.pack(">I", 5) + b"test\0" + bytes(4 + 4 + 2 + 1 + 67) + bytes(3)
    bodies = {
        b"desc": text,
        b"wtpt": xyz([0.9642, 1.0, 0.8249]),
        b"rXYZ": xyz(red),
        b"gXYZ": xyz(green),
        b"bXYZ": xyz(blue),
        b"rTRC": curve,
        b"gTRC": curve,
        b"bTRC": curve,
    }
    start = 128 + 4 + 12 * len(bodies)
    table, data = struct.pack(">I", len(bodies)), b""
    for name, body in bodies.items():
        table += name + struct.pack(">II", start + len(data), len(body))
        data += body + bytes(-len(body) % 4)
    header = struct.pack(
        ">I4sI4s4s4s12s4s",
        start + len(data),
        b"lcms",
        0x02400000,
        b"mntr",
        b"RGB ",
        b"XYZ ",
        bytes(12),
        b"acsp",
    )
    header += bytes(68 - len(header)) + struct.pack(">3i", 63190, 65536, 54061)
    return header + bytes(128 - len(header)) + table + data


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def packed_zeros(megabytes: int) -> bytes:
    """A zlib stream that unpacks to so many zeros: one packed megabyte, again and again."""
    packer = zlib.compressobj(9)
    packed = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    header, part, last_block = packed[:2], packed[2:], b"\x03\0"
    checksum = (megabytes << 20) % 65521 << 16 | 1
    return header + part * megabytes + last_block + checksum.to_bytes(4, "big")


def png(width: int, height: int, *extra: bytes, rows: bytes = b"") -> bytes:
    """A PNG (8 bits, grey) that says what it is told to, with further chunks before its picture."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    body = chunk(b"IHDR", header) + b"".join(extra) + chunk(b"IDAT", zlib.compress(rows))
    return b"\x89PNG\r\n\x1a\n" + body + chunk(b"IEND", b"")


def with_jpeg_size(content: bytes, width: int, height: int) -> bytes:
    """The same JPEG with another size in its frame header."""
    at = next(place for marker in (b"\xff\xc0", b"\xff\xc2") if (place := content.find(marker)) > 0)
    return content[: at + 5] + struct.pack(">HH", height, width) + content[at + 9 :]


def with_segment(content: bytes, marker: int, body: bytes) -> bytes:
    """The same JPEG with a segment at its beginning."""
    return content[:2] + bytes([0xFF, marker]) + struct.pack(">H", len(body) + 2) + body + content[2:]


def scan_bomb(side: int = 4096, scans: int = 2000) -> bytes:
    """A progressive JPEG of one colour whose first scan comes again and again."""
    content = encode(plain((90,), "L", side, side), progressive=True, quality=30)
    first = content.index(b"\xff\xda")
    second = next(
        at
        for at in range(first + 12, len(content))
        if content[at] == 0xFF and content[at + 1] in {0xC4, 0xDA, 0xD9}
    )
    return content[:second] + content[first:second] * scans + content[second:]


def read(path: Path) -> NDArray[np.uint8]:
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


def put(path: Path, content: bytes) -> int:
    return path.write_bytes(content)


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())
