"""Benchmark harness: interleaved rounds, ratios with their spread, and printing of results.

A machine is busier one minute than the next, so a round measures every contender once, in an order that
rotates, and a ratio is taken within the round; what is reported is the median of the rounds' ratios.
"""

import argparse
import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

Measure = Callable[[], float]
"""Runs one contender once and returns its rate: higher is better."""


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
        ratios = [mine / theirs for mine, theirs in zip(self.rates[ours], self.rates[peer], strict=True)]
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


def main(run: Callable[..., BenchResult], description: str | None) -> None:
    """Run one benchmark from the command line."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    parser.add_argument("--quick", action="store_true", help="fewer rounds: shorter and noisier")
    options = parser.parse_args()
    print_result(run(quick=options.quick), as_json=options.json)
