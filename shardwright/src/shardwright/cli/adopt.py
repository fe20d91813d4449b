"""`shardwright adopt`: an unsharded database becomes shards while it is used."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from shardwright.adopt import (
    ENDED,
    Adopter,
    Adoption,
    AdoptOptions,
    CheckReport,
    Placement,
    ShadowReport,
    adopt_bar,
    load_plan,
    propose,
)
from shardwright.cli.default_command import StartByDefault
from shardwright.cli.help_text import format_help
from shardwright.cli.output import print_json, print_message, print_table
from shardwright.cli.quantities import read_duration, read_size
from shardwright.cli.runner import EXIT_FAILED, open_directory, run
from shardwright.cli.settings import DirectoryOption, JsonOption
from shardwright.cli.shared_options import with_options
from shardwright.cli.superuser import Access

SOURCE_VARIABLE = "SHARDWRIGHT_ADOPT_FROM"
_HELP = """Adopt an unsharded PostgreSQL database into shards while it is used.

    shardwright adopt propose --from postgresql://… -o plan.toml    # read it, and edit the plan
    shardwright adopt start --from postgresql://… --plan plan.toml  # copy; the shards then follow the old database
    shardwright adopt follow --from postgresql://…                  # keep them following, until it is switched
    shardwright adopt check --from postgresql://…                   # compare every row
    shardwright adopt shadow --from postgresql://…                  # compare reads of a sample
    shardwright adopt switch --from postgresql://…                  # the shards own the rows, the old database follows
    shardwright adopt back --from postgresql://…                    # return, with everything that was written since
    shardwright adopt finish --from postgresql://…                  # end it

