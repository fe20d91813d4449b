"""`shardwright install`: creates the dispatch functions of query files ahead."""

from pathlib import Path
from typing import Annotated

import typer

from shardwright.cli.output import print_json, print_message
from shardwright.cli.runner import EXIT_FAILED, open_directory, run
from shardwright.cli.settings import DirectoryOption, JsonOption, get_directory
from shardwright.routing import Installed, Queries, install_queries


def install(
    context: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE…", exists=True, dir_okay=False, readable=True, help="Files of named queries."
        ),
    ],
    directory: DirectoryOption = None,
    is_json: JsonOption = False,
) -> None:
    """Create the dispatch functions of every query on every server, so that the application needs no DDL.

    Run it as the migrator, after `migrate` and before a release starts that brings new queries. Safe to repeat and
    to interrupt. Functions that no router has used for a month are dropped; those of a release that still runs stay.

        shardwright migrate && shardwright install app/*/queries.sql
    """
    get_directory(context, directory)
    queries = [Queries.load(path) for path in files]

    async def work() -> list[Installed]:
        async with open_directory(context, directory) as found:
            return await install_queries(found, queries)

    reports = run(work())
    if is_json:
        print_json([vars(report) for report in reports])
    else:
        _show(reports)
    if any(report.failed for report in reports):
        raise typer.Exit(EXIT_FAILED)


def _show(reports: list[Installed]) -> None:
    for report in reports:
        print_message(
            f"server {report.server}: {report.queries} queries, "
            f"{report.created} functions created, {report.dropped} unused ones dropped."
        )
        for name, reason in report.failed.items():
            print_message(f"server {report.server}: {name} is not installed: {reason}")
