"""How many events of a server's outbox have not been relayed: it must not be removed before they are."""

from typing import cast

from tintype.worker import store
from tintype.worker.server_connection import connect_to_server


async def count_waiting_events(dsn: str) -> int:
    """The number of committed events that no relay has published yet."""
    async with connect_to_server(dsn) as connection:
        return cast("int", await connection.fetchval(store.COUNT_WAITING))
