"""Processes load what they need: on a small machine, libraries that they never use are memory that others lack."""

import subprocess
import sys

import pytest

PARENT_OF_WEB = (
    "import tintype.cli.entry, tintype.cli.web, tintype.cli.running_stack, tintype.cli.http_server"
)
FORK_SERVER = (
    "import tintype.media.sandbox.fork_server, tintype.media.photos.sandbox_jobs, "
    "tintype.media.videos.sandbox_jobs"
)
APP = {"asyncpg", "redis", "nats", "litestar", "cryptography", "shardwright"}


@pytest.mark.slow
@pytest.mark.parametrize("imports", [PARENT_OF_WEB, FORK_SERVER], ids=["parent-of-web", "fork-server"])
def test_a_process_beside_the_app_does_not_load_the_app(imports: str) -> None:
    listing = f"{imports}; import sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", listing], check=True, capture_output=True, text=True)

    assert not {name.partition(".")[0] for name in loaded.stdout.split()} & APP