Every step is journalled in the directory: whatever is interrupted, `adopt resume` goes on, and before the switch
`adopt abort` undoes everything.
"""
_SHOWN = 20

app = typer.Typer(cls=StartByDefault, no_args_is_help=True, help=format_help(_HELP))

FromOption = Annotated[
    str,
    typer.Option(
        "--from",
        metavar="DSN",
        envvar=SOURCE_VARIABLE,
        help="The old database; not through a pooler. The role owns its tables and may replicate.",
    ),
]

MaxLagOption = Annotated[
    float,
    typer.Option("--max-lag", min=0.01, help="Stop writers only while changes take fewer seconds than this."),
]


def propose_plan(  # noqa: PLR0917 - typer calls it by keyword
    source: FromOption,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write it; else it is printed."),
    ] = None,
    tenant: Annotated[
        str | None,
        typer.Option(
            "--tenant", metavar="TABLE", help="The table whose rows are tenants; else it is guessed."
        ),
    ] = None,
    schema: Annotated[str, typer.Option("--schema", help="The schema of the tables.")] = "public",
    keep_together: Annotated[
        bool, typer.Option("--shard-0", help="Put all rows into shard 0, instead of each to its tenant's.")
    ] = False,
    no_count: Annotated[
        bool,
        typer.Option("--no-count", help="Do not count rows that would cross shards, which reads all tables."),
    ] = False,
) -> None:
    """Propose a plan: which tables follow the tenant, which are lookups, which stay, and what would cross shards."""
    placement: Placement = "shard 0" if keep_together else "tenant"
    found = run(propose(source, schema=schema, tenant=tenant, placement=placement, count=not no_count))
    if output is None:
        print(found.to_toml(), end="")
        return
    if output.exists():
        raise typer.BadParameter(f"{output} exists already: choose another name, or remove it")
    output.write_text(found.to_toml(), encoding="utf-8")
    crossing = [each for each in found.crossings if each.rows != 0]
    print_message(
        f"{output}: {len(found.plan.followers)} tables follow {found.plan.tenant}, {len(found.plan.lookups)} are "
        f"lookups, {len(found.plan.stay)} stay; {len(crossing)} foreign keys may cross shards: see the end of it."
    )


def start(
    access: Access,
    source: FromOption,
    plan: Annotated[Path, typer.Option("--plan", metavar="FILE", help="The plan, as `propose` writes it.")],
    rate: Annotated[
        str | None, typer.Option("--rate", metavar="SIZE", help="Copy no more than this a second: 50MB.")
    ] = None,
    replica_lag: Annotated[
        str | None,
        typer.Option(
            "--replica-lag", metavar="SIZE", help="Wait while a streaming replica lags more than this."
        ),
    ] = None,
) -> None:
    """Copy the old database into shards, which follow it from then on."""
    options = AdoptOptions(
        copy_bytes_per_s=read_size(rate) if rate else 0,
        max_replica_lag_bytes=read_size(replica_lag) if replica_lag else 0,
    )
    found = load_plan_or_fail(plan)
    adoption: Adoption = _run(access, source, lambda adopter: adopter.start(found), options)
    rows = sum(each["rows"] for each in adoption.details.get("copied", {}).values())
    print_message(
        f"{adoption}: {rows:,} rows were copied, and the shards have what was changed since. Keep `shardwright adopt "
        "follow` running; then `adopt check`, `adopt shadow` and `adopt switch`."
    )


def load_plan_or_fail(path: Path) -> Any:
    """The plan, or an exit with what is wrong with it."""

    async def load() -> Any:
        return load_plan(path)

    return run(load())


def follow(
    access: Access,
    source: FromOption,
    duration: Annotated[
        str | None, typer.Option("--for", metavar="TIME", help="End after this time: 30m; else it goes on.")
    ] = None,
) -> None:
    """Keep the side up to date that does not own the rows; other commands may be run meanwhile."""
    seconds = read_duration(duration) if duration else None
    _run(access, source, lambda adopter: adopter.follow(seconds))


def check(
    access: Access,
    source: FromOption,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Give the side that follows what the owner has, where they differ."),
    ] = False,
    is_json: JsonOption = False,
) -> None:
    """Compare every row of both sides by checksums; exits with 1 where they differ."""
    report: CheckReport = _run(access, source, lambda adopter: adopter.check(repair=repair))
    if is_json:
        print_json({**vars(report), "differences": [vars(each) for each in report.differences]})
    else:
        for each in report.differences[:_SHOWN]:
            print(each)
        busy = f", {report.busy} changed too often to be compared" if report.busy else ""
        print_message(
            f"{report.rows:,} rows in {report.ranges:,} ranges: {report.count} differ, {report.repaired} were "
            f"repaired{busy}."
        )
    if not report.is_equal:
        raise typer.Exit(EXIT_FAILED)


def shadow(
    access: Access,
    source: FromOption,
    samples: Annotated[int, typer.Option("--samples", min=1, help="How many tenants.")] = 100,
    is_json: JsonOption = False,
) -> None:
    """Compare reads of randomly chosen tenants on both sides; exits with 1 where they differ."""
    report: ShadowReport = _run(access, source, lambda adopter: adopter.shadow(samples=samples))
    old_ms, shards_ms = report.medians_ms
    if is_json:
        counted = {"reads": report.reads, "differences": report.differences, "busy": report.busy}
        print_json({**counted, "old_median_ms": old_ms, "shards_median_ms": shards_ms})
    else:
        for each in report.differences[:_SHOWN]:
            print(each)
        print_message(
            f"{report.reads} reads, {len(report.differences)} differ; median {old_ms:.1f} ms in the old database, "
            f"{shards_ms:.1f} ms in shards."
        )
    if report.differences:
        raise typer.Exit(EXIT_FAILED)


def switch(
    access: Access,
    source: FromOption,
    no_return: Annotated[
        bool, typer.Option("--no-return", help="The old database does not follow: there is no way back.")
    ] = False,
    max_lag: MaxLagOption = 0.2,
) -> None:
    """Make the shards the owner of the rows; writers wait for milliseconds. The old database follows them."""
    options = AdoptOptions(may_return=not no_return, max_lag_s=max_lag)
    adoption: Adoption = _run(access, source, lambda adopter: adopter.switch(), options)
    print_message(_turned(adoption))


def back(access: Access, source: FromOption, max_lag: MaxLagOption = 0.2) -> None:
    """Make the old database the owner again, with everything that was written to shards since."""
    options = AdoptOptions(max_lag_s=max_lag)
    print_message(_turned(_run(access, source, lambda adopter: adopter.back(), options)))


def resume(access: Access, source: FromOption) -> None:
    """Go on with what was interrupted."""
    print_message(_describe(_run(access, source, lambda adopter: adopter.resume())))


def abort(access: Access, source: FromOption) -> None:
    """Undo an adoption whose rows the old database owns: the copies in shards are deleted."""
    print_message(_describe(_run(access, source, lambda adopter: adopter.abort())))


def finish(access: Access, source: FromOption) -> None:
    """End an adoption that was switched: the old tables remain as they are, and refuse writes."""
    print_message(_describe(_run(access, source, lambda adopter: adopter.finish())))


def status(
    context: typer.Context,
    directory: DirectoryOption = None,
    everything: Annotated[bool, typer.Option("--all", help="Also those that have ended.")] = False,
    is_json: JsonOption = False,
) -> None:
    """Show the adoption in progress."""

    async def read() -> list[Adoption]:
        async with open_directory(context, directory) as opened:
            return await Adopter(opened, "").status(ended=everything)

    found = run(read())
    if is_json:
        print_json([_to_json(each) for each in found])
    elif found:
        print_table(
            ["adoption", "step", "owner", "tables copied", "rows copied", "fence ms", "since"],
            [_to_row(each) for each in found],
        )
    else:
        print_message("Nothing is being adopted.")


def _to_row(adoption: Adoption) -> list[Any]:
    copied = adoption.details.get("copied", {})
    return [
        adoption.id,
        adoption.step.value,
        adoption.owner,
        len(copied),
        sum(each["rows"] for each in copied.values()),
        adoption.details.get("fence_ms"),
        adoption.stepped_at,
    ]


def _to_json(adoption: Adoption) -> dict[str, Any]:
    return {**vars(adoption), "step": adoption.step.value, "owner": adoption.owner}


def _turned(adoption: Adoption) -> str:
    fence = adoption.details.get("fence_ms")
    how = f" Writers waited for {fence:g} ms." if fence is not None else ""
    return f"{_describe(adoption)}{how}"


def _describe(adoption: Adoption) -> str:
    owner = "the shards own the rows" if adoption.is_switched else "the old database owns the rows"
    what = "has ended" if adoption.step in ENDED else f"is at {adoption.step}"
    return f"{adoption} {what}; {owner}."


def _run(
    access: Access,
    source: str,
    work: Callable[[Adopter], Awaitable[Any]],
    options: AdoptOptions | None = None,
) -> Any:
    async def opened() -> Any:
        async with access.open() as directory:
            with adopt_bar(Console(stderr=True)) as (progress, on_step):
                adopter = Adopter(
                    directory, source, options=options or AdoptOptions(), progress=progress, on_step=on_step
                )
                return await work(adopter)

    return run(opened())


app.command("propose", help=format_help(propose_plan))(propose_plan)
app.command("status", help=format_help(status))(status)
for _command in (start, follow, check, shadow, switch, back, resume, abort, finish):
    app.command(_command.__name__, help=format_help(_command))(with_options(Access)(_command))
