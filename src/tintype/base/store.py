"""The named queries of `base`: the outbox, leader leases and schedule runs."""

from pathlib import Path

from shardwright.routing import Queries

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))
SCHEDULES_KEY = "schedules"
"""Leases and schedule runs live on the shard that this key hashes to."""
