"""What benchmarks share: ratios, percentiles, tables, options and the wait until nothing is left to do."""

import argparse
from collections.abc import Iterator

import pytest

from bench.backlog import WorkLeft, wait_until_done
from bench.harness import parse_options, percentile, ratio_of
from bench.tables import format_table


def test_a_ratio_is_the_median_of_the_rounds_with_its_spread() -> None:
    assert str(ratio_of([3.0, 1.0, 2.0])) == "2.00x (1.00-3.00)"


@pytest.mark.parametrize(("share", "expected"), [(0.0, 1), (0.5, 51), (0.99, 100), (1.0, 100)])
def test_a_percentile_is_one_of_the_numbers(share: float, expected: int) -> None:
    assert percentile(list(range(100, 0, -1)), share) == expected


def test_a_table_aligns_words_left_and_numbers_right() -> None:
    table = format_table(["site", "CPU-ms"], [["ours", "3.1"], ["plain Django", "14.25"]])

    assert table.splitlines() == [
        "site          CPU-ms",
        "--------------------",
        "ours             3.1",
        "plain Django   14.25",
    ]


def test_a_bench_reads_its_own_options_and_refuses_others(capsys: pytest.CaptureFixture[str]) -> None:
    def add_options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--clients", type=int, default=8)

    assert parse_options("bench", [], add_options) == {"clients": 8}
    assert parse_options("bench", ["--clients", "64"], add_options) == {"clients": 64}
    with pytest.raises(SystemExit):
        parse_options("bench", ["--clients", "64"], None)
    assert "--clients" in capsys.readouterr().err


async def test_work_is_done_when_nothing_is_left_twice_in_a_row() -> None:
    counts: Iterator[int] = iter([3, 0, 1, 0, 0])

    async def count_left() -> int:
        return next(counts)

    await wait_until_done(count_left)

    assert list(counts) == []


async def test_work_that_is_never_done_ends_the_bench() -> None:
    async def count_left() -> int:
        return 7

    with pytest.raises(WorkLeft, match="7 events or tasks"):
        await wait_until_done(count_left, patience_s=0)
