"""What every part of this room stands on."""

from dataclasses import dataclass

from shardwright.running import Shards
from tintype.accounts.claims import Claims
from tintype.accounts.passwords import Passwords
from tintype.accounts.vault import Vault
from tintype.base.cache import Cache
from tintype.base.limits import Limiter
from tintype.base.outbox import Outbox
from tintype.base.settings import Settings


@dataclass(frozen=True)
class Ground:
    """Engines, keys and rules, made once."""

    shards: Shards
    outbox: Outbox
    cache: Cache
    limiter: Limiter
    settings: Settings
    vault: Vault
    passwords: Passwords
    usernames: Claims
    keys: Claims

    @property
    def address(self) -> str:
        """Where people reach this installation."""
        settings = self.settings
        return (settings.public_url or f"http://{settings.http_host}:{settings.http_port}").rstrip("/")
