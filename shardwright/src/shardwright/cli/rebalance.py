"""`shardwright rebalance`, `drain` and `split`: plan moves from what shards use, show the plan, carry it out."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.filesize import decimal

from shardwright.cli.output import make_console, print_json, print_message
from shardwright.cli.quantities import read_duration, read_size
from shardwright.cli.runner import run
from shardwright.cli.settings import JsonOption
from shardwright.cli.superuser import CopyAccess
from shardwright.command_names import as_called
from shardwright.moves import Move, MoveOptions, measure_rooms, move_bar
from shardwright.rebalancing import (
    DEFAULT_SAMPLE_S,
    DEFAULT_TOLERANCE,
    Basis,
    Limits,
    Pace,
    Plan,
    ShardUse,
    carry_out,
    draw_plan,
    measure_shards,
    plan_drain,
    plan_rebalance,
    plan_split,
)
from shardwright.topology import Directory, ShardMap, with_primaries

ServerArgument = Annotated[str, typer.Argument(metavar="SERVER", help="Its name in `status`.")]
MakePlan = Callable[[ShardMap, Sequence[ShardUse], Limits, Collection[int]], Plan]


@dataclass(frozen=True, kw_only=True)
class PlanRequest(CopyAccess):
    """What a command was given that plans moves and carries them out."""

    by: Annotated[
        Basis,
        typer.Option(
            "--by", help="What is spread: size, load, half of each (both), or the number of shards."
        ),
    ] = "both"
    sample: Annotated[
        str, typer.Option("--sample", metavar="TIME", help="How long to watch the load; 0 leaves it out.")
    ] = f"{DEFAULT_SAMPLE_S:g}s"
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan, and move nothing.")] = False
    max_shards: Annotated[
        int | None, typer.Option("--max-shards", min=1, help="Move no more than this many shards.")
    ] = None
    max_size: Annotated[
        str | None, typer.Option("--max-size", metavar="SIZE", help="Move no more than this.")
    ] = None
    batch: Annotated[
        str, typer.Option("--batch", metavar="SIZE", help="Shards of up to this size move together.")
    ] = "8GB"
    concurrent: Annotated[int, typer.Option("--concurrent", min=1, help="Batches that move at once.")] = 1
    keep: Annotated[
        str,
        typer.Option(
            "--keep",
            metavar="TIME",
            help="How long old copies follow before `move tend` drops them; 0 drops them once they are compared.",
        ),
    ] = "0"
    is_json: JsonOption = False

    def pace(self) -> Pace:
        """How the plan is carried out."""
        return Pace(
            batch_bytes=read_size(self.batch), concurrent=self.concurrent, keep_s=read_duration(self.keep)
        )

    def limits(self, room_bytes: Mapping[str, int]) -> Limits:
        """How much the plan may move."""
        size = None if self.max_size is None else read_size(self.max_size)
        return Limits(self.max_shards, size, room_bytes)


def rebalance(
    request: PlanRequest,
    tolerance: Annotated[
        float, typer.Option(min=0, max=1, help="Servers this close to their share stay as they are.")
    ] = DEFAULT_TOLERANCE,
) -> None:
    """Move shards so that each server has its share, by weight, of the bytes and of the load.

    Shows what servers have now and will have then. Interrupt it whenever you like: what has moved has moved, `move
    resume` ends what is under way, and the next `rebalance` plans the rest. Servers that accept no new shards neither
    give nor take.

        shardwright rebalance --dry-run
        shardwright rebalance --max-size 100GB --rate 50MB
    """

    def plan(shard_map: ShardMap, uses: Sequence[ShardUse], limits: Limits, moving: Collection[int]) -> Plan:
        return plan_rebalance(
            shard_map, uses, basis=request.by, limits=limits, tolerance=tolerance, moving=moving
        )

    _run(request, plan)


def drain(request: PlanRequest, server: ServerArgument) -> None:
    """Move every shard off a server, which from now on gets no new ones.

    `shardwright set-server SERVER --accept` lets it take shards again.

        shardwright drain a --dry-run
        shardwright drain a --concurrent 2
    """

    def plan(shard_map: ShardMap, uses: Sequence[ShardUse], limits: Limits, moving: Collection[int]) -> Plan:
        return plan_drain(shard_map, uses, server, basis=request.by, limits=limits, moving=moving)

    _run(request, plan, closing=server)


def split(
    request: PlanRequest,
    server: ServerArgument,
    to: Annotated[str, typer.Option("--to", metavar="SERVER", help="The server that gets the other half.")],
) -> None:
    """Move half of a server's shards, by what they use, to another server.

    Ids carry the number of their shard, so that a shard itself is never split: there are many of them from the
    beginning instead, and a server that has become too small gives half of its own away.

        shardwright add-server c postgresql://db3/app
        shardwright split a --to c
    """

    def plan(shard_map: ShardMap, uses: Sequence[ShardUse], limits: Limits, moving: Collection[int]) -> Plan:
        return plan_split(shard_map, uses, server, to, basis=request.by, limits=limits, moving=moving)

    _run(request, plan)


def _run(request: PlanRequest, make: MakePlan, closing: str | None = None) -> None:
    options, pace = request.options(), request.pace()

    async def work() -> tuple[Plan, list[Move]]:
        async with request.open() as found:
            if closing is not None and not request.dry_run:
                await found.set_server(closing, accepts_new=False)  # first: none may arrive meanwhile
            plan = await _plan(request, found, make, options)
            if not request.is_json:
                _show(plan)
            if request.dry_run or not plan.relocations:
                return plan, []
            with move_bar(Console(stderr=True)) as (progress, on_step):
                return plan, await carry_out(request.mover(found, options, progress, on_step), plan, pace)

    plan, moves = run(work())
    if request.is_json:
        print_json(_to_json(plan, moves))
    elif moves:
        print_message(f"{sum(len(move.shards) for move in moves)} shards moved.")
    elif request.dry_run and plan.relocations:
        print_message("Nothing was moved: leave --dry-run out.")


async def _plan(request: PlanRequest, directory: Directory, make: MakePlan, options: MoveOptions) -> Plan:
    shard_map = await directory.load()
    shard_map = await with_primaries(shard_map, shard_map.servers)
    uses = await measure_shards(shard_map, sample_s=read_duration(request.sample))
    room = await measure_rooms(shard_map, options.room_bytes)
    return make(shard_map, uses, request.limits(room), await directory.moving_shards())


def _show(plan: Plan) -> None:
    console = make_console()
    console.print(draw_plan(plan))
    for reason in plan.refused:
        console.print(as_called(f"- {reason}"), soft_wrap=True)
    ways: dict[tuple[str, str], list[int]] = {}
    for each in plan.relocations:
        ways.setdefault((each.source, each.target), []).append(each.size_bytes)
    for (source, target), sizes in sorted(ways.items()):
        console.print(f"{source} → {target}: {len(sizes)} shards, {decimal(sum(sizes))}")
    if not plan.relocations:
        console.print("Nothing to move.")


def _to_json(plan: Plan, moves: Sequence[Move]) -> dict[str, Any]:
    return {
        "before": {name: asdict(use) for name, use in plan.before.items()},
        "after": {name: asdict(use) for name, use in plan.after.items()},
        "relocations": [asdict(each) for each in plan.relocations],
        "refused": [as_called(each) for each in plan.refused],
        "moves": [move.id for move in moves],
    }
