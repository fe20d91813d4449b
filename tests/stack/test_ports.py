"""Ports are reused across starts, busy ones avoided or reported, and two stacks never choose the same."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.stack.conftest import fake_program
from tintype.stack import AlreadyRunning, DataDirectory, PortTaken, Stack, StackPlan, read_status
from tintype.stack.applications import no_programs
from tintype.stack.port_claims import PortClaims
from tintype.stack.ports import Ports, find_obstacle


@pytest.fixture
def busy() -> Iterator[int]:
    """A port that this process listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


@pytest.fixture
def open_ports() -> Iterator[Callable[[Path], Ports]]:
    """Open the ports of a data directory; claims are released after the test."""
    opened: list[Ports] = []

    def open_(file: Path) -> Ports:
        opened.append(Ports(file))
        return opened[-1]

    yield open_
    for ports in opened:
        ports.release()


OpenPorts = Callable[[Path], Ports]


def test_a_port_is_reused_across_starts(tmp_path: Path, open_ports: OpenPorts) -> None:
    first = open_ports(tmp_path / "ports.json")
    chosen = first.choose_internal("redis")
    first.release()

    assert open_ports(tmp_path / "ports.json").choose_internal("redis") == chosen


def test_two_stacks_that_start_in_the_same_second_choose_different_ports(
    tmp_path: Path, open_ports: OpenPorts
) -> None:
    one, other = open_ports(tmp_path / "one.json"), open_ports(tmp_path / "other.json")
    any_ports = open_ports(tmp_path / "any.json")
    preferred = any_ports.choose_internal("any")
    any_ports.release()

    first = one.choose_public("mqtt_port", "127.0.0.1", preferred, is_fixed=False)
    second = other.choose_public("mqtt_port", "127.0.0.1", preferred, is_fixed=False)

    assert first == preferred
    assert second != first
    assert "taken by another Tintype that is starting" in other.notes[0]
    with pytest.raises(PortTaken, match="another Tintype"):
        other.choose_public("http_port", "127.0.0.1", preferred, is_fixed=True)


@pytest.mark.slow
def test_a_process_that_dies_releases_its_port_claims(tmp_path: Path, open_ports: OpenPorts) -> None:
    ports = open_ports(tmp_path / "ports.json")
    port = ports.choose_internal("any")
    ports.release()
    script = (
        "from tintype.stack.port_claims import PortClaims; claims = PortClaims(); "
        f"print(claims.claim({port}), flush=True); input()"
    )
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "True\n"
        assert not PortClaims().claim(port)
        holder.kill()
        holder.wait()
        claims = PortClaims()
        assert claims.claim(port)
        claims.release_all()


def test_names_never_share_a_port(tmp_path: Path, open_ports: OpenPorts) -> None:
    ports = open_ports(tmp_path / "ports.json")
    chosen = [ports.choose_internal(f"server-{number}") for number in range(50)]
    assert len(set(chosen)) == 50


def test_a_busy_preferred_port_is_avoided_and_the_note_names_the_program_that_has_it(
    tmp_path: Path, busy: int, open_ports: OpenPorts
) -> None:
    ports = open_ports(tmp_path / "ports.json")

    chosen = ports.choose_public("http_port", "127.0.0.1", busy, is_fixed=False)

    assert chosen != busy
    assert find_obstacle("127.0.0.1", chosen) is None
    assert f"port {busy} is taken by" in ports.notes[0]
    assert "pid" in ports.notes[0]
    ports.release()
    again = open_ports(tmp_path / "ports.json").choose_public("http_port", "127.0.0.1", busy, is_fixed=False)
    assert again == chosen


def test_a_busy_fixed_port_is_an_error_that_names_the_program_that_has_it(tmp_path: Path, busy: int) -> None:
    with pytest.raises(PortTaken, match=rf"port {busy} is taken by .*pid"):
        Ports(tmp_path / "ports.json").choose_public("http_port", "127.0.0.1", busy, is_fixed=True)


