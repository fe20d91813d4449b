"""Interface between tickets and databases, and the choice of backend by address."""

from collections.abc import Mapping, Sequence
from typing import Protocol
from urllib.parse import urlsplit

from shardwright.errors import SetupInvalid
from shardwright.tickets.models import Member, Setup


class Session(Protocol):
    """A connection for drawing tickets. Its set-up is read when it is opened and never changes."""

    @property
    def setup(self) -> Setup:
        """The server's set-up when the session was opened."""
        ...

    async def draw(self, name: str, count: int) -> list[int]:
        """Return new tickets; raises `Fenced` where the sequence is not there (any more)."""
        ...

    def abandon(self) -> None:
        """Drop the connection immediately, without waiting for a server that may hang."""
        ...

    async def close(self) -> None:
        """Close the connection gracefully."""
        ...


class AdminSession(Protocol):
    """A connection for changing the fleet; it holds a lock that excludes other admin sessions on the server."""

    async def find_setup(self) -> Setup | None:
        """Return the server's part in a fleet, if it has one."""
        ...

    async def find_members(self) -> list[Member]:
        """Return the members recorded on the server: every slot that was ever assigned, and to whom."""
        ...

    async def install(self, setup: Setup, members: Sequence[Member]) -> None:
        """Add a blank server to a fleet; its set-up is written last."""
        ...

    async def add_member(self, member: Member) -> None:
        """Record on the server that a slot is assigned."""
        ...

    async def find_sequences(self) -> list[str]:
        """Return the sequences of the server's generation, whether open or already closed."""
        ...

    async def create_sequence(self, name: str, floor: int) -> None:
        """Create a sequence whose tickets are above the floor; an existing one is only ever raised."""
        ...

    async def draw_one(self, name: str) -> int:
        """Draw a ticket, which is above every ticket that the server gave before."""
        ...

    async def close_generation(self, growing_to: int) -> None:
        """Fence the generation: from now on no client can draw from it, whatever set-up it has cached."""
        ...

    async def find_high_water_marks(self) -> Mapping[str, int]:
        """Return for each closed sequence a number that is not below any ticket it ever gave."""
        ...

    async def open_generation(self, setup: Setup, floors: Mapping[str, int]) -> None:
        """Open the new generation, with sequences above the floors."""
        ...

    async def close(self) -> None:
        """Release the lock and close the connection."""
        ...


class Backend(Protocol):
    """A database that serves tickets."""

    async def open_session(self, timeout_s: float, *, require_durability: bool) -> Session:
        """Connect for drawing; the server's settings are checked each time."""
        ...

    async def open_admin_session(self, timeout_s: float) -> AdminSession:
        """Connect for changing the fleet, waiting for other admin sessions to finish."""
        ...


def backend_for(dsn: str) -> Backend:
    """Return the backend for an address: postgresql://… or mysql://… (mariadb://… means the same)."""
    scheme = urlsplit(dsn).scheme
    if scheme in ("postgresql", "postgres"):
        from shardwright.tickets.postgres import PostgresBackend  # noqa: PLC0415 - either driver may be absent

        return PostgresBackend(dsn)
    if scheme in ("mysql", "mariadb"):
        try:
            from shardwright.tickets.mysql import MysqlBackend  # noqa: PLC0415 - likewise
        except ImportError as error:
            raise SetupInvalid(
                "Ticket servers on MySQL or MariaDB need the driver: pip install 'shardwright[mysql]'."
            ) from error
        return MysqlBackend(dsn)
    raise SetupInvalid(
        f"A ticket server is a postgresql:// or mysql:// address, not {scheme or 'nothing'}://."
    )
