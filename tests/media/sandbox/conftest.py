from collections.abc import Iterator

import pytest

from tests.media.sandbox.doing import MISBEHAVING, TINY
from tintype.media.sandbox import JOBS, Job
from tintype.media.sandbox.connection import close_helper


@pytest.fixture(scope="module", autouse=True)
def helper() -> Iterator[None]:
    yield
    close_helper()


@pytest.fixture(autouse=True)
def jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "echo", "tell_surroundings", "sleep", "spin", "crash", "overrun_memory", "fill_disk", "refuse", "break_down",
        "talk_nonsense", "try_doors",
    ):  # fmt: skip
        monkeypatch.setitem(JOBS, name, Job(f"{MISBEHAVING}:{name}", TINY, at_once=4))
