"""Sizes and durations on the command line: 500GB, 24h."""

import re

import typer

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smhd]?)", re.IGNORECASE)
_BYTES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_SECONDS = {"": 1, "S": 1, "M": 60, "H": 3600, "D": 86_400}


def read_size(value: str) -> int:
    """Parse 500GB, 1.5T or 1048576 into bytes; a kilobyte has 1,024."""
    found = _SIZE.fullmatch(value.strip())
    if found is None:
        raise typer.BadParameter(f"{value!r} is not a size: write 500GB, 64M or 1048576")
    return int(float(found[1]) * _BYTES[found[2].upper()])


def read_duration(value: str) -> float:
    """Parse 24h, 90m, 7d or 30 into seconds."""
    found = _DURATION.fullmatch(value.strip())
    if found is None:
        raise typer.BadParameter(f"{value!r} is not a duration: write 30s, 90m, 24h or 7d")
    return float(found[1]) * _SECONDS[found[2].upper()]
