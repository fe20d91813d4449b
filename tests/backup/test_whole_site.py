"""A site on two PostgreSQL servers, backed up while people write, and restored elsewhere."""

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest
from httpx import AsyncClient

from tests.backup.restored_rows import Rows, read_files, read_keys, read_rows
from tests.living_stack import LivingStack, open_living_stack
from tests.support import Person, eventually, join, photo
from tintype.backup import BackupDamaged, Backups, Manifest, NotEmpty, open_place, restore
from tintype.backup.vault import Vault
from tintype.base.settings import Settings
from tintype.stack import Connections, Stack
from tintype.wiring import open_rooms

pytestmark = pytest.mark.slow
PASSPHRASE = "correct horse battery staple"
KEPT = {
    "accounts": "id",
    "posts": "id",
    "media": "id",
    "likes": "post_id, account_id",
    "following": "account_id, followee_id",
}
"""Tables from which the writer of this test deletes nothing, and their keys."""
CAUSES = {
    "own_likes": ("account_id, post_id", "likes", "account_id, post_id"),
    "followers": ("follower_id, account_id", "following", "account_id, followee_id"),
}
"""Effects on another person's shard, and the rows that they follow from."""


def ignore(_what: str, _done: int, _total: int) -> None:
    """No progress is shown."""


