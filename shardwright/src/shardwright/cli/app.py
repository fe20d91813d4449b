"""The typer app: registers the commands, one file each."""

import copy

import typer

from shardwright.cli import (
    adopt,
    doctor,
    ids,
    init,
    install,
    lint,
    local,
    migrate,
    move,
    rebalance,
    replicas,
    roles,
    servers,
    sql,
    status,
    tickets,
    upgrade,
    widen,
)
from shardwright.cli.help_text import format_help
from shardwright.cli.output import print_table
from shardwright.cli.shared_options import with_options
from shardwright.cli.superuser import Access
from shardwright.cli.version import versions
from shardwright.command_names import OWN, as_called, call_commands

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
for _command in (rebalance.rebalance, rebalance.drain, rebalance.split):
    app.command(_command.__name__, help=format_help(_command))(with_options(rebalance.PlanRequest)(_command))
app.command("add-server", help=format_help(servers.add_server))(with_options(Access)(servers.add_server))
app.command("remove-server", help=format_help(servers.remove_server))(
    with_options(Access)(servers.remove_server)
)
app.command("set-server", help=format_help(servers.set_server))(servers.set_server)
app.command("add-replica", help=format_help(replicas.add_replica))(replicas.add_replica)
app.command("remove-replica", help=format_help(replicas.remove_replica))(replicas.remove_replica)
app.add_typer(move.app, name="move")
app.add_typer(widen.app, name="widen")
app.add_typer(adopt.app, name="adopt")
app.add_typer(ids.app, name="ids")
app.add_typer(tickets.app, name="tickets")
app.add_typer(local.app, name="local")


@app.command("version")
def version() -> None:
    """Print the versions of shardwright and of its dependencies."""
    print_table(["component", "version"], versions().items())


@app.callback()
def _call_commands() -> None:
    call_commands(OWN)


def named_app(name: str, about: str) -> typer.Typer:
    """The same commands for a host application: its users call them so, and read that in help, errors and advice.

    The host's callback has to call `call_commands` with the same name.
    """
    renamed = _rename(copy.deepcopy(app), name)
    renamed.info.help = format_help(about)
    return renamed


def _rename(renamed: typer.Typer, name: str) -> typer.Typer:
    for each in (renamed.info, *renamed.registered_commands):
        if isinstance(each.help, str):
            each.help = as_called(each.help, name)
    for group in renamed.registered_groups:
        if group.typer_instance is not None:
            _rename(group.typer_instance, name)
    return renamed


def main() -> None:
    """The console entry point."""
    app()
