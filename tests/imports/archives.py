"""Archives as other services make them, with the faults that real ones have."""

import io
import json
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pillow_heif
from PIL import Image

Content = bytes | str | dict[str, Any] | list[Any]
PUBLIC = "https://www.w3.org/ns/activitystreams#Public"
ACTOR = "https://photos.example/users/ana"


def at(year: int, month: int = 1, day: int = 1, hour: int = 0, second: int = 0) -> int:
    """Seconds since 1970."""
    return int(datetime(year, month, day, hour, 0, second, tzinfo=UTC).timestamp())


@cache
def picture(number: int, kind: str = "JPEG", taken: str = "") -> bytes:
    """A small picture, another for each number."""
    image = Image.new("RGB", (64, 48), (number * 37 % 256, number * 91 % 256, number // 7 % 256))
    exif = Image.Exif()
    if taken:
        exif.get_ifd(0x8769)[0x9003] = taken
    buffer = io.BytesIO()
    image.save(buffer, kind, exif=exif)
    return buffer.getvalue()


@cache
def heic(number: int) -> bytes:
    """A small picture as iPhones store it."""
    buffer = io.BytesIO()
    pillow_heif.from_pillow(Image.open(io.BytesIO(picture(number, "PNG")))).save(buffer)
    return buffer.getvalue()


def broken(text: str) -> str:
    """A text as Instagram writes it: each byte of its UTF-8 as a character."""
    return text.encode().decode("latin-1")


def encoded(content: Content) -> bytes:
    if isinstance(content, bytes):
        return content
    return content.encode() if isinstance(content, str) else json.dumps(content).encode()


def write_zip(path: Path, files: Mapping[str, Content]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, encoded(content))
    return path


def write_folder(path: Path, files: Mapping[str, Content]) -> Path:
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(encoded(content))
    return path


def media(uri: str, seconds: int = 0, title: str | None = "") -> dict[str, Any]:
    """A picture as Instagram lists it."""
    return {
        "uri": uri,
        "creation_timestamp": seconds,
        "title": title,
        "cross_post_source": {"source_app": "FB"},
    }


def note(number: int, *, attachments: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    """A post in an outbox."""
    made = {
        "id": f"{ACTOR}/statuses/{number}",
        "type": "Note",
        "attributedTo": ACTOR,
        "published": f"2022-03-{number:02}T10:00:00Z",
        "to": [PUBLIC],
        "cc": [f"{ACTOR}/followers"],
        "content": "",
        "attachment": attachments,
        **fields,
    }
    return {"type": "Create", "actor": ACTOR, "published": made["published"], "object": made}
