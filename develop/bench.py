"""`./tintype bench`: each benchmark answers one question and prints a ratio against a peer or the bare engine."""

import importlib
import pkgutil
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

import bench as benches
from bench.harness import parse_options, print_result


def bench(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Name of the benchmark; --list shows them.")] = "",
    *,
    json: Annotated[bool, typer.Option("--json", help="End with one JSON object on the last line.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small load: a smoke test, no reliable numbers.")
    ] = False,
    show_list: Annotated[
        bool, typer.Option("--list", help="List the benchmarks and what they measure.")
    ] = False,
) -> None:
    """Run a benchmark: ours and the reference interleaved, so that the ratio holds on a noisy machine.

    Some benchmarks have options of their own, such as `social --clients 64` and `soak --minutes 7`; --list tells.
    """
    known = _known()
    if show_list or not name:
        table = Table("name", "what it answers", show_lines=True)
        for each, module in known.items():
            table.add_row(each, (importlib.import_module(module).__doc__ or "").strip())
        Console().print(table)
        return
    if name not in known:
        raise typer.BadParameter(f"there is no benchmark {name!r}; there are {', '.join(known)}")
    module = importlib.import_module(known[name])
    options = parse_options(f"tintype bench {name}", context.args, getattr(module, "add_options", None))
    print_result(module.run(quick=quick, **options), as_json=json)


def _known() -> dict[str, str]:
    """Modules of `bench/` that define NAME, by command-line name."""
    found: dict[str, str] = {}
    for module in pkgutil.iter_modules(benches.__path__):
        path = f"bench.{module.name}"
        if hasattr(importlib.import_module(path), "NAME"):
            found[module.name.replace("_", "-")] = path
    return found
