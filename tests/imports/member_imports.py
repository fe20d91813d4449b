"""Imports over HTTP, as the app does them."""

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.imports.archives import Content, at, media, picture, write_zip
from tests.support import Person, eventually

NEW = "your_instagram_activity/media"
TUS = {"Tus-Resumable": "1.0.0"}
BYTES = TUS | {"Content-Type": "application/offset+octet-stream"}
UNDER_WAY = {"uploading", "waiting", "running"}


def instagram(path: Path, count: int, extra: Mapping[str, Content] | None = None) -> Path:
    """An archive of posts with a picture each, and whatever else."""
    posts = [{"media": [media(f"media/posts/{n}.jpg", at(2020, 1, 1 + n), str(n))]} for n in range(count)]
    pictures = {f"media/posts/{number}.jpg": picture(number) for number in range(count)}
    return write_zip(path, {f"{NEW}/posts_1.json": posts, **pictures, **(extra or {})})


async def begin(person: Person, source: str = "instagram", **options: Any) -> str:
    answer = await person.call("POST", "/imports", json={"source": source, **options})
    assert answer.status_code == 201, answer.text
    return answer.json()["import_id"]


async def announce(person: Person, import_id: str, name: str, size: int) -> Any:
    filename = base64.b64encode(name.encode()).decode()
    headers = TUS | {"Upload-Length": str(size), "Upload-Metadata": f"filename {filename}"}
    return await person.call("POST", f"/imports/{import_id}/archives", headers=headers)


async def send(person: Person, import_id: str, name: str, content: bytes) -> str:
    """Upload an archive in two requests; returns where it lies."""
    begun = await announce(person, import_id, name, len(content))
    assert begun.status_code == 201, begun.text
    path = begun.headers["location"].removeprefix("/api/v1")
    middle = len(content) // 2
    for start, part in ((0, content[:middle]), (middle, content[middle:])):
        headers = BYTES | {"Upload-Offset": str(start)}
        answer = await person.call("PATCH", path, headers=headers, content=part)
        assert answer.status_code == 204, answer.text
    return path


async def start(person: Person, import_id: str) -> Any:
    return await person.call("POST", f"/imports/{import_id}/start")


async def upload_and_start(person: Person, *archives: Path, source: str = "instagram", **options: Any) -> str:
    import_id = await begin(person, source, **options)
    for archive in archives:
        await send(person, import_id, archive.name, archive.read_bytes())
    answer = await start(person, import_id)
    assert answer.status_code == 202, answer.text
    return import_id


async def show(person: Person, import_id: str) -> dict[str, Any]:
    return (await person.call("GET", f"/imports/{import_id}")).json()


async def wait_for_end(person: Person, import_id: str) -> dict[str, Any]:
    async def has_ended() -> bool:
        return (await show(person, import_id))["state"] not in UNDER_WAY

    await eventually(has_ended, what="the import has ended", patience_s=90)
    return await show(person, import_id)


async def report(person: Person, import_id: str) -> list[dict[str, Any]]:
    """Every line of a report, page by page."""
    lines: list[dict[str, Any]] = []
    cursor = None
    while True:
        params = {"cursor": cursor} if cursor else {}
        page = (await person.call("GET", f"/imports/{import_id}/report", params=params)).json()
        lines += page["lines"]
        cursor = page["next_cursor"]
        if cursor is None:
            return lines
