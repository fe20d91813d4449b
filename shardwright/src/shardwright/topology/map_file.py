"""The last shard map in a file, so that a process can start while the directory is away.

An old map is safe: a server that does not own a shard refuses to write it, and an address that leads to another server
is refused. The addresses are those of the directory; passwords that the caller has stay with the caller. A map of
another directory is not used.
"""

import hashlib
import json
import logging
import os
import tempfile
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from shardwright.ids import Layout
from shardwright.topology.host_list import split_url
from shardwright.topology.shard_map import Server, ShardMap

log = logging.getLogger(__name__)

FORMAT = 1


class MapFile:
    """A shard map on disk; several processes may share the file."""

    def __init__(self, path: Path, directory_dsn: str) -> None:
        self._path = path
        self._directory = _fingerprint(directory_dsn)

    def read(self) -> ShardMap | None:
        """The map that was written last; None when there is none, or it cannot be read."""
        try:
            return self._decode(json.loads(self._path.read_bytes()))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            log.warning("map_file.unreadable: %s: %r", self._path, error)
            return None

    def write(self, shard_map: ShardMap) -> None:
        """Replace the file at once: whoever reads it sees the old map or the new one. Only its owner may read it.

        A failure is logged: the map in memory is as good without.
        """
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            found = {"format": FORMAT, "directory": self._directory, **_encode(shard_map)}
            self._replace(json.dumps(found, separators=(",", ":")).encode())
        except OSError as error:
            log.warning("map_file.not_written: %s: %r", self._path, error)

    def _decode(self, found: dict[str, Any]) -> ShardMap:
        if (found["format"], found["directory"]) != (FORMAT, self._directory):
            raise ValueError("it is of another release, or of another directory")
        return _decode(found)

    def _replace(self, content: bytes) -> None:
        descriptor, name = tempfile.mkstemp(dir=self._path.parent, prefix=f".{self._path.name}-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self._path)
        except BaseException:
            with suppress(FileNotFoundError):
                Path(name).unlink()
            raise


def _encode(shard_map: ShardMap) -> dict[str, Any]:
    return {
        "version": shard_map.version,
        "epoch_ms": shard_map.layout.epoch_ms,
        "lookup_shards": shard_map.lookup_shards,
        "servers": [asdict(server) for server in shard_map.servers.values()],
        "shards": {name: shard_map.shards_on(name) for name in shard_map.servers},
        "weights": list(shard_map.weights.items()),
    }


def _decode(found: dict[str, Any]) -> ShardMap:
    servers = [
        Server(each["name"], each["dsn"], each["weight"], each["accepts_new"], tuple(each["replicas"]))
        for each in found["servers"]
    ]
    return ShardMap(
        version=found["version"],
        layout=Layout(found["epoch_ms"]),
        servers={server.name: server for server in servers},
        owners={number: name for name, numbers in found["shards"].items() for number in numbers},
        weights=dict(found["weights"]),
        lookup_shards=found["lookup_shards"],
    )


def _fingerprint(dsn: str) -> str:
    """Which directory it is: its hosts and its database, whoever signs in."""
    parts = split_url(dsn)
    return hashlib.sha256(f"{parts.netloc.rpartition('@')[2]}{parts.path}?{parts.query}".encode()).hexdigest()
