"""`shardwright doctor`: finds problems before they cause failures."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from shardwright.cli.doctor_checks import run_checks
from shardwright.cli.doctor_guards import fix_guards
from shardwright.cli.findings import Finding
from shardwright.cli.output import make_console, print_json
from shardwright.cli.runner import EXIT_FAILED, open_directory, run
from shardwright.cli.settings import (
    DirectoryOption,
    JsonOption,
    MigrationsOption,
    find_migrations,
    get_directory,
)
from shardwright.cli.unfinished_moves import check_moves, judge_moves
from shardwright.cli.version import versions
from shardwright.command_names import as_called
from shardwright.migrations import LibraryStatus, Migrator, read_library_status

_MARKS = {"ok": "✓", "note": "·", "warning": "!", "failure": "✗"}


def doctor(
    context: typer.Context,
    directory: DirectoryOption = None,
    migrations: MigrationsOption = None,
    is_fixing: Annotated[
        bool,
        typer.Option(
            "--fix", help="Attach missing guards, and the event trigger that attaches them from then on."
        ),
    ] = False,
    is_json: JsonOption = False,
) -> None:
    """Check for problems: ids, clocks, guards, second copies of shards, moves that wait, drift, old SQL, settings.

    Every finding says what to do about it. The exit code is 1 if there is a warning or a failure.

        shardwright doctor
        shardwright doctor --fix
        shardwright doctor --json | jq '.findings[] | select(.level != "ok")'
    """
    get_directory(context, directory)
    folder = find_migrations(context, migrations)

    async def work() -> tuple[list[str], list[Finding]]:
        fixed: list[str] = []
        async with open_directory(context, directory) as found:
            shard_map = await found.load()
            for server in shard_map.servers.values() if is_fixing else ():
                fixed += await fix_guards(server)
            findings = await run_checks(found, shard_map)
            findings += check_moves(await judge_moves(found))
            findings += _check_library(await read_library_status(found))
        if folder is not None:
            findings += await _check_migrations(Migrator(shard_map, folder), folder)
        return fixed, findings

    fixed, found = run(work())
    findings = [replace(each, what=as_called(each.what), advice=as_called(each.advice)) for each in found]
    if is_json:
        shown = [vars(each) for each in findings]
        print_json({"versions": versions(), "fixed": fixed, "findings": shown})
    else:
        _show(fixed, findings)
    if any(each.level in {"warning", "failure"} for each in findings):
        raise typer.Exit(EXIT_FAILED)


def _check_library(status: LibraryStatus) -> list[Finding]:
    findings = [Finding("library", "warning", each, status.advice) for each in status.findings()]
    what = f"shardwright's own SQL has version {status.release.version} everywhere"
    return findings or [Finding("library", "ok", what, "")]


async def _check_migrations(migrator: Migrator, folder: Path) -> list[Finding]:
    status = await migrator.status()
    findings = [
        *(
            Finding("migrations", "warning", f"{each.target} is behind", "run shardwright migrate")
            for each in status.behind
        ),
        *(
            Finding("migrations", "failure", f"{each.target} {each.conflict}", "")
            for each in status.conflicts
        ),
        *(
            Finding("drift", "failure", str(each), "find out who changed it manually")
            for each in status.drift
        ),
    ]
    return findings or [
        Finding("migrations", "ok", f"every shard has all of {folder}, and none has drifted", "")
    ]


def _show(fixed: list[str], findings: list[Finding]) -> None:
    console: Any = make_console()
    for each in fixed:
        console.print(f"+ {each}", soft_wrap=True, markup=False)
    for each in findings:
        advice = f" → {each.advice}" if each.advice else ""
        console.print(f"{_MARKS[each.level]} {each.check}: {each.what}{advice}", soft_wrap=True)
    console.print(", ".join(f"{name} {version}" for name, version in versions().items()))
