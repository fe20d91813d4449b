"""Mails that tell the owner of an account of what was changed, and of sign-ins from new devices."""

from typing import Any

import pytest
from httpx import AsyncClient

from tests.accounts.authenticator import Authenticator
from tests.accounts.helpers import Mailbox, confirm_email, deliver, sign_in
from tests.accounts.test_passkeys import register
from tests.accounts.test_second_factor import prove, turn_on
from tests.support import PASSWORD, Person
from tintype.accounts.mail_templates import NOTICES, render_mail
from tintype.wiring import Rooms

HERS = "ana@example.org"
FIREFOX = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"}


@pytest.fixture
async def told(rooms: Rooms, mailbox: Mailbox, ana: Person) -> Mailbox:
    """The mails that Ana gets from here on."""
    await confirm_email(rooms, mailbox, ana, HERS)
    mailbox.mails.clear()
    return mailbox


async def subjects(rooms: Rooms, told: Mailbox) -> list[str]:
    await deliver(rooms)
    return sorted(told.subjects(HERS))


async def test_changes_of_the_second_factor_are_told(rooms: Rooms, told: Mailbox, ana: Person) -> None:
    _, codes = await turn_on(ana)
    await prove(ana, code=codes[0])
    await ana.call("POST", "/security/recovery-codes")
    await ana.call("DELETE", "/security/totp")

    assert await subjects(rooms, told) == [
        "A recovery code was used",
        "You have new recovery codes",
        "Your authenticator app was turned off",
        "Your authenticator app was turned on",
    ]


async def test_passkeys_tokens_exports_and_numbers_are_told(rooms: Rooms, told: Mailbox, ana: Person) -> None:
    made = await register(ana, Authenticator(rooms.credentials._passkeys.origin), name="my phone")
    await ana.call("DELETE", f"/security/passkeys/{made.json()['passkey_id']}")
    await ana.call("POST", "/tokens", json={"name": "see http://evil.example", "scopes": ["read"]})
    await ana.call("POST", "/accounts/me/exports")
    await ana.call("PUT", "/accounts/me/phone", json={"phone": "+4930901820"})
    await ana.call("PUT", "/accounts/me/phone", json={"phone": "+49 30 901820"})
    await ana.call("POST", "/accounts/me/deletion", json={"password": PASSWORD})

    assert await subjects(rooms, told) == [
        "A passkey was added",
        "A passkey was removed",
        "An API token was created",
        "An export of your data was requested",
        "Your account will be deleted",
        "Your phone number was changed",
    ]
    texts = "\n".join(map(str, told.mails))
    assert "my phone" in texts
    assert "evil.example" not in texts


async def test_a_sign_in_from_a_new_device_is_told_once(rooms: Rooms, told: Mailbox, ana: Person) -> None:
    assert (await sign_in(ana)).status_code == 201  # the device that signed up
    assert await subjects(rooms, told) == []

    for _ in range(2):
        assert (await sign_in(ana, **FIREFOX)).status_code == 201

    assert await subjects(rooms, told) == ["A new device logged in"]
    assert "Firefox on Linux" in str(told.mails[0])


async def test_the_same_device_in_another_network_is_new_unless_it_has_its_cookie(
    rooms: Rooms, told: Mailbox, client: AsyncClient, ana: Person
) -> None:
    body = {"username": "ana", "password": PASSWORD}
    first = await client.post("/api/v1/sessions", json=body)
    cookie = {"Cookie": f"tt_device={first.cookies['tt_device']}"}
    client.cookies.clear()

    known = await client.post(
        "/api/v1/sessions", json=body, headers=cookie | {"X-Forwarded-For": "203.0.113.5"}
    )
    client.cookies.clear()
    assert (known.status_code, await subjects(rooms, told)) == (201, [])
    await client.post("/api/v1/sessions", json=body, headers={"X-Forwarded-For": "198.51.100.7"})
    client.cookies.clear()

    assert await subjects(rooms, told) == ["A new device logged in"]


async def test_a_wrong_password_tells_of_no_device(rooms: Rooms, told: Mailbox, ana: Person) -> None:
    await sign_in(ana, "not the one", **FIREFOX)

    assert await subjects(rooms, told) == []


async def test_without_a_confirmed_address_nobody_is_told(rooms: Rooms, mailbox: Mailbox, bo: Person) -> None:
    await bo.call("POST", "/tokens", json={"name": "n", "scopes": ["read"]})
    await deliver(rooms)

    assert mailbox.mails == []


@pytest.mark.parametrize("kind", sorted(NOTICES))
def test_every_notice_names_the_account_and_what_to_do(kind: Any) -> None:
    content = render_mail(kind, username="ana", public_url="https://x.example", token="", detail="Curl")

    assert "@ana" in content.paragraphs[0]
    assert "{" not in "".join(content.paragraphs)
    assert content.link == "https://x.example/forgot-password"
