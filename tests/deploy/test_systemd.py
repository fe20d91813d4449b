"""The systemd units are valid, and start commands that exist."""

import shutil
import sys
from pathlib import Path

import pytest

from tests.deploy.checkout import DEPLOY, find_program, run_check
from tintype.base.settings import PREFIX, Settings
from tintype.cli.entry import COMMANDS

UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
TIMERS = sorted((DEPLOY / "systemd").glob("*.timer"))
PROGRAM = "/opt/tintype/.venv/bin/tintype"
KNOWN = {
    "Unit": {"Description", "Wants", "After"},
    "Service": {
        *("Type", "User", "Group", "Environment", "EnvironmentFile", "ExecStart", "Restart", "RestartSec"),
        *(
            "TimeoutStopSec",
            "TimeoutStartSec",
            "KillMode",
            "LimitNOFILE",
            "StateDirectory",
            "StateDirectoryMode",
        ),
        *(
            "NoNewPrivileges",
            "CapabilityBoundingSet",
            "ProtectSystem",
            "ProtectHome",
            "ProtectClock",
            "UMask",
        ),
        *("ProtectControlGroups", "ProtectHostname", "ProtectKernelLogs", "ProtectKernelModules"),
        *("ProtectKernelTunables", "PrivateDevices", "PrivateTmp", "LockPersonality", "RestrictRealtime"),
        *("RestrictSUIDSGID", "Nice", "IOSchedulingClass"),
    },
    "Timer": {"OnCalendar", "RandomizedDelaySec", "Persistent"},
    "Install": {"WantedBy"},
}


def read_unit(unit: Path) -> dict[str, list[tuple[str, str]]]:
    """The directives of each section; one may stand there more than once."""
    found: dict[str, list[tuple[str, str]]] = {}
    section = ""
    for line in unit.read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
            found[section] = []
        elif line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found[section].append((name, value))
    return found


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_has_known_directives_and_starts_a_command_that_exists(unit: Path) -> None:
    sections = read_unit(unit)

    for section, directives in sections.items():
        assert {name for name, _ in directives} <= KNOWN[section], section
    service = dict(sections["Service"])
    program, command = service["ExecStart"].split()
    assert (program, service["User"]) == (PROGRAM, "tintype")
    assert command in COMMANDS
    names = [value.partition("=")[0] for name, value in sections["Service"] if name == "Environment"]
    assert {name.removeprefix(PREFIX).lower() for name in names} <= {*Settings.__struct_fields__, "config"}


@pytest.mark.parametrize("timer", TIMERS, ids=lambda timer: timer.name)
def test_a_timer_has_known_directives_and_starts_a_unit_that_exists(timer: Path) -> None:
    for section, directives in read_unit(timer).items():
        assert {name for name, _ in directives} <= KNOWN[section], section
    assert timer.with_suffix(".service") in UNITS


def test_the_units_are_accepted_by_systemd_where_there_is_one(tmp_path: Path) -> None:
    for unit in [*UNITS, *TIMERS]:
        text = unit.read_text().replace(PROGRAM, shutil.which("true") or sys.executable)
        (tmp_path / unit.name.replace("@", "@1")).write_text(text)
    units = sorted(str(each) for each in tmp_path.iterdir())
    checker = find_program("systemd-analyze")
    said = run_check(checker, "verify", "--man=no", *units) if checker else ""

    assert len(units) == len(UNITS) + len(TIMERS) == 5
    assert not [line for line in said.splitlines() if "tintype-" in line]
