"""`tintype plan` shows plans, and docs/capacity.md holds what it prints."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from develop.capacity_page import PAGE, render_capacity
from tintype.cli.entry import build_app
from tintype.cli.plan_tables import count, size

run = CliRunner()
APP = build_app(["plan"])


def test_the_page_is_what_the_command_prints() -> None:
    page = PAGE.read_text()

    assert page == render_capacity()
    assert "| accounts | 10 k | 1 M | 100 M | 2 B |" in page


def test_the_table_says_what_is_needed_and_what_to_do_at_each_wall() -> None:
    output = run.invoke(APP, ["plan", "--users", "1M", "--users", "100M"], env={"COLUMNS": "200"}).output

    for word in (
        "100 M",
        "cores: PostgreSQL",
        "logical shards",
        "files hot, warm, cold",
        "shard_count = 512",
    ):
        assert word in output


def test_json_has_the_assumptions_with_the_plans(tmp_path: Path) -> None:
    costs = tmp_path / "costs.toml"
    costs.write_text("[read]\nweb = 100\n[read_news]\nweb = 100\n")
    arguments = ["plan", "--users", "1M", "--reads", "40", "--costs", str(costs), "--shards", "64", "--json"]

    shown = json.loads(run.invoke(APP, arguments).output)

    (plan,) = shown["plans"]
    assert shown["assumptions"]["reads"] == 40
    assert plan["cores"]["web"] > 40 * 1e6 / 6 / 86_400 * 3 * 0.1 / 0.5
    assert plan["shards"] == 64
    assert plan["next_wall"] in {wall["name"] for wall in plan["walls"]}


@pytest.mark.parametrize(
    "arguments", [["--users", "many"], ["--users", "0"], ["--users", "1M", "--peak", "0"]]
)
def test_wrong_arguments_are_refused(arguments: list[str]) -> None:
    assert run.invoke(APP, ["plan", *arguments]).exit_code == 2


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0.0071, "0.0071"),
        (0.35, "0.35"),
        (3.64, "3.6"),
        (36.4, "36"),
        (999, "999"),
        (1_500, "1.5 k"),
        (2e9, "2 B"),
    ],
)
def test_numbers_are_short(number: float, shown: str) -> None:
    assert count(number) == shown


def test_sizes_have_their_unit() -> None:
    assert [size(each) for each in (0, 0.0005, 0.5, 3, 4_000)] == ["0", "500 MB", "500 GB", "3 TB", "4 PB"]
