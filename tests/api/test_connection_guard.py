"""The guard's decisions, without a server: who is cut when there are too many, and who never is."""

import asyncio
import socket
from collections.abc import Generator
from contextlib import ExitStack, contextmanager

import pytest

from tests.support import Person
from tintype.api import ConnectionGuard, connection_limits
from tintype.api.http import connection_guard
from tintype.api.http.client_info import forwarded_network
from tintype.api.http.connection_guard import ConnectionLimits, TooManyAtOnce
from tintype.base.settings import Settings


@contextmanager
def connections(count: int) -> Generator[list[tuple[socket.socket, socket.socket]]]:
    """Pairs of a client's and this process's end of a connection."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        pairs: list[tuple[socket.socket, socket.socket]] = []
        for _ in range(count):
            client = stack.enter_context(socket.create_connection(listener.getsockname()))
            pairs.append((client, stack.enter_context(listener.accept()[0])))
        yield pairs


def is_cut(client: socket.socket) -> bool:
    client.setblocking(False)
    try:
        return client.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def limits(*, per_address: int = 1_000, in_all: int = 1_000) -> ConnectionLimits:
    return ConnectionLimits(per_address, in_all, stall_s=60, quiet_s=60)


@pytest.mark.parametrize("chosen", [{"per_address": 3}, {"in_all": 3}])
async def test_of_too_many_connections_some_are_cut_but_none_that_is_being_answered(
    chosen: dict[str, int],
) -> None:
    guard = ConnectionGuard(limits(**chosen))
    with connections(8) as pairs:
        answered = {pairs[0][0].getsockname(), pairs[5][0].getsockname()}
        for peer in answered:
            guard.begin_answer(peer)
        await guard.look()
        left = [client for client, _ in pairs if not is_cut(client)]

        assert len(left) == 3
        assert answered <= {client.getsockname() for client in left}


async def test_a_request_that_arrives_while_others_are_cut_is_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection_guard, "SLICE", 1)
    guard = ConnectionGuard(limits(per_address=2))

    with connections(8) as pairs:
        looking = asyncio.create_task(guard.look())
        while not (cut := {number for number, (client, _) in enumerate(pairs) if is_cut(client)}):  # noqa: ASYNC110 - the guard takes one step at a time
            await asyncio.sleep(0)
        arrived = set(range(8)) - cut
        for number in arrived:
            guard.begin_answer(pairs[number][0].getsockname())
        await looking

        assert not any(is_cut(pairs[number][0]) for number in arrived)


async def test_as_many_as_are_allowed_stay() -> None:
    guard = ConnectionGuard(limits(per_address=8))
    with connections(8) as pairs:
        await guard.look()

        assert not any(is_cut(client) for client, _ in pairs)


async def test_the_connections_of_a_configured_proxy_are_not_counted_as_one_address() -> None:
    settings = Settings(public_url="https://photos.example.org", connections_per_address=2)
    guard = ConnectionGuard(connection_limits(settings))
    with connections(8) as pairs:
        await guard.look()

        assert not any(is_cut(client) for client, _ in pairs)


async def test_without_a_proxy_this_machine_has_limits_like_any_other_address() -> None:
    guard = ConnectionGuard(connection_limits(Settings(connections_per_address=2)))
    with connections(8) as pairs:
        await guard.look()

        assert sum(is_cut(client) for client, _ in pairs) == 6


def test_requests_in_progress_are_counted_by_the_forwarded_address() -> None:
    guard = ConnectionGuard(limits(per_address=2))
    guard.enter("192.0.2.1")
    guard.enter("192.0.2.1")
    guard.enter("192.0.2.2")
    with pytest.raises(TooManyAtOnce):
        guard.enter("192.0.2.1")
    guard.leave("192.0.2.1")
    guard.enter("192.0.2.1")


@pytest.mark.parametrize(
    ("peer", "forwarded", "network"),
    [
        ("127.0.0.1", "192.0.2.1", "192.0.2.1"),
        ("127.0.0.1", "203.0.113.9, 192.0.2.1", "192.0.2.1"),
        ("127.0.0.1", "2001:db8::1", "2001:db8::/64"),
        ("198.51.100.1", "192.0.2.1", ""),
        ("127.0.0.1", "", ""),
    ],
)
def test_an_address_is_believed_only_when_a_trusted_proxy_forwards_it(
    peer: str, forwarded: str, network: str
) -> None:
    headers = [(b"x-forwarded-for", forwarded.encode())] if forwarded else []
    scope = {"type": "http", "client": (peer, 4711), "headers": headers, "method": "GET", "path": "/"}

    assert forwarded_network(scope, Settings()) == network


async def test_a_body_of_the_wrong_size_or_type_does_not_end_the_session(ana: Person) -> None:
    refused = await ana.call(
        "POST", "/collections", content=b" " * 2_000_000, headers={"Content-Type": "application/json"}
    )
    served = await ana.call("GET", "/accounts/me")

    assert (refused.status_code, served.status_code) == (413, 200)
