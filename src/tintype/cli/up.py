"""`tintype up`: starts the servers, the web server and the workers, and supervises them."""

import asyncio
import importlib.util
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table

from tintype.base.settings import load_settings
from tintype.stack import (
    Connections,
    DataDirectory,
    LogConsole,
    Phase,
    Stack,
    StackPlan,
    StackStatus,
    StartFailed,
    read_status,
    run_until_stopped,
    stack_plan,
)

_POLL_S = 0.1


def up(
    *,
    servers: Annotated[
        int | None, typer.Option("--servers", min=1, max=64, help="PostgreSQL servers to start.")
    ] = None,
    replicas: Annotated[
        int | None,
        typer.Option("--replicas", min=0, max=8, help="Replicas of each PostgreSQL server, for reads."),
    ] = None,
    web: Annotated[
        int | None,
        typer.Option("--web", min=1, max=256, help="Web processes; default: by the machine's size."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, max=256, help="Worker processes; default: by the machine's size."),
    ] = None,
    port: Annotated[int | None, typer.Option("--port", "-p", min=1, max=65535, help="HTTP port.")] = None,
    home: Annotated[Path | None, typer.Option("--home", help="The data directory.")] = None,
    detach: Annotated[
        bool, typer.Option("--detach", "-d", help="Run in the background; return once all is ready.")
    ] = False,
    finish_moves: Annotated[
        bool,
        typer.Option(
            "--finish-moves",
            help="End moves of shards that could still be undone, for which migrations would have to wait.",
        ),
    ] = False,
    in_background: Annotated[bool, typer.Option(hidden=True)] = False,
) -> None:
    """Start the servers, the web server and the worker, and keep them running.

    Databases are created and migrated as needed, and processes that die are restarted. Ctrl-C stops everything.
    Existing servers named in the settings are used instead of embedded ones.
    """
    wanted = {
        "postgres_servers": servers,
        "postgres_replica_count": replicas,
        "web_workers": web,
        "worker_count": workers,
        "http_port": port,
        "home": str(home.absolute()) if home else None,
    }
    chosen = {name: value for name, value in wanted.items() if value is not None}
    loaded = load_settings(overrides=chosen)
    plan = replace(stack_plan(loaded), finish_moves=finish_moves)
    console = Console()
    # The process in the background was started by one that has checked it.
    notes = [] if in_background else check_sandbox(loaded.settings.media_sandbox_walls)
    if detach:
        options = {
            "servers": servers,
            "replicas": replicas,
            "web": web,
            "workers": workers,
            "port": port,
            "home": plan.home,
        }
        seen = _detach(plan, console, options)
        shown = [*seen.notes, *notes]
        console.print(_panel(plan, loaded.settings.public_url or seen.address, shown, is_detached=True))
        return

    def welcome(ready: Connections) -> None:
        console.print(_panel(plan, loaded.settings.public_url or ready.address, [*stack.notes, *notes]))

    stack = Stack.from_plan(plan, echo=None if in_background else LogConsole(console).show)
    asyncio.run(run_until_stopped(stack, welcome))


def check_sandbox(required: str) -> list[str]:
    """Notes on walls that the media sandbox lacks here; StartFailed if the settings require one of them."""
    command = [sys.executable, "-m", "tintype.cli.sandbox_walls", required]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    missing = checked.stdout.splitlines()
    if checked.returncode:
        raise StartFailed(
            "The sandbox in which photos and videos are decoded is not complete on this machine.\n"
            + "\n".join(f"  {line}" for line in missing or [checked.stderr.strip()])
            + '\nTo start without it, at your own risk: media_sandbox_walls = "none"'
        )
    return [f"media sandbox lacks {line}" for line in missing]


def _detach(plan: StackPlan, console: Console, chosen: Mapping[str, object]) -> StackStatus:
    """Start a supervisor in a new session and wait until everything is ready."""
    home = DataDirectory(plan.home)
    home.create()
    with home.locked():
        pass  # raises here, where the operator sees it, when another supervisor is running
    options = [f"--{name}={value}" for name, value in chosen.items() if value is not None]
    options += ["--finish-moves"] if plan.finish_moves else []
    output_file = home.run / "background.txt"
    with output_file.open("wb") as output, console.status("Starting…"):
        process = subprocess.Popen(
            [sys.executable, "-m", "tintype", "up", "--in-background", *options],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        seen = _wait_ready(home, process)
    if seen is None:
        raise StartFailed(f"It did not start.\n{output_file.read_text(errors='replace').strip()}")
    return seen


def _wait_ready(home: DataDirectory, process: "subprocess.Popen[bytes]") -> StackStatus | None:
    """Return the status once everything is ready; None when the supervisor exited."""
    while process.poll() is None:
        seen = read_status(home)
        if seen.supervisor_pid == process.pid and seen.phase is Phase.READY:
            return seen
        time.sleep(_POLL_S)
    return None


def _panel(plan: StackPlan, address: str, notes: Sequence[str], *, is_detached: bool = False) -> Panel:
    """The summary after a start: address, data directory, how to stop, where to look."""
    me = "./tintype" if "TINTYPE_CHECKOUT" in os.environ else "tintype"
    rows = {
        "Open": f"[bold]{address}[/]",
        "Data": escape(str(plan.home)),
        "Runs": f"{_count(plan.web_count, 'web process')}, {_count(plan.worker_count, 'worker')}",
        "Live": "connections of devices at /mqtt" if plan.realtime else "no live connections",
        "Stop": f"[bold]{me} down[/]" if is_detached else f"Ctrl-C here, or [bold]{me} down[/] elsewhere",
        "Watch": f"[bold]{me} status[/], [bold]{me} logs -f[/]; problems: [bold]{me} doctor[/]",
    }
    if importlib.util.find_spec("tintype.cli.demo") is not None:
        rows["Demo"] = f"[bold]{me} demo[/] fills it with generated people and photos"
    if plan.external:
        rows["Yours"] = f"existing servers in use: {', '.join(plan.external)}"
    table = Table.grid(padding=(0, 2))
    for title, text in rows.items():
        table.add_row(f"[dim]{title}[/]", text)
    for note in notes:
        table.add_row("[yellow]Note[/]", escape(note))
    title = "[bold]Tintype is running[/]"
    return Panel(table, title=title, title_align="left", border_style="green", expand=False)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}{'es' if noun.endswith('s') else 's'}"
