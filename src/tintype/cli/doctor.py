"""`tintype doctor`: finds problems with this machine or the settings, and says how to fix them."""

import asyncio
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console

from tintype.base.settings import load_settings
from tintype.cli.findings_table import show_findings
from tintype.cli.running_moves import find_moves
from tintype.cli.running_replicas import find_replicas
from tintype.cli.sandbox_walls import find_wall_problems
from tintype.stack import (
    Verdict,
    check_existing_servers,
    check_moves,
    check_replicas,
    run_checks,
    stack_plan,
)


def doctor(
    *,
    home: Annotated[Path | None, typer.Option("--home", help="The data directory.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Check ports, disk, memory, clock, permissions, the media sandbox. Exit code 1 when a problem is found."""
    overrides = {"home": str(home.absolute())} if home else {}
    loaded = load_settings(overrides=overrides)
    plan = stack_plan(loaded)
    findings = [
        *run_checks(plan),
        *asyncio.run(check_existing_servers(plan)),
        *check_replicas(asyncio.run(find_replicas(loaded))),
        *check_moves(
            asyncio.run(find_moves(loaded)), is_tended=not plan.postgres or any(plan.postgres_admin)
        ),
        *find_wall_problems(loaded.settings),
    ]
    if as_json:
        print(msgspec.json.encode(findings).decode())
    else:
        show_findings(findings, Console())
    raise typer.Exit(int(any(each.verdict is Verdict.WRONG for each in findings)))
