"""Entry point: imports the chosen command and runs it.

Importing every command costs seconds of CPU, most of it in libraries the chosen one does not need; so only the
chosen one is imported, and all of them only for --help.
"""

import importlib
import sys
from dataclasses import dataclass
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape

from tintype.base.errors import TintypeError

RUN, MANAGE, PROCESSES = "Run", "Manage", "Single processes"


@dataclass(frozen=True)
class CommandEntry:
    """Module of a command; a group of commands has a typer app of its own and may have a callback."""

    module: str
    panel: str
    group: str = ""
    callback: str = ""


COMMANDS = {
    "up": CommandEntry("tintype.cli.up", RUN),
    "down": CommandEntry("tintype.cli.down", RUN),
    "status": CommandEntry("tintype.cli.status", RUN),
    "logs": CommandEntry("tintype.cli.logs", RUN),
    "demo": CommandEntry("tintype.cli.demo", RUN),
    "simulate": CommandEntry("tintype.cli.simulate", MANAGE),
    "doctor": CommandEntry("tintype.cli.doctor", MANAGE),
    "cluster": CommandEntry("tintype.cli.cluster", MANAGE, group="cluster_app"),
    "plan": CommandEntry("tintype.cli.plan", MANAGE),
    "config": CommandEntry("tintype.cli.config", MANAGE),
    "accounts": CommandEntry("tintype.cli.accounts", MANAGE, group="accounts_app"),
    "jobs": CommandEntry("tintype.cli.jobs", MANAGE),
    "posts": CommandEntry("tintype.cli.posts", MANAGE, group="posts_app"),
    "feed": CommandEntry("tintype.cli.feed", MANAGE, group="feed_app"),
    "dead": CommandEntry("tintype.cli.dead", MANAGE, group="dead_app"),
    "import": CommandEntry("tintype.cli.imports", MANAGE, group="imports_app"),
    "media": CommandEntry("tintype.cli.media", MANAGE, group="media_app"),
    "search": CommandEntry("tintype.cli.search", MANAGE, group="search_app"),
    "shards": CommandEntry("tintype.cli.shards", MANAGE, group="shards_app", callback="pass_settings"),
    "backup": CommandEntry("tintype.cli.backup", MANAGE),
    "backups": CommandEntry("tintype.cli.backups", MANAGE),
    "restore": CommandEntry("tintype.cli.restore", MANAGE),
    "roles": CommandEntry("tintype.cli.roles", MANAGE),
    "realtime-key": CommandEntry("tintype.cli.realtime_key", MANAGE),
    "version": CommandEntry("tintype.cli.version", MANAGE),
    "web": CommandEntry("tintype.cli.web", PROCESSES),
    "worker": CommandEntry("tintype.cli.worker", PROCESSES),
    "migrate": CommandEntry("tintype.cli.migrate", PROCESSES),
    "openapi": CommandEntry("tintype.cli.openapi", PROCESSES),
}


def build_app(names: list[str]) -> typer.Typer:
    """Return a typer app with these commands."""
    app = typer.Typer(
        name="tintype",
        help="Photo sharing that anyone can host, on sharded PostgreSQL.\n\n"
        "[bold]tintype up[/] starts everything and serves the app; Ctrl-C stops it.",
        epilog="In a checkout, ./tintype also has: test, check, bench, lock (each with --help).",
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        add_completion=False,
    )
    app.callback()(_no_callback)  # with a callback, a single command keeps its name
    for name in names:
        _mount(app, name, COMMANDS[name])
    return app


def main() -> None:
    """Run the command line; an expected error is printed as one line that says what to do, without a traceback."""
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    app = build_app([wanted] if wanted in COMMANDS else list(COMMANDS))
    try:
        app(prog_name="tintype")
    except Exception as error:
        from shardwright.command_names import as_called  # noqa: PLC0415 - 10 MB that not every process needs
        from shardwright.errors import ShardwrightError  # noqa: PLC0415 - likewise

        if not isinstance(error, TintypeError | ShardwrightError):
            raise
        Console(stderr=True).print(
            f"[bold red]tintype:[/] {escape(as_called(str(error), 'tintype shards'))}", highlight=False
        )
        sys.exit(1)


def _mount(app: typer.Typer, name: str, entry: CommandEntry) -> None:
    module = importlib.import_module(entry.module)
    if entry.group:
        callback: Any = getattr(module, entry.callback) if entry.callback else None
        extra = {"callback": callback} if callback else {}
        app.add_typer(getattr(module, entry.group), name=name, rich_help_panel=entry.panel, **extra)
    else:
        app.command(name, rich_help_panel=entry.panel)(getattr(module, name.replace("-", "_")))


def _no_callback() -> None:
    """Does nothing: the app's own help is shown."""
