"""Django on shards: a database alias per shard, a database router, and `manage.py migrate_shards`.

Models stay as they are. Add `shardwright.django` to INSTALLED_APPS, `shardwright.django.ShardRouter` to
DATABASE_ROUTERS, and the setting SHARDWRIGHT (`docs/django.md`). Needs the extra `shardwright[django]`.
"""

from shardwright.django.aliases import (
    all_shards,
    current_shard,
    place_shard,
    shard_of,
    shard_of_key,
    use_shard,
)
from shardwright.django.errors import ShardMoved
from shardwright.django.router import ShardRouter
from shardwright.django.transactions import transact

__all__ = [
    "ShardMoved",
    "ShardRouter",
    "all_shards",
    "current_shard",
    "place_shard",
    "shard_of",
    "shard_of_key",
    "transact",
    "use_shard",
]
