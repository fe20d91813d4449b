"""A real browser on the real stack."""

import asyncio
import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.living_stack import LivingStack
from tests.support import photo

CHECKOUT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium")


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")
async def test_two_people_meet_in_two_browsers(living_stack: LivingStack) -> None:
    stack = living_stack
    picture = stack.home.parent / "photo.jpg"
    picture.write_bytes(photo(1600, 1200))
    shots = os.environ.get("TINTYPE_SHOTS", str(stack.home.parent))
    script = [sys.executable, str(CHECKOUT / "develop" / "npm.py"), "exec", "--offline", "--", "node"]
    process = await asyncio.create_subprocess_exec(
        *script, "e2e/skeleton.mjs", stack.address, str(picture), shots,
        cwd=CHECKOUT / "web",
        env={**os.environ, "CHROMIUM": str(CHROMIUM)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    output, _ = await process.communicate()

    assert process.returncode == 0, output.decode()
