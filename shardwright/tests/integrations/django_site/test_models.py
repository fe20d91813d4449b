"""The models of a Django site on shards: ids, relations, queries, transactions and connections."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth import get_user_model
from django.core.signals import request_finished, request_started
from django.db import IntegrityError, connection, connections, transaction
from django.test import AsyncClient, Client
from site_cluster import Site, move_shard

from shardwright.django import (
    ShardMoved,
    ShardRouter,
    all_shards,
    current_shard,
    place_shard,
    shard_of,
    shard_of_key,
    transact,
    use_shard,
)
from shardwright.django.backend.server_connections import MAX_WRAPPERS, thread_connections
from shardwright.errors import InvalidId, ShardKeyMissing
from shardwright.ids import MAX_SHARDS, schema_name
from shardwright.psycopg import load_map

pytestmark = pytest.mark.slow  # the first of them migrates sixteen shards


def backends(aliases: list[str]) -> set[int]:
    """The backends that answer for these shards."""
    found = set[int]()
    for alias in aliases:
        with connections[alias].cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid(), current_schema()")
            pid, schema = cursor.fetchone()
            assert schema == alias
            found.add(pid)
    return found


def on_server(site: Site, name: str) -> list[str]:
    return [schema_name(number) for number in load_map(site.directory_dsn).shards_on(name)]


def test_ids_come_from_the_shard_and_lead_back_to_it(site: Site) -> None:
    for alias in all_shards():
        author = site.models.Author.objects.using(alias).create(username="ids")
        photos = site.models.Photo.objects.using(alias).bulk_create(
            site.models.Photo(author=author, caption=str(number)) for number in range(3)
        )
        photos[0].tags.add(site.models.Tag.objects.using(alias).get(name="new"))
        through = photos[0].tags.through.objects.using(alias).get()

        for each in (author, *photos, through):
            assert shard_of(each.pk) == alias
        found = site.models.Photo.objects.using(shard_of(photos[1].pk)).get(pk=photos[1].pk)
        assert (found.caption, found.author.username) == ("1", "ids")


def test_a_query_goes_to_the_shard_in_use(site: Site) -> None:
    alias = place_shard()
    with use_shard(alias):
        author = site.models.Author.objects.create(username="in use")
        assert site.models.Author.objects.get(username="in use") == author
        with use_shard(next(each for each in all_shards() if each != alias)):
            assert not site.models.Author.objects.filter(username="in use").exists()
        assert current_shard() == alias
    assert current_shard() is None
    assert author._state.db == alias == shard_of(author.pk)


def test_a_query_without_a_shard_is_refused(site: Site) -> None:
    with pytest.raises(ShardKeyMissing, match=r"photos\.Photo: \.using\(shard_of\(id\)\)"):
        site.models.Photo.objects.count()
    with pytest.raises(ShardKeyMissing):
        site.models.Author(username="nowhere").save()


def test_a_number_that_is_no_id_is_refused(site: Site) -> None:
    for unknown in (7000 << 10 | 1 << 40, 1 << 70, -1):
        with pytest.raises(InvalidId):
            shard_of(unknown)


def test_an_object_brings_its_shard(site: Site) -> None:
    alias = shard_of_key("ana")
    author = site.models.Author(username="brings")
    author.save(using=alias)
    photo = author.photos.create(caption="by the relation")
    by_object = site.models.Photo(author=author, caption="by the foreign key")
    by_object.save()
    by_id = site.models.Photo(author_id=author.pk, caption="by the foreign id")
    by_id.save()
    photo.caption = "changed"
    photo.save()
    photo.refresh_from_db()

    assert {each._state.db for each in (photo, by_object, by_id)} == {alias}
    assert author.photos.count() == 3
    assert photo.caption == "changed"
    author.delete()
    assert not site.models.Photo.objects.using(alias).filter(author_id=author.pk).exists()


def test_relations_do_not_leave_their_shard(site: Site) -> None:
    here, there = on_server(site, "a")[:2]
    author = site.models.Author.objects.using(here).create(username="stays")
    photo = site.models.Photo(caption="elsewhere")
    photo._state.db = there

    with pytest.raises(ValueError, match="the current database router prevents this relation"):
        photo.author = author
    router = ShardRouter()
    assert router.allow_relation(author, photo) is False
    assert router.allow_relation(author, author) is True
    assert router.allow_relation(author, get_user_model()()) is False
    assert router.allow_relation(get_user_model()(), get_user_model()()) is None


def test_models_of_other_apps_stay_in_the_default_database(site: Site) -> None:
    users = get_user_model().objects
    with use_shard(place_shard()):
        user = users.create(username="default")
        assert users.get(pk=user.pk)._state.db == "default"


def test_all_shards_of_a_server_share_one_connection(site: Site) -> None:
    connections.close_all()

    assert len(backends(all_shards() * 2)) == 2
    assert len(thread_connections().open) == 2


def test_a_transaction_keeps_its_connection_and_other_shards_use_another(site: Site) -> None:
    connections.close_all()
    first, second, third = on_server(site, "a")[:3]
    with transaction.atomic(using=first):
        mine = backends([first])
        site.models.Author.objects.using(first).create(username="outer")
        assert mine.isdisjoint(backends([second]))
        with transaction.atomic(using=second):
            site.models.Author.objects.using(second).create(username="inner")
            assert len(backends([first, second, third])) == 3
            transaction.set_rollback(True, using=second)
        assert backends([first]) == mine

    assert site.models.Author.objects.using(first).filter(username="outer").exists()
    assert not site.models.Author.objects.using(second).filter(username="inner").exists()
    request_finished.send(sender=None)
    assert len(backends([first, second, third] * 3)) == 1


def test_savepoints_and_commit_hooks_belong_to_their_shard(site: Site) -> None:
    first, second = on_server(site, "b")[:2]
    committed: list[str] = []
    with transaction.atomic(using=first):
        transaction.on_commit(lambda: committed.append(first), using=first)
        with pytest.raises(IntegrityError), transaction.atomic(using=first):
            site.models.Author.objects.using(first).create(username="twice")
            site.models.Author.objects.using(first).create(username="twice")
        with transaction.atomic(using=second):
            transaction.on_commit(lambda: committed.append(second), using=second)
        assert committed == [second]
        site.models.Author.objects.using(first).create(username="after the savepoint")

    assert committed == [second, first]
    names = site.models.Author.objects.using(first).values_list("username", flat=True)
    assert "after the savepoint" in names
    assert "twice" not in names


def test_a_large_result_is_streamed_while_other_shards_are_used(site: Site) -> None:
    first, second = on_server(site, "a")[:2]
    author = site.models.Author.objects.using(first).create(username="streamed")
    site.models.Photo.objects.using(first).bulk_create(
        site.models.Photo(author=author, caption=str(number)) for number in range(50)
    )
    seen = 0
    for photo in site.models.Photo.objects.using(first).filter(author=author).iterator(chunk_size=10):
        seen += 1
        assert photo.author_id == author.pk
        assert site.models.Author.objects.using(second).count() >= 0

    assert seen == 50


def test_connections_are_closed_by_age_at_the_end_of_a_request(site: Site) -> None:
    backends(all_shards()[:4])
    request_started.send(sender=None)
    request_finished.send(sender=None)
    assert thread_connections().open
    for each in thread_connections().open:
        each.close_at = each.holder.close_at = 0.0
    held = [each.connection for each in thread_connections().open]
    request_finished.send(sender=None)

    assert thread_connections().open == []
    assert all(each.closed for each in held)


def test_a_connection_that_led_to_many_shards_is_replaced_in_the_next_request(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    connections.close_all()
    monkeypatch.setattr("shardwright.psycopg.connection.MAX_SHARDS_TOUCHED", 2)
    first, second = on_server(site, "a")[:2]
    before = backends([first, second])
    assert backends([first, second]) == before
    request_finished.send(sender=None)

    assert backends([first]).isdisjoint(before)


def test_a_lost_connection_is_replaced_in_the_next_request(site: Site) -> None:
    alias = all_shards()[0]
    (pid,) = backends([alias])
    with connection.cursor() as cursor:  # the default database is on the same server
        cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])
    with pytest.raises(Exception, match=r"terminating connection|closed"):
        backends([alias])
    request_finished.send(sender=None)

    assert backends([alias]) != {pid}


def test_threads_have_connections_of_their_own(site: Site) -> None:
    barrier = threading.Barrier(3)

    def work(alias: str) -> set[int]:
        try:
            barrier.wait(30)
            return backends([alias])
        finally:
            connections.close_all()

    with ThreadPoolExecutor(3) as threads:
        found = list(threads.map(work, [all_shards()[0]] * 3))

    assert len(set.union(*found)) == 3


def test_a_thread_keeps_few_objects_for_many_shards(site: Site) -> None:
    kept = thread_connections()
    for number in range(MAX_WRAPPERS + 50):
        wrapper = connections.create_connection(all_shards()[0])
        wrapper.alias = f"s{MAX_SHARDS - 1 - number:04d}"
        connections[wrapper.alias] = wrapper
        kept._let_idle(wrapper)

    assert len(kept._idle_wrappers) <= MAX_WRAPPERS
    for alias in list(kept._idle_wrappers):
        if alias not in all_shards():
            del kept._idle_wrappers[alias]
            del connections[alias]


async def test_async_views_find_their_shard(site: Site) -> None:
    def publish() -> int:
        try:
            with use_shard(shard_of_key("async")):
                author = site.models.Author.objects.create(username="async")
                photo = author.photos.create(caption="awaited")
                photo.comments.create(text="nice")
            return photo.pk
        finally:
            connections.close_all()

    photo_id = await asyncio.to_thread(publish)
    responses = await asyncio.gather(*(AsyncClient().get(f"/photos/{photo_id}") for _ in range(5)))

    assert [each.json() for each in responses] == [
        {"caption": "awaited", "author": "async", "comments": ["nice"]}
    ] * 5


def test_a_view_that_forgot_the_shard_fails_loudly(site: Site) -> None:
    with pytest.raises(ShardKeyMissing):
        Client().get("/photos/count")


def test_a_statement_follows_its_shard_to_another_server(use_new_site: Site, migrated: None) -> None:
    authors = use_new_site.models.Author.objects.using("s0001")
    authors.create(username="before")
    asyncio.run(move_shard(use_new_site, 1))

    after = authors.create(username="after")
    assert shard_of(after.pk) == "s0001"
    assert connections["s0001"].server.name == load_map(use_new_site.directory_dsn).owners[1]


def test_a_transaction_on_a_moved_shard_is_repeated_whole(use_new_site: Site, migrated: None) -> None:
    authors = use_new_site.models.Author.objects.using("s0002")
    authors.create(username="before")
    asyncio.run(move_shard(use_new_site, 2))

    with pytest.raises(ShardMoved, match="repeat the transaction"), transaction.atomic(using="s0002"):
        authors.create(username="in a transaction")
    asyncio.run(move_shard(use_new_site, 2))
    attempts: list[int] = []

    def add() -> None:
        attempts.append(len(attempts))
        use_new_site.models.Author.objects.create(username="repeated")

    transact("s0002", add)
    assert attempts == [0, 1]
    assert authors.filter(username="repeated").count() == 1