def test_a_saved_port_that_another_program_took_is_replaced(
    tmp_path: Path, busy: int, open_ports: OpenPorts
) -> None:
    file = tmp_path / "ports.json"
    file.write_text(f'{{"redis": {busy}}}')

    ports = open_ports(file)

    assert ports.choose_internal("redis") != busy
    assert ports.notes


def test_a_damaged_ports_file_only_means_new_ports(tmp_path: Path, open_ports: OpenPorts) -> None:
    file = tmp_path / "ports.json"
    file.write_text("{half")
    assert open_ports(file).choose_internal("redis") > 0


@pytest.mark.slow
async def test_a_busy_fixed_port_stops_the_start_and_leaves_nothing_running(
    plan: StackPlan, busy: int
) -> None:
    wrong = replace(plan, http_port=busy, fixed_ports=frozenset({"http_port"}))
    with pytest.raises(PortTaken):
        await Stack.from_plan(wrong, applications=lambda _: [fake_program("worker")]).start()

    async with Stack.from_plan(plan, applications=lambda _: [fake_program("worker")]) as stack:
        assert stack.connections.http_port != busy


@pytest.mark.slow
async def test_two_data_directories_on_one_machine_each_have_a_port_for_metrics(
    plan: StackPlan, busy: int
) -> None:
    plans = [replace(plan, home=plan.home.parent / name, metrics_port=busy) for name in ("one", "other")]
    stacks = [Stack.from_plan(each, applications=lambda _: [fake_program("worker")]) for each in plans]
    try:
        found = [(await stack.start()).metrics_port for stack in stacks]
        told = [DataDirectory(each.home) for each in plans]
        assert len({busy, *found}) == 3
        assert [read_status(each).metrics_port for each in told] == found
        for stack, port in zip(stacks, found, strict=True):
            assert f"metrics_port: port {busy} is taken by" in stack.notes[0]
            assert f"using {port}" in stack.notes[0]
            assert stack.connections.environment()["TINTYPE_METRICS_PORT"] == str(port)
    finally:
        for stack in stacks:
            await stack.stop()


async def test_a_busy_port_that_was_set_for_metrics_stops_the_start(plan: StackPlan, busy: int) -> None:
    wrong = replace(plan, metrics_port=busy, fixed_ports=frozenset({"metrics_port"}))

    with pytest.raises(PortTaken, match=rf"metrics_port: port {busy} is taken by .*choose another port"):
        await Stack.from_plan(wrong, applications=lambda _: [fake_program("worker")]).start()


@pytest.mark.slow
async def test_without_a_port_for_metrics_none_is_chosen(plan: StackPlan) -> None:
    async with Stack.from_plan(plan, applications=lambda _: [fake_program("worker")]) as stack:
        assert stack.connections.metrics_port == 0


@pytest.mark.slow
async def test_a_second_up_in_the_same_data_directory_is_refused(plan: StackPlan) -> None:
    async with Stack.from_plan(plan, applications=lambda _: [fake_program("worker")]) as stack:
        with pytest.raises(AlreadyRunning, match="already running in"):
            await Stack.from_plan(plan, applications=lambda _: [fake_program("worker")]).start()

        assert [each.phase for each in stack.processes] == ["ready"]


@pytest.mark.slow
async def test_two_stacks_start_in_the_same_second(home: Path) -> None:
    """Both prefer the same ports for NATS, and each gets its own."""
    stacks = [
        Stack.from_plan(
            StackPlan(
                home=home.parent / name,
                durable=False,
                http_port=0,
                realtime=True,
                mqtt_port=1883,
                mqtt_ws_port=8083,
            ),
            applications=no_programs,
        )
        for name in ("one", "other")
    ]
    try:
        one, other = await asyncio.gather(*(stack.start() for stack in stacks))
        assert not {one.mqtt_port, one.mqtt_ws_port} & {other.mqtt_port, other.mqtt_ws_port}
    finally:
        for stack in stacks:
            await stack.stop()
