"""The small files without which a restored site is not the same: keys, passwords and settings."""

from pathlib import Path, PurePosixPath

import msgspec

from tintype.backup.errors import BackupDamaged
from tintype.backup.models import StoredObject
from tintype.backup.postgres_copy import split_password
from tintype.backup.vault import Vault
from tintype.base.settings import Settings, settings_file
from tintype.stack import DataDirectory, write_private

_ADDRESSES = "addresses.json"
"""Of the running servers: true until they stop."""
SETTINGS = "restored-settings.toml"


async def copy_secrets(settings: Settings, dsns: dict[int, str], vault: Vault, folder: str) -> StoredObject:
    """Write the secrets of the data directory, the superusers' passwords, and the settings file."""
    home = DataDirectory(settings.home)
    found = {
        f"secrets/{each.name}": each.read_bytes() for each in _files(home.secrets) if each.name != _ADDRESSES
    }
    for number, dsn in dsns.items():
        found[f"{home.postgres(number).name}/password"] = split_password(dsn)[1].encode()
    file = settings_file()
    if file.exists():
        found[SETTINGS] = file.read_bytes()
    return await vault.write_bytes(f"{folder}/secrets.json.gz", msgspec.json.encode(found))


async def restore_secrets(stored: StoredObject, vault: Vault, root: Path) -> None:
    """Write those files below a folder, readable by their owner alone."""
    found = msgspec.json.decode(await vault.read_bytes(stored), type=dict[str, bytes])
    for name, content in found.items():
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts:
            raise BackupDamaged(f"The backup is damaged: it has a file {name}.")
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_private(target, content.decode())


def _files(folder: Path) -> list[Path]:
    return sorted(each for each in folder.glob("*") if each.is_file()) if folder.is_dir() else []
