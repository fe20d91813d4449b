"""A whole Tintype in a process group of its own, which a test may hurt at will."""

import asyncio
import json
import os
import shutil
import signal
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg
from httpx import AsyncClient, HTTPError

from shardwright.local import make_memory_folder
from tests.support import eventually, on_server
from tintype.stack.ports import Ports

START_PATIENCE_S = 300.0
CHECKOUT = Path(__file__).resolve().parent.parent


@dataclass
class LivingStack:
    """`tintype up` on a home and a port, started, killed and started again."""

    home: Path
    port: int
    process: asyncio.subprocess.Process | None = None
    starts: int = 0
    killed: list[str] = field(default_factory=list[str])
    settings: dict[str, str] = field(default_factory=dict[str, str])
    """More settings, as variables of the environment."""

    @property
    def address(self) -> str:
        """Where the web answers."""
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Run `up` and wait until the web says that every engine is ready."""
        self.starts += 1
        log = (self.home.parent / f"up-{self.starts}.log").open("w")
        with log:
            options = [f"--home={self.home}", f"--port={self.port}", "--servers=2"]
            self.process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "tintype",
                "up",
                *options,
                stdout=log,
                stderr=log,
                env=self._environment(),
            )
        await self.wait_ready()

    async def stop(self) -> int:
        """Ask it to end, as Ctrl-C does; returns the exit code."""
        assert self.process is not None
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGINT)
        return await self.process.wait()

    async def kill(self, name: str) -> None:
        """End a program at once; the supervisor itself is started again by us, as a person would."""
        self.killed.append(name)
        if name == "supervisor":
            assert self.process is not None
            self.process.kill()
            await self.process.wait()
            await self.start()
            return
        pid = next((pid for each, pid in self.programs() if each == name), None)
        if pid is not None:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                return  # it is already gone: the one before it took it along

    async def kill_and_wait(self, name: str) -> None:
        """End a program at once, and wait until the supervisor has ended its children and started it again."""
        before = dict(self.programs())[name]
        await self.kill(name)

        async def is_restarted() -> bool:
            return dict(self.programs()).get(name, before) != before

        await eventually(is_restarted, what=f"the supervisor has started {name} again")

    async def wait_ready(self) -> None:
        """Wait until every engine answers through the web."""
        deadline = asyncio.get_running_loop().time() + START_PATIENCE_S
        async with AsyncClient(base_url=self.address, timeout=5) as client:
            while True:
                try:
                    readiness = (await client.get("/readyz")).json()
                    if readiness["is_ready"] and not readiness["is_degraded"]:
                        return
                except (HTTPError, ValueError):
                    pass  # not listening yet, or again
                assert self.process is not None
                assert self.process.returncode is None, self.last_words()
                assert asyncio.get_running_loop().time() < deadline, self.last_words()
                await asyncio.sleep(0.1)

    def programs(self) -> Iterator[tuple[str, int]]:
        """Names and process ids of what runs, from the supervisor's notebook."""
        try:
            state: dict[str, Any] = json.loads((self.home / "run" / "state.json").read_text())
        except FileNotFoundError:
            return
        for each in state["processes"]:
            if each.get("identity") and each["name"] != "migrate":
                yield each["name"], each["identity"]["pid"]

    def dsns(self) -> list[str]:
        """The addresses of the PostgreSQL servers, as superuser."""
        return json.loads((self.home / "secrets" / "addresses.json").read_text())["postgres_admin"]

    async def rows(self, query: str) -> list[asyncpg.Record]:
        """Run a query that names its shard as {schema} on every shard; `common` ones once per server."""
        found: list[asyncpg.Record] = []
        for dsn in self.dsns():
            schemas = ["common"]
            if "{schema}" in query:
                listed = await on_server(
                    dsn, "SELECT nspname FROM pg_namespace WHERE nspname ~ '^s[0-9]{4}$'"
                )
                schemas = [str(row["nspname"]) for row in listed]
            found += await on_server(dsn, *(query.replace("{schema}", schema) for schema in schemas))
        return found

    def crashes(self) -> list[str]:
        """Requests that met something nobody had foreseen."""
        lines = (self.home / "logs" / "web.log").read_text().splitlines()
        return [line for line in lines if "request.crashed" in line]

    def last_words(self) -> str:
        """What the supervisor said last."""
        return (self.home.parent / f"up-{self.starts}.log").read_text()[-3000:]

    def _environment(self) -> dict[str, str]:
        ours = {
            "TINTYPE_SHARD_COUNT": "8",
            "TINTYPE_CONFIG": str(self.home.parent / "none.toml"),
            "TINTYPE_WEB_DIST": str(CHECKOUT / "web" / "dist"),
        }
        return {**os.environ, **ours, **self.settings}


@asynccontextmanager
async def open_living_stack(**settings: str) -> AsyncGenerator[LivingStack]:
    """One in a folder of its own, with these settings, which is gone afterwards."""
    folder = make_memory_folder("tintype-living-")
    folder.chmod(0o711)  # the account that runs the servers for root passes through
    # Not one of the kernel's: those go to outgoing connections, of which there are many before the web listens.
    ports = Ports(folder / "ports.json")
    variables = {f"TINTYPE_{name.upper()}": value for name, value in settings.items()}
    stack = LivingStack(folder / "home", ports.choose_internal("web"), settings=variables)
    ports.release()
    try:
        await stack.start()
        yield stack
    finally:
        await stack.stop()
        shutil.rmtree(folder, ignore_errors=True)
