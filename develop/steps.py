"""Runs a list of named steps and prints a summary at the end."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

CHECKOUT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class Step:
    """One program to run, and the folder it runs in."""

    name: str
    command: Sequence[str | Path]
    folder: Path = CHECKOUT


def run_all(steps: Sequence[Step]) -> bool:
    """Run every step, the later ones too when an earlier one failed; True when all passed."""
    console = Console()
    table = Table("suite", "result", "seconds", title="Results")
    has_passed = True
    for step in steps:
        console.rule(step.name)
        started = time.monotonic()
        status = subprocess.call([str(word) for word in step.command], cwd=step.folder, env=_environment())
        has_passed &= status == 0
        result = "[green]passed[/]" if status == 0 else f"[red]failed ({status})[/]"
        table.add_row(step.name, result, f"{time.monotonic() - started:.0f}")
    console.print(table)
    return has_passed


def npm(*words: str) -> list[str | Path]:
    """Command line of npm: the machine's, or the one of the Node wheel."""
    return [sys.executable, CHECKOUT / "develop" / "npm.py", *words]


def _environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}
