"""`./tintype test`: every suite, on real servers that the suites start themselves."""

import os
from typing import Annotated, Literal

import typer

from develop.steps import BIN, CHECKOUT, Step, npm, run_all


def run_tests(
    context: typer.Context,
    which: Annotated[
        Literal["all", "fast"],
        typer.Argument(help="`fast` leaves out fault injection, browser and other slow tests."),
    ] = "all",
) -> None:
    """Run all tests, or the fast ones. Words after `--` go to pytest: ./tintype test all -- -k outbox."""
    processes = str(min(4, os.cpu_count() or 2))
    marks = "not slow" if which == "fast" else "not clean_room"
    if which == "all" and not context.args:
        marks += " and not alone"  # those are a step of their own
    steps = [Step("python", [BIN / "pytest", "-n", processes, "-m", marks, *context.args])]
    if not context.args:
        if which == "all":
            steps.append(Step("alone", [BIN / "pytest", "-n0", "-m", "alone", "tests"]))
            # By itself: it installs and runs everything a second time, which would slow down its neighbours.
            steps.append(Step("clean room", [BIN / "pytest", "-n0", "-m", "clean_room", "tests/house"]))
        steps.append(Step("web", npm("run", "--silent", "test"), CHECKOUT / "web"))
        steps.append(Step("web size budget", npm("run", "--silent", "budget"), CHECKOUT / "web"))
    raise typer.Exit(0 if run_all(steps) else 1)
