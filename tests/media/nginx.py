"""A real nginx with the shipped configuration, in front of a web process."""

import asyncio
import os
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from httpx import AsyncClient, HTTPError

from tests.living_stack import CHECKOUT
from tests.web_process import free_port

TEMPORARY_FOLDERS = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


@asynccontextmanager
async def behind_nginx(web_port: int, folder: Path) -> AsyncGenerator[AsyncClient]:
    """A client that reaches the web process through nginx, whose cache is in this folder."""
    nginx = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin")
    if nginx is None:
        pytest.skip("nginx is not installed")
    port = free_port()
    config = _write_config(folder, web_port, port)
    process = await asyncio.create_subprocess_exec(nginx, "-c", str(config), "-e", f"{folder}/error.log")
    try:
        async with AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            await wait_for(client)
            yield client
    finally:
        process.terminate()
        await process.wait()


async def wait_for(client: AsyncClient) -> None:
    """Wait until Tintype answers through the proxy."""
    for _ in range(200):
        try:
            if (await client.get("/healthz")).status_code == 200:
                return
        except HTTPError:
            pass  # not listening yet
        await asyncio.sleep(0.1)
    pytest.fail("the proxy did not start")


def _write_config(folder: Path, web_port: int, port: int) -> Path:
    shipped = (CHECKOUT / "deploy" / "nginx.conf").read_text()
    for theirs, here in (
        ("/var/cache/nginx", str(folder)),
        ("server 127.0.0.1:8080", f"server 127.0.0.1:{web_port}"),
        ("listen 80", f"listen 127.0.0.1:{port}"),
    ):
        assert theirs in shipped
        shipped = shipped.replace(theirs, here)
    places = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in TEMPORARY_FOLDERS)
    user = "user root;" if os.getuid() == 0 else ""
    main = f"{user} daemon off; pid {folder}/pid; error_log {folder}/error.log; events {{}}"
    config = folder / "nginx.conf"
    config.write_text(f"{main} http {{ access_log off; {places} {shipped} }}")
    return config
