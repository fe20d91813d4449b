"""How durable a commit is when it is acknowledged: on the primary's disk, or on a synchronous standby's as well.

PostgreSQL decides it per transaction by `synchronous_commit`, and which standbys count by `synchronous_standby_names`
on the server. Two things it does not say on its own are made errors here: that no synchronous standby is configured,
and that the wait for one was given up, which PostgreSQL reports as a commit with a warning.
"""

from typing import TYPE_CHECKING, Any, Literal, Self

import asyncpg

from shardwright.errors import SetupInvalid
from shardwright.routing.errors import NotReplicated

if TYPE_CHECKING:
    from shardwright.routing.shard_connection import ShardConnection

Durability = Literal["local", "replicated"]
_NO_STANDBY = "SW010"
_REQUIRE_STANDBY = f"""DO $$ BEGIN
  IF current_setting('synchronous_standby_names') = '' THEN
    RAISE EXCEPTION 'no synchronous standby is configured' USING ERRCODE = '{_NO_STANDBY}';
  END IF;
END $$;"""
_OPENING = {
    None: "",
    "local": "SET LOCAL synchronous_commit = 'local';",
    "replicated": f"SET LOCAL synchronous_commit = 'on';{_REQUIRE_STANDBY}",
}
_GIVEN_UP = "canceling wait for synchronous replication"


def durability_sql(durable: str | None) -> str:
    """What the opening of a transaction needs; raises for a word that is none."""
    if durable not in _OPENING:
        raise SetupInvalid(f"durable is 'local' or 'replicated', not {durable!r}")
    return _OPENING[durable]


def is_no_standby(error: BaseException) -> bool:
    """Whether the server has refused a replicated transaction, because it has no synchronous standby."""
    return getattr(error, "sqlstate", None) == _NO_STANDBY


def no_standby(server: str) -> NotReplicated:
    """The error for the caller: nothing was changed."""
    return NotReplicated(
        f"server {server} has no synchronous standby, so nothing was changed: set synchronous_standby_names there "
        "(and synchronous_commit = local, if other transactions shall not wait)",
        is_committed=False,
    )


class CommitWarnings:
    """Listens, during COMMIT, for the warning that a standby was not waited for to the end."""

    def __init__(self, conn: "ShardConnection") -> None:
        self._conn: Any = conn  # asyncpg ships without types
        self.is_given_up = False

    def __enter__(self) -> Self:
        self._conn.add_log_listener(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        if not self._conn.is_closed():
            self._conn.remove_log_listener(self._note)

    def _note(self, _: Any, message: asyncpg.PostgresLogMessage) -> None:
        self.is_given_up |= _GIVEN_UP in str(message)

    def raise_if_given_up(self, name: str) -> None:
        """Raise if the primary has committed it and a standby has not confirmed it."""
        if self.is_given_up:
            raise NotReplicated(
                f"{name} is committed on the primary, and no standby has confirmed it in time: do not repeat it",
                is_committed=True,
            )
