"""`tintype jobs`: queue lengths per event handler, and scheduled jobs."""

import asyncio
import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from tintype.base.schedule_runs import ScheduleRuns
from tintype.cli.running_stack import open_jetstream, running_settings
from tintype.wiring import open_rooms
from tintype.worker import durables_of


def jobs(
    *, as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False
) -> None:
    """Show how many events wait per handler (those of one event share a queue), and when scheduled jobs last ran."""
    found = asyncio.run(_load())
    if as_json:
        print(json.dumps(found))
        return
    handlers = Table("handler", "waiting", "under way", "delivered", title="Handlers")
    for row in found["handlers"]:
        handlers.add_row(row["handler"], str(row["waiting"]), str(row["under_way"]), str(row["delivered"]))
    schedules = Table("schedule", "last start", "last end", "error", title="Schedules")
    for row in found["schedules"]:
        schedules.add_row(row["schedule"], row["started_at"], row["ended_at"] or "", row["error"])
    Console().print(handlers, schedules)


async def _load() -> dict[str, list[dict[str, Any]]]:
    settings = running_settings()
    async with open_jetstream(settings) as (js, names), open_rooms(settings, process="cli") as rooms:
        consumers = await js.consumers_info(names.events_stream)
        served = durables_of(rooms.handlers())
        runs = await ScheduleRuns(rooms.shards).list_runs()
    return {
        "handlers": [
            {
                "handler": handler,
                "durable": each.name,
                "waiting": each.num_pending,
                "under_way": each.num_ack_pending,
                "delivered": each.delivered.consumer_seq if each.delivered else 0,
            }
            for each in consumers
            # Retries, and durables of another release, are shown by their own names.
            for handler in served.get(each.name, [each.name])
        ],
        "schedules": [
            {
                "schedule": run.name,
                "started_at": run.started_at.isoformat(),
                "ended_at": run.ended_at.isoformat() if run.ended_at else None,
                "error": run.error,
            }
            for run in runs
        ],
    }
