"""Thousands of logical shards on a few PostgreSQL servers: ids, routing, migrations, tickets.

The names most programs need; each package (`shardwright.ids`, `.topology`, `.routing`, `.migrations`, `.tickets`,
`.local`) exports more. `shardwright.psycopg`, `.sqlalchemy` and `.django` need the extras of the same names.
"""

from importlib.metadata import version

from shardwright.errors import (
    EpochInvalid,
    InvalidId,
    MapChanged,
    MigrationRefused,
    NotOwner,
    ServerUnavailable,
    SetupInvalid,
    ShardKeyMissing,
    ShardwrightError,
)
from shardwright.ids import Layout, decode_short, encode_short
from shardwright.migrations import Migrator
from shardwright.routing import (
    DeadlineExceeded,
    Gathered,
    OutcomeUnknown,
    PartialResult,
    PoolExhausted,
    PoolOptions,
    Queries,
    Query,
    SchemaMismatch,
    Shard,
    Shards,
    Transaction,
    TransactionLost,
    WriteDeadlineExceeded,
    deadline,
)
from shardwright.tickets import Fleet, TicketOptions, Tickets
from shardwright.topology import Directory, Server, ShardMap

__version__ = version("shardwright")

__all__ = [
    "DeadlineExceeded",
    "Directory",
    "EpochInvalid",
    "Fleet",
    "Gathered",
    "InvalidId",
    "Layout",
    "MapChanged",
    "MigrationRefused",
    "Migrator",
    "NotOwner",
    "OutcomeUnknown",
    "PartialResult",
    "PoolExhausted",
    "PoolOptions",
    "Queries",
    "Query",
    "SchemaMismatch",
    "Server",
    "ServerUnavailable",
    "SetupInvalid",
    "Shard",
    "ShardKeyMissing",
    "ShardMap",
    "Shards",
    "ShardwrightError",
    "TicketOptions",
    "Tickets",
    "Transaction",
    "TransactionLost",
    "WriteDeadlineExceeded",
    "__version__",
    "deadline",
    "decode_short",
    "encode_short",
]
