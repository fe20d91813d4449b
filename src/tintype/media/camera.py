"""Camera, lens and exposure of a photo, from what its camera recorded; never where it was taken."""

import math
from collections.abc import Mapping

import msgspec

MAX_NAME_LENGTH = 80
MAX_EXPOSURE_S, MAX_FOCAL_LENGTH_MM, MAX_APERTURE, MAX_ISO = 86_400.0, 10_000.0, 1_000.0, 10_000_000


class Camera(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a photo was taken with, as far as it says."""

    camera: str | None = None
    lens: str | None = None
    focal_length_mm: float | None = None
    aperture: float | None = None
    """The f-number."""
    exposure_s: float | None = None
    iso: int | None = None


def describe_camera(exif: Mapping[str, object]) -> Camera | None:
    """The camera of a photo with these EXIF tags; None where they do not say anything about it."""
    iso = _number(exif.get("ISO"), MAX_ISO)
    found = Camera(
        camera=_name(exif.get("Make"), exif.get("Model")),
        lens=_name(exif.get("LensMake"), exif.get("LensModel")),
        focal_length_mm=_number(exif.get("FocalLength"), MAX_FOCAL_LENGTH_MM),
        aperture=_number(exif.get("FNumber"), MAX_APERTURE),
        exposure_s=_number(exif.get("ExposureTime"), MAX_EXPOSURE_S),
        iso=None if iso is None else int(iso),
    )
    return None if found == Camera() else found


def _name(maker: object, model: object) -> str | None:
    """The model, after its maker where it does not begin with that: "Canon EOS R5", "FUJIFILM X-T5"."""
    if not isinstance(model, str) or not model.strip():
        return None
    name = model.strip()
    if isinstance(maker, str) and maker.strip():
        brand = maker.split()[0]
        if not name.lower().startswith(brand.lower()):
            name = f"{brand} {name}"
    return name[:MAX_NAME_LENGTH]


def _number(value: object, limit: float) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if math.isfinite(value) and 0 < value <= limit else None
