"""`tintype feed`: what somebody sees at home, and why, for those who run the place."""

import asyncio
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from tintype.accounts import AccountNotFound
from tintype.base.log import set_up_log
from tintype.base.settings import Settings
from tintype.cli.running import running_settings
from tintype.ranking import Explanation
from tintype.wiring import open_rooms

feed_app = typer.Typer(help="Look at how home feeds are ordered.", no_args_is_help=True)
feed_app.callback()(lambda: None)  # with a callback, a single command keeps its name


@feed_app.command("why")
def why(
    username: Annotated[str, typer.Argument(help="Whose feed.")],
    *,
    limit: Annotated[int, typer.Option(min=1, max=50, help="How many posts.")] = 10,
) -> None:
    """Show the top of somebody's ranked feed, and of each post why it stands there.

    The weights are in one file, see "How the feed is ordered" in docs/operating.md.
    """
    settings = running_settings()
    set_up_log(msgspec.structs.replace(settings, log_level="error"), process="feed")
    try:
        told = asyncio.run(_explain(settings, username, limit))
    except AccountNotFound:
        Console(stderr=True).print(f"There is nobody called {username} here.")
        raise typer.Exit(1) from None
    _show(told)


async def _explain(settings: Settings, username: str, limit: int) -> list[Explanation]:
    async with open_rooms(settings, process="feed") as rooms:
        account = await rooms.accounts.get_by_name(username)
        page = await rooms.feed.read(account.id, mode="ranked", cursor=None, limit=limit)
        ids = [entry.id for entry in page.entries]
        told = await rooms.ranking.why(account.id, ids)
        return [told[each] for each in ids]


def _show(told: list[Explanation]) -> None:
    table = Table("post", "score", "likely", "why")
    for each in told:
        outcomes = ", ".join(f"{outcome.name} {outcome.probability:.0%}" for outcome in each.outcomes)
        table.add_row(each.post_id, f"{each.score:.3f}", outcomes, each.summary)
    Console().print(table if told else "There is nothing in this feed.")
