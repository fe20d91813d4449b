"""Tintype: photo sharing that anyone can host, on sharded PostgreSQL."""

__version__ = "0.1.0"
