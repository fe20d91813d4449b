"""A real S3 for tests: SeaweedFS, from its wheel, started once and killed at the end."""

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tintype.media.uploads.presign import Presigner

ACCESS_KEY, SECRET_KEY, BUCKET = "tintype", "not a secret in tests", "media"
PORTS = ("master", "volume", "filer", "s3")
PATIENCE_S = 60


@dataclass(frozen=True)
class S3:
    """Where it listens, as settings."""

    endpoint: str

    def settings(self, prefix: str) -> dict[str, str]:
        """Settings that keep media there."""
        return {
            "media_store": f"s3://{BUCKET}/{prefix}",
            "media_s3_endpoint": self.endpoint,
            "media_s3_access_key": ACCESS_KEY,
            "media_s3_secret_key": SECRET_KEY,
        }


def find_weed() -> str | None:
    return shutil.which("weed") or shutil.which("weed", path=str(Path(sys.executable).parent))


@contextmanager
def run_s3(weed: str, folder: Path) -> Generator[S3]:
    """SeaweedFS in a folder of its own."""
    keys = [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}]
    identity = {"name": "tests", "credentials": keys, "actions": ["Admin", "Read", "Write", "List"]}
    (folder / "s3.json").write_text(json.dumps({"identities": [identity]}))
    (folder / "data").mkdir()
    ports = {f"{name}.port{kind}": _free_port() for name in PORTS for kind in ("", ".grpc")}
    command = [
        *(weed, "server", f"-dir={folder / 'data'}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-s3"),
        *(f"-s3.config={folder / 's3.json'}", "-s3.iam=false", "-s3.port.iceberg=0", "-s3.port.lance=0"),
        *("-volume.max=20", "-master.volumeSizeLimitMB=64"),
        *(f"-{name}={number}" for name, number in ports.items()),
    ]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        endpoint = f"http://127.0.0.1:{ports['s3.port']}"
        _make_bucket(endpoint)
        yield S3(endpoint)
    finally:
        process.kill()
        process.wait()


def _make_bucket(endpoint: str) -> None:
    signer = Presigner(
        endpoint=endpoint,
        bucket=BUCKET,
        prefix="",
        region="us-east-1",
        access_key=ACCESS_KEY,
        secret_key=SECRET_KEY,
    )
    deadline = time.monotonic() + PATIENCE_S
    while True:
        asked = signer.put("", size_bytes=0, content_type="application/xml")
        try:
            if httpx.put(asked.url, headers=asked.headers, content=b"").is_success:
                return
        except httpx.HTTPError:
            pass  # it is still starting
        assert time.monotonic() < deadline, "SeaweedFS did not start"
        time.sleep(0.2)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
