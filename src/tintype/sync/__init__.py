"""Sync: the update log of every person, on that person's shard.

A client that holds a connection gets updates as they are appended, best effort; each carries its number in the person's
sequence, which has no gaps. Whoever misses one, or comes back, reads on from the last number they know. So nothing is
missed and nothing is shown twice, whatever is lost on the way.
"""

from tintype.sync.errors import UpdateInvalid
from tintype.sync.models import LoggedUpdate, SyncPage, Update
from tintype.sync.service import Sync
from tintype.sync.store import QUERIES

__all__ = ["QUERIES", "LoggedUpdate", "Sync", "SyncPage", "Update", "UpdateInvalid"]
