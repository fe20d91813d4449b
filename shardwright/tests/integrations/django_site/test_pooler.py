"""The Django site behind PgBouncer in transaction mode."""

import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connections, transaction
from django.test.utils import override_settings
from site_cluster import Site

from shardwright.django import all_shards, shard_of

sys.path.insert(0, str(Path(__file__).parents[2] / "routing"))
from pgbouncer import run_pgbouncer

pytestmark = pytest.mark.slow  # the first of them migrates sixteen shards


def test_queries_and_transactions_work_behind_a_transaction_pooler(
    use_new_site: Site, migrated: None, run_directory: Path
) -> None:
    site = use_new_site
    with (
        run_pgbouncer(site.dsns, run_directory) as dsns,
        override_settings(SHARDWRIGHT=site.setting(DSNS=dsns)),
    ):
        for alias in all_shards() * 2:
            with transaction.atomic(using=alias):
                author, _ = site.models.Author.objects.using(alias).get_or_create(username="pooled")
            photo = author.photos.create(caption="outside a transaction")
            assert shard_of(photo.pk) == alias
            captions = [
                each.caption for each in site.models.Photo.objects.using(alias).iterator(chunk_size=1)
            ]
            assert set(captions) == {"outside a transaction"}
            assert connections[alias].connection.is_behind_pooler
        with pytest.raises(CommandError, match="addresses without a transaction pooler"):
            call_command("migrate_shards", verbosity=0)
        connections.close_all()
