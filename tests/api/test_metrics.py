"""Metrics: on a port of their own, and with labels that nobody outside can make up."""

import asyncio
import contextlib
import json
import re
import socket
import threading

import pytest
from httpx import AsyncClient

from tests.support import Person
from tests.web_process import open_web
from tintype.api import MetricsListener
from tintype.api.http import metrics_listener
from tintype.api.http.metrics_listener import render_metrics
from tintype.base.settings import Settings
from tintype.wiring import Rooms


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


async def ask(port: int, request: bytes = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n") -> tuple[int, bytes]:
    """Status and body of a response; waits until somebody listens."""
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            break
        except OSError:
            await asyncio.sleep(0.01)
    writer.write(request)
    answer = b""
    with contextlib.suppress(ConnectionResetError):  # what is refused unread may be answered by a reset
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split(b" ")[1]) if head else 0, body


async def test_metrics_are_not_served_to_the_public(client: AsyncClient) -> None:
    answers = [await client.get(path) for path in ("/metrics", "/metrics/", "/metrics?x=1")]

    assert [answer.status_code for answer in answers] == [404, 404, 404]


async def test_metrics_have_a_port_of_their_own() -> None:
    port = free_port()
    async with MetricsListener("127.0.0.1", port).running():
        found = await ask(port)
        other = await ask(port, b"GET /healthz HTTP/1.1\r\n\r\n")
        posted = await ask(port, b"POST /metrics HTTP/1.1\r\n\r\n")
        headed = await ask(port, b"HEAD /metrics HTTP/1.1\r\n\r\n")
        broken = await ask(port, b"x" * 100_000 + b"\r\n\r\n")
        again = await ask(port)

    assert (found[0], other, posted, headed) == (200, (404, b""), (404, b""), (200, b""))
    assert b"tintype_request_seconds" in found[1]
    assert broken == (0, b"")
    assert again[0] == 200


async def test_metrics_are_rendered_once_for_all_who_ask_at_a_time() -> None:
    rendered: list[int] = []
    may_end = threading.Event()

    def render() -> bytes:
        rendered.append(1)
        may_end.wait(20)
        return b"text"

    listener = MetricsListener("127.0.0.1", 0, render)
    asking = [asyncio.create_task(listener.text()) for _ in range(50)]
    await asyncio.sleep(0)
    may_end.set()

    assert await asyncio.gather(*asking) == [b"text"] * 50
    assert await listener.text() == b"text"
    assert len(rendered) == 1


async def test_a_process_takes_the_port_as_soon_as_another_has_left_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(metrics_listener, "RETRY_S", 0.01)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        listener = MetricsListener("127.0.0.1", port, lambda: b"mine").running()
        await listener.__aenter__()
    found = await ask(port)
    await listener.__aexit__(None, None, None)

    assert found == (200, b"mine")


@pytest.mark.slow
async def test_a_web_process_without_its_port_says_who_has_it_and_serves(
    settings: Settings, opened_rooms: Rooms
) -> None:
    assert opened_rooms
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with open_web(settings, metrics_port=port, log_level="warning", log_format="json") as web:
            lines = [json.loads(line) for line in web.log.read_text().splitlines()]

    (warning,) = [line for line in lines if line["event"] == "metrics.unreachable"]
    assert warning["port"] == port
    assert "is taken by" in warning["reason"]
    assert "Set metrics_port" in warning["hint"]


async def test_metrics_count_requests_by_route_and_not_by_id(ana: Person) -> None:
    await ana.call("GET", "/posts/12345")

    text = render_metrics().decode()

    assert 'route="/api/v1/posts/{post_id}"' in text
    assert not [route for route in re.findall(r'route="([^"]*)"', text) if "12345" in route]


async def test_no_label_takes_a_value_from_outside(client: AsyncClient) -> None:
    for method in ("MADEUP", "BREW", "PROPFIND"):
        for path in ("/", "/madeup", "/api/v1/madeup", "/api/v1/posts/1"):
            await client.request(method, path, headers={"Host": "madeup.example", "User-Agent": "madeup"})

    text = render_metrics().decode()

    assert 'method="other"' in text
    assert not re.search("madeup|BREW|PROPFIND", text, re.IGNORECASE)
