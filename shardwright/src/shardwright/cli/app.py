"""The typer app: registers the commands, one file each."""

import typer

from shardwright.cli import (
    doctor,
    ids,
    init,
    install,
    lint,
    local,
    migrate,
    move,
    roles,
    sql,
    status,
    tickets,
    upgrade,
)
from shardwright.cli.help_text import format_help
from shardwright.cli.output import print_table
from shardwright.cli.version import versions

_HELP = """Thousands of logical shards on a few PostgreSQL servers.

Without a PostgreSQL server of your own, start with local ones:

    eval "$(shardwright local start ./demo)"
    shardwright init -s a="$SHARDWRIGHT_SERVER_A" -s b="$SHARDWRIGHT_SERVER_B" --shards 16

Exit codes: 0 success, 1 failure or findings, 2 wrong arguments.
"""

# Tracebacks are for bugs of the program, and then they are Python's own, unabridged.
app = typer.Typer(
    name="shardwright",
    help=format_help(_HELP),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("init", help=format_help(init.init))(init.init)
app.command("status", help=format_help(status.status))(status.status)
app.command("migrate", help=format_help(migrate.migrate))(migrate.migrate)
app.command("upgrade", help=format_help(upgrade.upgrade))(upgrade.upgrade)
app.command("install", help=format_help(install.install))(install.install)
app.command("roles", help=format_help(roles.roles))(roles.roles)
app.command("schema", help=format_help(migrate.schema))(migrate.schema)
app.command("sql", help=format_help(sql.sql))(sql.sql)
app.command("lint", help=format_help(lint.lint))(lint.lint)
app.command("doctor", help=format_help(doctor.doctor))(doctor.doctor)
app.add_typer(move.app, name="move")
app.add_typer(ids.app, name="ids")
app.add_typer(tickets.app, name="tickets")
app.add_typer(local.app, name="local")


@app.command("version")
def version() -> None:
    """Print the versions of shardwright and of its dependencies."""
    print_table(["component", "version"], versions().items())


def main() -> None:
    """The console entry point."""
    app()
