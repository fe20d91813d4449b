"""Commands are named in help and advice as the operator called them, also inside a host application."""

import pytest
import typer
from typer.testing import CliRunner

from shardwright.cli import Settings, app, call_commands, named_app
from shardwright.command_names import COMMANDS, as_called


def host_app() -> typer.Typer:
    """An application that has the commands as `host data`."""

    def choose(context: typer.Context) -> None:
        call_commands("host data")
        context.obj = Settings()

    def nothing() -> None: ...

    host = typer.Typer()
    host.callback()(nothing)
    host.add_typer(named_app("host data", "Manage data."), name="data", callback=choose)
    return host


def test_the_names_are_those_of_all_commands() -> None:
    commands = {each.name for each in (*app.registered_commands, *app.registered_groups)}

    assert commands == set(COMMANDS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("run `shardwright move finish 7` first", "run `host data move finish 7` first"),
        ("run shardwright migrate", "run host data migrate"),
        ("shardwright's own SQL, and shardwright itself", "shardwright's own SQL, and shardwright itself"),
    ],
)
def test_commands_are_named_and_the_library_keeps_its_name(text: str, expected: str) -> None:
    assert as_called(text, "host data") == expected


def test_help_and_errors_of_a_host_name_its_own_command() -> None:
    help_text = CliRunner().invoke(host_app(), ["data", "move", "--help"]).output
    error = CliRunner().invoke(host_app(), ["data", "move", "status"], env={"COLUMNS": "300"}).output

    assert "host data move back 7" in help_text
    assert "shardwright move" not in help_text
    assert "`host data local start`" in error


def test_the_command_itself_keeps_its_name_after_a_host_was_called() -> None:
    CliRunner().invoke(host_app(), ["data", "move", "status"])
    error = CliRunner().invoke(app, ["move", "status"], env={"COLUMNS": "300"}).output

    assert "`shardwright local start`" in error
    assert "shardwright move back 7" in CliRunner().invoke(app, ["move", "--help"]).output
