"""Shows the findings of `tintype doctor` and `tintype cluster check`: a sign, what was looked at, and how to fix it."""

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tintype.stack import Finding, Verdict

_SIGNS = {Verdict.OK: "[green]✓[/]", Verdict.WARNING: "[yellow]![/]", Verdict.WRONG: "[red]✗[/]"}


def show_findings(findings: Sequence[Finding], console: Console) -> None:
    """Print the findings, and how many of them must be fixed."""
    table = Table.grid(padding=(0, 2))
    for overflow in ("ellipsis", "ellipsis", "fold"):
        table.add_column(overflow=overflow)
    for finding in findings:
        table.add_row(_SIGNS[finding.verdict], escape(finding.subject), escape(finding.detail))
        if finding.fix and finding.verdict is not Verdict.OK:
            table.add_row("", "", f"[bold]→[/] {escape(finding.fix)}")
    console.print(table)
    wrong = sum(each.verdict is Verdict.WRONG for each in findings)
    console.print(
        f"\n{wrong} to fix." if wrong else "\nNo problems found.", style="red" if wrong else "green"
    )
