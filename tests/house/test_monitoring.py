"""The alert rules and the dashboard in `deploy/` ask for metrics and labels that exist."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml

CHECKOUT = Path(__file__).parents[2]
ALERTS = CHECKOUT / "deploy" / "prometheus" / "alerts.yml"
DASHBOARD = CHECKOUT / "deploy" / "grafana" / "tintype.json"
PAGES = (CHECKOUT / "docs" / "metrics.md", CHECKOUT / "shardwright" / "docs" / "routing.md")
OPERATING = CHECKOUT / "docs" / "operating.md"
_ROW = re.compile(
    r"^\| `(?P<name>(?:tintype|shardwright)_\w+)` \| (?P<kind>\w+) \| (?P<labels>[^|]*) \|", re.MULTILINE
)
_OF_HISTOGRAMS = ("_bucket", "_count", "_sum")
FOREIGN = {"probe_success": {"job", "instance"}}
"""What the blackbox exporter adds, as the head of the alert rules says."""


def list_metrics() -> dict[str, set[str]]:
    """The names that Prometheus stores, with their labels, from the pages that list all metrics."""
    known: dict[str, set[str]] = dict(FOREIGN)
    for page in PAGES:
        for row in _ROW.finditer(page.read_text()):
            labels = set(re.findall(r"`(\w+)`", row["labels"]))
            if row["kind"] == "histogram":
                known |= {f"{row['name']}{suffix}": labels | {"le"} for suffix in _OF_HISTOGRAMS}
            else:
                known[row["name"]] = labels
    return known


def list_expressions() -> Iterator[tuple[str, str]]:
    """Every PromQL expression of the two files, with where it stands."""
    for group in yaml.safe_load(ALERTS.read_text())["groups"]:
        for rule in group["rules"]:
            yield rule["alert"], rule["expr"]
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"].replace("$__rate_interval", "5m")


def walk(node: Any) -> Iterator[Any]:
    """The expression and all of its parts."""
    yield node
    for name in ("expr", "lhs", "rhs", "vs", "vector_selector", "param"):
        part = getattr(node, name, None)
        if isinstance(part, promql_parser.Expr | promql_parser.VectorSelector):
            yield from walk(part)
    for part in getattr(node, "args", ()) or ():
        yield from walk(part)


@pytest.mark.parametrize(("place", "expression"), list(list_expressions()))
def test_an_expression_parses_and_asks_for_what_exists(place: str, expression: str) -> None:
    known = list_metrics()
    selectors = [
        each
        for each in walk(promql_parser.parse(expression))
        if isinstance(each, promql_parser.VectorSelector)
    ]

    assert selectors, place
    for each in selectors:
        assert each.name in known, f"{place}: no metric is called {each.name}"
        asked = {matcher.name for matcher in each.matchers.matchers}
        assert asked <= known[each.name], f"{place}: {each.name} has no label {asked - known[each.name]}"


def test_labels_to_group_by_and_to_show_exist() -> None:
    labels = {label for each in list_metrics().values() for label in each}
    text = ALERTS.read_text() + DASHBOARD.read_text()
    grouped = {name.strip() for found in re.findall(r"by \(([^)]*)\)", text) for name in found.split(",")}
    shown = set(re.findall(r"\{\{ ?\$labels\.(\w+) ?\}\}", text)) | set(re.findall(r"\{\{(\w+)\}\}", text))

    assert grouped <= labels
    assert shown <= labels


def test_every_alert_is_explained_in_the_guide() -> None:
    guide = OPERATING.read_text()

    assert [
        name for name in re.findall(r"alert: (\w+)", ALERTS.read_text()) if f"`{name}`" not in guide
    ] == []
