from typing import Any

import pytest
from httpx import AsyncClient

from tests.accounts.authenticator import Authenticator, b64
from tests.accounts.helpers import all_at_once, on_shard_of, sign_in
from tests.accounts.test_second_factor import turn_on
from tests.support import Person
from tintype.wiring import Rooms


@pytest.fixture
def phone(rooms: Rooms) -> Authenticator:
    return Authenticator(rooms.credentials._passkeys.origin)


async def register(person: Person, device: Authenticator, name: str = "phone") -> Any:
    options = (await person.call("POST", "/security/passkeys/options")).json()["public_key"]
    return await person.call(
        "POST", "/security/passkeys", json={"passkey": device.make(options), "name": name}
    )


async def question(client: AsyncClient) -> dict[str, Any]:
    return (await client.post("/api/v1/sessions/passkey-options")).json()["public_key"]


async def enter(client: AsyncClient, answer: dict[str, Any]) -> Any:
    response = await client.post("/api/v1/sessions/passkey", json={"passkey": answer})
    client.cookies.clear()
    return response


async def test_a_passkey_signs_in_without_a_name_and_without_a_password(
    client: AsyncClient, ana: Person, phone: Authenticator
) -> None:
    assert (await register(ana, phone)).status_code == 201

    entered = await enter(client, phone.answer(await question(client)))

    assert (entered.status_code, entered.json()["account"]["username"]) == (201, "ana")
    (listed,) = (await ana.call("GET", "/security/passkeys")).json()["passkeys"]
    assert listed["name"] == "phone"
    assert listed["last_used_at"] is not None


async def test_a_passkey_answer_works_once_even_when_sent_concurrently(
    client: AsyncClient, ana: Person, phone: Authenticator
) -> None:
    await register(ana, phone)
    answer = phone.answer(await question(client))

    answers = await all_at_once(*(enter(client, answer) for _ in range(4)))

    assert sorted(each.status_code for each in answers) == [201, 400, 400, 400]


async def test_a_cloned_key_with_a_counter_is_detected(
    client: AsyncClient, ana: Person, phone: Authenticator
) -> None:
    await register(ana, phone)
    for _ in range(2):
        assert (await enter(client, phone.answer(await question(client)))).status_code == 201
    phone.counter = 0

    refused = await enter(client, phone.answer(await question(client)))

    assert (refused.status_code, refused.json()["code"]) == (400, "passkey_refused")


async def test_a_key_without_a_counter_keeps_working(
    client: AsyncClient, ana: Person, phone: Authenticator
) -> None:
    phone.counts = False
    await register(ana, phone)

    assert [(await enter(client, phone.answer(await question(client)))).status_code for _ in range(2)] == [
        201,
        201,
    ]


async def test_a_key_that_did_not_verify_its_user_does_not_sign_in_without_a_password(
    client: AsyncClient, ana: Person, phone: Authenticator
) -> None:
    phone.verifies = False
    await register(ana, phone)

    assert (await enter(client, phone.answer(await question(client)))).status_code == 400


async def test_an_answer_for_another_site_or_account_is_refused(
    client: AsyncClient, ana: Person, bo: Person, phone: Authenticator
) -> None:
    await register(ana, phone)
    elsewhere = Authenticator("https://tintype.example", key=phone.key, credential_id=phone.credential_id)
    elsewhere.rp_id, elsewhere.handle = phone.rp_id, phone.handle
    stranger = Authenticator(phone.origin)
    stranger.rp_id, stranger.handle = phone.rp_id, phone.handle

    answers = [
        await enter(client, elsewhere.answer(await question(client))),
        await enter(client, stranger.answer(await question(client))),
        await enter(
            client, phone.answer(await question(client), userHandle=b64(int(bo.account_id).to_bytes(8)))
        ),
        await enter(client, phone.answer(await question(client), userHandle=b64(b"\xff" * 8))),
        await enter(client, phone.answer(await question(client), userHandle=None)),
        await enter(client, phone.answer(await question(client), signature=b64(b"nonsense"))),
        await enter(client, phone.answer({"challenge": b64(b"x" * 32)})),
        await enter(client, {"id": 5}),
        await enter(client, {}),
    ]

    assert [each.json()["code"] for each in answers] == ["passkey_refused"] * len(answers)


