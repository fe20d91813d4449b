"""`tintype media` as people run it, on the engines of the tests."""

import asyncio
import json
import os
import sys
import time
from pathlib import Path

import pytest

from tests.media.conftest import MakeInstallation, visiting
from tintype.wiring import Rooms

NAMED = ("home", "redis", "namespace", "media_store", "media_work", "secret_key", "shard_count")


async def media(installation: Rooms, *words: str, **more: str) -> tuple[int, str]:
    """Run the command in a process of its own; returns its exit code and what it printed."""
    settings = installation.settings
    ours = {f"TINTYPE_{name.upper()}": str(getattr(settings, name)) for name in NAMED}
    ours |= {"TINTYPE_POSTGRES": json.dumps(settings.postgres), "TINTYPE_NATS": json.dumps(settings.nats)}
    ours |= {"TINTYPE_CONFIG": "/nowhere/tintype.toml", **more}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tintype", "media", *words),
        env={**os.environ, **ours},
        stdout=asyncio.subprocess.PIPE,
    )
    printed, _ = await process.communicate()
    return process.returncode or 0, printed.decode()


@pytest.mark.slow
async def test_sweep_reports_by_default_and_fixes_with_fix(make_installation: MakeInstallation) -> None:
    installation = make_installation()
    async with visiting(installation, "eve") as eve:
        await eve.publish()
    orphan = Path(installation.settings.media_store) / "12345" / "1-BBBBBBBBBBBBBBBB" / "1080.jpg"
    orphan.parent.mkdir(parents=True)
    orphan.write_bytes(b"x")
    long_ago = time.time() - 7200
    os.utime(orphan, (long_ago, long_ago))

    found = await media(installation, "sweep")
    fixed = await media(installation, "sweep", "--fix", "--json")
    after = await media(installation, "sweep", "--json")

    assert (found[0], fixed[0], after[0]) == (1, 0, 0)
    assert "folders without a row" in found[1]
    assert json.loads(fixed[1])["names"]["orphans"] == ["12345/1-BBBBBBBBBBBBBBBB"]
    assert json.loads(after[1])["counts"]["orphans"] == 0
    assert not orphan.exists()


@pytest.mark.slow
async def test_tiers_reports_what_it_moved(make_installation: MakeInstallation, tmp_path: Path) -> None:
    installation = make_installation()
    async with visiting(installation, "eve") as eve:
        await eve.upload()
    old = {"TINTYPE_MEDIA_WARM_AFTER_DAYS": "0", "TINTYPE_MEDIA_COLD_AFTER_DAYS": "0"}

    code, printed = await media(
        installation, "tiers", "--json", TINTYPE_MEDIA_STORE_COLD=str(tmp_path / "cold"), **old
    )

    assert (code, json.loads(printed)["to_cold"]) == (0, 1)
    assert list((tmp_path / "cold").rglob("1080.jpg"))
