"""The sandbox client of the photo pipeline: each conversion in a process of its own.

Loads none of the libraries: a web process stays small, and no decoder ever runs in it.
"""

from pathlib import Path
from typing import Any

from tintype.media.photos.models import MadePhoto, PhotoFile, VariantFormat
from tintype.media.sandbox import ORIGINAL, OUT, SOURCE, run_in_sandbox

TIMEOUT_S = 30.0


async def make_photo_in_sandbox(
    source: Path,
    out: Path,
    edit: Any = None,  # any: `looks.Edit`, encoded by msgspec
    *,
    original: Path | None = None,
    timeout_s: float = TIMEOUT_S,
) -> MadePhoto:
    """Write every size of the photo in `source` into the folder `out`; MediaRefused if it is none.

    With `original`, a path in an empty folder, a copy without its location is written there, if one can be made.
    """
    arguments = {"source": SOURCE, "out": OUT, "edit": edit}
    outs = {OUT: out}
    if original is not None:
        arguments["original"] = f"{ORIGINAL}/{original.name}"
        outs[ORIGINAL] = original.parent
    return await run_in_sandbox(
        "make_photo", arguments, timeout_s, returns=MadePhoto, source=source, outs=outs
    )


async def make_large_photo_in_sandbox(
    source: Path,
    out: Path,
    width: int,
    edit: Any = None,  # any: `looks.Edit`, encoded by msgspec
    *,
    timeout_s: float = TIMEOUT_S,
) -> PhotoFile:
    """Write one rendition of the photo in `source` at `out`, in a folder that exists: so wide at most, and edited."""
    arguments = {"source": SOURCE, "out": f"{OUT}/{out.name}", "width": width, "edit": edit}
    return await run_in_sandbox(
        "make_large_photo",
        arguments,
        timeout_s,
        returns=PhotoFile,
        source=source,
        outs={OUT: out.parent},
    )


async def convert_in_sandbox(
    source_jpeg: Path, out: Path, kind: VariantFormat, *, timeout_s: float = TIMEOUT_S
) -> PhotoFile:
    """Write one of our JPEGs as a WebP or AVIF at `out`, in a folder that exists."""
    arguments = {"source": SOURCE, "out": f"{OUT}/{out.name}", "kind": kind}
    return await run_in_sandbox(
        "convert_photo",
        arguments,
        timeout_s,
        returns=PhotoFile,
        source=source_jpeg,
        outs={OUT: out.parent},
    )
