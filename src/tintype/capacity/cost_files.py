"""Reads what operations cost: the package's own numbers, a file of the operator's, or what `bench` printed.

A file overrides the numbers that it has and leaves the others as they were: whoever has measured likes alone says
nothing about uploads.
"""

import json
import tomllib
from pathlib import Path
from typing import Any, cast

import msgspec

from tintype.capacity.errors import CostsInvalid
from tintype.capacity.models import Costs

_DEFAULTS = Path(__file__).with_name("default_costs.toml")
_OPERATIONS = {
    "like": "like",
    "follow": "follow",
    "comment": "comment",
    "post": "post",
    "profile": "page",
}
"""Of `bench social`: their name there, and ours."""
_PARTS = {"web": "web", "worker": "worker", "postgres": "postgres", "valkey": "redis", "nats": "nats"}
_READS = {"ours": "read", "news": "read_news"}
"""Of `bench feed`, likewise."""


def default_costs() -> Costs:
    """The numbers of the package, measured on the machine that docs/benchmarks.md speaks of."""
    return msgspec.convert(_tables(_DEFAULTS.read_text(), "the default costs"), Costs)


def read_costs(text: str, base: Costs, *, source: str) -> Costs:
    """The costs of `base`, with those that the text has instead: TOML tables, or the output of `bench --json`."""
    tables = _from_bench(text) or _tables(text, source)
    merged = cast("dict[str, Any]", msgspec.to_builtins(base))
    for name, table in tables.items():
        merged[name] = {**merged.get(name, {}), **table} if isinstance(table, dict) else table
    try:
        return msgspec.convert(merged, Costs, strict=False)
    except msgspec.ValidationError as error:
        raise CostsInvalid(f"{source} is no file of costs: {error}.") from error


def _tables(text: str, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CostsInvalid(
            f"{source} is neither TOML nor the output of `./tintype bench social --json`: {error}."
        ) from error


def _from_bench(text: str) -> dict[str, Any]:
    """The tables that a bench's last line contains; none where the text is no output of one that is known."""
    lines = text.strip().splitlines()
    if not lines or not lines[-1].startswith("{"):
        return {}
    try:
        result = json.loads(lines[-1])
    except json.JSONDecodeError:
        return {}
    medians: dict[str, Any] = result.get("detail", {}).get("medians", {})
    readers = {"social": _from_social, "feed": _from_feed}
    read = readers.get(result.get("name", ""))
    return read(medians) if read else {}


def _from_social(medians: dict[str, Any]) -> dict[str, Any]:
    return {
        ours: {part: medians[name].get(f"ours {label}", 0.0) for label, part in _PARTS.items()}
        for name, ours in _OPERATIONS.items()
        if name in medians
    }


def _from_feed(medians: dict[str, Any]) -> dict[str, Any]:
    """It tells the web process from all others, which for reads are Redis above all."""
    found: dict[str, Any] = {}
    for name, ours in _READS.items():
        web, total = medians.get(f"{name} 8 web CPU-ms"), medians.get(f"{name} 8 all CPU-ms")
        if web is not None and total is not None:
            found[ours] = {"web": web, "redis": max(0.0, total - web)}
    return found
