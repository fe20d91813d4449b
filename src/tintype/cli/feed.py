"""`tintype feed`: explains how a home feed is ranked."""

import asyncio
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from tintype.accounts import AccountNotFound
from tintype.base.log import set_up_log
from tintype.base.settings import Settings
from tintype.cli.running_stack import running_settings
from tintype.ranking import Explanation
from tintype.wiring import open_rooms

feed_app = typer.Typer(help="Explain how home feeds are ranked.", no_args_is_help=True)
feed_app.callback()(lambda: None)  # with a callback, a single command keeps its name


@feed_app.command("why")
def why(
    username: Annotated[str, typer.Argument(help="The username whose feed to explain.")],
    *,
    limit: Annotated[int, typer.Option(min=1, max=50, help="How many posts.")] = 10,
) -> None:
    """Show the top of an account's ranked feed, and why each post is ranked there.

    The weights are in one file, see "How the feed is ordered" in docs/operating.md.
    """
    settings = running_settings()
    set_up_log(msgspec.structs.replace(settings, log_level="error"), process="feed")
    try:
        explanations = asyncio.run(_explain(settings, username, limit))
    except AccountNotFound:
        Console(stderr=True).print(f"There is no account named {username}.")
        raise typer.Exit(1) from None
    _show(explanations)


async def _explain(settings: Settings, username: str, limit: int) -> list[Explanation]:
    async with open_rooms(settings, process="feed") as rooms:
        account = await rooms.accounts.get_by_name(username)
        page = await rooms.feed.read(account.id, mode="ranked", cursor=None, limit=limit)
        ids = [entry.id for entry in page.entries]
        explanations = await rooms.ranking.explain_now(account.id, ids)
        return [explanations[each] for each in ids]


def _show(explanations: list[Explanation]) -> None:
    table = Table("post", "score", "likely", "why")
    for each in explanations:
        outcomes = ", ".join(f"{outcome.name} {outcome.probability:.0%}" for outcome in each.outcomes)
        table.add_row(each.post_id, f"{each.score:.3f}", outcomes, each.summary)
    Console().print(table if explanations else "This feed is empty.")
