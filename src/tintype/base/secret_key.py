"""The secret key of an installation: generated at the first start, readable by the file's owner only."""

import os
import secrets
from pathlib import Path

from tintype.base.settings import Settings

OWNER_ONLY = 0o600


def secret_key(settings: Settings) -> bytes:
    """The key that signs cursors and links: the setting, or one generated once and stored in the data directory."""
    if settings.secret_key:
        return settings.secret_key.encode()
    return read_or_create(settings.home / "secrets" / "key")


def read_or_create(path: Path) -> bytes:
    """The secret stored at `path`, generated if it is missing; processes that do so at once agree on one."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
    if not path.exists():
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, OWNER_ONLY)
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_urlsafe(32))
        try:
            os.link(draft, path)  # link refuses to overwrite: the first writer wins
        except FileExistsError:
            pass  # another process was faster: its secret counts
        finally:
            draft.unlink()
    return path.read_text().strip().encode()
