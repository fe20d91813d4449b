"""A copy of the checkout in an empty folder, and the one script in it, run by somebody whose home is empty."""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
# What package clients need to reach their index through a proxy or a mirror; nothing else of ours goes in.
LENT = ("SSL_CERT_FILE", "PIP_CERT", "PIP_INDEX_URL", "UV_INDEX_URL", "HTTPS_PROXY", "NODE_EXTRA_CA_CERTS")
SYSTEM_PYTHONS = "/usr/local/bin:/usr/bin:/bin"
ORDINARY_USER = "nobody"


@dataclass(frozen=True)
class CleanRoom:
    """A clone and who runs it; `user` is None for whoever runs the tests."""

    clone: Path
    home: Path
    python: str = sys.executable
    user: str | None = None

    def run(
        self,
        *words: str,
        path: str = "/nowhere",
        timeout_s: int = 500,
        extra: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run `./tintype` with these words and an environment that knows nothing."""
        lent = {name: os.environ[name] for name in LENT if name in os.environ}
        return subprocess.run(
            [self.python, "./tintype", *words],
            cwd=self.clone,
            env={"PATH": path, "HOME": str(self.home), **lent, **(extra or {})},
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            user=self.user,
            group=None if self.user is None else pwd.getpwnam(self.user).pw_gid,
            extra_groups=None if self.user is None else [],
        )


@contextmanager
def clean_room(*, as_ordinary_user: bool = False) -> Generator[CleanRoom]:
    """A clean room; as root it can belong to an ordinary user. It is gone at the end."""
    folder = Path(tempfile.mkdtemp(prefix="tintype-clean-room-"))
    folder.chmod(0o755)
    clone, home = folder / "clone", folder / "user"
    home.mkdir()
    _copy_checkout(clone)
    room = CleanRoom(clone, home)
    if as_ordinary_user and os.geteuid() == 0:
        for each in (folder, *folder.rglob("*")):
            shutil.chown(each, ORDINARY_USER)
        room = CleanRoom(clone, home, find_system_python() or sys.executable, ORDINARY_USER)
    try:
        yield room
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def find_system_python() -> str | None:
    """A Python that every user of this machine can run, new enough and able to make environments."""
    found = shutil.which("python3", path=SYSTEM_PYTHONS)
    check = "import sys, ensurepip; sys.exit(sys.version_info < (3, 11))"
    is_fit = found is not None and subprocess.run([found, "-c", check], check=False, capture_output=True)
    return found if is_fit and is_fit.returncode == 0 else None


def _copy_checkout(clone: Path) -> None:
    """The tracked files as they are now."""
    command = [shutil.which("git") or "git", "ls-files", "-co", "--exclude-standard"]
    for name in subprocess.check_output(command, cwd=CHECKOUT, text=True).splitlines():
        source, target = CHECKOUT / name, clone / name
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
