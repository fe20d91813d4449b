"""Shows capacity plans: a row for each need and a column for each size, and the walls with what to do."""

from collections.abc import Callable, Sequence

from rich import box
from rich.table import Table

from tintype.capacity import Plan, Wall

_UNITS = ((10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "k"))
_TB_UNITS = ((1e6, "EB"), (1e3, "PB"), (1.0, "TB"), (1e-3, "GB"), (1e-6, "MB"))
_ROWS: dict[str, Callable[[Plan], str]] = {
    "people a day": lambda plan: count(plan.daily),
    "live connections at the peak": lambda plan: count(plan.live_connections),
    "feed reads/s": lambda plan: count(plan.rates["read"] + plan.rates["read_news"]),
    "other reads/s": lambda plan: count(plan.rates["page"]),
    "files/s through Python": lambda plan: count(plan.rates["file"]),
    "writes/s": lambda plan: count(plan.writes_per_s),
    "events/s": lambda plan: count(plan.events_per_s),
    "cores: web": lambda plan: count(plan.cores["web"]),
    "cores: worker": lambda plan: count(plan.cores["worker"]),
    "cores: PostgreSQL": lambda plan: count(plan.cores["postgres"]),
    "cores: Redis": lambda plan: count(plan.cores["redis"]),
    "cores: NATS": lambda plan: count(plan.cores["nats"]),
    "processes: web, worker": lambda plan: f"{count(plan.web_processes)}, {count(plan.worker_processes)}",
    "machines": lambda plan: count(plan.machines.total),
    "of these web, worker": lambda plan: _some(plan, plan.machines.web, plan.machines.worker),
    "of these PostgreSQL, Redis, NATS": lambda plan: _some(
        plan, plan.machines.postgres, plan.machines.redis, plan.machines.nats
    ),
    "of these standbys": lambda plan: _some(plan, plan.machines.standbys),
    "logical shards": lambda plan: f"{plan.shards:,}",
    "backends a PostgreSQL server": lambda plan: count(plan.connections_per_server),
    "Redis memory": lambda plan: size(plan.redis_gb / 1_000),
    "rows": lambda plan: size(plan.storage.rows_tb),
    "files a year": lambda plan: size(plan.storage.files_tb_a_year),
    "files hot, warm, cold": lambda plan: ", ".join(
        size(each) for each in (plan.storage.hot_tb, plan.storage.warm_tb, plan.storage.cold_tb)
    ),
    "egress, of it past the cache": lambda plan: f"{_bits(plan.egress_gbit_s)}, {_bits(plan.origin_gbit_s)}",
    "walls passed": lambda plan: ", ".join(each.name for each in plan.walls if each.is_passed) or "none",
    "next wall": lambda plan: _ahead(plan.next_wall),
}


def needs_table(plans: Sequence[Plan]) -> Table:
    """The needs, a column for each plan."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("accounts")
    for plan in plans:
        table.add_column(count(plan.users), justify="right", overflow="fold")
    for name, show in _ROWS.items():
        table.add_row(name, *(show(plan) for plan in plans))
    return table


def walls_table(plan: Plan) -> Table:
    """The walls in the order in which a growing site meets them; the same for every size."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("wall", "carries", "what to do then"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "carries")
    for wall in plan.walls:
        table.add_row(wall.name, _carries(wall), wall.advice)
    return table


def markdown(plans: Sequence[Plan]) -> str:
    """Both tables, for a document."""
    head = ["accounts", *(count(plan.users) for plan in plans)]
    needs = [[name, *(show(plan) for plan in plans)] for name, show in _ROWS.items()]
    walls = [[wall.name, _carries(wall), wall.advice] for wall in plans[-1].walls]
    return (
        f"{_markdown_table(head, needs)}\n\n{_markdown_table(['wall', 'carries', 'what to do then'], walls)}"
    )


def count(number: float) -> str:
    """A number with two digits that count: 0.35, 3.6, 36, 360, 3.6 k."""
    for unit, name in _UNITS:
        if number >= unit:
            return f"{_digits(number / unit)} {name}"
    return _digits(number)


def size(terabytes: float) -> str:
    """An amount of bytes in the largest unit that leaves a number above one."""
    for unit, name in _TB_UNITS:
        if terabytes >= unit:
            return f"{_digits(terabytes / unit)} {name}"
    return "0"


def _digits(number: float) -> str:
    if number >= 10 or number == int(number):  # noqa: PLR2004 - two digits
        return f"{number:.0f}"
    return f"{number:.1f}" if number >= 1 else f"{number:.2g}"


def _bits(gbit_s: float) -> str:
    return f"{count(gbit_s * 1e9)}bit/s".replace(" B", " G")


def _some(plan: Plan, *counts: int) -> str:
    return "all in one" if plan.machines.one else ", ".join(count(each) for each in counts)


def _carries(wall: Wall) -> str:
    return f"{count(wall.users)} accounts"


def _ahead(wall: Wall | None) -> str:
    return f"{wall.name}, at {count(wall.users)}" if wall else "none"


def _markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [
        head,
        ["---", *["---:" for _ in head[1:]]] if head[0] == "accounts" else ["---"] * len(head),
        *rows,
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
