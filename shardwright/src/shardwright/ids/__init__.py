"""64-bit ids that contain their time and shard: generated in PostgreSQL, unique, increasing per shard."""

from shardwright.ids.clock_repair import FutureIds, IdsInUse, lower_ids
from shardwright.ids.horizon import CLOCK_WRONG_SQLSTATE, IDS_EXHAUSTED_SQLSTATE, NOT_OWNER_SQLSTATE
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
from shardwright.ids.lease import IdGenerator, IdLease, LeaseExhausted, lease_ids
from shardwright.ids.server_functions import install_functions, server_functions_sql
from shardwright.ids.shard_functions import (
    DEFAULT_AHEAD_MS,
    advance_sql,
    ahead_ms_sql,
    fence_sql,
    functions_sql,
    is_fenced_sql,
    last_tick_sql,
    resume_above_sql,
    sequences_sql,
    shard_sql,
)
from shardwright.ids.short_codes import SHORT_LENGTH, decode_short, encode_short
from shardwright.ids.ticks import MAX_BATCH
from shardwright.ids.typed_ids import id_from_text, id_reader, id_to_text

__all__ = [
    "CLOCK_WRONG_SQLSTATE",
    "DEFAULT_AHEAD_MS",
    "DEFAULT_EPOCH_MS",
    "IDS_EXHAUSTED_SQLSTATE",
    "LEGACY_LIMIT",
    "MAX_BATCH",
    "MAX_ID",
    "MAX_SHARDS",
    "NOT_OWNER_SQLSTATE",
    "SHORT_LENGTH",
    "FutureIds",
    "IdGenerator",
    "IdLease",
    "IdsInUse",
    "Layout",
    "LeaseExhausted",
    "advance_sql",
    "ahead_ms_sql",
    "check_id",
    "check_shard",
    "decode_short",
    "encode_short",
    "fence_sql",
    "functions_sql",
    "id_from_text",
    "id_reader",
    "id_to_text",
    "install_functions",
    "is_fenced_sql",
    "last_tick_sql",
    "lease_ids",
    "lower_ids",
    "resume_above_sql",
    "schema_name",
    "sequences_sql",
    "server_functions_sql",
    "shard_number",
    "shard_sql",
]