async def test_a_passkey_works_as_the_second_factor(
    client: AsyncClient, ana: Person, phone: Authenticator
) -> None:
    phone.verifies = False  # possession is enough after the password
    await register(ana, phone)
    await turn_on(ana)
    asked = (await sign_in(ana)).json()
    ticket = {"ticket": asked["ticket"]}
    options = (await client.post("/api/v1/sessions/second-factor/passkey-options", json=ticket)).json()

    entered = await client.post(
        "/api/v1/sessions/second-factor", json=ticket | {"passkey": phone.answer(options["public_key"])}
    )
    client.cookies.clear()

    assert "passkey" in asked["methods"]
    assert entered.status_code == 201


async def test_somebody_elses_passkey_is_no_second_factor(
    client: AsyncClient, ana: Person, bo: Person, phone: Authenticator
) -> None:
    await register(bo, phone)
    await turn_on(ana)
    ticket = {"ticket": (await sign_in(ana)).json()["ticket"]}
    options = (await client.post("/api/v1/sessions/second-factor/passkey-options", json=ticket)).json()

    answer = await client.post(
        "/api/v1/sessions/second-factor", json=ticket | {"passkey": phone.answer(options["public_key"])}
    )

    assert (answer.status_code, answer.json()["code"]) == (400, "passkey_refused")


async def test_a_passkey_reauthenticates(rooms: Rooms, ana: Person, phone: Authenticator) -> None:
    await register(ana, phone)
    await on_shard_of(rooms, ana.account_id, "UPDATE sessions SET proved_at = NULL")
    await rooms.redis.flushdb()
    assert (await ana.call("POST", "/security/passkeys/options")).json()["code"] == "proof_needed"

    options = (await ana.call("POST", "/sessions/current/proof/passkey-options")).json()["public_key"]
    proved = await ana.call("POST", "/sessions/current/proof", json={"passkey": phone.answer(options)})

    assert proved.status_code == 204
    assert (await ana.call("POST", "/security/passkeys/options")).status_code == 201


async def test_a_passkey_is_named_and_removed_by_its_owner_alone(
    client: AsyncClient, ana: Person, bo: Person, phone: Authenticator
) -> None:
    passkey_id = (await register(ana, phone)).json()["passkey_id"]

    assert (await bo.call("PATCH", f"/security/passkeys/{passkey_id}", json={"name": "x"})).status_code == 404
    assert (await bo.call("DELETE", f"/security/passkeys/{passkey_id}")).status_code == 404
    assert (
        await ana.call("PATCH", f"/security/passkeys/{passkey_id}", json={"name": "old"})
    ).status_code == 204
    assert (await register(ana, phone)).json()["code"] == "passkey_refused"  # it is there already
    assert (await ana.call("DELETE", f"/security/passkeys/{passkey_id}")).status_code == 204
    assert (await enter(client, phone.answer(await question(client)))).status_code == 400


async def test_a_key_made_for_one_account_cannot_be_added_to_another(
    ana: Person, bo: Person, phone: Authenticator
) -> None:
    options = (await ana.call("POST", "/security/passkeys/options")).json()["public_key"]

    answer = await bo.call("POST", "/security/passkeys", json={"passkey": phone.make(options)})

    assert (answer.status_code, answer.json()["code"]) == (400, "passkey_refused")


FRAMED: list[dict[str, Any]] = [
    {"crossOrigin": True},
    {"crossOrigin": True, "topOrigin": "https://evil.example"},
    {"crossOrigin": False, "topOrigin": "https://evil.example"},
    {"crossOrigin": "true"},
]


@pytest.mark.parametrize("framed", FRAMED, ids=str)
async def test_an_answer_given_inside_a_frame_of_another_site_is_refused(
    client: AsyncClient, ana: Person, phone: Authenticator, framed: dict[str, Any]
) -> None:
    await register(ana, phone)
    phone.framed = framed

    entered = await enter(client, phone.answer(await question(client)))
    options = (await ana.call("POST", "/sessions/current/proof/passkey-options")).json()["public_key"]
    proof = await ana.call("POST", "/sessions/current/proof", json={"passkey": phone.answer(options)})
    other = Authenticator(phone.origin, framed=framed)
    added = await register(ana, other)

    for answer in (entered, proof, added):
        assert (answer.status_code, answer.json()["code"]) == (400, "passkey_refused")


async def test_an_answer_that_says_it_was_in_no_frame_is_accepted(
    client: AsyncClient, ana: Person, phone: Authenticator
) -> None:
    await register(ana, phone)
    phone.framed = {"crossOrigin": False}

    assert (await enter(client, phone.answer(await question(client)))).status_code == 201
