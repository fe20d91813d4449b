"""`shardwright lint`: checks migrations before they are applied."""

from pathlib import Path
from typing import Annotated

import typer

from shardwright.cli.output import make_console, print_json, print_message, print_table
from shardwright.cli.runner import EXIT_FAILED, fail
from shardwright.cli.settings import JsonOption, get_migrations
from shardwright.errors import ShardwrightError
from shardwright.migrations import RULES, Finding
from shardwright.migrations import lint as find_lint_errors


def lint(
    context: typer.Context,
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="[FOLDER|FILE]...", help="Default: the migrations folder.")
    ] = None,
    rules: Annotated[bool, typer.Option("--rules", help="List the rules and what to do instead.")] = False,
    is_json: JsonOption = False,
) -> None:
    """Find migrations that would lock tables, rewrite them or lose data. The exit code is 1 if there is a finding.

    A file waives a rule for itself, with a reason: `-- waive: cascade because nothing depends on it`.

        shardwright lint migrations
        shardwright lint migrations/shard/0007_captions.sql --json
    """
    if rules:
        if is_json:
            print_json(RULES)
        else:
            print_table(["rule", "why, and what to do instead"], RULES.items())
        return
    try:
        findings = [
            each for path in paths or [get_migrations(context, None)] for each in find_lint_errors(path)
        ]
    except ShardwrightError as error:
        fail(error)
    _show(findings, is_json=is_json)
    if findings:
        raise typer.Exit(EXIT_FAILED)


def _show(findings: list[Finding], *, is_json: bool) -> None:
    if is_json:
        print_json(
            [
                {
                    "path": str(each.path),
                    "line": each.line,
                    "rule": each.rule,
                    "message": each.message,
                    "advice": each.advice,
                }
                for each in findings
            ]
        )
        return
    for each in findings:
        make_console().print(str(each), soft_wrap=True)
    print_message(f"{len(findings)} findings." if findings else "No findings.")
