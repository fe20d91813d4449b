"""The same work, each piece in a process of its own: what the rest of the house calls.

Loads none of the libraries: a web process stays small, and no decoder ever runs in it.
"""

from pathlib import Path
from typing import Any

from tintype.media.photos.models import LazyKind, MadePhoto, PhotoFile
from tintype.media.sandbox import run_in_sandbox

PATIENCE_S = 30.0


async def make_photo_apart(
    source: Path, out: Path, edit: Any = None, *, timeout_s: float = PATIENCE_S
) -> MadePhoto:  # any: `looks.Edit`, encoded by msgspec
    """Write every size of the photo in `source` into the folder `out`; raise a MediaRefused if it is none."""
    arguments = {"source": _full(source), "out": _full(out), "edit": edit}
    return await run_in_sandbox(
        "make_photo", arguments, timeout_s, returns=MadePhoto, reads=[source], writes=[out]
    )


async def convert_apart(
    source_jpeg: Path, out: Path, kind: LazyKind, *, timeout_s: float = PATIENCE_S
) -> PhotoFile:
    """Write one of our JPEGs as a WebP or AVIF at `out`, in a folder that exists."""
    arguments = {"source": _full(source_jpeg), "out": _full(out), "kind": kind}
    return await run_in_sandbox(
        "convert_photo",
        arguments,
        timeout_s,
        returns=PhotoFile,
        reads=[source_jpeg],
        writes=[out.parent],
    )


def _full(path: Path) -> str:
    return str(path.resolve())
