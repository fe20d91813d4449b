"""Runs the browser flows of `web/e2e` with the Node that `./tintype` finds."""

import asyncio
import os
import secrets
import shutil
import sys
from pathlib import Path

import pytest
from httpx import AsyncClient

from tests.living_stack import LivingStack
from tests.support import photo

CHECKOUT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium")
IN_BROWSER = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed"),
]
"""The marks of every test that runs a browser flow."""
PASSWORD = "a fine password"


async def run_flow_with_photo(
    name: str, stack: LivingStack, *arguments: str, size: tuple[int, int] = (1600, 1200)
) -> str:
    """Run a flow that takes the stack's address and a photo of this size; return its output."""
    picture = stack.home.parent / "photo.jpg"
    picture.write_bytes(photo(*size))
    return await run_flow(name, stack.address, str(picture), *arguments)


async def run_flow(name: str, *arguments: str) -> str:
    """Run a script of `web/e2e` and return its output; fail with that output if the script fails."""
    # At the IP address guests are sent to localhost, where passkeys work: the flows begin there.
    arguments = tuple(each.replace("http://127.0.0.1:", "http://localhost:") for each in arguments)
    npm = [sys.executable, str(CHECKOUT / "develop" / "npm.py"), "exec", "--offline", "--"]
    process = await asyncio.create_subprocess_exec(
        *npm, "node", f"e2e/{name}", *arguments,
        cwd=CHECKOUT / "web",
        env={**os.environ, "CHROMIUM": str(CHROMIUM)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    output, _ = await process.communicate()
    assert process.returncode == 0, output.decode()
    return output.decode()


def screenshot_folder(stack: LivingStack) -> str:
    """Return the folder for screenshots."""
    return os.environ.get("TINTYPE_SHOTS", str(stack.home.parent))


async def make_moderator(stack: LivingStack) -> str:
    """Sign up a user, give them the moderator role, and return their username."""
    username = f"mo.{secrets.token_hex(4)}"
    async with AsyncClient(base_url=stack.address, timeout=30) as client:
        response = await client.post("/api/v1/accounts", json={"username": username, "password": PASSWORD})
        assert response.status_code == 201, response.text
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tintype", "accounts", "role", username, "moderator",
        cwd=CHECKOUT,
        env={**os.environ, "TINTYPE_HOME": str(stack.home), "TINTYPE_CONFIG": str(stack.home.parent / "none.toml")},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    output, _ = await process.communicate()
    assert process.returncode == 0, output.decode()
    return username
