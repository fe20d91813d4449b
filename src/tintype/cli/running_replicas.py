"""The replicas of this installation's PostgreSQL servers: those named in the settings, or the embedded ones."""

from tintype.base.settings import Loaded, replica_dsns, server_dsns
from tintype.cli.running_servers import with_running_servers
from tintype.stack import ReplicaStatus, read_replicas


async def find_replicas(loaded: Loaded) -> list[ReplicaStatus]:
    """Return the state of every replica: of those named in the settings, or of the running embedded ones."""
    settings = with_running_servers(loaded)
    return await read_replicas(server_dsns(settings), replica_dsns(settings)) if settings else []
