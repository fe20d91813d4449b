"""A supervisor to be killed: runs a stack with stand-ins until it is asked to stop.

`supervise.py HOME ROLE…`, each role being one of `standin.py`, prints the connections when all is ready.
"""

# ruff: noqa: T201 - it speaks through its output

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from tintype.stack import Connections, Plan, Program, Stack, Stage, run_until_asked
from tintype.stack.applications import check_http

STANDIN = str(Path(__file__).with_name("standin.py"))


def programs(roles: Sequence[str], connections: Connections) -> list[Program]:
    made = [
        Program(name=role, command=(sys.executable, STANDIN, role), stage=Stage.WORKER, grace_s=1.0)
        for role in roles
        if role != "web"
    ]
    if "web" in roles:
        port = connections.http_port
        made.append(
            Program(
                name="web",
                command=(sys.executable, STANDIN, "web"),
                stage=Stage.WEB,
                ready=lambda: check_http("127.0.0.1", port, "/healthz"),
                port=port,
            )
        )
    return made


def show(connections: Connections) -> None:
    print(json.dumps(dict(connections.environment())), flush=True)


if __name__ == "__main__":
    plan = Plan(home=Path(sys.argv[1]), durable=False, http_port=0, mqtt_port=0, mqtt_ws_port=0)
    stack = Stack.following(plan, applications=lambda found: programs(sys.argv[2:], found))
    asyncio.run(run_until_asked(stack, show))
