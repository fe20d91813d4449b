"""The front door of accounts: sign-up, sign-in and finding people; each further matter has a part of its own."""

from collections.abc import AsyncIterator, Iterable

from argon2 import PasswordHasher

from shardwright.running import Shards
from tintype.accounts.challenges import Challenges
from tintype.accounts.claims import key_claims, username_claims
from tintype.accounts.credentials import Credentials
from tintype.accounts.devices import Devices
from tintype.accounts.directory import Directory
from tintype.accounts.doors import Doors
from tintype.accounts.events import AccountChanged, MailWanted, ResetAsked, SessionsEnded, StatusChanged
from tintype.accounts.ground import Ground
from tintype.accounts.joining import Joining
from tintype.accounts.mailers import open_mailer
from tintype.accounts.mailing import Mailing
from tintype.accounts.models import Account, Caller, Pass, SignedIn, Status
from tintype.accounts.passkeys import Passkeys
from tintype.accounts.passwords import Passwords
from tintype.accounts.profiles import Profiles
from tintype.accounts.programs import Programs
from tintype.accounts.reaching import Reaching
from tintype.accounts.sessions import Sessions
from tintype.accounts.signing_in import SigningIn
from tintype.accounts.standing import Standing
from tintype.accounts.totp import Totp
from tintype.accounts.vault import Vault
from tintype.base.belongings import Record
from tintype.base.cache import Cache, Source
from tintype.base.ids import AccountId
from tintype.base.jobs import Handler, Schedule, on
from tintype.base.limits import Limiter
from tintype.base.outbox import Outbox
from tintype.base.secret import secret_key
from tintype.base.settings import Settings

HOUR_S = 3_600.0
NOBODY_IN_PARTICULAR = Caller()


