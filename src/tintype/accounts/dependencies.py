"""What the parts of this room share: connections, settings, cryptography and uniqueness claims."""

from dataclasses import dataclass

from shardwright.routing import Shards
from tintype.accounts.encryption import SecretBox
from tintype.accounts.passwords import Passwords
from tintype.accounts.unique_claims import UniqueClaims
from tintype.base.outbox import Outbox
from tintype.base.settings import Settings, site_url
from tintype.redis.leased_cache import LeasedCache
from tintype.redis.rate_limits import RateLimiter


@dataclass(frozen=True)
class AccountsDependencies:
    """Built once by `Accounts` and handed to each of its parts."""

    shards: Shards
    outbox: Outbox
    cache: LeasedCache
    limiter: RateLimiter
    settings: Settings
    secret_box: SecretBox
    passwords: Passwords
    usernames: UniqueClaims
    contact_claims: UniqueClaims
    """Claims of email addresses, phone numbers and the lookalike forms of verified usernames."""

    @property
    def public_url(self) -> str:
        """The base URL of this installation, without a trailing slash."""
        return site_url(self.settings)
