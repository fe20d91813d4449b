"""The room's named statements."""

from pathlib import Path

from shardwright.running import Queries

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))
