"""Rules for both test suites, ours and shardwright's: in CI nothing is skipped silently."""

import os
from collections.abc import Generator

import pytest

FAILS_WHEN_SKIPPED = os.environ.get("CI") == "true" and os.geteuid() == 0
"""As root, `.ci/run` installs everything that a test may need: a skip there means that a proof was lost."""
NOT_APPLICABLE = "not applicable: "
"""How a reason begins that no installation could mend, such as a kernel without a feature."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure where everything that tests need should have been installed."""
    report = yield
    if FAILS_WHEN_SKIPPED and report.skipped and not hasattr(report, "wasxfail"):
        reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)
        if NOT_APPLICABLE not in reason:
            report.outcome = "failed"
            report.longrepr = f"Skipped in CI, where nothing may be missing. {reason}"
    return report
