"""Moderation: reports, the queue, the acts of moderators and their log."""

from tintype.moderation.service import QUERIES, Moderation

__all__ = ["QUERIES", "Moderation"]
