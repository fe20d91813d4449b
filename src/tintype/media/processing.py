"""The seam between the library and the pipelines that make files out of files."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from tintype.media.models import MediaType

LazyFormat = Literal["avif", "webp"]
OnProgress = Callable[[int], Awaitable[None]]
"""Told how many of a hundred parts are done."""


@dataclass(frozen=True)
class MadePhoto:
    """The files of a picture now lie in a folder."""

    width: int
    height: int
    placeholder: str | None
    exif: Mapping[str, Any]
    location: Mapping[str, Any]
    """Where it was taken, apart from everything else, because it is kept only on request."""


@dataclass(frozen=True)
class MadeVideo:
    """The files of a clip now lie in a folder."""

    duration_ms: int
    has_hls: bool


class Processing(Protocol):
    """Files in, files out; refuses with `MediaRefused` or another `Invalid`."""

    def type_of(self, head: bytes) -> MediaType:
        """What a file is that begins like this; everything else is refused."""
        ...

    async def photo(self, source: Path, out: Path, edit: bytes) -> MadePhoto:
        """Every size of a picture."""
        ...

    async def poster(self, source: Path, out: Path) -> tuple[MadePhoto, int]:
        """Every size of a clip's first picture, and how many milliseconds the clip lasts."""
        ...

    async def video(self, source: Path, out: Path, on_progress: OnProgress) -> MadeVideo:
        """`video.mp4`, and for longer clips `hls/`."""
        ...

    async def convert(self, jpeg: Path, out: Path, kind: LazyFormat) -> None:
        """The same picture in a newer format."""
        ...
