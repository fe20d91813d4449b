"""Draws a plan for the terminal: a bar for each server, before and after."""

from collections.abc import Callable

from rich.filesize import decimal
from rich.table import Table
from rich.text import Text

from shardwright.rebalancing.models import Plan, ServerUse

_WIDTH = 28
_FULL, _EMPTY = "█", "·"


def draw_plan(plan: Plan) -> Table:
    """A table with two lines for each server, now and then: shards, bytes and rows a second as bars and numbers.

    The tick in a bar (`|`) is the server's share by weight.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("server", "", "shards", "size", "load (rows/s)"):
        table.add_column(name, justify="right" if name == "shards" else "left", no_wrap=True)
    size = _Scale(plan, lambda use: use.size_bytes)
    load = _Scale(plan, lambda use: use.rows_per_s)
    for name, server in sorted(plan.shard_map.servers.items()):
        note = f" x {server.weight:g}" if server.weight != 1 else ""
        note += "" if server.accepts_new else " (takes no shards)"
        for when, uses in (("now", plan.before), ("then", plan.after)):
            use = uses[name]
            table.add_row(
                f"{name}{note}" if when == "now" else "",
                when,
                str(use.shards),
                size.bar(name, use) + f" {decimal(use.size_bytes)}",
                load.bar(name, use) + f" {use.rows_per_s:,.0f}",
            )
    return table


class _Scale:
    """Bars of one measure, all of one scale."""

    def __init__(self, plan: Plan, value: Callable[[ServerUse], float]) -> None:
        self._value = value
        uses = [*plan.before.values(), *plan.after.values()]
        open_servers = [each for each in plan.shard_map.servers.values() if each.accepts_new]
        weights, total = sum(each.weight for each in open_servers), sum(map(value, plan.before.values()))
        self._shares = {each.name: total * each.weight / weights for each in open_servers if weights}
        self._largest = max([*map(value, uses), *self._shares.values(), 1e-9])

    def bar(self, server: str, use: ServerUse) -> Text:
        filled = round(_WIDTH * self._value(use) / self._largest)
        cells = [_FULL] * filled + [_EMPTY] * (_WIDTH - filled)
        share = self._shares.get(server)
        if share:
            cells[min(_WIDTH - 1, round(_WIDTH * share / self._largest))] = "|"
        return Text("".join(cells))
