"""Transactions that are repeated when their shard moves."""

import time
from collections.abc import Callable
from typing import TypeVar

from django.db import transaction

from shardwright.django.aliases import use_shard
from shardwright.django.errors import ShardMoved

T = TypeVar("T")
WAIT_S = 5.0
PAUSE_S = 0.05


def transact(shard: str | int, body: Callable[[], T]) -> T:
    """Run `body` in a transaction on the shard and return its result; repeated while the shard is being moved."""
    deadline = time.monotonic() + WAIT_S
    while True:
        try:
            with use_shard(shard) as alias, transaction.atomic(using=alias):
                return body()
        except ShardMoved:
            if time.monotonic() > deadline or transaction.get_connection(alias).in_atomic_block:
                raise
            time.sleep(PAUSE_S)
