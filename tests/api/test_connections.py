"""Connections that stall are ended, and nobody holds so many that others find no room. On a real web process."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import httpx
import pytest

from tests.support import PASSWORD, eventually, photo
from tests.web_process import WebProcess, open_web
from tintype.base.settings import Settings
from tintype.wiring import Rooms

pytestmark = pytest.mark.slow

HALF_HEAD = b"GET /healthz HTTP/1.1\r\nHo"
HALF_BODY = (
    b"POST /api/v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    b'Content-Length: 100\r\n\r\n{"username"'
)
WHOLE = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
BIG = b"GET /api/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
PER_ADDRESS = 24


@pytest.fixture(scope="module")
def web(settings: Settings, opened_rooms: Rooms) -> Iterator[WebProcess]:
    """A web process that is not patient."""
    assert opened_rooms
    with open_web(
        settings, http_idle_s=2, http_stall_s=2, connections_per_address=PER_ADDRESS, connections=200
    ) as process:
        yield process


def read_all(connection: socket.socket) -> bytes:
    """What comes until the connection ends; however it ends."""
    found = b""
    try:
        while part := connection.recv(65_536):
            found += part
    except ConnectionResetError:
        pass  # a cut connection ends like this, and what came before it counts
    return found


@pytest.mark.parametrize("sent", [b"", HALF_HEAD, WHOLE])
def test_a_connection_without_a_request_is_closed(web: WebProcess, sent: bytes) -> None:
    with web.connect() as connection:
        connection.sendall(sent)
        answer = read_all(connection)

    assert answer.startswith(b"HTTP/1.1 200") if sent == WHOLE else not answer


def test_a_body_that_does_not_arrive_is_answered_with_408(web: WebProcess) -> None:
    with web.connect() as connection:
        connection.sendall(HALF_BODY)
        answer = read_all(connection).lower()

    assert answer.startswith(b"http/1.1 408")
    assert b"connection: close" in answer
    assert b'"code":"body_timeout"' in answer


def test_a_body_that_drips_is_answered_with_408(web: WebProcess) -> None:
    head = HALF_BODY.replace(b"100", b"90000")
    with web.connect() as connection:
        connection.sendall(head)
        connection.settimeout(0.2)
        answer = b""
        for _ in range(200):
            try:
                connection.send(b" ")
                answer = connection.recv(65_536)
            except TimeoutError:
                continue  # nothing to read yet
            except OSError:
                break
            if answer:
                break

    assert answer.startswith(b"HTTP/1.1 408")


def test_a_client_that_does_not_read_is_cut(web: WebProcess) -> None:
    with web.connect() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            for _ in range(100_000):  # until the server reads no more either, and then ends it
                connection.sendall(BIG)


def test_a_slow_but_steady_client_gets_everything(web: WebProcess) -> None:
    whole = len(httpx.get(f"{web.address}/api/openapi.json", headers={"Accept-Encoding": "identity"}).content)
    with web.connect() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_384)
        connection.sendall(BIG.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        found = b""
        while part := connection.recv(8_192):
            found += part

    assert len(found.partition(b"\r\n\r\n")[2]) == whole


@pytest.mark.parametrize("path", ["/api/v1/sessions", "/api/v1/media/upload", "/nowhere"])
def test_a_refusal_before_the_body_was_read_reaches_the_client_and_ends_the_connection(
    web: WebProcess, path: str
) -> None:
    size = 3 * 1024 * 1024
    head = (
        f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {size}\r\n\r\n"
    )
    with web.connect() as connection:
        connection.sendall(head.encode())
        with suppress(BrokenPipeError, ConnectionResetError):  # it is refused meanwhile
            connection.sendall(b" " * size)
        answer = read_all(connection).lower()

    assert answer.startswith((b"http/1.1 413", b"http/1.1 401", b"http/1.1 405"))
    assert b"connection: close" in answer


def test_a_refusal_of_a_small_body_keeps_the_connection(web: WebProcess) -> None:
    body = b'{"name": "x"}'
    head = b"POST /api/v1/collections HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"
    with web.connect() as connection:
        connection.sendall(head % len(body) + body)
        refused = connection.recv(65_536).lower()
        connection.sendall(WHOLE)
        answered = connection.recv(65_536)

    assert refused.startswith(b"http/1.1 401")
    assert b"connection: close" not in refused
    assert answered.startswith(b"HTTP/1.1 200")


async def test_an_address_keeps_only_so_many_connections_and_others_are_served(web: WebProcess) -> None:
    with ExitStack() as stack:
        crowd = [stack.enter_context(web.connect("127.0.0.9")) for _ in range(PER_ADDRESS * 3)]
        for each in crowd:
            each.sendall(HALF_HEAD)
            each.setblocking(False)
        neighbour = stack.enter_context(web.connect("127.0.0.10"))

        async def is_thinned_out() -> bool:
            return sum(_is_open(each) for each in crowd) <= PER_ADDRESS

        neighbour.sendall(WHOLE)
        assert neighbour.recv(100).startswith(b"HTTP/1.1 200")
        await eventually(is_thinned_out, what="the address has no more connections than it may")
        fresh = stack.enter_context(web.connect("127.0.0.9"))
        fresh.sendall(WHOLE)
        assert fresh.recv(100).startswith(b"HTTP/1.1 200")


def _is_open(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


async def test_more_connections_than_there_is_room_for_do_not_shut_others_out(web: WebProcess) -> None:
    with ExitStack() as stack:
        for number in range(600):  # three times what the process accepts
            each = stack.enter_context(web.connect(f"127.0.1.{number % 200 + 1}"))
            each.sendall((b"", HALF_HEAD, HALF_BODY)[number % 3])
        async with httpx.AsyncClient(base_url=web.address, timeout=60) as client:
            answers = [await client.get("/healthz", headers={"Connection": "close"}) for _ in range(20)]

    assert {answer.status_code for answer in answers} == {200}


def test_an_upload_takes_as_long_as_it_needs_while_it_goes_on(web: WebProcess) -> None:
    with httpx.Client(base_url=f"{web.address}/api/v1", timeout=60) as client:
        joined = client.post("/accounts", json={"username": "steady", "password": PASSWORD})
        token = joined.raise_for_status().json()["token"]
        client.cookies.clear()
        files = {"file": ("photo.jpg", photo(), "image/jpeg")}
        request = client.build_request(
            "POST", "/media/upload", files=files, headers={"Authorization": f"Bearer {token}"}
        )
        body = request.read()

        async def drip() -> int:
            step = max(1, len(body) // 8)

            async def parts():  # noqa: ANN202 - an async generator
                for at in range(0, len(body), step):
                    await asyncio.sleep(0.5)
                    yield body[at : at + step]

            async with httpx.AsyncClient(timeout=60) as slow:
                headers = {
                    "Authorization": f"Bearer {token}",
                    "Content-Type": request.headers["content-type"],
                }
                return (await slow.post(request.url, content=parts(), headers=headers)).status_code

        assert asyncio.run(drip()) == 201
