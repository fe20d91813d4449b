"""The one script in a clean room: an empty folder, a bare PATH, an environment that knows nothing."""

import json
import os
import urllib.request

import pytest

from tests.house.clean_room import CHECKOUT, CleanRoom, clean_room, find_system_python

OFFLINE = {"UV_OFFLINE": "1", "PIP_NO_INDEX": "1", "npm_config_offline": "true"}


@pytest.mark.slow
@pytest.mark.clean_room
@pytest.mark.timeout(600)
def test_a_fresh_clone_installs_itself_and_a_second_start_needs_no_network() -> None:
    """A bare PATH holds no uv and no Node: both come from the package index, pinned by hash."""
    with clean_room() as room:
        first = room.run("build-web")

        assert first.returncode == 0, first.stderr
        assert "fetching uv" in first.stderr
        assert "fetching Node" in first.stderr
        assert (room.clone / "web" / "dist" / "index.html").exists()
        assert room.run("build-web", extra=OFFLINE).returncode == 0
        second = room.run("version", extra=OFFLINE)
        assert (second.returncode, second.stdout.strip(), second.stderr) == (0, "0.1.0", "")


@pytest.mark.slow
@pytest.mark.clean_room
@pytest.mark.timeout(1_500)
def test_an_ordinary_user_with_an_empty_home_starts_fills_tests_and_stops_it() -> None:
    """The README's commands, by somebody who is not root and has never run anything here."""
    if os.geteuid() == 0 and find_system_python() is None:
        pytest.skip("not applicable: root's Python is the only one here, and others may not run it")
    with clean_room(as_ordinary_user=True) as room:
        _succeed(room, "up", "--detach")
        try:
            _succeed(room, "demo")
            status = json.loads(_succeed(room, "status", "--json"))
            with urllib.request.urlopen(f"{status['address']}/readyz") as answer:  # noqa: S310 - our own address
                assert answer.status == 200
        finally:
            _succeed(room, "down")
        _succeed(room, "test", "fast", timeout_s=900)


def test_an_old_python_is_told_which_one_is_needed() -> None:
    source = (CHECKOUT / "tintype").read_text()

    compile(source, "tintype", "exec", dont_inherit=True)
    assert "3, 11" in source
    assert "Tintype needs Python 3.11 or newer" in source


def test_locks_carry_hashes_and_no_addresses() -> None:
    for lock in (CHECKOUT / "requirements").glob("*.lock"):
        text = lock.read_text()
        assert "--hash=sha256:" in text
        assert "://" not in text
    npm = (CHECKOUT / "web" / "package-lock.json").read_text()
    assert '"integrity"' in npm
    assert '"resolved"' not in npm


def _succeed(room: CleanRoom, *words: str, timeout_s: int = 500) -> str:
    done = room.run(*words, path=os.environ["PATH"], timeout_s=timeout_s)
    output = done.stdout + done.stderr
    failures = output.partition("= FAILURES =")[2][:5000]
    shown = "\n".join(line[:400] for line in output.splitlines() if line.startswith(("FAILED", "ERROR")))
    assert done.returncode == 0, f"{' '.join(words)}:\n{failures}\n{output[-3000:]}\n{shown}"
    return done.stdout
