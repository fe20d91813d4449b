"""The walls of the media sandbox, as the command line shows them.

`tintype up` runs this module as a process of its own: the media room would take 30 MB in the supervisor for good.
"""

import sys

import msgspec
from rich.console import Console
from rich.table import Table

from tintype.base.settings import Settings
from tintype.media import Wall, check_walls, missing_walls
from tintype.stack import Finding, Verdict


def find_wall_problems(settings: Settings) -> list[Finding]:
    """The walls as findings of `tintype doctor`: wrong where photos are refused, or decoded without protection."""
    walls = check_walls()
    required = missing_walls(walls, settings.media_sandbox_walls)
    return [_finding(wall, is_wrong=wall in required or wall.is_essential) for wall in walls]


def show_walls(walls: list[Wall]) -> None:
    """Print the walls for people."""
    table = Table.grid(padding=(0, 2))
    for wall in walls:
        sign = "[green]✓[/]" if wall.is_up else "[red]✗[/]" if wall.is_essential else "[yellow]![/]"
        table.add_row(sign, wall.name, "is up" if wall.is_up else wall.why_not)
        if not wall.is_up:
            table.add_row("", "", f"[bold]→[/] {wall.fix}")
    Console().print(table)


def _finding(wall: Wall, *, is_wrong: bool) -> Finding:
    subject = f"sandbox: {wall.name}"
    if wall.is_up:
        return Finding(subject, Verdict.OK, "is up")
    return Finding(subject, Verdict.WRONG if is_wrong else Verdict.WARNING, wall.why_not, wall.fix)


def main() -> None:
    """Print a line for each wall that is missing; exit code 1 if the setting given requires one of them."""
    required = msgspec.convert(sys.argv[1], type=Settings.__annotations__["media_sandbox_walls"])
    walls = check_walls()
    for wall in walls:
        if not wall.is_up:
            print(f"{wall.name}: {wall.why_not}. {wall.fix}")
    sys.exit(int(bool(missing_walls(walls, required))))


if __name__ == "__main__":
    main()
