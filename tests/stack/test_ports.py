"""Ports are kept, busy ones avoided or explained, and two homes never want the same."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.stack.conftest import standin
from tintype.stack import AlreadyRunning, Plan, PortTaken, Stack
from tintype.stack.applications import no_programs
from tintype.stack.claims import Claims
from tintype.stack.ports import Ports, is_free


@pytest.fixture
def busy() -> Iterator[int]:
    """A port that this process listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


@pytest.fixture
def open_ports() -> Iterator[Callable[[Path], Ports]]:
    """Opens the ports of a home; whatever was claimed is let go with the test."""
    opened: list[Ports] = []

    def open_(file: Path) -> Ports:
        opened.append(Ports(file))
        return opened[-1]

    yield open_
    for ports in opened:
        ports.let_go()


OpenPorts = Callable[[Path], Ports]


def test_a_port_is_kept_across_starts(tmp_path: Path, open_ports: OpenPorts) -> None:
    first = open_ports(tmp_path / "ports.json")
    chosen = first.choose_internal("redis")
    first.let_go()

    assert open_ports(tmp_path / "ports.json").choose_internal("redis") == chosen


def test_two_homes_that_start_in_the_same_second_choose_different_ports(
    tmp_path: Path, open_ports: OpenPorts
) -> None:
    one, other = open_ports(tmp_path / "one.json"), open_ports(tmp_path / "other.json")
    any_ports = open_ports(tmp_path / "any.json")
    preferred = any_ports.choose_internal("any")
    any_ports.let_go()

    first = one.choose_public("mqtt_port", "127.0.0.1", preferred, is_fixed=False)
    second = other.choose_public("mqtt_port", "127.0.0.1", preferred, is_fixed=False)

    assert first == preferred
    assert second != first
    assert "taken by another Tintype that is starting" in other.notes[0]
    with pytest.raises(PortTaken, match="another Tintype"):
        other.choose_public("http_port", "127.0.0.1", preferred, is_fixed=True)


def test_whoever_dies_leaves_its_ports_to_others(tmp_path: Path, open_ports: OpenPorts) -> None:
    ports = open_ports(tmp_path / "ports.json")
    port = ports.choose_internal("any")
    ports.let_go()
    script = (
        f"from tintype.stack.claims import Claims; c = Claims(); print(c.take({port}), flush=True); input()"
    )
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "True\n"
        assert not Claims().take(port)
        holder.kill()
        holder.wait()
        claims = Claims()
        assert claims.take(port)
        claims.give_up_all()


def test_names_never_share_a_port(tmp_path: Path, open_ports: OpenPorts) -> None:
    ports = open_ports(tmp_path / "ports.json")
    chosen = [ports.choose_internal(f"server-{number}") for number in range(50)]
    assert len(set(chosen)) == 50


def test_a_preferred_port_that_is_busy_is_avoided_and_the_holder_named(
    tmp_path: Path, busy: int, open_ports: OpenPorts
) -> None:
    ports = open_ports(tmp_path / "ports.json")

    chosen = ports.choose_public("http_port", "127.0.0.1", busy, is_fixed=False)

    assert chosen != busy
    assert is_free("127.0.0.1", chosen)
    assert f"port {busy} is taken by" in ports.notes[0]
    assert "pid" in ports.notes[0]
    ports.let_go()
    again = open_ports(tmp_path / "ports.json").choose_public("http_port", "127.0.0.1", busy, is_fixed=False)
    assert again == chosen


def test_a_fixed_port_that_is_busy_is_explained(tmp_path: Path, busy: int) -> None:
    with pytest.raises(PortTaken, match=rf"port {busy} is taken by .*pid"):
        Ports(tmp_path / "ports.json").choose_public("http_port", "127.0.0.1", busy, is_fixed=True)


def test_a_kept_port_that_somebody_took_is_given_up(tmp_path: Path, busy: int, open_ports: OpenPorts) -> None:
    file = tmp_path / "ports.json"
    file.write_text(f'{{"redis": {busy}}}')

    ports = open_ports(file)

    assert ports.choose_internal("redis") != busy
    assert ports.notes


def test_a_damaged_memory_only_means_new_ports(tmp_path: Path, open_ports: OpenPorts) -> None:
    file = tmp_path / "ports.json"
    file.write_text("{half")
    assert open_ports(file).choose_internal("redis") > 0


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


async def test_two_homes_start_in_the_same_second(home: Path) -> None:
    """Both prefer the same ports for their brokers, and each gets some of its own."""
    stacks = [
        Stack.following(Plan(home=home.parent / name, durable=False, http_port=0), applications=no_programs)
        for name in ("one", "other")
    ]
    try:
        one, other = await asyncio.gather(*(stack.start() for stack in stacks))
        assert not {one.mqtt_port, one.mqtt_ws_port} & {other.mqtt_port, other.mqtt_ws_port}
    finally:
        for stack in stacks:
            await stack.stop()
