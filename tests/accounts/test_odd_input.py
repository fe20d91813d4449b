"""Every route of this room, read from the API's own document, with bodies that nobody should send."""

from typing import Any

import pytest
from httpx import AsyncClient

from tests.support import Person

TAGS = {"Accounts", "Profile", "Sessions", "Tokens", "Security"}
ODD: tuple[Any, ...] = (
    *(None, "", "\0", "a\0b", "x" * 400, "\u202e\U0001f600", "' OR 1=1 --"),
    *(-1, 2**70, 1.5, True, [], {}, [None], {"id": "\0"}),
)


async def routes(client: AsyncClient) -> list[tuple[str, str, dict[str, Any]]]:
    """Method, path and the fields of the body, for each of our routes that takes one."""
    document = (await client.get("/api/openapi.json")).json()
    found: list[tuple[str, str, dict[str, Any]]] = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if not TAGS & set(operation.get("tags", ())):
                continue
            content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            name = content.get("schema", {}).get("$ref", "").rsplit("/", 1)[-1]
            fields = document["components"]["schemas"].get(name, {}).get("properties", {})
            found.append((method.upper(), path, fields))
    return found


def bodies(fields: dict[str, Any]) -> list[Any]:
    plain: dict[str, Any] = dict.fromkeys(fields, "odd.one")
    return [None, [], "text", plain, *({**plain, name: odd} for name in fields for odd in ODD)]


@pytest.mark.slow
@pytest.mark.parametrize("is_signed_in", [False, True])
async def test_no_body_makes_a_route_crash(client: AsyncClient, ana: Person, is_signed_in: bool) -> None:
    crashes: list[str] = []
    for method, path, fields in await routes(client):
        if method == "DELETE" or path.endswith("/deactivation"):
            continue  # they end the session that asks; their ids are tried elsewhere
        place = path.removeprefix("/api/v1").replace("{passkey_id}", "9223372036854775807")
        for body in bodies(fields) if fields else [None]:
            person = ana if is_signed_in else Person(client, "", "", "")
            answer = await person.call(method, place.replace("{username}", "%00"), json=body)
            client.cookies.clear()
            if answer.status_code >= 500:
                crashes.append(f"{method} {path} {body!r}: {answer.status_code}")

    assert crashes == []


@pytest.mark.parametrize(
    "number", ["0", "-1", "abc", "9223372036854775807", "9223372036854775808", "%00", "1e3"]
)
async def test_an_invalid_id_ends_no_session(ana: Person, number: str) -> None:
    for path in ("/sessions/", "/tokens/", "/security/passkeys/"):
        assert (await ana.call("DELETE", path + number)).status_code in {400, 404}


async def test_a_guest_gets_401_whatever_the_body(client: AsyncClient) -> None:
    for method, path in (("PUT", "/accounts/me/password"), ("PATCH", "/accounts/me"), ("POST", "/tokens")):
        answer = await client.request(method, f"/api/v1{path}", json={"wrong": 1})
        assert (answer.status_code, answer.json()["code"]) == (401, "not_signed_in")
