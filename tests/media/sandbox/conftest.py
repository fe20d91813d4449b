from collections.abc import Iterator

import pytest

from tests.media.sandbox.run_jobs import MISBEHAVING, TINY
from tintype.media.sandbox import JOBS, SandboxJob
from tintype.media.sandbox.connection import close_fork_server


@pytest.fixture(scope="module", autouse=True)
def fork_server() -> Iterator[None]:
    yield
    close_fork_server()


@pytest.fixture(autouse=True)
def jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "echo", "tell_surroundings", "sleep", "spin", "crash", "overrun_memory", "fill_disk", "refuse", "break_down",
        "talk_nonsense", "try_to_escape",
    ):  # fmt: skip
        monkeypatch.setitem(JOBS, name, SandboxJob(f"{MISBEHAVING}:{name}", TINY, at_once=4))
