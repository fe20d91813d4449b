"""`tintype doctor`: what is wrong with this machine or these settings, and how to put it right."""

import asyncio
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from tintype.base.settings import load_settings
from tintype.stack import Finding, Verdict, examine, examine_existing, plan_from

_SIGNS = {Verdict.OK: "[green]✓[/]", Verdict.WARNING: "[yellow]![/]", Verdict.WRONG: "[red]✗[/]"}


def doctor(
    *,
    home: Annotated[Path | None, typer.Option("--home", help="The data directory.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Check ports, disk, memory, versions, clock and permissions. Exit code 1 when something is wrong."""
    overrides = {"home": str(home.absolute())} if home else {}
    plan = plan_from(load_settings(overrides=overrides))
    findings = [*examine(plan), *asyncio.run(examine_existing(plan))]
    if as_json:
        print(msgspec.json.encode(findings).decode())
    else:
        _show(findings)
    raise typer.Exit(int(any(each.verdict is Verdict.WRONG for each in findings)))


def _show(findings: list[Finding]) -> None:
    table = Table.grid(padding=(0, 2))
    for overflow in ("ellipsis", "ellipsis", "fold"):
        table.add_column(overflow=overflow)
    for finding in findings:
        table.add_row(_SIGNS[finding.verdict], finding.subject, finding.detail)
        if finding.fix and finding.verdict is not Verdict.OK:
            table.add_row("", "", f"[bold]→[/] {finding.fix}")
    console = Console()
    console.print(table)
    wrong = sum(each.verdict is Verdict.WRONG for each in findings)
    console.print(
        f"\n{wrong} to put right." if wrong else "\nAll is well.", style="red" if wrong else "green"
    )