@dataclass
class Site:
    """The running site, its people, and the backups that were made of it."""

    stack: LivingStack
    people: list[Person]
    place: Path
    before: dict[str, set[tuple[int, ...]]] = field(default_factory=dict[str, set[tuple[int, ...]]])
    """What was there when the first backup began."""

    @property
    def settings(self) -> Settings:
        """Settings that reach its servers."""
        found = msgspec.json.decode((self.stack.home / "secrets" / "addresses.json").read_bytes())
        return Settings(
            home=self.stack.home,
            shard_count=8,
            log_level="error",
            postgres=tuple(found["postgres"]),
            postgres_migrator=tuple(found["postgres_migrator"]),
            postgres_admin=tuple(found["postgres_admin"]),
            redis=found["redis"],
            nats=tuple(found["nats"]),
        )

    async def vault(self) -> Vault:
        """The place of its backups."""
        return await open_place(self.settings, str(self.place), PASSPHRASE)

    async def command(self, *words: str) -> tuple[int, str]:
        """Run `tintype …` on it."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tintype",
            *words,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={
                **os.environ,
                "TINTYPE_HOME": str(self.stack.home),
                "TINTYPE_SHARD_COUNT": "8",
                "TINTYPE_CONFIG": str(self.stack.home.parent / "none.toml"),
                "TINTYPE_BACKUP_TO": str(self.place),
            },
        )
        output, _ = await process.communicate()
        return process.returncode or 0, output.decode()

    async def write(self, number: int) -> None:
        """One post, seen, liked and followed by others, on shards of both servers."""
        author, reader = self.people[number % len(self.people)], self.people[(number + 1) % len(self.people)]
        post = await author.publish(f"number {number}")
        for path in (f"/posts/{post['post_id']}/like", f"/accounts/{author.account_id}/follow"):
            assert (await reader.call("PUT", path)).is_success

    async def write_on(self) -> None:
        """Write until cancelled."""
        number = 100
        while True:
            await self.write(number)
            number += 1

    async def wait_quiet(self) -> None:
        """Wait until whatever follows from events has been written."""
        seen: list[Rows] = []

        async def is_quiet() -> bool:
            seen.append(await read_rows(self.stack.dsns()))
            return len(seen) > 1 and seen[-1] == seen[-2]

        await eventually(is_quiet, what="all events are handled")


@pytest.fixture(scope="module")
async def site() -> AsyncIterator[Site]:
    """A site with posts, media, likes and follows, of which an encrypted backup was made while people wrote."""
    async with open_living_stack(posts_per_day="100000", rate_limits="all=off") as stack:
        place = stack.home.parent / "backups"
        async with AsyncClient(base_url=stack.address, timeout=60) as client:
            people = [await join(client, name) for name in ("ana", "bo", "cy", "di")]
            site = Site(stack, people, place)
            for number in range(4):
                await site.write(number)
            site.before = await read_keys(stack.dsns(), KEPT)
            passphrase = stack.home.parent / "passphrase"
            passphrase.write_text(PASSPHRASE + "\n")
            writing = asyncio.create_task(site.write_on())
            code, output = await site.command("backup", "--passphrase-file", str(passphrase))
            assert code == 0, output
            assert not writing.done(), "the writer met an error"
            writing.cancel()
            await asyncio.wait([writing])
            yield site


@asynccontextmanager
async def restored(site: Site, name: str, manifest: Manifest) -> AsyncGenerator[tuple[Connections, Path]]:
    """A restored copy, its engines running without the application."""
    home = site.stack.home.parent / name
    await restore(await site.vault(), Settings(home=home), ignore, backup_id=manifest.id)
    try:
        async with Stack(home, engines_only=True, durable=False) as stack:
            yield stack.connections, home
    finally:
        shutil.rmtree(home)


async def test_what_was_committed_before_a_backup_is_in_it_and_no_effect_is_without_its_cause(
    site: Site,
) -> None:
    (manifest,) = await Backups(await site.vault()).list_backups()
    async with restored(site, "first", manifest) as (connections, home):
        dsns = connections.postgres_admin
        found = await read_keys(dsns, KEPT)
        now = await read_keys(site.stack.dsns(), KEPT)
        folders = await read_keys(dsns, {"media": "folder"})
        files = await read_files(home / "media")
        effects = {
            table: (await read_keys(dsns, {table: f"{columns}"}))[table]
            - (await read_keys(dsns, {cause: of}))[cause]
            for table, (columns, cause, of) in CAUSES.items()
        }

    assert len(manifest.servers) == 2
    assert manifest.is_one_moment
    for table, before in site.before.items():
        assert before <= found[table] <= now[table], table
    assert site.before["posts"] < found["posts"]
    assert effects == {"own_likes": set(), "followers": set()}
    assert {str(folder) for (folder,) in folders["media"]} <= {path.rpartition("/")[0] for path in files}


async def test_a_restored_site_is_equal_row_by_row_and_file_by_file(site: Site) -> None:
    await site.wait_quiet()
    backups = Backups(await site.vault())
    await backups.create(site.settings, ignore)
    before = await read_files(site.stack.home / "media")
    await site.people[0].upload(photo(320, 240))
    await site.wait_quiet()
    rows = await read_rows(site.stack.dsns())
    manifest = await backups.create(site.settings, ignore)
    files = await read_files(site.stack.home / "media")
    assert await read_rows(site.stack.dsns()) == rows, "the site was not quiet"

    async with restored(site, "second", manifest) as (connections, home):
        copied = await read_rows(connections.postgres_admin)
        copied_files = await read_files(home / "media")
        copied_key = await asyncio.to_thread((home / "secrets" / "key").read_bytes)
        settings = msgspec.structs.replace(
            site.settings,
            home=home,
            postgres=connections.postgres_admin,
            postgres_migrator=(),
            postgres_admin=(),
            redis=connections.redis,
            nats=connections.nats,
        )
        async with open_rooms(settings, process="tests") as rooms:
            swept = await rooms.media.sweep()
            rebuilt = await rooms.search.rebuild(ignore)

    assert (manifest.new_files, manifest.media_files) == (len(files) - len(before), len(files))
    assert manifest.new_files > 0
    assert rows.keys() == copied.keys()
    assert {table: rows[table] - copied[table] for table in rows if rows[table] != copied[table]} == {}
    assert copied_files == files
    assert copied_key == await asyncio.to_thread((site.stack.home / "secrets" / "key").read_bytes)
    assert (swept.is_clean, swept.files) == (True, len(files))
    assert (rebuilt["people"], rebuilt["stray posts"], rebuilt["stray words"]) == (4, 0, 0)


async def test_a_flipped_byte_and_a_wrong_passphrase_are_told_and_a_restore_can_be_repeated(
    site: Site,
) -> None:
    vault = await site.vault()
    (manifest, *_) = await Backups(vault).list_backups()
    folder = site.stack.home.parent
    (folder / "wrong").write_text("not it\n")
    refused = await site.command("backups", f"--passphrase-file={folder / 'wrong'}")
    verify = ("backups", "--verify", f"--passphrase-file={folder / 'passphrase'}")
    whole = await site.command(*verify)

    with flipped(site.place / manifest.servers[1].base.name):
        damaged = await site.command(*verify)
        with pytest.raises(BackupDamaged, match="pg2/base"):
            await restore(vault, Settings(home=folder / "third"), ignore)
    await restore(vault, Settings(home=folder / "third"), ignore)

    assert (refused[0], whole[0], damaged[0]) == (1, 0, 1)
    assert "That is not the passphrase" in refused[1]
    assert "Nothing is damaged" in whole[1]
    assert "damaged: backups/" in damaged[1]
    assert sorted(each.name for each in (folder / "third").glob("postgres-*")) == ["postgres-1", "postgres-2"]
    assert not (folder / "third" / "restoring").exists()


@contextmanager
def flipped(file: Path) -> Generator[None]:
    """One bit of a file is wrong for the block."""
    content = file.read_bytes()
    wrong = bytearray(content)
    wrong[len(wrong) // 2] ^= 1
    file.write_bytes(wrong)
    yield
    file.write_bytes(content)


async def test_a_used_data_directory_and_a_used_media_store_are_refused(site: Site, tmp_path: Path) -> None:
    vault = await site.vault()
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / "photo.jpg").write_bytes(b"mine")
    elsewhere = Settings(home=site.stack.home.parent / "fourth", media_store=str(tmp_path / "media"))

    with pytest.raises(NotEmpty, match="data directory"):
        await restore(vault, site.settings, ignore)
    with pytest.raises(NotEmpty, match="media store"):
        await restore(vault, elsewhere, ignore)
    await restore(vault, elsewhere, ignore, with_media=False)

    assert [each.name for each in (tmp_path / "media").iterdir()] == ["photo.jpg"]
