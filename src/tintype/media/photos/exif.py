"""Reads EXIF metadata for the photo's owner: an allowlist of tags, and the GPS location separately.

Everything else (serial numbers, maker notes, thumbnails with another crop) is not stored at all.
"""

import math
from typing import Any, cast

from PIL import ExifTags, Image, TiffImagePlugin

from tintype.media.photos.models import Fact

EXIF_READER = TiffImagePlugin
"""Pillow imports it when it first reads a block, and in the sandbox nothing can be imported any more."""
MAX_EXIF_BYTES = 1024 * 1024
MAX_CHARACTERS = 200
SENSITIVITY = 0x8827  # the tag has two names

ALLOWED_TAGS = {
    "Make", "Model", "LensMake", "LensModel", "Software", "Artist", "Copyright", "Orientation", "DateTime",
    "DateTimeOriginal", "OffsetTimeOriginal", "ExposureTime", "FNumber", "ExposureBiasValue", "FocalLength",
    "FocalLengthIn35mmFilm", "Flash", "WhiteBalance", "MeteringMode", "ExposureProgram",
}  # fmt: skip


def read_exif(block: bytes) -> tuple[dict[str, Fact], dict[str, Fact]]:
    """The allowed tags and the location; both are empty for a damaged block."""
    if not block or len(block) > MAX_EXIF_BYTES:
        return {}, {}
    try:
        exif = Image.Exif()
        exif.load(block)
        tags = {**exif, **exif.get_ifd(ExifTags.IFD.Exif)}
        return _by_name(tags), _location(exif.get_ifd(ExifTags.IFD.GPSInfo))
    except Exception:  # noqa: BLE001 - Pillow's parser raises many kinds at damaged blocks, and none matters
        return {}, {}


def _by_name(tags: dict[int, Any]) -> dict[str, Fact]:  # any: EXIF values are of many kinds
    names = {number: name for number, name in ExifTags.TAGS.items() if name in ALLOWED_TAGS} | {
        SENSITIVITY: "ISO"
    }
    facts = {names[tag]: _plain(value) for tag, value in tags.items() if tag in names}
    return {name: value for name, value in facts.items() if value is not None}


def _plain(value: Any) -> Fact | None:
    if isinstance(value, tuple):
        return _plain(cast("tuple[Any, ...]", value)[0]) if value else None
    if isinstance(value, str):
        text = "".join(letter for letter in value if letter.isprintable())
        return text.encode(errors="ignore").decode()[:MAX_CHARACTERS].strip() or None
    if isinstance(value, int):
        return value if abs(value) < 1 << 32 else None
    number = _number(value)
    return None if number is None else round(number, 6)


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _location(gps: dict[int, Any]) -> dict[str, Fact]:
    tags = ExifTags.GPS
    found = {
        "latitude": _degrees(gps.get(tags.GPSLatitude), gps.get(tags.GPSLatitudeRef), 90),
        "longitude": _degrees(gps.get(tags.GPSLongitude), gps.get(tags.GPSLongitudeRef), 180),
        "altitude_m": _number(gps.get(tags.GPSAltitude)),
        "direction": _number(gps.get(tags.GPSImgDirection)),
    }
    if found["altitude_m"] is not None and gps.get(tags.GPSAltitudeRef) in {1, b"\x01"}:
        found["altitude_m"] = -found["altitude_m"]
    return {name: round(value, 7) for name, value in found.items() if value is not None}


def _degrees(parts: Any, reference: Any, limit: int) -> float | None:
    """Degrees, minutes and seconds as one number; south and west are negative."""
    if not isinstance(parts, tuple):
        return None
    numbers = [_number(part) for part in cast("tuple[Any, ...]", parts)]
    degrees = sum((number or 0.0) / 60**power for power, number in enumerate(numbers))
    if len(numbers) != 3 or None in numbers or not 0 <= degrees <= limit:  # noqa: PLR2004 - numbers of the format's own layout
        return None
    return -degrees if str(reference)[:1].upper() in {"S", "W"} else degrees
