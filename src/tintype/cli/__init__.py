"""The `tintype` command: one file per command, help that teaches, `--json` where a machine may read.

Exit codes: 0 done, 1 it did not work or something is wrong, 2 the command line was misunderstood.
"""

import sys

import typer
from rich.console import Console
from rich.markup import escape

from shardwright.cli import app as shards_app
from shardwright.errors import ShardwrightError
from tintype import __version__
from tintype.base.errors import TintypeError
from tintype.cli.config import config
from tintype.cli.dead import dead_app
from tintype.cli.doctor import doctor
from tintype.cli.down import down
from tintype.cli.jobs import jobs
from tintype.cli.logs import logs
from tintype.cli.migrate import migrate
from tintype.cli.openapi import openapi
from tintype.cli.shards import lend_directory
from tintype.cli.status import status
from tintype.cli.up import up
from tintype.cli.web import web
from tintype.cli.worker import worker

RUNNING, LOOKING, PARTS = "Run it", "Look after it", "Its parts, each by itself"

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
for command, panel in (
    (up, RUNNING),
    (down, RUNNING),
    (status, RUNNING),
    (logs, RUNNING),
    (doctor, LOOKING),
    (config, LOOKING),
    (jobs, LOOKING),
    (web, PARTS),
    (worker, PARTS),
    (migrate, PARTS),
    (openapi, PARTS),
):
    app.command(rich_help_panel=panel)(command)
app.add_typer(dead_app, name="dead", rich_help_panel=LOOKING)
app.add_typer(shards_app, name="shards", rich_help_panel=LOOKING, callback=lend_directory)


@app.command(rich_help_panel=LOOKING)
def version() -> None:
    """Print the version."""
    print(__version__)


def main() -> None:
    """Run the command line; a refusal is one line that says what to do, never a traceback."""
    try:
        app(prog_name="tintype")
    except (TintypeError, ShardwrightError) as error:
        Console(stderr=True).print(f"[bold red]tintype:[/] {escape(str(error))}", highlight=False)
        sys.exit(1)


__all__ = ["app", "main"]
