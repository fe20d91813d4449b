"""The SQL of this room: accounts and claims, sessions, and proofs of who somebody is, each in a file of its own."""

from pathlib import Path

from shardwright.running import Queries

FILES = ("queries.sql", "sessions.sql", "proofs.sql")
QUERIES = Queries.parse(
    "\n".join(Path(__file__).with_name(name).read_text(encoding="utf-8") for name in FILES),
    source="tintype.accounts",
)
