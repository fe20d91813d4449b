import asyncio
import hashlib
from collections.abc import AsyncIterator

import pytest
from argon2 import PasswordHasher

from tests.accounts.helpers import NEW_PASSWORD, on_shard_of
from tests.support import PASSWORD, Person
from tintype.accounts import PasswordRefused
from tintype.accounts.common_passwords import is_common, stems
from tintype.accounts.passwords import Passwords
from tintype.wiring import Rooms


@pytest.mark.parametrize(
    "password",
    ["password", "P@ssw0rd", "passw0rd123!", "12345678", "qwertyuiop", "1q2w3e4r", "iloveyou2", "Michael1985",
     "aaaaaaaa", "abcabcabc", "20012001", "letmein!!", "Summer2024!", "zxcvbnm,", "Football99", "asdf1234", "!!!!!!!!"],
)  # fmt: skip
def test_common_passwords_are_refused(password: str) -> None:
    assert is_common(password)


@pytest.mark.parametrize(
    "password", [PASSWORD, NEW_PASSWORD, "long enough", "a fine password", "Tr0ub4dor&3x", "grüne Tür im Hof"]
)
def test_uncommon_passwords_are_accepted(password: str) -> None:
    assert not is_common(password)


def test_the_generator_makes_at_least_ten_thousand_stems() -> None:
    assert len(stems()) > 10_000


@pytest.mark.parametrize(
    "password",
    [
        "rosalind99",
        "R0salind!!",
        "dnilasor1",
        "rosa.lind",
        "hopper42",
        "x" * 7,
        "x" * 257,
        "tintype1!",
        "\ud800" * 9,
    ],
)
async def test_ones_own_name_is_refused_as_password(rooms: Rooms, password: str) -> None:
    with pytest.raises(PasswordRefused):
        await rooms.accounts.sign_up("rosalind", password, email="hopper@example.org")


async def test_a_password_is_rehashed_when_the_costs_have_changed(rooms: Rooms, ana: Person) -> None:
    (before,) = await on_shard_of(rooms, ana.account_id, "SELECT password_hash FROM accounts")
    cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    rooms.accounts.use_hasher(PasswordHasher(time_cost=2, memory_cost=16, parallelism=1))
    try:
        await rooms.authentication.sign_in("ana", PASSWORD)
        (after,) = await on_shard_of(rooms, ana.account_id, "SELECT password_hash FROM accounts")
        await rooms.authentication.sign_in("ana", PASSWORD)
    finally:
        rooms.accounts.use_hasher(cheap)

    assert "t=1" in before["password_hash"]
    assert "t=2" in after["password_hash"]


@pytest.fixture
async def range_service() -> AsyncIterator[tuple[str, list[str]]]:
    """A service that knows one leaked password, and remembers what it was asked."""
    asked: list[str] = []
    rest = hashlib.sha1(b"known from a leak", usedforsecurity=False).hexdigest().upper()[5:]

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        asked.append(head.split()[1].decode())
        body = f"{rest}:42\r\n{'0' * 35}:0\r\n".encode()
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/range", asked
    server.close()
    await server.wait_closed()


async def test_a_leaked_password_is_refused_and_the_service_learns_five_digits(
    range_service: tuple[str, list[str]],
) -> None:
    url, asked = range_service
    passwords = Passwords(range_url=url)

    with pytest.raises(PasswordRefused):
        await passwords.check("known from a leak")
    await passwords.check("known to nobody else")

    assert all(len(path.rsplit("/", 1)[1]) == 5 for path in asked)
    assert len(asked) == 2


async def test_passwords_are_accepted_while_the_leak_service_is_unavailable() -> None:
    await Passwords(range_url="http://127.0.0.1:9/range").check("known to nobody else")
