"""The parts that `Accounts`, `Authentication` and `Credentials` share, built once per process."""

from dataclasses import dataclass

from shardwright.routing import Shards
from tintype.accounts.challenges import Challenges
from tintype.accounts.dependencies import AccountsDependencies
from tintype.accounts.directory import AccountDirectory
from tintype.accounts.encryption import SecretBox
from tintype.accounts.known_devices import KnownDevices
from tintype.accounts.mail_queue import MailQueue
from tintype.accounts.mailers import open_mailer
from tintype.accounts.passkeys import Passkeys
from tintype.accounts.passwords import Passwords
from tintype.accounts.rate_limits import AuthRateLimits
from tintype.accounts.sessions import Sessions
from tintype.accounts.status import AccountStatus
from tintype.accounts.totp import Totp
from tintype.accounts.unique_claims import contact_claims, username_claims
from tintype.base.outbox import Outbox
from tintype.base.secret_key import secret_key
from tintype.base.settings import Settings
from tintype.redis.leased_cache import LeasedCache
from tintype.redis.rate_limits import RateLimiter


@dataclass(frozen=True)
class AccountsParts:
    """What the front-door classes of this room are composed of."""

    deps: AccountsDependencies
    directory: AccountDirectory
    sessions: Sessions
    limits: AuthRateLimits
    devices: KnownDevices
    mail_queue: MailQueue
    challenges: Challenges
    totp: Totp
    passkeys: Passkeys
    status: AccountStatus


def build_accounts_parts(
    shards: Shards, outbox: Outbox, cache: LeasedCache, limiter: RateLimiter, *, settings: Settings
) -> AccountsParts:
    """The parts on these connections, with the keys and the mailer that the settings name."""
    secret_box = SecretBox(secret_key(settings))
    deps = AccountsDependencies(
        shards=shards,
        outbox=outbox,
        cache=cache,
        limiter=limiter,
        settings=settings,
        secret_box=secret_box,
        passwords=Passwords(range_url=settings.password_range_url),
        usernames=username_claims(shards),
        contact_claims=contact_claims(shards),
    )
    devices, challenges = KnownDevices(secret_box), Challenges(deps)
    mail_queue = MailQueue(deps, open_mailer(settings))
    directory, sessions = AccountDirectory(deps), Sessions(deps)
    return AccountsParts(
        deps=deps,
        directory=directory,
        sessions=sessions,
        limits=AuthRateLimits(limiter, devices),
        devices=devices,
        mail_queue=mail_queue,
        challenges=challenges,
        totp=Totp(deps, mail_queue),
        passkeys=Passkeys(deps, challenges, mail_queue),
        status=AccountStatus(deps, directory, sessions, mail_queue),
    )
