"""Widening of integer columns to bigint while they are used, in one database or in every shard.

Owns the table `shardwright_widening` of a schema whose columns are being widened, and everything in it whose name
begins with `shardwright_wide_`.
"""

from shardwright.widen.errors import WidenFailed, WidenRefused
from shardwright.widen.everywhere import ShardWidener
from shardwright.widen.journal import Widening
from shardwright.widen.models import ColumnName, OnWidenProgress, Step, WidenOptions, WidenProgress, quote
from shardwright.widen.progress_bar import widen_bar
from shardwright.widen.widener import Widener

__all__ = [
    "ColumnName",
    "OnWidenProgress",
    "ShardWidener",
    "Step",
    "WidenFailed",
    "WidenOptions",
    "WidenProgress",
    "WidenRefused",
    "Widener",
    "Widening",
    "quote",
    "widen_bar",
]
