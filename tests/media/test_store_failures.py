"""A store that is down or a disk that is full: a clear refusal, and nothing half-visible."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.media.conftest import MakeInstallation, visiting
from tests.media.support import on_its_shard, paths_in, stray_files
from tests.support import Person, photo
from tintype.wiring import Rooms

REFUSED = (503, "media_store_unavailable")
NOWHERE = {
    "media_store": "s3://media",
    "media_s3_endpoint": "http://127.0.0.1:9",
    "media_s3_access_key": "x",
    "media_s3_secret_key": "y",
}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = ["/usr/bin/mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mounted, check=False, capture_output=True).returncode:
        pytest.skip("making a small disk needs root")
    yield place
    subprocess.run(["/usr/bin/umount", "-l", str(place)], check=True)


async def media_rows(installation: Rooms, person: Person) -> int:
    rows = await on_its_shard(installation, person.account_id, "SELECT 1 FROM media WHERE account_id = {id}")
    return len(rows)


async def test_a_full_store_refuses_and_keeps_nothing(
    make_installation: MakeInstallation, small_disk: Path
) -> None:
    installation = make_installation(media_store=str(small_disk))
    (small_disk / "ballast").write_bytes(b"x" * 1_000_000)
    async with visiting(installation, "eve") as eve:
        answer = await eve.upload(photo(1600, 1200))
        (small_disk / "ballast").unlink()
        later = await eve.upload(photo(1600, 1200))

        assert (answer.status_code, answer.json()["code"]) == REFUSED
        assert later.status_code == 201
        folders = {
            path.split("/")[1] for path in await paths_in(installation) if not path.startswith("private")
        }
        assert len(folders) == 1
        assert await media_rows(installation, eve) == 1


async def test_a_full_disk_for_temporary_files_refuses_too(
    make_installation: MakeInstallation, small_disk: Path
) -> None:
    installation = make_installation(media_work=str(small_disk / "work"))
    (small_disk / "ballast").write_bytes(b"x" * 1_040_000)
    async with visiting(installation, "eve") as eve:
        answer = await eve.upload(photo(3000, 2000, kind="PNG") + b"x" * 100_000)

        assert (answer.status_code, answer.json()["code"]) == REFUSED
        assert await paths_in(installation) == []


@pytest.mark.slow
async def test_a_store_that_is_down_refuses_uploads_and_reads(make_installation: MakeInstallation) -> None:
    installation, broken = make_installation(), make_installation(**NOWHERE)
    async with visiting(installation, "eve") as eve:
        address = (await eve.upload()).json()["urls"]["1080"]
    async with visiting(broken, "mo") as mo:
        upload = await mo.upload()
        read = await mo.client.get(address)
        headers = {"Tus-Resumable": "1.0.0", "Upload-Length": "3"}
        at = (await mo.call("POST", "/media/tus", headers=headers)).headers["location"]
        headers = {
            "Tus-Resumable": "1.0.0",
            "Upload-Offset": "0",
            "Content-Type": "application/offset+octet-stream",
        }
        piece = await mo.call("PATCH", at.removeprefix("/api/v1"), headers=headers, content=b"abc")
        stands = await mo.call("HEAD", at.removeprefix("/api/v1"), headers={"Tus-Resumable": "1.0.0"})

        assert [(each.status_code, each.json()["code"]) for each in (upload, read, piece)] == [REFUSED] * 3
        assert stands.headers["upload-offset"] == "0"
        assert await media_rows(broken, mo) == 0
    assert stray_files(broken) == []
