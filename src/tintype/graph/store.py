"""The room's named queries."""

from pathlib import Path

from shardwright.routing import Queries

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))
POPULAR_KEY = "popular"
"""The ranking of popular accounts lies on the shard that the hash of this key gives."""
