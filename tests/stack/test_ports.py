"""Ports are kept, busy ones avoided or explained, and two homes never want the same."""

import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.stack.conftest import standin
from tintype.stack import AlreadyRunning, Plan, PortTaken, Stack
from tintype.stack.ports import Ports, is_free


@pytest.fixture
def busy() -> Iterator[int]:
    """A port that this process listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_a_port_is_kept_across_starts(tmp_path: Path) -> None:
    file = tmp_path / "ports.json"
    assert Ports(file).choose_internal("redis") == Ports(file).choose_internal("redis")


def test_names_never_share_a_port(tmp_path: Path) -> None:
    ports = Ports(tmp_path / "ports.json")
    chosen = [ports.choose_internal(f"server-{number}") for number in range(50)]
    assert len(set(chosen)) == 50


def test_a_preferred_port_that_is_busy_is_avoided_and_the_holder_named(tmp_path: Path, busy: int) -> None:
    ports = Ports(tmp_path / "ports.json")

    chosen = ports.choose_public("http_port", "127.0.0.1", busy, is_fixed=False)

    assert chosen != busy
    assert is_free("127.0.0.1", chosen)
    assert f"port {busy} is taken by" in ports.notes[0]
    assert "pid" in ports.notes[0]
    again = Ports(tmp_path / "ports.json").choose_public("http_port", "127.0.0.1", busy, is_fixed=False)
    assert again == chosen


def test_a_fixed_port_that_is_busy_is_explained(tmp_path: Path, busy: int) -> None:
    with pytest.raises(PortTaken, match=rf"port {busy} is taken by .*pid"):
        Ports(tmp_path / "ports.json").choose_public("http_port", "127.0.0.1", busy, is_fixed=True)


def test_a_kept_port_that_somebody_took_is_given_up(tmp_path: Path, busy: int) -> None:
    file = tmp_path / "ports.json"
    file.write_text(f'{{"redis": {busy}}}')

    ports = Ports(file)

    assert ports.choose_internal("redis") != busy
    assert ports.notes


def test_a_damaged_memory_only_means_new_ports(tmp_path: Path) -> None:
    file = tmp_path / "ports.json"
    file.write_text("{half")
    assert Ports(file).choose_internal("redis") > 0


async def test_a_busy_fixed_port_stops_the_start_and_leaves_nothing_running(plan: Plan, busy: int) -> None:
    wrong = replace(plan, http_port=busy, fixed_ports=frozenset({"http_port"}))
    with pytest.raises(PortTaken):
        await Stack.following(wrong, applications=lambda _: [standin("worker")]).start()

    async with Stack.following(plan, applications=lambda _: [standin("worker")]) as stack:
        assert stack.connections.http_port != busy


async def test_two_ups_in_one_home_refuse_clearly(plan: Plan) -> None:
    async with Stack.following(plan, applications=lambda _: [standin("worker")]) as stack:
        with pytest.raises(AlreadyRunning, match="already runs in"):
            await Stack.following(plan, applications=lambda _: [standin("worker")]).start()

        assert [each.phase for each in stack.processes] == ["ready"]
