"""What the camera noted, for the photo's owner alone: a list of what we keep, the place apart from the rest.

Everything else (serial numbers, makers' notes, thumbnails with another crop) is not kept at all.
"""

import math
from typing import Any, cast

from PIL import ExifTags, Image

from tintype.media.photos.models import Fact

MOST_EXIF_BYTES = 1024 * 1024
MOST_CHARACTERS = 200
SENSITIVITY = 0x8827  # the tag has two names

NOTED = {
    "Make", "Model", "LensMake", "LensModel", "Software", "Artist", "Copyright", "Orientation", "DateTime",
    "DateTimeOriginal", "OffsetTimeOriginal", "ExposureTime", "FNumber", "ExposureBiasValue", "FocalLength",
    "FocalLengthIn35mmFilm", "Flash", "WhiteBalance", "MeteringMode", "ExposureProgram",
}  # fmt: skip


def read_exif(block: bytes) -> tuple[dict[str, Fact], dict[str, Fact]]:
    """Return what was noted and where it was; a damaged block is as good as none."""
    if not block or len(block) > MOST_EXIF_BYTES:
        return {}, {}
    try:
        exif = Image.Exif()
        exif.load(block)
        noted = {**exif, **exif.get_ifd(ExifTags.IFD.Exif)}
        return _name(noted), _place(exif.get_ifd(ExifTags.IFD.GPSInfo))
    except Exception:  # noqa: BLE001 - Pillow's parser throws many kinds at damaged blocks, and none matters
        return {}, {}


def _name(noted: dict[int, Any]) -> dict[str, Fact]:  # any: EXIF values are of many kinds
    names = {number: name for number, name in ExifTags.TAGS.items() if name in NOTED} | {SENSITIVITY: "ISO"}
    facts = {names[tag]: _plain(value) for tag, value in noted.items() if tag in names}
    return {name: value for name, value in facts.items() if value is not None}


def _plain(value: Any) -> Fact | None:
    if isinstance(value, tuple):
        return _plain(cast("tuple[Any, ...]", value)[0]) if value else None
    if isinstance(value, str):
        text = "".join(letter for letter in value if letter.isprintable())
        return text.encode(errors="ignore").decode()[:MOST_CHARACTERS].strip() or None
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


def _place(gps: dict[int, Any]) -> dict[str, Fact]:
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


def _degrees(parts: Any, side: Any, most: int) -> float | None:
    """Degrees, minutes and seconds as one number; south and west are below zero."""
    if not isinstance(parts, tuple):
        return None
    numbers = [_number(part) for part in cast("tuple[Any, ...]", parts)]
    degrees = sum((number or 0.0) / 60**power for power, number in enumerate(numbers))
    if len(numbers) != 3 or None in numbers or not 0 <= degrees <= most:  # noqa: PLR2004
        return None
    return -degrees if str(side)[:1].upper() in {"S", "W"} else degrees
