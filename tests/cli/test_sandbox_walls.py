"""The command line says which walls of the media sandbox are missing; `up` does not start without a required one."""

import json
import subprocess
from typing import Any

import pytest
from typer.testing import CliRunner

from tintype.base.settings import Settings
from tintype.cli import sandbox_walls, up
from tintype.cli.entry import build_app
from tintype.cli.sandbox_walls import find_wall_problems
from tintype.media import Wall
from tintype.stack import StartFailed, Verdict

STANDING = Wall(name="limits", is_up=True, is_essential=True)
ESSENTIAL = Wall(
    name="system calls", is_up=False, is_essential=True, why_not="no seccomp", fix="Use another kernel."
)
FURTHER = Wall(name="network", is_up=False, is_essential=False, why_not="forbidden", fix="Allow namespaces.")


def find(monkeypatch: pytest.MonkeyPatch, *walls: Wall) -> None:
    monkeypatch.setattr(sandbox_walls, "check_walls", lambda: list(walls))


def verdicts(settings: Settings) -> dict[str, Verdict]:
    return {finding.subject: finding.verdict for finding in find_wall_problems(settings)}


def test_doctor_shows_every_wall_and_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    find(monkeypatch, STANDING, ESSENTIAL, FURTHER)

    findings = find_wall_problems(Settings())

    assert [(each.subject, each.verdict, each.fix) for each in findings] == [
        ("sandbox: limits", Verdict.OK, ""),
        ("sandbox: system calls", Verdict.WRONG, "Use another kernel."),
        ("sandbox: network", Verdict.WARNING, "Allow namespaces."),
    ]


def test_doctor_calls_wrong_what_the_settings_require_and_what_is_essential(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    find(monkeypatch, ESSENTIAL, FURTHER)

    assert verdicts(Settings(media_sandbox_walls="all"))["sandbox: network"] is Verdict.WRONG
    assert verdicts(Settings(media_sandbox_walls="none"))["sandbox: system calls"] is Verdict.WRONG


@pytest.mark.slow
def test_the_walls_of_this_machine_are_listed() -> None:
    listed = CliRunner().invoke(build_app(["media"]), ["media", "walls", "--json"])

    walls = json.loads(listed.output)
    assert {"name", "is_up", "is_essential", "why_not", "fix"} == set(walls[0])
    assert listed.exit_code == 0
    assert "system calls" in CliRunner().invoke(build_app(["media"]), ["media", "walls"]).output


@pytest.mark.parametrize(("returncode", "is_refused"), [(0, False), (1, True)])
def test_up_notes_a_missing_wall_or_refuses(
    monkeypatch: pytest.MonkeyPatch, returncode: int, is_refused: bool
) -> None:
    def run(command: list[str], **_: Any) -> "subprocess.CompletedProcess[str]":
        assert command[-2:] == ["tintype.cli.sandbox_walls", "essential"]
        return subprocess.CompletedProcess(command, returncode, "network: forbidden. Allow namespaces.\n", "")

    monkeypatch.setattr(up.subprocess, "run", run)

    if is_refused:
        with pytest.raises(StartFailed, match=r"network: forbidden\. Allow namespaces\."):
            up.check_sandbox("essential")
    else:
        assert up.check_sandbox("essential") == ["media sandbox lacks network: forbidden. Allow namespaces."]


def test_the_process_that_up_asks_exits_as_the_setting_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    find(monkeypatch, STANDING, FURTHER)

    codes: dict[str, object] = {}
    for required in ("all", "essential", "none"):
        monkeypatch.setattr("sys.argv", ["walls", required])
        with pytest.raises(SystemExit) as ended:
            sandbox_walls.main()
        codes[required] = ended.value.code

    assert codes == {"all": 1, "essential": 0, "none": 0}
    assert capsys.readouterr().out.splitlines() == ["network: forbidden. Allow namespaces."] * 3
