"""Running SQL on shards: the router, its connections, named queries and the functions behind them."""

from shardwright.running.errors import DeadlineExceeded, OutcomeUnknown, PartialResult, TransactionLost
from shardwright.running.gathering import Everywhere, Gathered
from shardwright.running.options import PoolOptions
from shardwright.running.queries import Queries, Query
from shardwright.running.shards import Shard, Shards
from shardwright.running.transactions import Transaction

__all__ = [
    "DeadlineExceeded",
    "Everywhere",
    "Gathered",
    "OutcomeUnknown",
    "PartialResult",
    "PoolOptions",
    "Queries",
    "Query",
    "Shard",
    "Shards",
    "Transaction",
    "TransactionLost",
]
