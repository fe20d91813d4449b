"""Routing SQL to shards: the router, its connection pools, named queries and their dispatch functions."""

from shardwright.routing.copied_functions import copy_functions
from shardwright.routing.deadlines import deadline
from shardwright.routing.errors import (
    DeadlineExceeded,
    OutcomeUnknown,
    PartialResult,
    PoolExhausted,
    TransactionLost,
    WriteDeadlineExceeded,
)
from shardwright.routing.gathered import Gathered
from shardwright.routing.install_ahead import Installed, install_queries
from shardwright.routing.options import PoolOptions
from shardwright.routing.queries import Queries, Query
from shardwright.routing.raw_sql import RawSql, ShardSql
from shardwright.routing.scatter_gather import Everywhere
from shardwright.routing.schema_mismatch import SchemaMismatch
from shardwright.routing.shard import Shard
from shardwright.routing.shards import Shards
from shardwright.routing.transactions import Transaction

__all__ = [
    "DeadlineExceeded",
    "Everywhere",
    "Gathered",
    "Installed",
    "OutcomeUnknown",
    "PartialResult",
    "PoolExhausted",
    "PoolOptions",
    "Queries",
    "Query",
    "RawSql",
    "SchemaMismatch",
    "Shard",
    "ShardSql",
    "Shards",
    "Transaction",
    "TransactionLost",
    "WriteDeadlineExceeded",
    "copy_functions",
    "deadline",
    "install_queries",
]
