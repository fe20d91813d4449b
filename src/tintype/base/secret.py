"""The installation's own key, made on first start and readable by its owner alone."""

import os
import secrets
from pathlib import Path

from tintype.base.settings import Settings

OWNER_ONLY = 0o600


def secret_key(settings: Settings) -> bytes:
    """The key that signs cursors and links: the setting, or one made once and kept in home."""
    if settings.secret_key:
        return settings.secret_key.encode()
    return read_or_make(settings.home / "secrets" / "key")


def read_or_make(path: Path) -> bytes:
    """Return the secret kept at `path`; two processes that both find it missing agree on one."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
    if not path.exists():
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, OWNER_ONLY)
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_urlsafe(32))
        try:
            os.link(draft, path)  # link refuses to overwrite: the first writer wins
        except FileExistsError:
            pass  # somebody was faster; theirs is the secret
        finally:
            draft.unlink()
    return path.read_text().strip().encode()
