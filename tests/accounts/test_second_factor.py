from typing import Any

import pyotp
import pytest
from httpx import AsyncClient

from tests.accounts.helpers import NEW_PASSWORD, all_at_once, on_shard_of, sign_in
from tests.support import PASSWORD, Person
from tintype.accounts import ProofWrong, totp
from tintype.base.ids import AccountId
from tintype.wiring import Rooms


def code_of(secret: str, *, steps: int = 0) -> str:
    return pyotp.TOTP(secret).at(int(totp.time.time()), counter_offset=steps)


async def turn_on(person: Person) -> tuple[str, list[str]]:
    """Set the app up with the code of the last half minute, so that this one's is still good."""
    secret = (await person.call("POST", "/security/totp")).json()["secret"]
    answer = await person.call("POST", "/security/totp/confirm", json={"code": code_of(secret, steps=-1)})
    assert answer.status_code == 201, answer.text
    return secret, answer.json()["recovery_codes"]


async def prove(person: Person, **proof: str) -> Any:
    """Answer the question who is signed in."""
    return await person.call("POST", "/sessions/current/proof", json=proof)


async def finish(client: AsyncClient, ticket: str, code: str) -> Any:
    answer = await client.post("/api/v1/sessions/second-factor", json={"ticket": ticket, "code": code})
    client.cookies.clear()
    return answer


async def test_a_code_is_required_after_the_password_and_works_once(client: AsyncClient, ana: Person) -> None:
    secret, _ = await turn_on(ana)
    asked = await sign_in(ana)
    assert (asked.status_code, asked.json()["status"]) == (202, "second_factor_required")
    assert asked.json()["methods"] == ["totp", "recovery_code"]
    assert "set-cookie" not in asked.headers
    ticket, code = asked.json()["ticket"], code_of(secret)

    wrong = await finish(client, ticket, "000000")
    right = await finish(client, ticket, code)
    used_ticket = await finish(client, ticket, code_of(secret, steps=1))
    replayed = await finish(client, (await sign_in(ana)).json()["ticket"], code)

    assert (wrong.status_code, wrong.json()["code"]) == (403, "proof_wrong")
    assert right.json()["account"]["username"] == "ana"
    assert used_ticket.json()["code"] == "ticket_wrong"
    assert replayed.json()["code"] == "proof_wrong"


async def test_of_many_who_send_one_code_at_once_one_gets_in(rooms: Rooms, ana: Person) -> None:
    secret, _ = await turn_on(ana)
    account_id, code = AccountId(int(ana.account_id)), code_of(secret)

    outcomes = await all_at_once(*(rooms.credentials._totp.use_code(account_id, code) for _ in range(6)))

    assert outcomes.count(None) == 1
    assert sum(isinstance(each, ProofWrong) for each in outcomes) == 5


async def test_a_recovery_code_works_once_and_new_ones_void_the_old(client: AsyncClient, ana: Person) -> None:
    _, codes = await turn_on(ana)

    async def try_code(code: str) -> int:
        return (await finish(client, (await sign_in(ana)).json()["ticket"], code)).status_code

    assert len(set(codes)) == 10
    assert [await try_code(codes[0].upper()), await try_code(codes[0])] == [201, 403]
    assert (await prove(ana, code=codes[2])).status_code == 204
    fresh = (await ana.call("POST", "/security/recovery-codes")).json()["recovery_codes"]
    assert [await try_code(codes[1]), await try_code(fresh[1])] == [403, 201]


async def test_the_database_holds_neither_secret_nor_codes_in_clear(rooms: Rooms, ana: Person) -> None:
    secret, codes = await turn_on(ana)

    rows = [
        *await on_shard_of(rooms, ana.account_id, "SELECT secret FROM totp"),
        *await on_shard_of(rooms, ana.account_id, "SELECT code_hash FROM recovery_codes"),
    ]

    kept = b" ".join(bytes(row[0]) for row in rows)
    assert len(rows) == 11
    assert secret.encode() not in kept
    assert not [code for code in codes if code.encode() in kept or code.replace("-", "").encode() in kept]


async def test_a_secret_is_enabled_by_confirmation_and_not_replaced_after(ana: Person) -> None:
    begun = await ana.call("POST", "/security/totp")
    assert begun.json()["link"].startswith("otpauth://totp/Tintype:ana")
    assert begun.json()["qr_svg"].startswith("<svg")
    assert (await sign_in(ana)).status_code == 201

    wrong = await ana.call("POST", "/security/totp/confirm", json={"code": "123"})
    secret, _ = await turn_on(ana)
    await prove(ana, code=code_of(secret))
    again = await ana.call("POST", "/security/totp")

    assert (wrong.status_code, again.json()["code"]) == (403, "totp_on")


async def test_without_the_second_factor_the_password_is_enough_again(ana: Person) -> None:
    secret, _ = await turn_on(ana)
    await prove(ana, code=code_of(secret))

    assert (await ana.call("DELETE", "/security/totp")).status_code == 204

    assert (await sign_in(ana)).status_code == 201
    assert (await ana.call("POST", "/security/recovery-codes")).json()["code"] == "totp_off"


async def test_changing_the_password_invalidates_sign_in_tickets(client: AsyncClient, ana: Person) -> None:
    secret, codes = await turn_on(ana)
    ticket = (await sign_in(ana)).json()["ticket"]
    await prove(ana, code=codes[0])
    await ana.call(
        "PUT", "/accounts/me/password", json={"current_password": PASSWORD, "new_password": NEW_PASSWORD}
    )

    answer = await finish(client, ticket, code_of(secret))

    assert answer.json()["code"] == "ticket_wrong"


async def test_guessing_codes_is_rate_limited(client: AsyncClient, ana: Person) -> None:
    await turn_on(ana)
    ticket = (await sign_in(ana)).json()["ticket"]

    answers = [await finish(client, ticket, f"{number:06}") for number in range(12)]

    assert answers[-1].status_code == 429
    assert int(answers[-1].headers["retry-after"]) > 0


@pytest.mark.parametrize("ticket", ["", "x", "A" * 43, "\0" * 43, "é" * 43])
async def test_an_unknown_ticket_is_refused(client: AsyncClient, ticket: str) -> None:
    answer = await finish(client, ticket, "000000")

    assert (answer.status_code, answer.json()["code"]) == (403, "ticket_wrong")
