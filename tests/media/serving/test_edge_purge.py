"""An edge cache is told to drop files that were taken away: through the outbox, until it confirms."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.application import serve
from tests.media.conftest import MakeInstallation, working_on
from tests.media.support import account_of, handle
from tests.support import Person, eventually, join, photo, set_status
from tintype.base.ids import MediaId
from tintype.media.events import FileVisibilityChanged
from tintype.media.serving.edge_purge import EdgePurgeFailed
from tintype.wiring import Rooms


@dataclass
class Edge:
    """A purge API: what it was told, and how it answers."""

    port: int = 0
    status: int = 200
    calls: list[tuple[str, list[str]]] = field(default_factory=list[tuple[str, list[str]]])
    """The credentials and tags of each call."""

    @property
    def tags(self) -> set[str]:
        return {tag for _, tags in self.calls for tag in tags}

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        body = await reader.readexactly(int(fields["content-length"]))
        assert head.startswith("post /purge ")
        self.calls.append((fields.get("authorization", ""), json.loads(body)["tags"]))
        writer.write(f"HTTP/1.1 {self.status} x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
        await writer.drain()
        writer.close()


@pytest.fixture
async def edge() -> AsyncIterator[Edge]:
    """An edge cache's API on this machine."""
    made = Edge()
    server = await asyncio.start_server(made.answer, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    async with server:
        yield made


@pytest.fixture
def installation(make_installation: MakeInstallation, edge: Edge) -> Rooms:
    return make_installation(
        media_purge_url=f"http://127.0.0.1:{edge.port}/purge", media_purge_token="Opensesame"
    )


@pytest.fixture
async def posted(installation: Rooms) -> AsyncIterator[tuple[Person, dict[str, Any]]]:
    async with serve(installation) as client:
        eve = await join(client, "eve")
        yield eve, await eve.publish()


def folder_of(post: dict[str, Any]) -> str:
    return "/".join(post["media"][0]["url"].split("/")[1:4])


async def test_archiving_a_post_purges_its_files(
    installation: Rooms, edge: Edge, posted: tuple[Person, dict[str, Any]], clean_streams: None
) -> None:
    eve, post = posted
    async with working_on(installation):
        await eve.call("PUT", f"/posts/{post['post_id']}/archive")

        async def is_purged() -> bool:
            return folder_of(post) in edge.tags

        await eventually(is_purged, what="the edge was told")

    assert {credentials for credentials, _ in edge.calls} == {"bearer opensesame"}


@pytest.mark.parametrize("status", ["suspended", "deactivated", "leaving"])
@pytest.mark.slow
async def test_an_account_that_is_taken_away_is_purged_by_one_tag(
    installation: Rooms,
    edge: Edge,
    posted: tuple[Person, dict[str, Any]],
    clean_streams: None,
    status: Any,
) -> None:
    eve, _ = posted
    async with working_on(installation):
        await set_status(installation, account_of(eve), status)

        async def is_purged() -> bool:
            return f"media/{eve.account_id}/" in edge.tags

        await eventually(is_purged, what="the edge was told")


async def test_an_account_that_becomes_private_is_purged_by_one_tag(
    installation: Rooms, edge: Edge, posted: tuple[Person, dict[str, Any]], clean_streams: None
) -> None:
    eve, _ = posted
    async with working_on(installation):
        await eve.call("PATCH", "/accounts/me", json={"is_private": True})

        async def is_purged() -> bool:
            return f"media/{eve.account_id}/" in edge.tags

        await eventually(is_purged, what="the edge was told")


async def test_files_carry_the_tags_by_which_they_are_purged(posted: tuple[Person, dict[str, Any]]) -> None:
    eve, post = posted
    answer = await eve.client.get(post["media"][0]["url"])
    tags = [folder_of(post), f"media/{eve.account_id}/"]

    assert answer.headers["cache-tag"].split(",") == tags
    assert answer.headers["surrogate-key"].split() == tags
    assert all(post["media"][0]["url"].startswith(f"/{tag}") for tag in tags)


@pytest.mark.parametrize("status", [301, 403, 500])
async def test_a_purge_that_is_not_confirmed_is_repeated(
    installation: Rooms, edge: Edge, status: int
) -> None:
    event = FileVisibilityChanged([MediaId(1 << 40)], [f"1/{number}-x" for number in range(70)])
    edge.status = status

    with pytest.raises(EdgePurgeFailed):
        await handle(installation, event)
    edge.status = 204
    edge.calls.clear()
    await handle(installation, event)
    await handle(installation, event)

    assert edge.tags == {f"media/1/{number}-x" for number in range(70)}
    assert max(len(tags) for _, tags in edge.calls) <= 30


async def test_an_edge_that_is_away_is_tried_again(make_installation: MakeInstallation) -> None:
    away = make_installation(media_purge_url="http://127.0.0.1:9/purge")

    with pytest.raises(EdgePurgeFailed):
        await handle(away, FileVisibilityChanged([], ["1/2-x"]))


async def test_without_an_edge_nobody_is_told_and_files_have_no_tags(
    make_installation: MakeInstallation, edge: Edge
) -> None:
    plain = make_installation()
    async with serve(plain) as client:
        post = await (await join(client, "mo")).publish()
        answer = await client.get(post["media"][0]["url"])
    await handle(plain, FileVisibilityChanged([], ["1/2-x"]))

    assert "cache-tag" not in answer.headers
    assert edge.calls == []


async def test_a_change_whose_process_died_is_made_up_for_by_its_event(
    make_installation: MakeInstallation,
) -> None:
    """The record that another process has cached is dropped by the handler, too."""
    rooms = make_installation()
    async with serve(rooms) as client:
        eve = await join(client, "eve")
        media_id = (await eve.upload(photo())).json()["media_id"]
        post = (await eve.call("POST", "/posts", json={"media_ids": [media_id]})).json()
        url = post["media"][0]["url"]
        await client.get(url)
        async with rooms.shards.owner(int(post["post_id"])).begin() as tx:  # as if killed after the commit
            await tx.connection.execute(
                "UPDATE posts SET archived_at = now() WHERE id = $1", int(post["post_id"])
            )
        stale = await client.get(url)

        await handle(rooms, FileVisibilityChanged([MediaId(int(media_id))], []))

        assert stale.status_code == 200
        assert (await client.get(url)).status_code == 404
