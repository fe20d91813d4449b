"""Converts every image to sRGB, eight bits, three bands: what a browser assumes by default."""

import struct
from typing import Any

from tintype.media.photos.vips import find_field, pyvips

# The D50 colorants of sRGB, as its profiles hold them.
SRGB_COLORANTS = {
    b"rXYZ": (0.4361, 0.2225, 0.0139),
    b"gXYZ": (0.3851, 0.7169, 0.0971),
    b"bXYZ": (0.1431, 0.0606, 0.7141),
}
TOLERANCE = 0.003
MAX_TAGS = 64
PROFILE = "icc-profile-data"


def to_srgb(image: pyvips.Image, assumed_profile: str = "srgb") -> pyvips.Image:
    """The image in sRGB, by its embedded profile if it has a valid one."""
    is_cmyk = image.interpretation == "cmyk"
    profile = find_field(image, PROFILE)
    if is_cmyk or assumed_profile != "srgb" or (profile and not is_srgb(profile)):
        image = _by_profile(image, "cmyk" if is_cmyk else assumed_profile, is_embedded=bool(profile))
    image = image.colourspace("srgb")
    return image.extract_band(0, n=3) if image.bands > 3 else image  # noqa: PLR2004 - numbers of the format's own layout


def _by_profile(image: pyvips.Image, fallback: str, *, is_embedded: bool) -> pyvips.Image:
    """Transform by the embedded profile; a damaged or mismatched one is ignored."""
    options: dict[str, Any] = {
        "intent": "relative",
        "black_point_compensation": True,
        "depth": 8,
    }  # any: keywords
    if is_embedded:
        try:
            return image.icc_transform("srgb", embedded=True, **options).copy_memory()
        except pyvips.Error:
            image = image.copy()
            image.remove(PROFILE)
    if fallback == "srgb":
        return image
    return image.icc_transform("srgb", input_profile=fallback, **options)


def is_srgb(profile: bytes) -> bool:
    """Whether a profile is sRGB by its name and colorants: most are, and a transform would cost 19 ms."""
    try:
        (count,) = struct.unpack_from(">I", profile, 128)
        tags = {
            name: profile[start : start + length]
            for name, start, length in (
                struct.unpack_from(">4sII", profile, 132 + 12 * number)
                for number in range(min(count, MAX_TAGS))
            )
        }
        return b"sRGB" in tags.get(b"desc", b"").replace(b"\0", b"") and all(
            _is_close(tags[name], colorant) for name, colorant in SRGB_COLORANTS.items()
        )
    except (struct.error, KeyError):
        return False


def _is_close(tag: bytes, colorant: tuple[float, float, float]) -> bool:
    found = [value / 65536 for value in struct.unpack_from(">iii", tag, 8)]
    return all(abs(mine - theirs) < TOLERANCE for mine, theirs in zip(found, colorant, strict=True))
