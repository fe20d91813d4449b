"""The room's named queries, loaded once for all of its files."""

from pathlib import Path

from shardwright.running import Queries

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))
POPULAR_KEY = "popular"
"""Its hash gives the shard that keeps the ranking of popular accounts."""
