"""Notifications: what happened to somebody, on their own shard, and its delivery."""

from tintype.notifications.service import QUERIES, Notifications

__all__ = ["QUERIES", "Notifications"]
