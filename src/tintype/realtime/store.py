"""The SQL of the realtime room."""

from pathlib import Path

from shardwright.routing import Queries

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))
