"""The whole thing behind a real proxy: files untouched, uploads streamed, and resumed after a kill."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from httpx import AsyncClient, Response

from tests.living_stack import LivingStack
from tests.media.caddy import behind_caddy
from tests.media.nginx import behind_nginx
from tests.support import Person, eventually, join, photo

TUS = {"Tus-Resumable": "1.0.0"}
BYTES = {**TUS, "Content-Type": "application/offset+octet-stream"}
PIECE_BYTES = 4 * 1024 * 1024
"""What the server stores at once: an upload that is cut off loses less than this."""
pytestmark = pytest.mark.slow


def big_photo() -> bytes:
    """Some megabytes, so that an upload takes more than one piece."""
    content = photo(3000, 2400)
    note = b"\xff\xfe\xff\xff" + b"x" * 65_533  # a comment, which a JPEG may have many of
    return content[:2] + note * 150 + content[2:]


async def test_behind_caddy_files_are_untouched_and_uploads_resume(
    living_stack: LivingStack, tmp_path: Path
) -> None:
    async with behind_caddy(living_stack.port, tmp_path) as client:
        eve = await join(client, "eve")
        media_id = (await eve.upload(big_photo())).json()["media_id"]
        post = (await eve.call("POST", "/posts", json={"media_ids": [media_id]})).json()
        await _check_files(client, post["media"][0]["urls"]["1080"])
        await _check_cut_line(eve)
        await _check_killed_web(eve, living_stack)
        assert (await client.get("/metrics")).status_code == 404
    assert living_stack.crashes() == []


async def test_nginx_caches_public_files_and_no_private_ones(
    living_stack: LivingStack, tmp_path: Path
) -> None:
    async with behind_nginx(living_stack.port, tmp_path) as client:
        eve = await join(client, "eve")
        address = (await eve.publish())["media"][0]["urls"]["640"]
        first, second = [await client.get(address, headers={"Accept": "image/jpeg"}) for _ in range(2)]
        other = await client.get(address, headers={"Accept": "image/webp,*/*"})
        await eve.call("PATCH", "/accounts/me", json={"is_private": True})
        signed = (await eve.upload()).json()["urls"]["640"]
        private = [await client.get(signed, headers={"Accept": "image/jpeg"}) for _ in range(2)]
        metrics = [(await client.get(path)).status_code for path in ("/metrics", "/metrics/x")]

    assert metrics == [404, 404]
    assert [each.headers["x-cache"] for each in (first, second)] == ["MISS", "HIT"]
    assert second.content == first.content
    assert (other.headers["x-cache"], other.headers["content-type"]) == ("MISS", "image/jpeg")
    assert [(each.status_code, each.headers["x-cache"]) for each in private] == [(200, "MISS")] * 2


async def _check_files(client: AsyncClient, address: str) -> None:
    asking = {"Accept": "image/jpeg", "Accept-Encoding": "gzip, zstd"}
    whole = await client.get(address, headers=asking)
    part = await client.get(address, headers={**asking, "Range": "bytes=-100"})
    known = await client.get(address, headers={**asking, "If-None-Match": whole.headers["etag"]})
    document = await client.get("/api/openapi.json", headers={"Accept-Encoding": "gzip"})

    assert "content-encoding" not in whole.headers
    assert "server" not in whole.headers
    assert whole.headers["cache-control"] == "public, max-age=86400, s-maxage=60"
    assert int(whole.headers["content-length"]) == len(whole.content)
    assert (part.status_code, part.content) == (206, whole.content[-100:])
    assert known.status_code == 304
    assert document.headers["content-encoding"] == "gzip"


async def _check_cut_line(eve: Person) -> None:
    """A sender that hangs up half-way finds its bytes again."""
    content = big_photo()
    at = await _begin(eve, len(content))

    async def cut() -> AsyncIterator[bytes]:
        for start in range(0, 6_000_000, 100_000):
            yield content[start : start + 100_000]
        raise ConnectionError("the train enters a tunnel")

    with pytest.raises(ConnectionError):
        await eve.call("PATCH", at, content=cut(), headers={**BYTES, "Upload-Offset": "0"})
    stands_at = await _wait_for_offset(eve, at, PIECE_BYTES)
    answer = await _resume(eve, at, content)

    assert stands_at >= PIECE_BYTES
    assert answer.headers["media-id"]


async def _check_killed_web(eve: Person, stack: LivingStack) -> None:
    """A web process that dies half-way loses a few megabytes at most."""
    content = big_photo()
    at = await _begin(eve, len(content))

    async def until_killed() -> AsyncIterator[bytes]:
        yield content[:9_000_000]
        await _wait_for_offset(eve, at, PIECE_BYTES)
        await stack.kill_and_wait("web")
        yield content[9_000_000:]

    answer = await eve.call("PATCH", at, content=until_killed(), headers={**BYTES, "Upload-Offset": "0"})
    await stack.wait_ready()
    stands_at = await _stands_at(eve, at)
    finished = await _resume(eve, at, content)

    assert answer.status_code >= 500
    assert PIECE_BYTES <= stands_at <= 9_000_000
    assert finished.headers["media-id"]


async def _begin(eve: Person, size: int) -> str:
    answer = await eve.call("POST", "/media/tus", headers={**TUS, "Upload-Length": str(size)})
    return answer.headers["location"].removeprefix("/api/v1")


async def _stands_at(eve: Person, at: str) -> int:
    return int((await eve.call("HEAD", at, headers=TUS)).headers["upload-offset"])


async def _wait_for_offset(eve: Person, at: str, least: int) -> int:
    """Wait until the server has stored at least this much; the offset of a request under way moves piece by piece."""

    async def has_arrived() -> bool:
        return await _stands_at(eve, at) >= least

    await eventually(has_arrived, what=f"{least} bytes of the upload are stored")
    return await _stands_at(eve, at)


async def _resume(eve: Person, at: str, content: bytes) -> Response:
    """Send the rest as tus clients do: what the proxy holds of a cut request may still move the offset (409)."""
    answers: list[Response] = []

    async def has_ended() -> bool:
        start = await _stands_at(eve, at)
        headers = {**BYTES, "Upload-Offset": str(start)}
        answers.append(await eve.call("PATCH", at, content=content[start:], headers=headers))
        return answers[-1].status_code != 409

    await eventually(has_ended, what="the upload is resumed")
    assert answers[-1].status_code == 204, answers[-1].text
    return answers[-1]
