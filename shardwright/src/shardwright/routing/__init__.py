"""Routing SQL to shards: the router, its connection pools, named queries and their dispatch functions."""

from shardwright.routing.consistency import ANY, STRONG, Consistency, bounded, session
from shardwright.routing.copied_functions import copy_functions
from shardwright.routing.deadlines import deadline
from shardwright.routing.errors import (
    DeadlineExceeded,
    NotReplicated,
    OutcomeUnknown,
    PartialResult,
    PoolExhausted,
    PrimaryElsewhere,
    TransactionLost,
    WriteDeadlineExceeded,
)
from shardwright.routing.gathered import Gathered
from shardwright.routing.install_ahead import Installed, install_queries
from shardwright.routing.options import PoolOptions
from shardwright.routing.queries import Queries, Query
from shardwright.routing.raw_sql import RawSql, ShardSql
from shardwright.routing.reader import Reader, ReadShard
from shardwright.routing.scatter_gather import Everywhere
from shardwright.routing.schema_mismatch import SchemaMismatch
from shardwright.routing.sessions import Session
from shardwright.routing.shard import Shard
from shardwright.routing.shards import Shards
from shardwright.routing.transactions import Transaction

__all__ = [
    "ANY",
    "STRONG",
    "Consistency",
    "DeadlineExceeded",
    "Everywhere",
    "Gathered",
    "Installed",
    "NotReplicated",
    "OutcomeUnknown",
    "PartialResult",
    "PoolExhausted",
    "PoolOptions",
    "PrimaryElsewhere",
    "Queries",
    "Query",
    "RawSql",
    "ReadShard",
    "Reader",
    "SchemaMismatch",
    "Session",
    "Shard",
    "ShardSql",
    "Shards",
    "Transaction",
    "TransactionLost",
    "WriteDeadlineExceeded",
    "bounded",
    "copy_functions",
    "deadline",
    "install_queries",
    "session",
]
