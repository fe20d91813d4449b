"""Opens a place of backups, a directory or an S3 bucket, with its passphrase, and keeps two backups apart there."""

import asyncio
import contextlib
import os
import secrets
import socket
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta

import msgspec
import obstore
from obstore.store import ObjectStore

from tintype.backup.encryption import Keys, create_keys, open_keys
from tintype.backup.errors import BackupDamaged, BackupNotFound, BackupRunning, PassphraseWrong
from tintype.backup.models import FORMAT, Place
from tintype.backup.vault import Vault, translated
from tintype.base.settings import Settings
from tintype.media import open_store

PLACE_FILE = "tintype-backup.json"
LOCK_FILE = "running.json"
_BEAT_S = 60.0
_STALE = timedelta(minutes=10)


class _Lock(msgspec.Struct, frozen=True):
    """Who makes a backup here at the moment."""

    token: str
    host: str
    pid: int


async def open_place(
    settings: Settings, where: str, passphrase: str = "", *, may_create: bool = False
) -> Vault:
    """Open a place of backups; a new one is encrypted if there is a passphrase."""
    store = open_store(_with_own_s3(settings), where)
    with translated(PLACE_FILE):
        try:
            content = bytes(await (await obstore.get_async(store, PLACE_FILE)).bytes_async())
        except FileNotFoundError:
            if may_create:
                return await _create(store, passphrase)
            raise BackupNotFound("There are no backups at that place.") from None
    return Vault(store, _unlock(_decode(content), passphrase))


@contextlib.asynccontextmanager
async def alone(vault: Vault) -> AsyncGenerator[None]:
    """Keep other backups to the same place away: one could delete what the other counts on.

    Whoever is at it says so every minute. After ten minutes without a word it is gone, and its lock does not count.
    """
    await _refuse_others(vault.store)
    mine = msgspec.json.encode(_Lock(secrets.token_hex(8), socket.gethostname(), os.getpid()))
    with translated(LOCK_FILE):
        await obstore.put_async(vault.store, LOCK_FILE, mine)
        if bytes(await (await obstore.get_async(vault.store, LOCK_FILE)).bytes_async()) != mine:
            raise BackupRunning
    beat = asyncio.create_task(_beat(vault.store, mine))
    try:
        yield
    finally:
        beat.cancel()
        await asyncio.wait([beat])
        await vault.delete([LOCK_FILE])


async def _refuse_others(store: ObjectStore) -> None:
    with translated(LOCK_FILE):
        try:
            found = await obstore.get_async(store, LOCK_FILE)
            content = bytes(await found.bytes_async())
        except FileNotFoundError:
            return
    if datetime.now(UTC) - found.meta["last_modified"] < _STALE:
        holder = msgspec.json.decode(content, type=_Lock)
        raise BackupRunning(
            f"Another backup to this place is running: process {holder.pid} on {holder.host}. If that one was "
            f"killed, try again ten minutes after it, or delete {LOCK_FILE} there."
        )


async def _beat(store: ObjectStore, mine: bytes) -> None:
    while True:
        await asyncio.sleep(_BEAT_S)
        with translated(LOCK_FILE):
            await obstore.put_async(store, LOCK_FILE, mine)


async def _create(store: ObjectStore, passphrase: str) -> Vault:
    keys, encryption = create_keys(passphrase) if passphrase else (Keys(), None)
    with translated(PLACE_FILE):
        await obstore.put_async(store, PLACE_FILE, msgspec.json.encode(Place(encryption=encryption)))
    return Vault(store, keys)


def _decode(content: bytes) -> Place:
    try:
        place = msgspec.json.decode(content, type=Place)
    except msgspec.DecodeError as error:
        raise BackupDamaged(f"The backups are damaged: {PLACE_FILE} cannot be read: {error}") from error
    if place.format != FORMAT:
        raise BackupDamaged(f"The backups have format {place.format}: another release of Tintype made them.")
    return place


def _unlock(place: Place, passphrase: str) -> Keys:
    if place.encryption is None:
        if passphrase:
            raise PassphraseWrong(
                "The backups at this place are not encrypted, but a passphrase is set. Choose another place for "
                "encrypted ones, or leave out the passphrase."
            )
        return Keys()
    if not passphrase:
        raise PassphraseWrong(
            "The backups at this place are encrypted: give their passphrase with --passphrase-file, or in the "
            "setting backup_passphrase."
        )
    return open_keys(passphrase, place.encryption)


def _with_own_s3(settings: Settings) -> Settings:
    """The settings with the S3 service of the backups in the place of the media's, where one is named."""
    if not (settings.backup_s3_endpoint or settings.backup_s3_access_key):
        return settings
    return msgspec.structs.replace(
        settings,
        media_s3_endpoint=settings.backup_s3_endpoint,
        media_s3_region=settings.backup_s3_region or settings.media_s3_region,
        media_s3_access_key=settings.backup_s3_access_key,
        media_s3_secret_key=settings.backup_s3_secret_key,
    )
