"""The database router: sharded models go to a shard, everything else to the other databases.

A query's shard is the one of the instance it concerns (which it came from, which its id names, which its foreign keys
name), else the one chosen by `use_shard`. Without either the query is refused: guessing would read or write the
wrong shard.
"""

from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Model

from shardwright.django.aliases import current_shard, is_alias, is_shard, shard_of
from shardwright.django.conf import is_sharded, sharded_labels
from shardwright.errors import ShardKeyMissing


class ShardRouter:
    """Routes the apps named in SHARDWRIGHT["APPS"]."""

    def db_for_read(self, model: type[Model], **hints: Any) -> str | None:
        """The shard for a query of a sharded model; None for others, which are not ours."""
        instance = hints.get("instance")
        if not is_sharded(model):
            # Without an answer of ours, Django would follow the instance to its shard.
            return DEFAULT_DB_ALIAS if instance is not None and is_sharded(type(instance)) else None
        found = find_shard(instance) or current_shard()
        if found is None:
            raise ShardKeyMissing(
                f"say which shard of {model._meta.label}: .using(shard_of(id)), or `with use_shard(shard_of(id))`"
            )
        return found

    db_for_write = db_for_read

    def allow_relation(self, one: Model, other: Model, **_: Any) -> bool | None:
        """Whether two objects may refer to each other: only on the same shard."""
        sharded = {is_sharded(type(one)), is_sharded(type(other))}
        if sharded == {False}:
            return None
        if sharded == {True, False}:
            return False
        shards = {find_shard(one), find_shard(other)} - {None}
        return len(shards) <= 1

    def allow_migrate(self, db: str, app_label: str, **_: Any) -> bool | None:
        """Sharded apps are migrated on shards only, and nothing else is there."""
        if app_label in sharded_labels():
            return is_alias(db) and is_shard(db)
        return False if is_alias(db) else None


def find_shard(instance: Model | None) -> str | None:
    """The shard of an object: where it was read from or saved, else what its ids say."""
    if instance is None or not is_sharded(type(instance)):
        return None
    if is_alias(instance._state.db):
        return instance._state.db
    ids = [instance.pk, *_foreign_ids(instance)]
    return next((shard_of(each) for each in ids if isinstance(each, int)), None)


def _foreign_ids(instance: Model) -> list[Any]:
    return [
        getattr(instance, field.attname)
        for field in instance._meta.concrete_fields
        if field.is_relation and is_sharded(field.related_model)
    ]
