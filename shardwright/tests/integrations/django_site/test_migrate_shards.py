"""`manage.py migrate_shards` and `add_shards`."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection, connections
from django.test.utils import override_settings
from site_cluster import Site, move_shard

from shardwright.django import ShardMoved, all_shards
from shardwright.django.shard_migrations import migrate_shard
from shardwright.migrations import LOCK_CLASS, MigratorOptions
from shardwright.topology import open_connection

pytestmark = pytest.mark.slow  # the first of them migrates sixteen shards

TABLES = {
    "django_migrations",
    "photos_author",
    "photos_comment",
    "photos_photo",
    "photos_photo_tags",
    "photos_tag",
}


def run(name: str, *args: Any, **options: Any) -> str:
    out = StringIO()
    call_command(name, *args, stdout=out, no_color=True, **options)
    return out.getvalue()


def execute(alias: str, sql: str) -> list[tuple[Any, ...]]:
    with connections[alias].cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall() if cursor.description else []


def tables(alias: str) -> set[str]:
    return {
        name for (name,) in execute(alias, f"SELECT tablename FROM pg_tables WHERE schemaname = '{alias}'")
    }


def test_every_shard_has_the_tables_and_the_default_database_has_none(site: Site) -> None:
    for alias in all_shards():
        assert tables(alias) == TABLES
        assert ("photos", "0002_photo_likes") in execute(
            alias, f"SELECT app, name FROM {alias}.django_migrations"
        )
        assert execute(alias, "SELECT name FROM photos_tag WHERE name = 'new'") == [("new",)]
    assert not [name for name in connection.introspection.table_names() if name.startswith("photos_")]
    assert "auth_user" in connection.introspection.table_names()


def test_every_table_is_guarded_and_every_key_is_an_id_of_the_shard(site: Site) -> None:
    for alias in (all_shards()[0], all_shards()[-1]):
        guarded = execute(
            alias,
            "SELECT relname FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid "
            f"WHERE tgname = 'shardwright_guard' AND relnamespace = '{alias}'::regnamespace",
        )
        assert {name for (name,) in guarded} == TABLES
        keys = execute(
            alias,
            "SELECT table_name, data_type, column_default FROM information_schema.columns "
            f"WHERE table_schema = '{alias}' AND column_name = 'id'",
        )
        assert {(kind, default.removeprefix(f"{alias}.")) for _, kind, default in keys} == {
            ("bigint", "next_id()")
        }


def test_the_models_are_what_the_migrations_made(site: Site) -> None:
    run("makemigrations", "--check", "--dry-run")
    assert "Every shard has every migration." in run("migrate_shards", "--check")


def test_a_second_run_changes_nothing(site: Site) -> None:
    out = run("migrate_shards")

    assert "16 shards have every migration." in out
    assert "applied" not in out


def test_the_plan_is_shown_and_nothing_is_changed(use_new_site: Site) -> None:
    out = run("migrate_shards", "--plan", "--shard", "1")

    assert out == "s0001: photos.0001_initial, photos.0002_photo_likes\n"
    assert tables("s0001") == set()
    with pytest.raises(CommandError, match="4 of 4 shards lack migrations"):
        run("migrate_shards", "--check")


def test_a_failure_stops_the_rollout_and_the_next_run_continues(use_new_site: Site) -> None:
    execute("s0002", "CREATE TABLE photos_tag (id bigint PRIMARY KEY)")  # in the way of the first migration
    with pytest.raises(CommandError, match=r"1 failed") as failed:
        run("migrate_shards", "--per-server", "1")
    assert 's0002 on a: relation "photos_tag" already exists' in str(failed.value)
    assert tables("s0002") == {"photos_tag", "django_migrations"}
    assert tables("s0000") == TABLES
    with pytest.raises(CommandError, match="3 finished, 1 failed, 0 not started"):
        run("migrate_shards", "--keep-going")
    execute("s0002", "DROP TABLE photos_tag")

    out = run("migrate_shards")
    assert "s0002 on a: applied photos.0001_initial" in out
    assert "s0001 on b: applied" not in out
    assert [tables(alias) for alias in all_shards()] == [TABLES] * 4


MIGRATE = """
import sys
sys.path.insert(0, sys.argv[1])
import conftest
site = conftest.Site({"a": sys.argv[2]}, None)
conftest.configure(site.directory_dsn, site.setting())
conftest.call_command("migrate_shards")
"""


def test_a_killed_run_is_continued_by_the_next(use_new_site: Site) -> None:
    with psycopg.connect(use_new_site.dsns["a"]) as other:
        other.execute(f"SELECT pg_advisory_lock({LOCK_CLASS}, 2)")
        other.commit()
        with subprocess.Popen(
            [sys.executable, "-u", "-c", MIGRATE, Path(__file__).parent, use_new_site.directory_dsn],
            stdout=subprocess.PIPE,
            text=True,
        ) as migrator:
            assert migrator.stdout is not None
            seen = ""
            while not ("3/4" in seen and "s0002 on a: waited" in seen):
                line = migrator.stdout.readline()
                assert line, seen
                seen += line
            migrator.kill()
    assert [len(tables(alias)) for alias in all_shards()] == [len(TABLES)] * 2 + [0, len(TABLES)]

    out = run("migrate_shards")
    assert "s0002 on a: applied photos.0001_initial" in out
    assert out.count("applied") == 2
    assert [tables(alias) for alias in all_shards()] == [TABLES] * 4


async def hold(site: Site, sql: str, work: Callable[[], str]) -> str:
    """Run the work while another session on server a holds locks; they are let go once the work waits."""
    conn = await open_connection(site.dsns["a"], "a")
    transaction = conn.transaction()
    await transaction.start()
    await conn.execute(sql)
    task = asyncio.create_task(asyncio.to_thread(work))
    while not task.done():
        await asyncio.sleep(0.3)
        if not conn.is_closed():
            await transaction.rollback()
            await conn.close()
    return await task


def test_a_locked_table_is_waited_for_briefly_and_tried_again(use_new_site: Site) -> None:
    call_command("migrate_shards", verbosity=0)
    execute("s0000", "DELETE FROM django_migrations WHERE name = '0002_photo_likes'")
    execute("s0000", "DROP INDEX photos_by_likes; ALTER TABLE photos_photo DROP COLUMN likes")

    def migrate() -> str:
        try:
            return run("migrate_shards", "--lock-timeout-ms", "20")
        finally:
            connections.close_all()

    out = asyncio.run(hold(use_new_site, "LOCK TABLE s0000.photos_photo", migrate))
    assert "s0000 on a: waited canceling statement due to lock timeout" in out
    assert "s0000 on a: applied photos.0002_photo_likes" in out


def test_two_migrators_take_turns(use_new_site: Site) -> None:
    out = asyncio.run(
        hold(
            use_new_site,
            f"SELECT pg_advisory_xact_lock({LOCK_CLASS}, 0)",
            lambda: run("migrate_shards", "--shard", "0"),
        )
    )

    assert "s0000 on a: waited another migrator is working on it" in out
    assert tables("s0000") == TABLES


def test_the_old_copy_of_a_moved_shard_is_not_migrated(use_new_site: Site) -> None:
    call_command("migrate_shards", verbosity=0)
    source = connections["s0003"].server.name
    execute("s0003", "DELETE FROM django_migrations WHERE name = '0002_photo_likes'")
    execute("s0003", "DROP INDEX photos_by_likes; ALTER TABLE photos_photo DROP COLUMN likes")
    asyncio.run(move_shard(use_new_site, 3))

    with pytest.raises(ShardMoved):  # with the old map, which the command would have loaded again
        migrate_shard(3, MigratorOptions(), lambda _what, _detail: None)
    with psycopg.connect(use_new_site.dsns[source]) as conn, pytest.raises(psycopg.errors.UndefinedColumn):
        conn.execute("SELECT likes FROM s0003.photos_photo")


def test_new_shards_are_migrated_before_anybody_sees_them(use_new_site: Site) -> None:
    call_command("migrate_shards", verbosity=0)

    assert "There are 6 shards." in run("add_shards", "2")
    assert "There are 6 shards." in run("add_shards", total=6)
    assert all_shards()[-1] == "s0005"
    assert tables("s0005") == TABLES
    assert use_new_site.models.Author.objects.using("s0005").create(username="new").pk


@pytest.mark.parametrize(
    ("setting", "args", "reason"),
    [
        ({"APPS": []}, [], "no app lives on shards"),
        ({}, ["--shard", "99"], "not in the map: s0099"),
        ({"DIRECTORY": "postgresql://nobody@127.0.0.1:1/x"}, [], "the directory does not answer"),
    ],
)
def test_what_cannot_work_is_explained(new_site: Site, setting: Any, args: list[str], reason: str) -> None:
    with (
        override_settings(SHARDWRIGHT=new_site.setting() | setting),
        pytest.raises(CommandError, match=reason),
    ):
        run("migrate_shards", *args)
