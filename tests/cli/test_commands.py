import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tintype import __version__
from tintype.cli.entry import COMMANDS, build_app

run = CliRunner()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str) -> None:
    result = run.invoke(build_app([name]), [name, "--help"])

    assert result.exit_code == 0
    assert "Usage:" in result.output
    assert len(result.output) > 200


def test_help_lists_every_command() -> None:
    output = run.invoke(build_app(list(COMMANDS)), ["--help"]).output

    assert [name for name in COMMANDS if name not in output] == []


def test_version_prints_the_version() -> None:
    assert run.invoke(build_app(["version"]), ["version"]).output.strip() == __version__


def test_config_shows_the_origin_of_a_value_and_masks_secrets(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TINTYPE_CONFIG", str(tmp_path / "tintype.toml"))
    monkeypatch.setenv("TINTYPE_SECRET_KEY", "hush")

    shown = json.loads(run.invoke(build_app(["config"]), ["config", "--json"]).output)

    assert shown["secret_key"]["origin"] == "environment"
    assert "hush" not in json.dumps(shown)


@pytest.mark.parametrize("command", [["jobs"], ["dead", "list"], ["web"], ["worker"], ["migrate"]])
def test_a_command_that_needs_servers_says_how_to_start_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: list[str]
) -> None:
    monkeypatch.setenv("TINTYPE_CONFIG", str(tmp_path / "tintype.toml"))

    result = run.invoke(build_app([command[0]]), command)

    assert result.exit_code == 1
    assert "tintype up" in str(result.exception)


@pytest.mark.slow
def test_the_api_document_is_printed_without_a_server() -> None:
    document = json.loads(run.invoke(build_app(["openapi"]), ["openapi"]).output)

    assert document["openapi"].startswith("3.1")
