"""The command line's outline: one file for each command."""

import typer

from shardwright.cli import doctor, ids, init, lint, local, migrate, sql, status, tickets
from shardwright.cli.printing import print_table
from shardwright.cli.teaching import teach
from shardwright.cli.version import versions

_HELP = """Thousands of logical shards on a few PostgreSQL servers.

Without a server of your own, begin with private ones:

    eval "$(shardwright local start ./demo)"
    shardwright init -s a="$SHARDWRIGHT_SERVER_A" -s b="$SHARDWRIGHT_SERVER_B" --shards 16

Exit codes: 0 done, 1 failed or something was found, 2 called wrongly.
"""

# Tracebacks are for faults of the program, and then they are Python's own, whole.
app = typer.Typer(
    name="shardwright",
    help=teach(_HELP),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("init", help=teach(init.init))(init.init)
app.command("status", help=teach(status.status))(status.status)
app.command("migrate", help=teach(migrate.migrate))(migrate.migrate)
app.command("schema", help=teach(migrate.schema))(migrate.schema)
app.command("sql", help=teach(sql.sql))(sql.sql)
app.command("lint", help=teach(lint.lint))(lint.lint)
app.command("doctor", help=teach(doctor.doctor))(doctor.doctor)
app.add_typer(ids.app, name="ids")
app.add_typer(tickets.app, name="tickets")
app.add_typer(local.app, name="local")


@app.command("version")
def version() -> None:
    """Print the versions of shardwright and of what it stands on."""
    print_table(["what", "version"], versions().items())


def main() -> None:
    """The console entry point."""
    app()
