"""The one script in a clean room: an empty folder, a bare PATH, an environment that knows nothing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
# What package clients need to reach their index through a proxy or a mirror; nothing else of ours goes in.
LENT = ("SSL_CERT_FILE", "PIP_CERT", "PIP_INDEX_URL", "UV_INDEX_URL", "HTTPS_PROXY", "NODE_EXTRA_CA_CERTS")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The tracked files as they are now, in a folder of their own."""
    command = [shutil.which("git") or "git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.check_output(command, cwd=CHECKOUT, text=True)
    for name in listed.splitlines():
        source, target = CHECKOUT / name, tmp_path / "clone" / name
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    return tmp_path / "clone"


def run(clone: Path, *words: str, path: str, **extra: str) -> subprocess.CompletedProcess[str]:
    home = clone.parent / "user"
    home.mkdir(exist_ok=True)
    lent = {name: os.environ[name] for name in LENT if name in os.environ}
    return subprocess.run(
        [sys.executable, "./tintype", *words],
        cwd=clone,
        env={"PATH": path, "HOME": str(home), **lent, **extra},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_fresh_clone_installs_itself_and_a_second_start_needs_no_network(clone: Path) -> None:
    """A bare PATH holds no uv and no Node: both come from the package index, pinned by hash."""
    first = run(clone, "build-web", path="/nowhere")

    assert first.returncode == 0, first.stderr
    assert "fetching uv" in first.stderr
    assert "fetching Node" in first.stderr
    assert (clone / "web" / "dist" / "index.html").exists()
    offline = {"UV_OFFLINE": "1", "PIP_NO_INDEX": "1", "npm_config_offline": "true"}
    assert run(clone, "build-web", path="/nowhere", **offline).returncode == 0
    second = run(clone, "version", path="/nowhere", **offline)
    assert (second.returncode, second.stdout.strip(), second.stderr) == (0, "0.1.0", "")


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
