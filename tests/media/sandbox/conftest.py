"""A fork server that has loaded the jobs of these tests, with the sandbox's own defaults."""

import inspect
from collections.abc import Iterator

import pytest

from tests.media.sandbox import escape_attempts, misbehaving_jobs
from tests.media.sandbox.run_jobs import TINY, configured_sandbox
from tintype.media.sandbox import JOBS, SandboxJob, SandboxOptions


@pytest.fixture(scope="module", autouse=True)
def fork_server() -> Iterator[None]:
    """A new one, whatever the rooms of this test process configured for theirs."""
    with configured_sandbox(SandboxOptions()):
        yield


@pytest.fixture(autouse=True)
def jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (misbehaving_jobs, escape_attempts):
        for name, job in vars(module).items():
            if not name.startswith("_") and inspect.isfunction(job) and job.__module__ == module.__name__:
                monkeypatch.setitem(JOBS, name, SandboxJob(f"{module.__name__}:{name}", TINY, at_once=4))
