"""A coordinator is killed at every step of an adoption; no row is lost or doubled."""

import asyncio
import signal
import sys
from typing import Literal

import pytest
from adopt_test_site import Load, read_old, read_shards

from shardwright.adopt import Adopter, Plan, Step
from shardwright.adopt.models import COPYING, SWITCHING
from shardwright.topology import Directory

Action = Literal["start", "switch", "back", "finish", "abort", "resume"]
CASES: list[tuple[Action, Step, str]] = [
    *(("start", step, "effect") for step in COPYING),
    *(("switch", step, "effect") for step in SWITCHING),
    ("switch", Step.FENCE, "begin"),
    ("switch", Step.DRAIN, "begin"),
    *(("back", step, "effect") for step in SWITCHING),
    ("finish", Step.FINISH, "effect"),
    ("abort", Step.ABORT, "effect"),
]
_COORDINATOR = """
import asyncio, os, signal, sys
from shardwright.adopt import Adopter, AdoptOptions, propose
from shardwright.topology import Directory

directory_dsn, old, action, step, phase = sys.argv[1:]

def die(adoption, when):
    if (adoption.step, when) == (step, phase):
        os.kill(os.getpid(), signal.SIGKILL)

async def main():
    options = AdoptOptions(poll_s=0.02, max_lag_s=5.0, drain_timeout_s=60.0)
    adopter = Adopter(await Directory.open(directory_dsn), old, options=options, on_step=die)
    if action == "start":
        await adopter.start((await propose(old)).plan)
    else:
        await getattr(adopter, action)()

asyncio.run(main())
"""


async def run_and_kill(dsn: str, old: str, action: Action, step: Step, phase: str) -> None:
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _COORDINATOR, dsn, old, action, step, phase
    )
    assert await asyncio.wait_for(child.wait(), 120) == -signal.SIGKILL


@pytest.mark.slow
@pytest.mark.parametrize(("action", "step", "phase"), CASES)
async def test_a_killed_coordinator_is_resumed_and_no_row_is_lost(
    directory: Directory,
    dsns: dict[str, str],
    old: str,
    adopter: Adopter,
    plan: Plan,
    load: Load,
    action: Action,
    step: Step,
    phase: str,
) -> None:
    if action != "start":
        await adopter.start(plan)
    if action in {"back", "finish"}:
        await adopter.switch()
    await load.wait_for_writes(10)
    await run_and_kill(dsns["a"], old, action, step, phase)
    assert (await adopter.status())[0].step is step

    adoption = await adopter.resume()

    await load.wait_for_writes(20)
    await load.stop()
    if adoption.step is Step.FOLLOW:
        assert adoption.is_switched is (action == "switch")
        await adopter.resume()
        rows = await read_old(old)
        assert await read_shards(directory) == rows
        load.check(rows)
    else:
        assert adoption.step is (Step.ABORTED if action == "abort" else Step.DONE)
        load.check(await read_old(old) if action == "abort" else await read_shards(directory))
