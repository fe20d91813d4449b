"""Finds the command that was asked for and runs it.

Importing every command costs seconds of CPU, most of it in libraries the chosen one does not need; so only the
chosen one is imported, and all of them only when somebody asks for help.
"""

import importlib
import sys
from dataclasses import dataclass
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape

from shardwright.errors import ShardwrightError
from tintype.base.errors import TintypeError

RUNNING, LOOKING, PARTS = "Run it", "Look after it", "Its parts, each by itself"


@dataclass(frozen=True)
class Entry:
    """Where a command lives; a group of commands has an app of its own and may have a callback."""

    module: str
    panel: str
    group: str = ""
    callback: str = ""


COMMANDS = {
    "up": Entry("tintype.cli.up", RUNNING),
    "down": Entry("tintype.cli.down", RUNNING),
    "status": Entry("tintype.cli.status", RUNNING),
    "logs": Entry("tintype.cli.logs", RUNNING),
    "demo": Entry("tintype.cli.demo", RUNNING),
    "simulate": Entry("tintype.cli.simulate", LOOKING),
    "doctor": Entry("tintype.cli.doctor", LOOKING),
    "config": Entry("tintype.cli.config", LOOKING),
    "accounts": Entry("tintype.cli.accounts", LOOKING, group="accounts_app"),
    "jobs": Entry("tintype.cli.jobs", LOOKING),
    "posts": Entry("tintype.cli.posts", LOOKING, group="posts_app"),
    "feed": Entry("tintype.cli.feed", LOOKING, group="feed_app"),
    "dead": Entry("tintype.cli.dead", LOOKING, group="dead_app"),
    "media": Entry("tintype.cli.media", LOOKING, group="media_app"),
    "search": Entry("tintype.cli.search", LOOKING, group="search_app"),
    "shards": Entry("tintype.cli.shards", LOOKING, group="shards_app", callback="lend_settings"),
    "version": Entry("tintype.cli.version", LOOKING),
    "web": Entry("tintype.cli.web", PARTS),
    "worker": Entry("tintype.cli.worker", PARTS),
    "migrate": Entry("tintype.cli.migrate", PARTS),
    "openapi": Entry("tintype.cli.openapi", PARTS),
}


def build_app(names: list[str]) -> typer.Typer:
    """A command line with these commands."""
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
    app.callback()(_nothing)  # with a callback, a single command keeps its name
    for name in names:
        _mount(app, name, COMMANDS[name])
    return app


def main() -> None:
    """Run the command line; a refusal is one line that says what to do, never a traceback."""
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    app = build_app([wanted] if wanted in COMMANDS else list(COMMANDS))
    try:
        app(prog_name="tintype")
    except (TintypeError, ShardwrightError) as error:
        Console(stderr=True).print(f"[bold red]tintype:[/] {escape(str(error))}", highlight=False)
        sys.exit(1)


def _mount(app: typer.Typer, name: str, entry: Entry) -> None:
    module = importlib.import_module(entry.module)
    if entry.group:
        callback: Any = getattr(module, entry.callback) if entry.callback else None
        extra = {"callback": callback} if callback else {}
        app.add_typer(getattr(module, entry.group), name=name, rich_help_panel=entry.panel, **extra)
    else:
        app.command(name, rich_help_panel=entry.panel)(getattr(module, name))


def _nothing() -> None:
    """Nothing of its own: the app's help says what there is."""
