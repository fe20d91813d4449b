"""Sizes as operators write and read them: 500M, 5G."""

import re

UNITS = ("B", "K", "M", "G", "T")
NONE, DEFAULT = "none", "default"
MAX_QUOTA_BYTES = 2**60
_SIZE = re.compile(r"(?P<number>[0-9]{1,15}(\.[0-9]{1,3})?)(?P<unit>[KMGT]?)(I?B)?", re.ASCII)


def parse_quota(text: str) -> int | None:
    """A number of bytes; zero for `none`, None for `default`; raises ValueError for anything else."""
    if text.lower() in {NONE, DEFAULT}:
        return 0 if text.lower() == NONE else None
    found = _SIZE.fullmatch(text.strip().upper())
    size_bytes = int(float(found["number"]) * 1024 ** UNITS.index(found["unit"] or "B")) if found else 0
    if not 0 < size_bytes <= MAX_QUOTA_BYTES:
        raise ValueError(f"{text!r} is not a size such as 500M or 5G, nor {NONE} or {DEFAULT}")
    return size_bytes


def format_size(size_bytes: int) -> str:
    """A number of bytes in the largest unit that leaves a number above one."""
    size, unit = float(size_bytes), 0
    while size >= 1024 and unit < len(UNITS) - 1:  # noqa: PLR2004 - a binary unit
        size, unit = size / 1024, unit + 1
    return f"{size_bytes} B" if unit == 0 else f"{size:.1f} {UNITS[unit]}iB"