class Accounts:
    """Everything an account does before it meets anybody else."""

    def __init__(
        self, shards: Shards, outbox: Outbox, cache: Cache, limiter: Limiter, *, settings: Settings
    ) -> None:
        self._passwords = Passwords(range_url=settings.password_range_url)
        vault = Vault(secret_key(settings))
        ground = Ground(
            shards=shards,
            outbox=outbox,
            cache=cache,
            limiter=limiter,
            settings=settings,
            vault=vault,
            passwords=self._passwords,
            usernames=username_claims(shards),
            keys=key_claims(shards),
        )
        self._directory = Directory(ground)
        self.devices = Devices(vault)
        doors, challenges = Doors(limiter, self.devices), Challenges(ground)
        self.sessions = Sessions(ground)
        self.programs = Programs(ground, self.sessions)
        self.mailing = Mailing(ground, open_mailer(settings))
        self.profiles = Profiles(ground, self._directory, doors)
        self.reaching = Reaching(ground, self.mailing, doors)
        self.totp = Totp(ground)
        self.passkeys = Passkeys(ground, challenges)
        self.standing = Standing(ground, self._directory, self.sessions)
        self._joining = Joining(
            ground, self.sessions, profiles=self.profiles, mailing=self.mailing, doors=doors
        )
        self.signing_in = SigningIn(
            ground,
            self._directory,
            self.sessions,
            totp=self.totp,
            passkeys=self.passkeys,
            challenges=challenges,
            doors=doors,
        )
        self.credentials = Credentials(
            ground,
            self._directory,
            self.sessions,
            mailing=self.mailing,
            totp=self.totp,
            passkeys=self.passkeys,
            doors=doors,
        )

    def use_hasher(self, hasher: PasswordHasher) -> None:
        """Hash with these costs from now on; passwords hashed before stay valid."""
        self._passwords.use_hasher(hasher)

    async def sign_up(
        self,
        username: str,
        password: str,
        *,
        full_name: str = "",
        email: str | None = None,
        caller: Caller = NOBODY_IN_PARTICULAR,
    ) -> SignedIn:
        """Create an account under a username that nobody else has, and sign it in."""
        return await self._joining.sign_up(
            username, password, full_name=full_name, email=email, caller=caller
        )

    async def sign_in(
        self, identifier: str, password: str, *, caller: Caller = NOBODY_IN_PARTICULAR
    ) -> SignedIn:
        """Start a session, or refuse in the same way and time whether the name or the password is wrong.

        Raises `SecondFactorRequired` where the password is right and not enough.
        """
        return await self.signing_in.by_password(identifier, password, caller)

    async def sign_out(self, token: str) -> None:
        """End the session of this token; ending it twice is no error."""
        await self.sessions.end_by_token(token)

    async def find_session(self, token: str) -> Account | None:
        """The account that this token speaks for, if it still does."""
        held = await self.find_holder(token)
        return held[1] if held else None

    async def find_holder(self, token: str) -> tuple[Pass, Account] | None:
        """The session of this token and its account, if it still stands and the account is in use."""
        return await self.sessions.find_with_account(token, self._directory.cards)

    def find_near(self, token_hash: str) -> tuple[Pass, Account] | None:
        """The same as far as it is near; only for who asks Redis something before relying on it (`base/near.py`)."""
        return self.sessions.find_near(token_hash, self._directory.near)

    async def bring_near(self, token: str) -> None:
        """Have the session of this token and its account near, if there are such."""
        await self.sessions.bring_near(token, self._directory.cards)

    @property
    def cards(self) -> Source[AccountId, Account]:
        """Where accounts come from, for a reader that asks for many things in one round trip."""
        return self._directory.cards

    async def find_id(self, username: str) -> AccountId | None:
        """The account id behind a username, in any case of letters."""
        return await self._directory.find_id(username)

    async def get(self, account_id: AccountId) -> Account:
        """One account, in use or not."""
        return await self._directory.get(account_id)

    async def get_by_name(self, username: str) -> Account:
        """One account by its username."""
        return await self._directory.get_by_name(username)

    async def find_many(self, ids: Iterable[AccountId]) -> dict[AccountId, Account]:
        """Those of the accounts that exist, in use or not."""
        return await self._directory.find_many(ids)

    async def forget(self, *ids: AccountId) -> None:
        """Read these accounts anew: something about them was changed and committed."""
        await self._directory.forget(*ids)

    async def are_others(self, account_id: AccountId, *, besides: frozenset[str]) -> bool:
        """Whether anybody is here but this account and those who go by these names; looks no further than it must."""
        return await self._directory.are_others(account_id, besides=besides)

    async def set_avatar(self, account_id: AccountId, folder: str | None) -> str | None:
        """Show this picture, or none; returns the folder of the one before."""
        return await self.profiles.set_avatar(account_id, folder)

    async def set_status(self, account_id: AccountId, status: Status) -> None:
        """Take an account in or out of use; out of use ends everything that speaks for it, at once."""
        await self.standing.set_status(account_id, status)

    async def begin_leaving(self, account_id: AccountId) -> None:
        """Nobody sees the account and nobody can enter it any more; what it left is removed afterwards."""
        await self.standing.set_status(account_id, "leaving")

    def export(self, account_id: AccountId) -> AsyncIterator[Record]:
        """What this room knows of a person."""
        return self.standing.export(account_id)

    async def erase(self, account_id: AccountId) -> int:
        """Let go of an account, its own row last: call it when every other room has."""
        return await self.standing.erase(account_id)

    async def count_left(self, account_id: AccountId) -> int:
        """How much of an account is still in this room."""
        return await self.standing.count_left(account_id)

    def handlers(self) -> list[Handler]:
        """What this room does when something has happened."""
        return [
            on(MailWanted, self.mailing.send, name="accounts-mail", concurrency=8),
            on(ResetAsked, self.credentials.send_reset, name="accounts-reset"),
            on(SessionsEnded, self.sessions.forget_ended, name="accounts-sessions"),
            on(AccountChanged, self._forget_changed, name="accounts-cards"),
            on(StatusChanged, self._forget_changed, name="accounts-standing"),
        ]

    def schedules(self) -> list[Schedule]:
        """What this room repeats by the clock."""
        return [
            Schedule("accounts-names", HOUR_S, self.profiles.release_ended_names),
            Schedule("accounts-purge", HOUR_S, self.standing.purge),
        ]

    async def _forget_changed(self, changed: AccountChanged | StatusChanged) -> None:
        await self._directory.forget(changed.account_id)
