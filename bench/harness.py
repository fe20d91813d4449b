"""Benchmark harness: interleaved rounds, ratios with their spread, and printing of results.

A machine is busier one minute than the next, so a round measures every contender once, in an order that
rotates, and a ratio is taken within the round; what is reported is the median of the rounds' ratios.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

Measure = Callable[[], float]
"""Runs one contender once and returns its rate: higher is better."""
AddOptions = Callable[[argparse.ArgumentParser], None]
"""Adds options of one benchmark; `run` gets them by name."""


@dataclass(frozen=True)
class Ratio:
    """How ours compares with one peer: the median of the rounds, and the lowest and highest of them."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.2f}x ({self.low:.2f}-{self.high:.2f})"


@dataclass(frozen=True)
class BenchResult:
    """Result of a benchmark: ours over the reference, higher is better."""

    name: str
    ratio: float
    against: str
    spread: tuple[float, float]
    """The lowest and the highest ratio of the rounds."""

    detail: dict[str, Any] = field(default_factory=dict[str, Any])  # any: each bench has its own, for people


@dataclass(frozen=True)
class Rounds:
    """The rates of every contender, round by round."""

    rates: Mapping[str, Sequence[float]]

    def median(self, name: str) -> float:
        """Return the median rate of one contender."""
        return statistics.median(self.rates[name])

    def ratio(self, ours: str, peer: str) -> Ratio:
        """Return how one compares with the other, round by round."""
        return ratio_of(
            [mine / theirs for mine, theirs in zip(self.rates[ours], self.rates[peer], strict=True)]
        )


def ratio_of(ratios: Sequence[float]) -> Ratio:
    """Return the median of the rounds' ratios with their spread."""
    return Ratio(statistics.median(ratios), min(ratios), max(ratios))


def percentile(numbers: Sequence[float], share: float) -> float:
    """Return the number that this share of them does not exceed."""
    return sorted(numbers)[min(int(len(numbers) * share), len(numbers) - 1)]


def run_interleaved(contenders: Mapping[str, Measure], rounds: int) -> Rounds:
    """Measure every contender once per round, each round starting with another one."""
    names = list(contenders)
    rates: dict[str, list[float]] = {name: [] for name in names}
    for number in range(rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            rates[name].append(contenders[name]())
    return Rounds(rates)


def print_result(result: BenchResult, *, as_json: bool) -> None:
    """Print the result, as a sentence or as one last line of JSON."""
    if as_json:
        print(json.dumps(asdict(result)))
    else:
        low, high = result.spread
        print(f"{result.name}: {result.ratio:.2f}x ({low:.2f}-{high:.2f}) {result.against}")


def parse_options(
    name: str, arguments: Sequence[str], add_options: AddOptions | None, description: str | None = None
) -> dict[str, Any]:
    """Read the options that only this benchmark has; ends the program when there is no such option."""
    parser = argparse.ArgumentParser(
        prog=name, description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if add_options is not None:
        add_options(parser)
    return vars(parser.parse_args(arguments))


def main(
    run: Callable[..., BenchResult], description: str | None, add_options: AddOptions | None = None
) -> None:
    """Run one benchmark from the command line."""

    def add_all(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="end with one line of JSON")
        parser.add_argument("--quick", action="store_true", help="fewer rounds: shorter and noisier")
        if add_options is not None:
            add_options(parser)

    options = parse_options(Path(sys.argv[0]).name, sys.argv[1:], add_all, description)
    as_json = options.pop("json")
    print_result(run(**options), as_json=as_json)
