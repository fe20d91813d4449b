"""A supervisor for tests that kill it: runs a stack with fake programs until it is signalled to stop.

`run_supervisor.py HOME ROLE…`, each role being one of `fake_program.py`, or `replica` for one more replica of the
server, prints the connections when all is ready.
"""

# ruff: noqa: T201 - its output is its interface

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from tintype.stack import Connections, Program, Stack, StackPlan, Stage, run_until_stopped
from tintype.stack.applications import check_http

FAKE_PROGRAM = str(Path(__file__).with_name("fake_program.py"))


def programs(roles: Sequence[str], connections: Connections) -> list[Program]:
    made = [
        Program(name=role, command=(sys.executable, FAKE_PROGRAM, role), stage=Stage.WORKER, grace_s=1.0)
        for role in roles
        if role not in {"web", "replica"}
    ]
    if "web" in roles:
        port = connections.http_port
        made.append(
            Program(
                name="web",
                command=(sys.executable, FAKE_PROGRAM, "web"),
                stage=Stage.WEB,
                ready=lambda: check_http("127.0.0.1", port, "/healthz"),
                port=port,
            )
        )
    return made


def show(connections: Connections) -> None:
    print(json.dumps(dict(connections.environment())), flush=True)


if __name__ == "__main__":
    replicas = sys.argv[2:].count("replica")
    plan = StackPlan(home=Path(sys.argv[1]), durable=False, http_port=0, replica_count=replicas)
    stack = Stack.from_plan(plan, applications=lambda found: programs(sys.argv[2:], found))
    asyncio.run(run_until_stopped(stack, show))
