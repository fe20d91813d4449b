"""The sandbox client of the photo pipeline: each conversion in a process of its own.

Loads none of the libraries: a web process stays small, and no decoder ever runs in it.
"""

from pathlib import Path
from typing import Any

from tintype.media.photos.models import MadePhoto, PhotoFile, VariantFormat
from tintype.media.sandbox import run_in_sandbox

TIMEOUT_S = 30.0


async def make_photo_in_sandbox(
    source: Path, out: Path, edit: Any = None, *, timeout_s: float = TIMEOUT_S
) -> MadePhoto:  # any: `looks.Edit`, encoded by msgspec
    """Write every size of the photo in `source` into the folder `out`; MediaRefused if it is none."""
    arguments = {"source": _absolute(source), "out": _absolute(out), "edit": edit}
    return await run_in_sandbox(
        "make_photo", arguments, timeout_s, returns=MadePhoto, reads=[source], writes=[out]
    )


async def convert_in_sandbox(
    source_jpeg: Path, out: Path, kind: VariantFormat, *, timeout_s: float = TIMEOUT_S
) -> PhotoFile:
    """Write one of our JPEGs as a WebP or AVIF at `out`, in a folder that exists."""
    arguments = {"source": _absolute(source_jpeg), "out": _absolute(out), "kind": kind}
    return await run_in_sandbox(
        "convert_photo",
        arguments,
        timeout_s,
        returns=PhotoFile,
        reads=[source_jpeg],
        writes=[out.parent],
    )


def _absolute(path: Path) -> str:
    return str(path.resolve())
