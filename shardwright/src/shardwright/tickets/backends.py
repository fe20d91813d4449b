"""What a database must be able to do to serve tickets, and which one an address means."""

from collections.abc import Mapping, Sequence
from typing import Protocol
from urllib.parse import urlsplit

from shardwright.errors import SetupInvalid
from shardwright.tickets.models import Member, Setup


class Session(Protocol):
    """One connection that draws. Its set-up was read when it was opened and never changes."""

    @property
    def setup(self) -> Setup:
        """The server's set-up when the session was opened."""
        ...

    async def draw(self, name: str, count: int) -> list[int]:
        """Return new tickets; raises `Fenced` where the sequence is not there (any more)."""
        ...

    def abandon(self) -> None:
        """Drop the connection at once, without a word to a server that may not listen."""
        ...

    async def close(self) -> None:
        """End the connection politely."""
        ...


class Keeper(Protocol):
    """One connection that changes the fleet; while it is open, no other keeper works on the server."""

    async def find_setup(self) -> Setup | None:
        """Return the server's part in a fleet, if it has one."""
        ...

    async def find_members(self) -> list[Member]:
        """Return whom the server knows to hold or have held a slot."""
        ...

    async def install(self, setup: Setup, members: Sequence[Member]) -> None:
        """Make a blank server part of a fleet; the set-up is written last."""
        ...

    async def enrol(self, member: Member) -> None:
        """Have the server know that the slot is given away."""
        ...

    async def find_names(self) -> list[str]:
        """Return the sequences of the server's generation, whether open or already closed."""
        ...

    async def create(self, name: str, floor: int) -> None:
        """Have a sequence whose tickets lie above the floor; one that exists is only ever raised."""
        ...

    async def draw_one(self, name: str) -> int:
        """Return a ticket, which lies above every ticket that the server gave before."""
        ...

    async def close_generation(self, growing_to: int) -> None:
        """Fence: from now on no client can draw, whatever it believes the set-up to be."""
        ...

    async def find_closed_peaks(self) -> Mapping[str, int]:
        """Return for each closed sequence a number not below any ticket it ever gave."""
        ...

    async def open_generation(self, setup: Setup, floors: Mapping[str, int]) -> None:
        """Let clients draw in the new generation, above the floors."""
        ...

    async def close(self) -> None:
        """Let other keepers in."""
        ...


class Backend(Protocol):
    """A kind of database at one address."""

    async def open_session(self, timeout_s: float, *, require_durability: bool) -> Session:
        """Connect to draw; the server's settings are checked anew each time."""
        ...

    async def open_keeper(self, timeout_s: float) -> Keeper:
        """Connect to change the fleet, waiting for other keepers to finish."""
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
