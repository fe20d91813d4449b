"""Pages of the app: which exist for whom, and where a browser is sent on."""

import pytest
from httpx import AsyncClient

from tests.support import Person, join
from tintype.base.ids import AccountId
from tintype.wiring import Rooms

NAVIGATION = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document", "accept": "text/html"}
MODERATION = ("/moderation", "/moderation/log", "/moderation/cases/1")


@pytest.mark.parametrize("path", MODERATION)
async def test_pages_for_moderators_exist_for_nobody_else(
    client: AsyncClient, rooms: Rooms, ana: Person, path: str
) -> None:
    moderator = await join(client, "mo")
    await rooms.accounts.set_role(AccountId(int(moderator.account_id)), "moderator")
    client.cookies.clear()

    statuses = {
        name: (await client.get(path, headers=headers)).status_code
        for name, headers in {
            "guest": {},
            "member": _credentials(ana),
            "moderator": _credentials(moderator),
            "forged": {"cookie": "tt_session=x"},
        }.items()
    }

    assert statuses == {"guest": 404, "member": 404, "moderator": 200, "forged": 404}


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "[::1]:8000"])
async def test_a_guests_browser_is_sent_from_the_ip_address_to_localhost(
    client: AsyncClient, host: str
) -> None:
    client.cookies.clear()

    answer = await client.get("/tags/d%C3%BCne?from=mail", headers={**NAVIGATION, "host": host})

    assert answer.status_code == 307
    assert answer.headers["location"] == "http://localhost:8000/tags/d%C3%BCne?from=mail"
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "headers",
    [
        {**NAVIGATION, "host": "localhost:8000"},
        {**NAVIGATION, "host": "photos.example.org"},
        {"host": "127.0.0.1:8000"},
        {**NAVIGATION, "sec-fetch-dest": "iframe", "host": "127.0.0.1:8000"},
        {**NAVIGATION, "host": "127.0.0.1:8000", "cookie": "tt_session=x"},
    ],
)
async def test_nobody_else_is_sent_on(client: AsyncClient, headers: dict[str, str]) -> None:
    client.cookies.clear()

    assert (await client.get("/login", headers=headers)).status_code == 200


def _credentials(person: Person) -> dict[str, str]:
    return {"authorization": f"Bearer {person.token}"}
