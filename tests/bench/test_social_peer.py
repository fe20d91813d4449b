"""The Django peer with Celery of `bench social` ends with the same counts and notifications as ours."""

import os
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any, cast
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest
from httpx import AsyncClient

from bench.django_environment import django_environment
from bench.http_load import send_all
from bench.social_calls import OPERATIONS, make_calls
from bench.social_sites import Site, django_site, running_site, seed_people
from tintype.base.settings import Settings
from tintype.search.index_writer import popularity_weight
from tintype.wiring import Rooms
from tintype.worker import connect_to_server

pytestmark = pytest.mark.slow
PEOPLE, CALLS = 8, 40
WEIGHT_PER_DOUBLING = 4
Listed = list[Counter[tuple[str, int]]]
"""By person: how often a notification of this kind, by so many people, is in their list."""

UNREAD = "SELECT unread_count FROM django_social_account ORDER BY id"
MIRRORED = """SELECT (SELECT count(*) FROM django_social_follower AS f WHERE f.account_id = a.id)
              FROM django_social_account AS a ORDER BY a.id"""
WEIGHTS = "SELECT weight FROM django_social_searchentry WHERE kind = 'person' ORDER BY subject_id"


@pytest.fixture
async def peer_database(engines: dict[str, Any]) -> AsyncIterator[str]:
    """An empty database for the peer."""
    server, name = str(engines["postgres"][0]), "peer_" + os.environ.get("PYTEST_XDIST_WORKER", "main")
    async with connect_to_server(server) as connection:
        await connection.execute(f'CREATE DATABASE "{name}"')
        yield urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
        await connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


async def test_the_peer_with_celery_ends_with_the_same_notifications_as_ours(
    settings: Settings, rooms: Rooms, clean_streams: None, peer_database: str
) -> None:
    broker = urlunsplit(urlsplit(settings.redis)._replace(path="/14"))
    waiting = CALLS // PEOPLE + 1
    environment = django_environment(peer_database, broker)
    parts: dict[str, Any] = {"postgres": [], "valkey": []}
    async with (
        running_site(settings, {}) as ours,
        django_site(environment, parts, PEOPLE, waiting) as peer,
    ):
        await seed_people(rooms, ours, PEOPLE, waiting)
        for site in (ours, peer):
            for operation in OPERATIONS:
                await send_all(site.port, make_calls(operation, site, CALLS, 0), clients=4)
            await site.wait_until_done()
        our_lists, our_unread, our_followers = await _our_outcome(ours)

    async with connect_to_server(peer_database) as connection:
        assert our_lists == await _peer_lists(connection)
        assert our_unread == await _column(connection, UNREAD)
        assert our_followers == await _column(connection, MIRRORED)
        weights = await _column(connection, WEIGHTS)
    assert sum(our_unread) > PEOPLE, "there was something to compare"
    distances = [
        abs(weight - popularity_weight(count)) for weight, count in zip(weights, our_followers, strict=True)
    ]
    assert max(distances) < WEIGHT_PER_DOUBLING
    assert max(weights) > 0


async def _our_outcome(site: Site) -> tuple[Listed, list[int], list[int]]:
    """Lists, unread counts and follower counts of all people, as they see them."""
    lists: Listed = []
    unread: list[int] = []
    followers: list[int] = []
    async with AsyncClient(base_url=f"http://127.0.0.1:{site.port}/api/v1") as client:
        for token, name in zip(site.tokens, site.usernames, strict=True):
            headers = {"Authorization": f"Bearer {token}"}
            page = (await client.get("/notifications?limit=50", headers=headers)).raise_for_status().json()
            lists.append(Counter((each["kind"], each["actor_count"]) for each in page["notifications"]))
            unread.append((await client.get("/notifications/unread", headers=headers)).json()["unread_count"])
            profile = (await client.get(f"/profiles/{name}", headers=headers)).json()
            followers.append(profile["follower_count"])
    return lists, unread, followers


async def _peer_lists(connection: asyncpg.Connection) -> Listed:
    lists: Listed = [Counter() for _ in range(PEOPLE)]
    query = "SELECT recipient_id, kind, actor_count FROM django_social_notification"
    for row in cast("list[asyncpg.Record]", await connection.fetch(query)):
        lists[row["recipient_id"] - 1][row["kind"], row["actor_count"]] += 1
    return lists


async def _column(connection: asyncpg.Connection, query: str) -> list[Any]:
    return [row[0] for row in cast("list[asyncpg.Record]", await connection.fetch(query))]
