"""`tintype plan`: what a site of a given size needs, from costs per operation and assumptions about people."""

import re
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console

from tintype.capacity import Assumptions, Costs, Plan, default_costs, make_plan, read_costs
from tintype.cli.plan_tables import markdown, needs_table, walls_table

_NUMBER = re.compile(r"(?P<number>[0-9][0-9_]*(\.[0-9]+)?)(?P<unit>[kMB]?)", re.ASCII)
_UNITS = {"": 1, "k": 10**3, "M": 10**6, "B": 10**9}
_MAX_USERS = 10 * 10**9
_GIVEN = Assumptions()
_PEOPLE, _MACHINES = "What people do, each on a day on which they come", "Load and machines"


def plan(
    *,
    users: Annotated[
        list[str], typer.Option("--users", help="Accounts: 10k, 1M, 2B. Again for another column.")
    ],
    daily_share: Annotated[
        float, typer.Option(help="Share of accounts that come on a day.", rich_help_panel=_PEOPLE)
    ] = _GIVEN.daily_share,
    weekly_share: Annotated[
        float, typer.Option(help="Share of accounts that come in a week.", rich_help_panel=_PEOPLE)
    ] = _GIVEN.weekly_share,
    reads: Annotated[float, typer.Option(help="Feed reads.", rich_help_panel=_PEOPLE)] = _GIVEN.reads,
    news_share: Annotated[
        float, typer.Option(help="Share of feed reads that find something new.", rich_help_panel=_PEOPLE)
    ] = _GIVEN.news_share,
    pages: Annotated[
        float, typer.Option(help="Profiles, posts, comments, searches read.", rich_help_panel=_PEOPLE)
    ] = _GIVEN.pages,
    files: Annotated[
        float, typer.Option(help="Photos that the browser does not have yet.", rich_help_panel=_PEOPLE)
    ] = _GIVEN.files,
    file_kb: Annotated[
        float, typer.Option(help="Size of one of them, in KB.", rich_help_panel=_PEOPLE)
    ] = _GIVEN.file_kb,
    likes: Annotated[float, typer.Option(help="Likes.", rich_help_panel=_PEOPLE)] = _GIVEN.likes,
    comments: Annotated[float, typer.Option(help="Comments.", rich_help_panel=_PEOPLE)] = _GIVEN.comments,
    follows: Annotated[float, typer.Option(help="Follows.", rich_help_panel=_PEOPLE)] = _GIVEN.follows,
    uploads: Annotated[
        float, typer.Option(help="Photos uploaded and posted.", rich_help_panel=_PEOPLE)
    ] = _GIVEN.uploads,
    upload_mb: Annotated[
        float, typer.Option(help="Size of an original, in MB.", rich_help_panel=_PEOPLE)
    ] = _GIVEN.upload_mb,
    followers: Annotated[
        float, typer.Option(help="Followers whom a post is pushed to.", rich_help_panel=_PEOPLE)
    ] = _GIVEN.followers,
    messages: Annotated[
        float, typer.Option(help="Direct messages sent.", rich_help_panel=_PEOPLE)
    ] = _GIVEN.messages,
    online_share: Annotated[
        float, typer.Option(help="Share of the day's people online at the peak.", rich_help_panel=_PEOPLE)
    ] = _GIVEN.online_share,
    peak: Annotated[
        float, typer.Option(help="Busiest hour over the day's average.", rich_help_panel=_MACHINES)
    ] = _GIVEN.peak,
    utilisation: Annotated[
        float, typer.Option(help="How busy a core may be at the peak.", rich_help_panel=_MACHINES)
    ] = _GIVEN.utilisation,
    edge_share: Annotated[
        float, typer.Option(help="Share of files that a cache in front answers.", rich_help_panel=_MACHINES)
    ] = _GIVEN.edge_share,
    years: Annotated[
        float, typer.Option(help="For how long rows and files pile up.", rich_help_panel=_MACHINES)
    ] = _GIVEN.years,
    cold_share: Annotated[
        float, typer.Option(help="Share of older files that nobody reads.", rich_help_panel=_MACHINES)
    ] = _GIVEN.cold_share,
    machine_cores: Annotated[
        int, typer.Option(help="Cores of a machine.", rich_help_panel=_MACHINES)
    ] = _GIVEN.machine_cores,
    machine_gb: Annotated[
        float, typer.Option(help="Memory of a machine, in GB.", rich_help_panel=_MACHINES)
    ] = _GIVEN.machine_gb,
    standbys: Annotated[
        int, typer.Option(help="Standbys of each PostgreSQL and Redis server.", rich_help_panel=_MACHINES)
    ] = _GIVEN.standbys,
    shards: Annotated[
        int, typer.Option(min=0, max=8_192, help="Logical shards of the installation that there is.")
    ] = 0,
    costs: Annotated[
        list[Path] | None,
        typer.Option(exists=True, dir_okay=False, help="Costs of your own: TOML, or what bench printed."),
    ] = None,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown, for documents.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Plan capacity: cores, machines, shards, memory, storage and traffic, and which wall comes first.

    A model, not a measurement. It multiplies what people do by what each operation costs. The costs are those of
    docs/benchmarks.md, taken on two busy cores; for your own machine run

    [bold]./tintype bench social --json > social.json[/]
    [bold]tintype plan --users 1M --costs social.json[/]
    """
    values = {name: value for name, value in locals().items() if name in Assumptions.__struct_fields__}
    given = _assumptions(values)
    plans = [make_plan(_parse_users(text), given, _read_costs(costs or []), shards=shards) for text in users]
    if as_json:
        shown = {"assumptions": given, "plans": [_as_json(each) for each in plans]}
        print(msgspec.json.encode(shown).decode())
    elif as_markdown:
        print(markdown(plans))
    else:
        Console().print(needs_table(plans))
        Console().print(walls_table(plans[-1]))


def _parse_users(text: str) -> int:
    found = _NUMBER.fullmatch(text)
    users = int(float(found["number"].replace("_", "")) * _UNITS[found["unit"]]) if found else 0
    if not 0 < users <= _MAX_USERS:
        raise typer.BadParameter(f"{text!r} is not a number of accounts such as 500, 10k, 1M or 2B")
    return users


def _assumptions(values: dict[str, Any]) -> Assumptions:
    try:
        return msgspec.convert(values, Assumptions)
    except msgspec.ValidationError as error:
        raise typer.BadParameter(str(error)) from error


def _read_costs(files: list[Path]) -> Costs:
    found = default_costs()
    for file in files:
        found = read_costs(file.read_text(), found, source=str(file))
    return found


def _as_json(each: Plan) -> dict[str, Any]:
    made: dict[str, Any] = msgspec.to_builtins(each)
    next_wall = each.next_wall
    return {**made, "machines_total": each.machines.total, "next_wall": next_wall.name if next_wall else None}
