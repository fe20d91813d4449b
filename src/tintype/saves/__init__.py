"""Saves: posts kept in named collections, on the shard of the one who keeps them."""

from tintype.saves.service import QUERIES, Saves

__all__ = ["QUERIES", "Saves"]
