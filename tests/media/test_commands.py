"""`tintype media` on the engines of the tests."""

import asyncio
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.media.conftest import Furnish, visiting
from tests.media.files import storage_of
from tintype.cli.entry import build_app
from tintype.media import sweeping


async def media(*words: str) -> Result:
    """Run the command in a thread: it has an event loop of its own."""
    return await asyncio.to_thread(CliRunner().invoke, build_app(["media"]), ["media", *words])


@pytest.fixture(autouse=True)
def named_engines(furnish: Furnish, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = furnish().settings
    monkeypatch.setenv("TINTYPE_CONFIG", str(tmp_path / "none.toml"))
    for name in ("home", "redis", "namespace", "media_store", "media_work", "secret_key", "shard_count"):
        monkeypatch.setenv(f"TINTYPE_{name.upper()}", str(getattr(settings, name)))
    monkeypatch.setenv("TINTYPE_POSTGRES", json.dumps(settings.postgres))
    monkeypatch.setenv("TINTYPE_NATS", json.dumps(settings.nats))


async def test_sweep_reports_first_and_fixes_when_told(
    furnish: Furnish, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = furnish()
    monkeypatch.setattr(sweeping, "SETTLED", sweeping.timedelta(seconds=-5))
    async with visiting(house, "eve") as eve:
        await eve.publish()
    clean = await media("sweep", "--json")
    await storage_of(house).put("12345/1-BBBBBBBBBBBBBBBB/1080.jpg", b"x")
    found = await media("sweep")
    fixed = await media("sweep", "--fix", "--json")
    after = await media("sweep", "--json")

    assert (clean.exit_code, found.exit_code, fixed.exit_code, after.exit_code) == (0, 1, 0, 0)
    assert "folders without a row" in found.stdout
    assert "12345/1-BBBBBBBBBBBBBBBB" in found.stdout
    assert json.loads(fixed.stdout)["counts"]["orphans"] == 1
    assert json.loads(after.stdout)["counts"]["orphans"] == 0


async def test_tiers_says_what_it_moved(
    furnish: Furnish, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with visiting(furnish(), "eve") as eve:
        await eve.upload()
    monkeypatch.setenv("TINTYPE_MEDIA_STORE_COLD", str(tmp_path / "cold"))
    monkeypatch.setenv("TINTYPE_MEDIA_WARM_AFTER_DAYS", "0")
    monkeypatch.setenv("TINTYPE_MEDIA_COLD_AFTER_DAYS", "0")

    moved = await media("tiers", "--json")
    again = await media("tiers")

    assert json.loads(moved.stdout)["to_cold"] == 1
    assert "Looked at 1: 0 to hot, 0 to warm, 0 to cold" in " ".join(again.stdout.split())
    assert list((tmp_path / "cold").rglob("1080.jpg"))
