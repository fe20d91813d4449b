"""Ids that say when and where: made inside PostgreSQL, unique and increasing per shard, 64 bits."""

from shardwright.ids.functions import install_functions
from shardwright.ids.layout import (
    DEFAULT_EPOCH_MS,
    LEGACY_LIMIT,
    MAX_ID,
    MAX_SHARDS,
    Layout,
    check_id,
    check_shard,
    schema_name,
    shard_number,
)
from shardwright.ids.lease import IdLease, IdMaker, LeaseSpent, lease_ids
from shardwright.ids.shard import (
    DEFAULT_AHEAD_MS,
    ahead_ms_sql,
    carried_tick_sql,
    carry_sql,
    lift_sql,
    shard_sql,
)
from shardwright.ids.short import SHORT_LENGTH, decode_short, encode_short
from shardwright.ids.ticks import IDS_EXHAUSTED_SQLSTATE, MAX_BATCH
from shardwright.ids.typed import id_from_text, id_reader, id_to_text

__all__ = [
    "DEFAULT_AHEAD_MS",
    "DEFAULT_EPOCH_MS",
    "IDS_EXHAUSTED_SQLSTATE",
    "LEGACY_LIMIT",
    "MAX_BATCH",
    "MAX_ID",
    "MAX_SHARDS",
    "SHORT_LENGTH",
    "IdLease",
    "IdMaker",
    "Layout",
    "LeaseSpent",
    "ahead_ms_sql",
    "carried_tick_sql",
    "carry_sql",
    "check_id",
    "check_shard",
    "decode_short",
    "encode_short",
    "id_from_text",
    "id_reader",
    "id_to_text",
    "install_functions",
    "lease_ids",
    "lift_sql",
    "schema_name",
    "shard_number",
    "shard_sql",
]
