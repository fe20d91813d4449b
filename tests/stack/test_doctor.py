"""`tintype doctor` finds problems and says how to fix them."""

import os
import shutil
import socket
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.stack.conftest import execute
from tintype.stack import DataDirectory, StackPlan
from tintype.stack.doctor_checks import Finding, Verdict, run_checks
from tintype.stack.existing_servers import check_existing_servers


class Usage(NamedTuple):
    total: int
    used: int
    free: int


@pytest.fixture
def healthy(home: Path) -> StackPlan:
    DataDirectory(home).create()
    return StackPlan(home=home, http_port=_free(), realtime=True, mqtt_port=_free(), mqtt_ws_port=_free())


@pytest.fixture
def busy() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_a_healthy_machine_has_nothing_wrong(healthy: StackPlan) -> None:
    findings = list(run_checks(healthy))
    assert [each for each in findings if each.verdict is Verdict.WRONG] == []
    subjects = {each.subject for each in findings}
    assert subjects >= {
        "python",
        "PostgreSQL",
        "Valkey",
        "NATS",
        "http_port",
        "disk",
        "memory",
        "capacity",
        "clock",
        "permissions",
    }


def test_doctor_says_what_the_machine_carries_and_when_too_much_was_chosen(healthy: StackPlan) -> None:
    fits = _find(healthy, "capacity")
    assert fits.verdict is Verdict.OK
    assert "1 web and 1 worker processes" in fits.detail
    assert "people at once" in fits.detail

    crowded = _find(replace(healthy, web_count=256, worker_count=256), "capacity")
    assert crowded.verdict is Verdict.WARNING
    assert "web_workers = " in crowded.fix

    replicated = _find(replace(healthy, replica_count=2), "capacity")
    assert "with 2 replicas" in replicated.detail


def test_a_busy_port_is_a_warning_unless_it_was_chosen(healthy: StackPlan, busy: int) -> None:
    for name in ("http_port", "metrics_port"):
        avoided = _find(replace(healthy, **{name: busy}), name)
        assert avoided.verdict is Verdict.WARNING

    chosen = _find(replace(healthy, http_port=busy, fixed_ports=frozenset({"http_port"})), "http_port")
    assert chosen.verdict is Verdict.WRONG
    assert f"{busy} is taken by" in chosen.detail
    assert "tintype.toml" in chosen.fix


def test_secrets_open_to_others_are_wrong(healthy: StackPlan) -> None:
    DataDirectory(healthy.home).secrets.chmod(0o755)
    found = _find(healthy, "permissions")
    assert found.verdict is Verdict.WRONG
    assert found.fix == f"chmod 700 {healthy.home / 'secrets'}"


def test_a_clock_that_was_set_back_is_wrong(healthy: StackPlan) -> None:
    log = DataDirectory(healthy.home).logs / "web.log"
    log.touch()
    os.utime(log, (time.time() + 3600, time.time() + 3600))
    assert _find(healthy, "clock").verdict is Verdict.WRONG


def test_a_disk_that_is_nearly_full_is_wrong(healthy: StackPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    def nearly_full(_: object) -> Usage:
        return Usage(10**12, 10**12, 10**6)

    monkeypatch.setattr(shutil, "disk_usage", nearly_full)
    assert _find(healthy, "disk").verdict is Verdict.WRONG


@pytest.fixture
async def plain_role(plan: StackPlan) -> AsyncIterator[str]:
    """The address of the existing database for a role without any rights."""
    await execute(plan.postgres[0], "CREATE ROLE plain LOGIN PASSWORD 'plain'")
    yield f"postgresql://plain:plain@{plan.postgres[0].rpartition('@')[2]}"
    await execute(plan.postgres[0], "DROP ROLE plain")


@pytest.mark.slow
async def test_existing_servers_are_checked_for_version_and_clock(plan: StackPlan, plain_role: str) -> None:
    findings = await check_existing_servers(replace(plan, postgres=(plain_role,)))
    assert [each.verdict for each in findings] == [Verdict.OK] * 3
    assert "clocks agree" in findings[0].detail


async def test_an_application_that_signs_in_as_a_superuser_is_a_warning(plan: StackPlan) -> None:
    (postgres, *_) = await check_existing_servers(plan)
    assert postgres.verdict is Verdict.WARNING
    assert "tintype roles" in postgres.fix


async def test_an_existing_server_that_is_down_is_wrong_and_its_password_stays_hidden(
    plan: StackPlan,
) -> None:
    (*_, redis, _nats) = await check_existing_servers(replace(plan, redis="redis://:hush@127.0.0.1:9/0"))
    assert redis.verdict is Verdict.WRONG
    assert "hush" not in f"{redis.subject}{redis.detail}{redis.fix}"


def _find(plan: StackPlan, subject: str) -> Finding:
    return next(each for each in run_checks(plan) if each.subject == subject)


def _free() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
