import pytest
from httpx import AsyncClient

from tests.accounts.helpers import all_at_once, announced, on_every_shard
from tests.support import PASSWORD, Person, join
from tintype.accounts import QUERIES, AccountChanged, UsernameRefused, UsernameTaken
from tintype.accounts.username_rules import check_username
from tintype.base.ids import AccountId
from tintype.wiring import Rooms


@pytest.mark.parametrize(
    "name", ["admin", "ADMIN", "adm1n", "a_d.m_i_n", "adrnin", "t1ntype", "supp0rt", "vvebmaster"]
)
def test_a_name_that_looks_like_a_reserved_one_is_refused(name: str) -> None:
    with pytest.raises(UsernameRefused):
        check_username(name)


@pytest.mark.parametrize(
    "name",
    [
        "\u0430na",
        "ana\u200b",
        "\uff41\uff4e\uff41",
        "\u212aate",
        "ana\0",
        "a b",
        "x" * 31,
        ".a",
        "a.",
        "a..b",
        "",
    ],
)
def test_letters_of_other_scripts_and_odd_shapes_are_refused_and_never_folded(name: str) -> None:
    with pytest.raises(UsernameRefused):
        check_username(name)


async def test_a_name_that_looks_like_a_verified_one_is_refused_until_it_is_verified_no_more(
    rooms: Rooms, client: AsyncClient
) -> None:
    famous = await join(client, "milo.warren")
    account_id = AccountId(int(famous.account_id))
    await rooms.accounts.verify(account_id, is_verified=True)

    for name in ("m1lo.warren", "milowarren", "milo_vvarren", "rnilo.warren"):
        with pytest.raises(UsernameRefused):
            await rooms.accounts.sign_up(name, PASSWORD)

    await rooms.accounts.verify(account_id, is_verified=False)
    assert (await rooms.accounts.sign_up("milowarren", PASSWORD)).account.username == "milowarren"


async def test_the_old_name_is_reserved_for_14_days_and_then_free(rooms: Rooms, ana: Person) -> None:
    answer = await ana.call("PUT", "/accounts/me/username", json={"username": "Ana.Two"})

    assert (answer.status_code, answer.json()["username"]) == (200, "ana.two")
    assert (await rooms.accounts.get_by_name("ana")).username == "ana.two"
    await on_every_shard(rooms, "UPDATE usernames SET claimed_at = now() - interval '1 hour'")
    with pytest.raises(UsernameTaken):
        await rooms.accounts.sign_up("ana", PASSWORD)

    await on_every_shard(rooms, "UPDATE former_usernames SET kept_until = now() - interval '1 second'")
    await rooms.accounts.release_expired_usernames()

    assert await rooms.accounts.find_id("ana") is None
    assert (await rooms.accounts.sign_up("ana", PASSWORD)).account.username == "ana"
    assert str((await rooms.accounts.get_by_name("ana.two")).id) == ana.account_id


async def test_an_account_can_return_to_its_old_name(rooms: Rooms, ana: Person) -> None:
    await ana.call("PUT", "/accounts/me/username", json={"username": "ana.two"})
    await ana.call("PUT", "/accounts/me/username", json={"username": "ana"})
    await on_every_shard(rooms, "UPDATE former_usernames SET kept_until = now() - interval '1 second'")
    await on_every_shard(rooms, "UPDATE usernames SET claimed_at = now() - interval '1 hour'")

    await rooms.accounts.release_expired_usernames()

    assert str((await rooms.accounts.get_by_name("ana")).id) == ana.account_id
    assert await rooms.accounts.find_id("ana.two") is None
    assert len(await announced(rooms, AccountChanged)) == 2


async def test_the_claim_of_an_interrupted_rename_can_be_taken_over(rooms: Rooms, ana: Person) -> None:
    ana_id = AccountId(int(ana.account_id))
    await rooms.shards.of("wanted").execute(QUERIES.claim_username, key="wanted", account_id=ana_id)
    with pytest.raises(UsernameTaken):
        await rooms.accounts.sign_up("wanted", PASSWORD)
    await on_every_shard(rooms, "UPDATE usernames SET claimed_at = now() - interval '2 minutes'")

    outcomes = await all_at_once(*(rooms.accounts.sign_up("wanted", PASSWORD) for _ in range(4)))

    assert sum(isinstance(each, UsernameTaken) for each in outcomes) == 3
    assert str((await rooms.accounts.get_by_name("ana")).id) == ana.account_id


async def test_of_many_who_rename_to_one_name_at_once_one_gets_it(rooms: Rooms, client: AsyncClient) -> None:
    people = [await join(client, f"person{number}") for number in range(4)]

    outcomes = await all_at_once(
        *(rooms.accounts.rename(AccountId(int(each.account_id)), "wanted") for each in people)
    )

    assert sum(isinstance(each, UsernameTaken) for each in outcomes) == 3
    names = {(await rooms.accounts.get(AccountId(int(each.account_id)))).username for each in people}
    assert "wanted" in names
    assert len(names) == 4


async def test_anybody_may_ask_whether_a_name_is_free(client: AsyncClient, ana: Person) -> None:
    taken = await client.get("/api/v1/usernames/available", params={"username": "ANA"})
    free = await client.get("/api/v1/usernames/available", params={"username": "bo"})
    never = await client.get("/api/v1/usernames/available", params={"username": "admin"})

    assert (taken.json()["is_available"], free.json()["is_available"]) == (False, True)
    assert (never.status_code, never.json()["code"]) == (400, "username_refused")


@pytest.mark.parametrize(
    "name",
    [
        *(
            "mod",
            "moderator",
            "abuse",
            "hostmaster",
            "postmaster",
            "webmaster",
            "noreply",
            "security",
            "support",
        ),
        *("help", "root", "system", "official", "tintype", "info", "noc", "news", "sales", "www", "team"),
        *(
            "m0d",
            "no.reply",
            "no_reply",
            "Abuse",
            "supp0rt",
            "rnod",
            "t1ntype",
            "mod.team",
            "tintype_support",
        ),
        *("official.help", "security.team", "_mod_", "trust_and_safety"),
    ],
)
async def test_names_that_speak_for_the_site_are_reserved(
    client: AsyncClient, ana: Person, name: str
) -> None:
    joined = await client.post("/api/v1/accounts", json={"username": name, "password": PASSWORD})
    renamed = await ana.call("PUT", "/accounts/me/username", json={"username": name})

    assert [each.json()["code"] for each in (joined, renamed)] == ["username_refused"] * 2


@pytest.mark.parametrize(
    "name", ["modern", "ana.support", "newsome", "bo", "helper.ana", "rooted", "guest7", "mod2", "7", "_1"]
)
async def test_names_that_only_contain_such_words_are_free(client: AsyncClient, name: str) -> None:
    assert (await join(client, name)).username == name


async def test_an_account_keeps_a_name_from_before_it_was_reserved(rooms: Rooms, ana: Person) -> None:
    ana_id = AccountId(int(ana.account_id))
    await rooms.shards.of("abuse").execute(QUERIES.claim_username, key="abuse", account_id=ana_id)
    await on_every_shard(rooms, "UPDATE accounts SET username = 'abuse' WHERE username = 'ana'")
    await rooms.accounts.invalidate(ana_id)

    entered = await ana.client.post("/api/v1/sessions", json={"username": "abuse", "password": PASSWORD})
    changed = await ana.call("PATCH", "/accounts/me", json={"bio": "still here"})

    assert (entered.status_code, changed.status_code) == (201, 200)
